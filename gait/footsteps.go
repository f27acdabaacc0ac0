package gait

import "math"

// Footstep is where one foot is to be put down.
type Footstep struct {
	Leg int     `json:"leg"`
	At  Point   `json:"at"`  // on the ground, m
	Yaw float64 `json:"yaw"` // rad; the foot turns there by the shorter way
}

// MostFootsteps is how many can be given at once.
const MostFootsteps = 256

// list is what is left of footsteps that were given one by one.
type list struct {
	steps [MostFootsteps]Footstep
	n     int // given
	next  int // to be taken
	due   float64
	pace  float64 // share of the gait's rhythm in which they are taken
	on    bool    // it walks by them: no other steps are taken
}

// Footsteps has the planner take these steps, one foot after the other in the rhythm of the gait, while
// the body keeps to the middle of its feet; then it stands. Those beyond MostFootsteps are left out. They
// begin once it stands.
func (p *Planner) Footsteps(steps []Footstep) {
	p.listed.n, p.listed.next = copy(p.listed.steps[:], steps), 0
}

// Left returns how many of the footsteps have not begun.
func (p *Planner) Left() int { return p.listed.n - p.listed.next }

// Pace sets how often footsteps are taken, as a share of the gait's rhythm: 0.1 to 1. There is no velocity that could be scaled. A foot in the air takes the
// time that it always takes, so that it comes down as soon after a stop.
func (p *Planner) Pace(share float64) { p.listed.pace = min(max(share, leastPace), 1) }

const leastPace = 0.1

// interval is the time between two footsteps, s: a swing and the time in which all feet stand.
func (p *Planner) interval() float64 {
	return max(p.gait.Period/float64(len(p.feet)), (1-p.gait.Duty)*p.gait.Period+max(2*p.cfg.Fade, 2*crossing)+2*grid) / p.listed.pace
}

// beginList begins to walk by footsteps, the first of them at a time.
func (p *Planner) beginList(first float64) {
	p.listed.on, p.listed.due = true, first
	for i := range p.feet {
		p.feet[i].next = math.Inf(1)
	}
}

// commitListed begins the footstep that is due: its end does not change any more.
func (p *Planner) commitListed() {
	l := &p.listed
	if l.next == l.n || l.due > p.last+p.cfg.Fade+2*grid {
		return
	}
	s := &l.steps[l.next]
	l.next++
	f := &p.feet[s.Leg]
	p.swings(f, l.due, l.due+(1-p.gait.Duty)*p.gait.Period, p.gait.Lift, s.At, f.yaw+math.Remainder(s.Yaw-f.yaw, 2*math.Pi))
	l.due += p.interval()
}

// middle returns the middle of the feet, those in the air where they come down, and their mean heading.
func (p *Planner) middle() (at Point, yaw float64) {
	n := float64(len(p.feet))
	for i := range p.feet {
		f := &p.feet[i]
		to, turn := f.at, f.yaw
		if s := &f.swing; s.land > s.lift && p.last < s.land {
			to, turn = s.to, s.turn
		}
		at.X += to.X / n
		at.Y += to.Y / n
		yaw += math.Remainder(turn-p.now.yaw, 2*math.Pi) / n
	}
	return at, p.now.yaw + yaw
}

// bodyTime is how fast the body comes to the middle of its feet, s.
const bodyTime = 0.4

// toMiddle is the velocity with which a body comes to the middle of its feet.
func (p *Planner) toMiddle() Velocity {
	at, yaw := p.middle()
	sin, cos := math.Sincos(p.now.yaw)
	x, y := (at.X-p.now.at.X)/bodyTime, (at.Y-p.now.at.Y)/bodyTime
	return Velocity{X: cos*x + sin*y, Y: cos*y - sin*x, Yaw: (yaw - p.now.yaw) / bodyTime}
}
