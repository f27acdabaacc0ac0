package getup

import (
	"encoding/json"
	"errors"

	"poise/control"
	"poise/robot"
)

// From is how a robot lies.
type From uint8

// How it may lie.
const (
	ByUnit From = iota // as the inertial unit tells
	Left               // on its left side
	Right
	Belly
)

// Names are those of From, as goals have them.
var Names = []string{"", "left", "right", "belly"}

// Program gets up. It is never written after it was sent.
type Program struct {
	Needs robot.Set `json:"needs"`
	From  From      `json:"from"`
}

// Claim returns what it asks for.
func (p *Program) Claim() (needs, wants robot.Set) { return p.Needs, robot.Set{} }

// MarshalBinary is for the flight recorder.
func (p *Program) MarshalBinary() ([]byte, error) { return json.Marshal(p) }

// Decode reads what MarshalBinary wrote.
func Decode(b []byte) (control.Program, error) {
	return control.DecodeJSON("get_up", b, new(Program))
}

// Up returns the program by which a robot gets up.
func Up(m *robot.Model, from From) (*Program, error) {
	g := m.GetUp()
	if len(g.Belly) == 0 {
		return nil, errors.New("robot.yaml does not say how the robot gets up: get_up is missing")
	}
	if from != Belly && len(g.Left) == 0 {
		return nil, errors.New("robot.yaml does not say how the robot turns from a side: left of get_up is missing")
	}
	return &Program{Needs: joints(g), From: from}, nil
}

// joints lists those that move, and their images, which move on the other side.
func joints(g *robot.GetUp) (all robot.Set) {
	for _, part := range [][]robot.Rise{g.Left, g.Right, g.Belly} {
		for _, s := range part {
			for _, j := range s.Joints {
				all = all.With(robot.LeafID(j))
			}
		}
	}
	return all
}
