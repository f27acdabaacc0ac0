package external

import (
	"math"

	"poise/robot"
	"poise/spatial"
)

// State is that of a foot.
type State uint8

// The states.
const (
	Unknown  State = iota // its servos are not known, or have no torque
	Swing                 // in the air
	Touching              // a force is felt, not yet for long enough
	Stance                // it carries
	Lifting               // no force is felt any more, not yet for long enough
)

var stateNames = [...]string{"unknown", "swing", "touching", "stance", "lifting"}

func (s State) String() string { return stateNames[s] }

// Contact is the state of a foot. Chains without a contact have none: Foot is false.
type Contact struct {
	Foot  bool
	State State
	Force float64 // on the sole, upwards, N
	Sigma float64 // its standard deviation, N
	Doubt float64 // N of it that dry friction may explain
	On    float64 // force of a touch-down, N
	Since float64 // s, when it last came to stand, or to swing
	Early bool    // it stands, and is to swing
	Late  bool    // it is to stand, and does not

	count    int     // ticks for which what is felt differs from the state
	lifted   float64 // s, when it was last commanded to swing
	expected bool    // to stand, by the tick before
	begun    bool
}

// Carries reports whether a foot carries, as far as is known. Loop-safe.
func (c *Contact) Carries() bool { return c.State == Stance || c.State == Lifting }

// Known reports whether it is known if a foot carries. Loop-safe.
func (c *Contact) Known() bool { return c.State != Unknown }

// EventKind says what happened to a limb.
type EventKind uint8

// The kinds.
const (
	TouchDown EventKind = iota
	LiftOff
	Impact
)

var eventNames = [...]string{"touch_down", "lift_off", "impact"}

func (k EventKind) String() string { return eventNames[k] }

// Event is a touch-down, a lift-off or an impact.
type Event struct {
	Kind  EventKind
	Chain robot.ChainID
	Time  float64       // s
	Force spatial.Vec3  // on the limb, world axes, N; of an impact what came suddenly
	Joint robot.JointID // that felt an impact most
	Size  float64       // of an impact: multiple of the threshold; of others the force upwards, N
}

// Numbers of the detector.
const (
	sigmas    = 5     // threshold of a touch-down, in standard deviations
	onTicks   = 2     // ticks above the threshold until a touch-down
	strong    = 2     // multiple of the threshold at which one tick is enough
	offTicks  = 3     // ticks until a lift-off
	offShare  = 0.5   // share of the threshold below which a foot lifts off …
	offMost   = 2     // … and multiple of ForceOn, whichever is less: the threshold of a straight leg says little
	leadTime  = 0.025 // s by which the estimated force usually lags: it is extrapolated
	leadUpTo  = 0.016 // s, longest period with extrapolation: in longer ones the change of a tick is mostly noise
	leadShare = 0.75  // share of the threshold that the force itself must have where the end of the swing is unknown …
	dueShare  = 0.31  // … and where the foot is due to land
	dueAt     = 0.95  // share of a swing from which on a foot is due
	swingGate = 0.3   // share of a swing in which no touch-down counts
	expectAt  = 0.8   // share of a swing from which on one is expected
	upright   = 0.5   // least vertical share of the force of an unexpected touch-down
	slowTime  = 0.1   // s, time constant of the mean that an impact differs from
	calmTime  = 0.15  // s after a touch-down, a lift-off or an impact without another impact of the limb
	hitTicks  = 2     // ticks until an impact
)

// Contact returns the state of a chain's foot. Loop-safe.
func (s *Sense) Contact(c robot.ChainID) *Contact { return &s.contacts[c] }

// Contacts returns the states of all chains: read only. Loop-safe.
func (s *Sense) Contacts() []Contact { return s.contacts }

// Events returns what happened in the last tick: read only, until the next. Loop-safe.
func (s *Sense) Events() []Event { return s.events }

func (s *Sense) tell(e Event) {
	if len(s.events) < cap(s.events) {
		e.Time = s.time
		s.events = append(s.events, e)
	}
}

// judge updates the states of feet and looks for impacts.
func (s *Sense) judge(sample *Sample) {
	for i := range s.limbs {
		c := robot.ChainID(i)
		if s.limbs[i].foot {
			e := Expectation{Carries: true, Phase: -1}
			if sample.Expected != nil {
				e = sample.Expected[i]
			}
			s.judgeFoot(c, e, sample.Dt)
		}
		s.judgeImpact(c, sample.Dt)
	}
}

func (s *Sense) judgeFoot(id robot.ChainID, e Expectation, dt float64) {
	c, l := &s.contacts[id], &s.limbs[id]
	if !e.Carries && (c.expected || !c.begun) {
		c.lifted = s.time
	}
	c.expected, c.begun = e.Carries, true
	if !l.Valid {
		*c = Contact{Foot: true, lifted: c.lifted, expected: c.expected, begun: true}
		return
	}
	felt, gone, need := s.feels(c, l, e, dt)
	switch c.State {
	case Unknown:
		if c.State, c.Since, c.count = Swing, s.time, 0; c.Force > c.On {
			c.State = Stance
		}
	case Swing, Touching:
		c.step(felt, need, Swing, Touching, Stance, s.time)
		if c.State == Stance {
			s.tell(Event{Kind: TouchDown, Chain: id, Force: l.Force, Joint: robot.NoJoint, Size: c.Force})
			s.jumps[id].calm = calmTime
		}
	default:
		c.step(gone, offTicks, Stance, Lifting, Swing, s.time)
		if c.State == Swing {
			s.tell(Event{Kind: LiftOff, Chain: id, Force: l.Force, Joint: robot.NoJoint, Size: c.Force})
			s.jumps[id].calm = calmTime
		}
	}
	c.Early, c.Late = c.Carries() && !e.Carries, !c.Carries() && e.Carries
}

// feels updates the force on a foot. It returns whether the force is one of contact, whether it is gone, and
// for how many ticks a touch-down needs it.
func (s *Sense) feels(c *Contact, l *limb, e Expectation, dt float64) (felt, gone bool, need int) {
	was := c.Force
	c.Force, c.Sigma, c.Doubt = l.along(s, spatial.Vec3{Z: 1})
	c.On = math.Max(s.opt.ForceOn, sigmas*c.Sigma)
	sure, awaited := c.Force-c.Doubt, e.Carries || e.Phase >= expectAt
	felt, gone, need = sure > c.On, c.Force < offShare*math.Min(c.On, offMost*s.opt.ForceOn), onTicks
	if awaited || sure > strong*c.On {
		need = 1
	}
	due := e.Carries || e.Phase >= dueAt
	if dt <= leadUpTo && s.loss <= leastLoss && (due || e.Phase < 0) {
		share := leadShare
		if due {
			share = dueShare
		}
		if sure+leadTime*(c.Force-was)/dt > c.On && c.Force > share*c.On {
			felt, need = true, 1
		}
	}
	if !awaited && c.Force < upright*l.Force.Norm() {
		felt = false // something hit it from the side
	}
	if !e.Carries && (e.Phase >= 0 && e.Phase < swingGate || e.Phase < 0 && s.time-c.lifted < s.opt.LiftGate) {
		felt = false // what drags while it is lifted is no touch-down
	}
	return felt, gone, need
}

// step goes from one state to the next, by way of doubt, when a condition has held for enough ticks.
func (c *Contact) step(seen bool, need int, from, doubt, next State, now float64) {
	if !seen {
		c.State, c.count = from, 0
		return
	}
	c.count++
	if c.State = doubt; c.count >= need {
		c.State, c.Since, c.count = next, now, 0
	}
}

// jump is how sudden changes of a limb's residuals are found.
type jump struct {
	slow  []float64 // filtered residuals: of a foot that stands, those that its contact does not explain
	force spatial.Vec3
	begun bool
	stood bool
	count int
	calm  float64 // s left in which nothing is told
}

// judgeImpact looks for residuals that jump. Loads of a foot that stands come and go with every
// step: of them only what its contact does not explain counts.
func (s *Sense) judgeImpact(id robot.ChainID, dt float64) {
	l, j := &s.limbs[id], &s.jumps[id]
	if !l.Valid {
		j.begun, j.count = false, 0
		return
	}
	stands := l.foot && s.contacts[id].State != Swing
	if stands != j.stood {
		j.begun, j.stood = false, stands
	}
	worst, at := 0.0, robot.NoJoint
	blend := dt / (slowTime + dt)
	for a, id := range l.joints {
		r := &s.joints[id]
		x := r.External
		if stands {
			x = l.rest[a]
		}
		if !j.begun {
			j.slow[a] = x
		}
		limit := s.opt.Impact*r.Sigma + s.dry(&s.acts[id], 0) + r.Lost // friction may turn about at any time
		if size := math.Abs(x-j.slow[a]) / math.Max(limit, 1e-9); size > worst {
			worst, at = size, id
		}
		j.slow[a] += blend * (x - j.slow[a])
	}
	if !j.begun {
		j.force = l.Force
	}
	sudden := l.Force.Sub(j.force)
	j.force = j.force.Add(sudden.Scale(blend))
	j.begun, j.calm = true, math.Max(0, j.calm-dt)
	if worst < 1 || j.calm > 0 {
		j.count = 0
		return
	}
	if j.count++; j.count >= hitTicks {
		j.count, j.calm = 0, calmTime
		s.tell(Event{Kind: Impact, Chain: id, Force: sudden, Joint: at, Size: worst})
	}
}
