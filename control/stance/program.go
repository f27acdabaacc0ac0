package stance

import (
	"errors"
	"fmt"
	"math"

	"poise/contact"
	"poise/control"
	"poise/problem"
	"poise/robot"
	"poise/spatial"
)

// Program keeps feet where they are and moves the body over them. It is never
// written after it was sent.
type Program struct {
	Needs  robot.Set      `json:"needs"` // the base, and the legs of Feet
	Feet   []contact.Foot `json:"feet"`  // stand, and stay where they stand
	Target *Target        `json:"target,omitempty"`
	Margin float64        `json:"margin"` // the centre of mass stays this far inside the feet, m; 0 means 0.01
	Once   bool           `json:"once"`   // it is over when the target is reached; otherwise it stays and takes more
}

// Target is where the body is to be. It starts with a Program, or is fed to one.
type Target struct {
	At       int64        `json:"at"`       // when it was made, on the clock of the cycle (Tick.Time), ns; of a fed one
	Body     spatial.Pose `json:"body"`     // X_WB
	Relative bool         `json:"relative"` // to where the body was when the program started
}

// Stand returns the program that stands on some chains, or on all that can.
func Stand(m *robot.Model, chains ...string) (*Program, error) {
	res, err := m.Resources()
	if err != nil {
		return nil, err
	}
	p := new(Program)
	if base, ok := res.Find("base"); ok {
		p.Needs = base
	}
	var names []string
	for _, c := range m.Chains() {
		if c.Contact != robot.NoContact {
			names = append(names, c.Name)
		}
	}
	if len(chains) == 0 {
		chains = names
	}
	var errs []error
	for _, name := range chains {
		id, ok := m.Chain(name)
		if !ok || m.Chains()[id].Contact == robot.NoContact {
			errs = append(errs, fmt.Errorf("stance: %s cannot stand on %q%s", m.Name(), name, problem.Hint(name, names)))
			continue
		}
		c := &m.Chains()[id]
		p.Feet = append(p.Feet, contact.Foot{Chain: id, Contact: c.Contact})
		for _, j := range c.Joints {
			p.Needs = p.Needs.With(res.OfJoint(j))
		}
		for i, l := range res.Leaves() {
			if l.Kind == robot.SupportLeaf && l.Chain == id {
				p.Needs = p.Needs.With(robot.LeafID(i))
			}
		}
	}
	return p, errors.Join(errs...)
}

// Claim returns what it asks for.
func (p *Program) Claim() (needs, wants robot.Set) { return p.Needs, robot.Set{} }

// MarshalBinary is for the flight recorder.
func (p *Program) MarshalBinary() ([]byte, error) { return control.EncodeRecord("program", p) }

// Claim asks for nothing: a target is fed to what runs already.
func (t *Target) Claim() (needs, wants robot.Set) { return robot.Set{}, robot.Set{} }

// MarshalBinary is for the flight recorder.
func (t *Target) MarshalBinary() ([]byte, error) { return control.EncodeRecord("target", t) }

// isPose reports whether a body can be there: numbers, and a rotation.
func isPose(X *spatial.Pose) bool {
	const roundoff = 1e-6 // of a quaternion in a message
	E := X.R.Transpose().Mul(X.R)
	for i, e := range E {
		if !(math.Abs(e-spatial.Identity3[i]) <= roundoff) {
			return false
		}
	}
	return X.P.Finite() && X.R.Col(0).Cross(X.R.Col(1)).Dot(X.R.Col(2)) > 0
}

// Decode reads what MarshalBinary wrote.
func Decode(b []byte) (control.Program, error) {
	return control.DecodeRecord("stance", b, func(kind string) control.Program {
		switch kind {
		case "program":
			return new(Program)
		case "target":
			return new(Target)
		}
		return nil
	})
}
