package walk

import (
	"errors"
	"fmt"
	"slices"

	"poise/contact"
	"poise/control"
	"poise/gait"
	"poise/problem"
	"poise/robot"
)

// Program walks as it is told by a stream of velocities, and stands until one comes; or it walks to a place,
// or by footsteps, and is done there. It is never written after it was sent.
type Program struct {
	Needs robot.Set      `json:"needs"` // the base, and the legs of Feet
	Wants robot.Set      `json:"wants"` // held where they are, so that the centre of mass stays
	Feet  []contact.Foot `json:"feet"`
	Gait  string         `json:"gait"` // one of gait.Names; empty chooses by speed
	To    *Target        `json:"to,omitempty"`
	Steps []Step         `json:"steps,omitempty"`
}

// Velocity leads the body. It counts for half a second.
type Velocity struct {
	At       int64         `json:"at"` // when it was made, on the clock of the cycle (Tick.Time), ns
	Velocity gait.Velocity `json:"velocity"`
}

// Choice sets the gait.
type Choice struct {
	At   int64  `json:"at"`   // as of a velocity
	Gait string `json:"gait"` // one of gait.Names; empty chooses by speed
}

// Operate returns the program that walks on all legs of a robot, which must be in a set, and holds the
// other joints of it.
func Operate(m *robot.Model, set robot.Set) (control.Program, error) {
	p, err := Walk(m)
	if err != nil {
		return nil, err
	}
	if !set.Contains(p.Needs.Intersect(joints(m))) {
		return nil, fmt.Errorf("all legs are needed to walk, and they are not all among the resources: %s", problem.List(Resources(m)))
	}
	p.Wants = p.Wants.Intersect(set)
	return p, nil
}

func joints(m *robot.Model) robot.Set { return control.JointLeaves(len(m.Joints())) }

// Walk returns the program that walks on all legs of a robot.
func Walk(m *robot.Model) (*Program, error) {
	res, err := m.Resources()
	if err != nil {
		return nil, err
	}
	p := new(Program)
	base, ok := res.Find("base")
	if !ok {
		return nil, errors.New("the base does not move")
	}
	p.Needs = base
	for i, c := range m.Chains() {
		if c.Contact == robot.NoContact {
			continue
		}
		p.Feet = append(p.Feet, contact.Foot{Chain: robot.ChainID(i), Contact: c.Contact})
		for _, j := range c.Joints {
			p.Needs = p.Needs.With(res.OfJoint(j))
		}
	}
	for i, l := range res.Leaves() {
		if l.Kind == robot.SupportLeaf {
			p.Needs = p.Needs.With(robot.LeafID(i))
		}
	}
	for _, name := range wanted(m) {
		if set, ok := res.Find(name); ok {
			p.Wants = p.Wants.Union(set.Intersect(joints(m)))
		}
	}
	p.Wants = p.Wants.Minus(p.Needs)
	return p, nil
}

// wanted names what has mass and is not needed: limbs that do not stand, and a tail.
func wanted(m *robot.Model) (names []string) {
	for _, c := range m.Chains() {
		if c.Contact == robot.NoContact {
			names = append(names, c.Name)
		}
	}
	return append(names, "tail")
}

// Resources names what it works on: the legs, and what it holds.
func Resources(m *robot.Model) (names []string) {
	p, err := Walk(m)
	res, err2 := m.Resources()
	if err != nil || err2 != nil || len(p.Feet) == 0 {
		return nil // such a robot does not walk
	}
	all := p.Needs.Union(p.Wants)
	for _, r := range res.List() {
		if r.Set.Overlaps(all.Intersect(joints(m))) && !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	return names
}

// Claim returns what it asks for.
func (p *Program) Claim() (needs, wants robot.Set) { return p.Needs, p.Wants }

// heldRank is the priority with which it holds what it only wants: any motion takes it.
const heldRank = 20

// Rank gives what it only wants to every goal that asks for it; legs keep the priority of the controller.
func (p *Program) Rank(leaf robot.LeafID) (pending, operational float32, own bool) {
	return heldRank, heldRank, p.Wants.Has(leaf)
}

// MarshalBinary is for the flight recorder.
func (p *Program) MarshalBinary() ([]byte, error) { return control.EncodeRecord("program", p) }

// Claim asks for nothing: a velocity is fed to what runs already.
func (v *Velocity) Claim() (needs, wants robot.Set) { return robot.Set{}, robot.Set{} }

// MarshalBinary is for the flight recorder.
func (v *Velocity) MarshalBinary() ([]byte, error) { return control.EncodeRecord("velocity", v) }

// Claim asks for nothing.
func (c *Choice) Claim() (needs, wants robot.Set) { return robot.Set{}, robot.Set{} }

// Lane is beside the velocities.
func (c *Choice) Lane() int { return 1 }

// MarshalBinary is for the flight recorder.
func (c *Choice) MarshalBinary() ([]byte, error) { return control.EncodeRecord("choice", c) }

// Decode reads what MarshalBinary wrote.
func Decode(b []byte) (control.Program, error) {
	return control.DecodeRecord("walk", b, func(kind string) control.Program {
		switch kind {
		case "program":
			return new(Program)
		case "velocity":
			return new(Velocity)
		case "choice":
			return new(Choice)
		case "parameters":
			return new(Parameters)
		case "ground":
			return new(Ground)
		}
		return nil
	})
}
