package estimate

import (
	"poise/contact"
	"poise/control"
	"poise/robot"
	"poise/spatial"
)

// slack is how far a foot may be from its place, or from the ground, and stand still,
// m.
const slack = 0.005

// Sample is what is known of a robot in one tick.
type Sample struct {
	Time    float64           // s
	Q, V, A []float64         // of each joint; V or A is nil if it is not known
	Support []control.Support // of each chain, as commanded
	Told    []bool            // of each chain: somebody says whether it stands, and Support is believed
	Begun   bool              // every joint was read; until then the robot is settled anew each time
}

// Base is the estimate of where the base of a robot is, and of which feet stand. Make
// one with NewBase.
type Base struct {
	odometry *Odometry
	ground   *contact.Ground
	chains   []chain
	feet     []foot // that may stand
	input    Input
	calm     bool // the last judgement changed nothing
	plain    []contact.Foot
	matches  []contact.Match
}

// chain is what is known of one chain.
type chain struct {
	contact robot.ContactID // that it stands on unless told otherwise
	told    bool            // by the last sample
	air     bool            // not told, and found in the air
	weight  float64
}

// foot is a foot that may stand.
type foot struct {
	Foot
	told bool
	sole spatial.Vec3 // its first contact point, seen from the base
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
		b.chains = append(b.chains, chain{contact: c.Contact, told: true})
	}
	return b, nil
}

// Motion returns where the base is and how it moves. Loop-safe.
func (b *Base) Motion() control.BaseRef { return b.odometry.Base() }

// Support returns how much a chain carries: as it was told, or as it was found.
// Loop-safe.
func (b *Base) Support(chain int) float64 { return b.chains[chain].weight }

// Slip returns the largest distance of a standing foot from its place, m. Loop-safe.
func (b *Base) Slip() float64 { return b.odometry.Slip() }

// Set says where the base is at a time (s), from a source that knows, and knows which
// feet stand. Loop-safe.
func (b *Base) Set(t float64, base control.BaseRef) {
	b.odometry.Set(t, base)
	for i := range b.chains {
		b.chains[i].told, b.chains[i].air = true, false
	}
}

// Update finds the base and the feet that stand. Loop-safe.
func (b *Base) Update(s *Sample) {
	in := &b.input
	in.Time, in.Q, in.V, in.A = s.Time, s.Q, s.V, s.A
	if !s.Begun {
		b.odometry.begun = false
	}
	if judged, news := b.take(s); judged && (news || !b.calm || b.moved()) {
		b.calm = b.judge()
	}
	in.Feet = in.Feet[:0]
	for i := range b.feet {
		f := &b.feet[i]
		c := &b.chains[f.Chain]
		if c.weight = f.Weight; c.air {
			c.weight = 0
			continue
		}
		in.Feet = append(in.Feet, f.Foot)
	}
	b.odometry.Update(in)
}

// take collects the feet that may stand: those that are told to, and those that nobody
// speaks of. It reports whether there are such, and whether some of them are new.
func (b *Base) take(s *Sample) (judged, news bool) {
	b.feet = b.feet[:0]
	for i := range b.chains {
		c := &b.chains[i]
		if c.contact == robot.NoContact {
			continue
		}
		support := &s.Support[i]
		f := foot{Foot: Foot{contact.Foot{Chain: robot.ChainID(i), Contact: support.Contact}, support.Weight}, told: s.Told[i]}
		if f.Contact == robot.NoContact {
			f.Contact = c.contact
		}
		was := c.told
		if c.told = f.told; f.told {
			c.air, c.weight = false, 0
			if f.Weight > 0 {
				b.feet = append(b.feet, f)
			}
			continue
		}
		judged = true
		if was {
			news, c.air = true, f.Weight <= 0
		}
		if f.Weight <= 0 {
			f.Weight = 1
		}
		b.feet = append(b.feet, f)
	}
	if news {
		// what was told may have left feet away from their places: they are now here
		b.odometry.stay()
	}
	return judged, news
}

// moved reports whether a leg that may stand is not where it was.
func (b *Base) moved() bool {
	for i := range b.feet {
		for _, j := range b.odometry.legs[b.feet[i].Chain] {
			if b.input.Q[j] != b.odometry.last.q[j] {
				return true
			}
		}
	}
	return !b.odometry.begun
}
