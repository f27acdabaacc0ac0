package gait

import (
	"errors"
	"fmt"
	"math"

	"poise/contact"
)

// Config is what a plan is made for. Zero values of the last four are derived.
type Config struct {
	Legs    []Point // nominal places of the feet, seen from the middle of the body, x ahead, m
	Height  float64 // of the centre of mass above the ground, m
	Gravity float64 // m/s²; 0 is 9.81
	Margin  float64 // that the zero-moment point keeps from the edges between feet, m; 0 is 0.07 of the height
	Reach   float64 // of a foot from its nominal place when it is put down, m; 0 is 0.25 of the height
	Fade    float64 // s in which a foot takes its load, and gives it up; 0 is 0.05
}

// Phase is what a plan does.
type Phase uint8

// The phases.
const (
	Stands  Phase = iota // on all feet, at rest
	Walks                // feet are lifted as the gait says
	Lands                // no foot is lifted any more
	Settles              // all feet stand, and the centre of mass comes to rest
)

func (p Phase) String() string {
	return [...]string{"stands", "walks", "lands", "settles"}[p]
}

// foot is what is planned of one foot.
type foot struct {
	nominal Point
	at      Point   // where it stands, or stood when it was lifted
	z       float64 // and how high, m
	yaw     float64
	next    float64 // when it is lifted, s, once it may be
	then    float64 // when it is lifted first by a gait that takes the place of this one
	swing   swing
}

// swing is the way of a foot through the air. One that is over has no duration.
type swing struct {
	x, y, yaw, up, down quintic
	lift, land          float64 // s
	to                  Point
	height              float64 // of its end, m
	turn                float64 // yaw then
}

// Planner plans how a robot walks. Make one with New.
type Planner struct {
	cfg     Config
	gait    Gait
	change  change
	preview preview
	arm     float64 // of the foot that is furthest from the middle, m
	size    Point   // half of the length and width between feet, m

	phase  Phase
	t      float64 // now, s
	last   float64 // point of the grid that was planned last, s
	x, y   axis    // of the centre of mass, then
	jx, jy float64 // and the jerk since
	now    body    // nominal, then
	after  body    // and at the next point
	feet   []foot

	command Velocity // as it was given,
	target  Velocity // within what the gait can do,
	most    Velocity // and how fast it changes
	begins  float64  // when the body begins to move, s
	room    float64  // share of it that leaves no foot behind
	halted  bool     // no step may begin
	listed  list     // footsteps that were given

	endX, endY, endYaw quintic // while it settles

	// where the zero-moment point began to cross to other supports, and when
	from    Point
	crosses float64

	future horizon

	terrain terrain // boxes that are known
	highest float64 // stair from one to the next that is taken, m; 0 is any
	level   axis    // mean height of the feet, which the body follows
}

// Fade of support weights, s.
const defaultFade = 0.05

// New returns a plan for a robot.
func New(c Config) (*Planner, error) {
	if n := len(c.Legs); n < 2 || n > maxLegs {
		return nil, fmt.Errorf("gait: %d legs; from 2 to %d can walk", n, maxLegs)
	}
	if c.Gravity == 0 {
		c.Gravity = 9.81
	}
	if !(c.Height > 0.01 && c.Height < 10 && c.Gravity > 0) {
		return nil, fmt.Errorf("gait: a centre of mass %g m above the ground cannot be planned for", c.Height)
	}
	orElse := func(x *float64, y float64) {
		if *x == 0 {
			*x = y
		}
	}
	orElse(&c.Margin, 0.07*c.Height)
	orElse(&c.Reach, 0.25*c.Height)
	orElse(&c.Fade, defaultFade)
	if !(c.Margin > 0 && c.Reach > 0 && c.Fade > 0) {
		return nil, errors.New("gait: margin, reach and fade must be positive")
	}
	p := &Planner{cfg: c, preview: newPreview(c.Height, c.Gravity), feet: make([]foot, len(c.Legs))}
	p.gait.Phase, p.change.gait.Phase = make([]float64, len(c.Legs)), make([]float64, len(c.Legs))
	for i, at := range c.Legs {
		p.feet[i].nominal = at
		p.arm = max(p.arm, math.Hypot(at.X, at.Y))
		p.size = Point{X: max(p.size.X, math.Abs(at.X)), Y: max(p.size.Y, math.Abs(at.Y))}
	}
	p.future.init(len(c.Legs))
	p.listed.pace = 1
	return p, nil
}

// Phase returns what it does.
func (p *Planner) Phase() Phase { return p.phase }

// Gait returns the gait.
func (p *Planner) Gait() *Gait { return &p.gait }

// Fastest returns the largest speed of a foot that stands with this gait, m/s; while it changes, with the slower
// of both.
func (p *Planner) Fastest() float64 {
	return min(p.gait.Fastest(p.cfg.Reach), p.Next().Fastest(p.cfg.Reach))
}

// Place lets it stand: the middle of the body at a place with a heading, which is where the centre of
// mass comes to rest, and feet where they are, on level ground.
func (p *Planner) Place(at Point, yaw float64, feet []Point, com Point) {
	p.level = axis{}
	for i := range p.feet {
		p.feet[i].z = 0
	}
	p.Move(at, yaw, feet, com)
	p.terrain.settle(feet[0], 0)
}

// Move does so for a robot that stands, and was led elsewhere: its feet and its body stay as high as they are.
func (p *Planner) Move(at Point, yaw float64, feet []Point, com Point) {
	p.phase, p.halted = Stands, false
	p.stood()
	p.listed.n, p.listed.next, p.listed.on = 0, 0, false
	p.x, p.y, p.jx, p.jy = axis{p: com.X}, axis{p: com.Y}, 0, 0
	p.now = body{at: at, yaw: yaw}
	p.after = p.now
	p.command, p.target = Velocity{}, Velocity{}
	for i := range p.feet {
		f := &p.feet[i]
		f.at, f.yaw, f.swing = feet[i], yaw, swing{}
	}
}

// Command sets how the body is to move. What feet cannot follow is scaled down as a whole; numbers
// that are not finite count as zero.
func (p *Planner) Command(v Velocity) {
	v = v.Bounded()
	p.command = v
	over := p.Wanted() / p.Fastest()
	// v/ω is how far ahead the centre of mass would come to rest: a stop must find feet there, which may
	// be those that are put down then
	ω := 1 / math.Sqrt(p.preview.c)
	for _, d := range [2]struct{ speed, room float64 }{{v.X, p.size.X}, {v.Y, p.size.Y}} {
		if d.room < p.cfg.Reach/2 { // feet side by side
			d.room = 2 * p.cfg.Reach
		}
		over = max(over, math.Abs(d.speed)/(ω*d.room*stopShare))
	}
	p.target = v
	if over > 1 {
		p.target = v.scaled(1 / over)
	}
}

// Wanted returns how fast the fastest foot would have to go for what is commanded, m/s.
func (p *Planner) Wanted() (speed float64) { return p.footSpeed(p.command) }

// Target returns what it goes towards of what is commanded, which feet can follow; less tells that it is not all of that.
func (p *Planner) Target() (v Velocity, less bool) { return p.target, p.target != p.command }

// footSpeed is the speed of the fastest foot that stands under a body, m/s.
func (p *Planner) footSpeed(v Velocity) (speed float64) {
	for i := range p.feet {
		at := p.feet[i].nominal
		speed = max(speed, math.Hypot(v.X-v.Yaw*at.Y, v.Y+v.Yaw*at.X))
	}
	return speed
}

// stopShare is how much of the way from the middle to the feet a stop may need.
const stopShare = 1. / 3

// Stop lets feet in the air come down and the centre of mass come to rest; until it is called with
// false no step begins.
func (p *Planner) Stop(stop bool) { p.halted = stop }

// wants reports whether there is a reason to take steps.
func (p *Planner) wants() bool {
	return !p.halted && (p.gait.Always || p.target.size(p.arm) > tinySpeed || p.Left() > 0)
}

const (
	tinySpeed = 1e-4  // m/s
	nearPlace = 0.003 // m, of a foot from its nominal place
	nearYaw   = 0.02  // rad
)

// Advance lets time pass.
func (p *Planner) Advance(dt float64) {
	p.t += dt
	for p.last+grid <= p.t+1e-9 {
		p.planNext()
	}
}

// planNext goes on to the next point of the grid.
func (p *Planner) planNext() {
	if p.phase == Walks || p.phase == Lands {
		p.x, p.y = p.x.at(grid, p.jx), p.y.at(grid, p.jy)
		p.now = p.after
	}
	p.last += grid
	p.touchDown()
	p.rise()
	switch p.phase {
	case Stands, Settles:
		p.stood()
		if p.wants() {
			p.setOff()
		} else if p.phase == Settles && p.last >= p.endX.begin+p.endX.takes {
			p.rest()
		}
	case Walks:
		if p.halted || p.arrived() {
			p.phase = Lands
		}
	}
	if p.phase == Walks {
		if p.listed.on {
			p.commitListed()
		} else {
			p.arrange()
			p.commit()
			p.changed()
		}
	}
	if p.phase == Lands && !p.flies() {
		p.settle()
	}
	if p.phase == Walks || p.phase == Lands {
		p.room = p.roomy()
		p.after = p.now.next(p.speed(p.last), p.most, grid)
		p.future.plan(p)
		p.jx, p.jy = p.preview.jerk(p.x, &p.future.x), p.preview.jerk(p.y, &p.future.y)
	}
}

// stood takes a gait that waited for a stand.
func (p *Planner) stood() {
	if p.change.on {
		p.adopt(&p.change.gait)
	}
}

// speed is what the body goes towards at a time. While feet come down it goes on as it did: what the
// zero-moment point has to do until all of them stand is not changed by a stop.
func (p *Planner) speed(t float64) Velocity {
	if p.listed.on {
		return p.toMiddle()
	}
	if t < p.begins {
		return Velocity{}
	}
	return p.target.scaled(p.room)
}

// rest stands where it has settled.
func (p *Planner) rest() {
	x, y, yaw := p.endX.at(p.last), p.endY.at(p.last), p.endYaw.at(p.last)
	p.x, p.y, p.jx, p.jy = axis{p: x.p}, axis{p: y.p}, 0, 0
	p.now = body{at: Point{X: x.p, Y: y.p}, yaw: yaw.p}
	p.after, p.phase = p.now, Stands
}

// waits is how long before the first step the centre of mass may move, in units of √(height/g).
const waits = 3.6

// setOff begins to walk.
func (p *Planner) setOff() {
	if p.phase == Settles {
		yaw := p.endYaw.at(p.last)
		p.x, p.y = p.endX.at(p.last), p.endY.at(p.last)
		p.now = body{at: Point{X: p.endX.at(math.Inf(1)).p, Y: p.endY.at(math.Inf(1)).p}, yaw: yaw.p}
		p.now.v.Yaw, p.now.a.Yaw = yaw.v, yaw.a
	}
	p.phase = Walks
	p.from, p.crosses = Point{X: p.preview.zmp(p.x), Y: p.preview.zmp(p.y)}, p.last
	first := p.last + waits*math.Sqrt(p.preview.c)
	p.begins = first - p.gait.Period/8
	for i := range p.feet { // after a stop in the middle of steps feet come nearer first
		f := &p.feet[i]
		if to := p.now.apply(f.nominal); math.Hypot(f.at.X-to.X, f.at.Y-to.Y) > p.cfg.Reach/4 {
			p.begins = first + p.gait.Period/2
		}
	}
	if p.listed.on = p.Left() > 0; p.listed.on {
		p.beginList(first)
		return
	}
	// the foot that is furthest behind its place, as it is going to move, goes first
	start := p.leader()
	for i := range p.feet {
		φ := p.gait.Phase[i] - p.gait.Phase[start]
		p.feet[i].next = first + p.gait.Period*(φ-math.Floor(φ))
	}
}

// leader returns the foot that is lifted first: of those that lead their group, the one that is
// furthest from where it is to go.
func (p *Planner) leader() (best int) {
	most := math.Inf(-1)
	ahead := p.now
	ahead.v = p.target
	ahead = ahead.later(p.gait.Duty * p.gait.Period / 2)
	for i := range p.feet {
		f := &p.feet[i]
		to := ahead.apply(f.nominal)
		// the first in the order of the gait wins among equals
		if d := math.Hypot(to.X-f.at.X, to.Y-f.at.Y) - 1e-6*p.gait.Phase[i]; d > most {
			best, most = i, d
		}
	}
	return best
}

// flies reports whether a foot is in the air, or about to be lifted.
func (p *Planner) flies() bool {
	for i := range p.feet {
		if s := &p.feet[i].swing; s.land > s.lift && p.last < s.land {
			return true
		}
	}
	return false
}

// touchDown lets feet stand whose swing is over.
func (p *Planner) touchDown() {
	for i := range p.feet {
		f := &p.feet[i]
		if s := &f.swing; s.land > s.lift && p.last >= s.land {
			f.at, f.z, f.yaw = s.to, s.height, s.turn
		}
	}
}

// arrived reports whether nothing is commanded, and all feet are at their places.
func (p *Planner) arrived() bool {
	if p.listed.on {
		return p.Left() == 0 && !p.flies()
	}
	if p.wants() || p.now.v.size(p.arm) > 10*tinySpeed || p.flies() {
		return false
	}
	for i := range p.feet {
		if to, yaw := p.foothold(&p.feet[i], p.feet[i].at, p.feet[i].z, p.now, p.now); !p.placed(&p.feet[i], to, yaw) {
			return false
		}
	}
	return true
}

func (p *Planner) placed(f *foot, to Point, yaw float64) bool {
	return math.Hypot(f.at.X-to.X, f.at.Y-to.Y) < nearPlace && math.Abs(f.yaw-yaw) < nearYaw
}

// commit begins the swings that are due: their ends do not change any more.
func (p *Planner) commit() {
	for i := range p.feet {
		f := &p.feet[i]
		if f.next > p.last+p.cfg.Fade+2*grid {
			continue
		}
		lift := f.next
		g := p.by(lift)
		f.next = p.following(f, lift)
		land := lift + (1-g.Duty)*g.Period
		to, yaw := p.foothold(f, f.at, f.z, p.future.bodyAt(p, land), p.future.bodyAt(p, land+g.Duty*g.Period/2))
		if !p.wants() && p.placed(f, to, yaw) {
			continue // it is there
		}
		p.swings(f, lift, land, g.Lift, to, yaw)
	}
}

// swings leads a foot through the air, from where it stands.
func (p *Planner) swings(f *foot, lift, land, rise float64, to Point, yaw float64) {
	T, height := land-lift, p.terrain.height(to)
	top := max(f.z, height, p.terrain.between(f.at, to)) + rise
	up, over := T/2, T
	if p.terrain.flat(f.at, to) { // over an edge a foot goes up before it goes ahead
		a, b := p.gait.Shape()
		up, over = a*T, b*T
	}
	f.swing = swing{lift: lift, land: land, to: to, turn: yaw, height: height,
		x: newQuintic(axis{p: f.at.X}, to.X, lift, over), y: newQuintic(axis{p: f.at.Y}, to.Y, lift, over), yaw: newQuintic(axis{p: f.yaw}, yaw, lift, over),
		up: newQuintic(axis{p: f.z}, top, lift, up), down: newQuintic(axis{p: top}, height, lift+up, T-up)}
}

// foothold returns where a foot that stands at a place and a height is put down for a body that is at one place then, and at another in the
// middle of the stance. Where that is a stair too high or too deep it stays where it is, and the body does not go on without it.
func (p *Planner) foothold(f *foot, from Point, z float64, then, middle body) (Point, float64) {
	under, to := then.apply(f.nominal), middle.apply(f.nominal)
	if d := math.Hypot(to.X-under.X, to.Y-under.Y); d > p.cfg.Reach {
		s := p.cfg.Reach / d
		to = Point{X: under.X + s*(to.X-under.X), Y: under.Y + s*(to.Y-under.Y)}
	}
	to = p.avoid(to, under)
	if p.highest > 0 && math.Abs(p.terrain.height(to)-z) > p.highest {
		to = from
	}
	return to, middle.yaw
}

// Times in which the centre of mass may come to rest, in units of √(height/g): 0.35 … 1.1 s for the pony.
var settling = [...]float64{2.5, 3, 3.5, 4, 5, 6, 8}

// settle brings the centre of mass to rest between the feet, as soon as the zero-moment point keeps its
// margin; else as well as it can.
func (p *Planner) settle() {
	p.phase = Settles
	hull := &p.future.hull
	points := p.future.points[:0]
	var middle Point
	for i := range p.feet {
		points = append(points, p.feet[i].at)
		middle.X += p.feet[i].at.X / float64(len(p.feet))
		middle.Y += p.feet[i].at.Y / float64(len(p.feet))
	}
	hull.Hull(points)
	best := math.Inf(-1)
	for _, s := range settling {
		T := s * math.Sqrt(p.preview.c)
		x, y := newQuintic(p.x, middle.X, p.last, T), newQuintic(p.y, middle.Y, p.last, T)
		m := p.least(hull, &x, &y)
		if m > best {
			best, p.endX, p.endY = m, x, y
			p.endYaw = newQuintic(axis{p.now.yaw, p.now.v.Yaw, p.now.a.Yaw}, p.now.yaw+p.now.v.Yaw*T/2, p.last, T)
		}
		if m >= p.cfg.Margin {
			break
		}
	}
}

// least returns the least margin of the zero-moment point on the way to rest.
func (p *Planner) least(hull *contact.Polygon, x, y *quintic) float64 {
	const looks = 24
	m := math.Inf(1)
	for k := range looks {
		t := x.begin + x.takes*float64(k)/looks
		m = min(m, hull.Margin(Point{X: p.preview.zmp(x.at(t)), Y: p.preview.zmp(y.at(t))}))
	}
	return m
}
