package estimate

import (
	"poise/contact"
	"poise/control"
	"poise/robot"
	"poise/spatial"
)

// slack is how far a foot may be from its place, or from the ground, and still count as
// standing, m.
const slack = 0.005

// Sample is what is known of a robot in one tick.
type Sample struct {
	Time      float64           // s
	Q, V, A   []float64         // of each joint; V or A is nil if it is not known
	Support   []control.Support // of each chain, as commanded
	Commanded []bool            // of each chain: Support says whether it stands; otherwise that is found out
	Begun     bool              // every joint was read; until then the robot is settled anew in each update

	Orientation Orientation // of the base, if an inertial unit knows it
}

// Base is the estimate of where the base of a robot is and which feet stand. Make one
// with NewBase.
type Base struct {
	odometry *Odometry
	ground   *contact.Ground
	chains   []chain
	feet     []foot // that may stand
	input    Input
	settled  bool // the last judgement changed nothing
	said     bool // the base is where an override put it: it is not settled anew,
	floor    bool // and the ground is to be found under the feet that stand there
	plain    []contact.Foot
	matches  []contact.Match
}

// chain is what is known of one chain.
type chain struct {
	contact   robot.ContactID // its own
	commanded bool            // by the last sample
	air       bool            // not commanded, and found in the air
	weight    float64
}

// foot is a foot that may stand.
type foot struct {
	at        Foot
	commanded bool
	sole      spatial.Vec3 // its first contact point, seen from the base
}

// NewBase returns the estimate of a robot that stands at the origin of the world.
func NewBase(m *robot.Model) (*Base, error) {
	odometry, err := NewOdometry(m)
	if err != nil {
		return nil, err
	}
	n := len(m.Chains())
	b := &Base{odometry: odometry, ground: odometry.ground, feet: make([]foot, 0, n), plain: make([]contact.Foot, 0, n),
		matches: make([]contact.Match, 0, cap(odometry.matches)), input: Input{Feet: make([]Foot, 0, n)}}
	for _, c := range m.Chains() {
		b.chains = append(b.chains, chain{contact: c.Contact, commanded: true})
	}
	return b, nil
}

// Measure lets the estimate be that of measured joints, as Odometry.Measure says. Setup.
func (b *Base) Measure() { b.odometry.Measure() }

// Motion returns where the base is and how it moves. Loop-safe.
func (b *Base) Motion() control.BaseRef { return b.odometry.Base() }

// Support returns the weight of a chain's contact: as commanded, or as found. Loop-safe.
func (b *Base) Support(chain int) float64 { return b.chains[chain].weight }

// Set says where the base is at a time (s), from a source that knows, and commands all
// feet. Loop-safe.
func (b *Base) Set(t float64, base control.BaseRef) {
	b.odometry.Set(t, base)
	for i := range b.chains {
		b.chains[i].commanded, b.chains[i].air = true, false
	}
}

// Override says where the base is at a time (s), against all that was known: odometry goes
// on from there, and the ground is where the feet that stand then are, at their height and
// in their tilt. Gently, place and heading change at once and the tilt, which torques
// depend on, within a second. Loop-safe.
func (b *Base) Override(t float64, X_WB spatial.Pose, gently bool) {
	was := b.odometry.base.Pose.R
	b.Set(t, atRest(X_WB))
	b.odometry.placed = true
	b.said, b.floor = true, true
	if gently {
		heading := func(R spatial.Mat3) spatial.Mat3 { return contact.Level(spatial.Pose{R: R}).R }
		was = heading(X_WB.R).Mul(heading(was).Transpose()).Mul(was)
		b.odometry.lean = lean{φ: X_WB.R.Transpose().Mul(was).Quat().Log(), began: t, active: true}
	}
}

// findFloor puts the ground under the feet that stand.
func (b *Base) findFloor() {
	b.plain = b.plain[:0]
	for i := range b.feet {
		if !b.chains[b.feet[i].at.Chain].air {
			b.plain = append(b.plain, b.feet[i].at.Foot)
		}
	}
	X := b.odometry.base.Pose
	if b.input.Orientation.Has {
		X.R = b.input.Orientation.R
	}
	if Y, ok := b.ground.Settle(b.input.Q, b.plain); ok {
		b.odometry.floor, b.floor = X.Mul(Y.Inverse()), false
	}
}

// Update finds the base and the feet that stand. Loop-safe.
func (b *Base) Update(s *Sample) {
	input := &b.input
	input.Time, input.Q, input.V, input.A, input.Orientation = s.Time, s.Q, s.V, s.A, s.Orientation
	if !s.Begun && !b.said {
		b.odometry.begun = false
	}
	open, released := b.take(s)
	if b.floor {
		b.findFloor()
	}
	if open && (released || !b.settled || b.moved()) {
		b.settled = b.judge()
	}
	input.Feet = input.Feet[:0]
	for i := range b.feet {
		f := &b.feet[i]
		c := &b.chains[f.at.Chain]
		if c.weight = f.at.Weight; c.air {
			c.weight = 0
			continue
		}
		input.Feet = append(input.Feet, f.at)
	}
	b.odometry.Update(input)
}

// take collects the feet that may stand: those that are commanded to, and those that
// are not commanded. It reports whether there are such, and whether some were commanded
// until now.
func (b *Base) take(s *Sample) (open, released bool) {
	b.feet = b.feet[:0]
	for i := range b.chains {
		c := &b.chains[i]
		if c.contact == robot.NoContact {
			continue
		}
		support := &s.Support[i]
		at := Foot{contact.Foot{Chain: robot.ChainID(i), Contact: support.Contact}, support.Weight}
		if at.Contact == robot.NoContact {
			at.Contact = c.contact
		}
		was := c.commanded
		c.commanded = s.Commanded[i]
		if c.commanded {
			c.air, c.weight = false, 0
			if at.Weight > 0 {
				b.feet = append(b.feet, foot{at: at, commanded: true})
			}
			continue
		}
		open = true
		if was {
			released, c.air = true, at.Weight <= 0
		}
		if at.Weight <= 0 {
			at.Weight = 1
		}
		b.feet = append(b.feet, foot{at: at})
	}
	if released {
		// commands may have left feet away from their places: they stand here now
		b.odometry.stay()
	}
	return open, released
}

// moved reports whether a leg that may stand is not where it was.
func (b *Base) moved() bool {
	for i := range b.feet {
		for _, j := range b.odometry.legs[b.feet[i].at.Chain] {
			if b.input.Q[j] != b.odometry.last.q[j] {
				return true
			}
		}
	}
	return !b.odometry.begun
}
