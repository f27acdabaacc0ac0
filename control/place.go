package control

import (
	"encoding/json"

	"poise/robot"
)

// Placement puts joints somewhere at once, of a robot that can be placed. It is sent
// like a program and, like one, never written again.
type Placement struct {
	Joints []robot.JointID `json:"joints"`
	Q      []float64       `json:"q"` // of each of Joints, rad or m
}

// Claim returns the joints that must have no owner.
func (p *Placement) Claim() (needs, wants robot.Set) {
	for _, j := range p.Joints {
		if j >= 0 && j < robot.MaxLeaves {
			needs = needs.With(robot.LeafID(j))
		}
	}
	return needs, wants
}

// MarshalBinary is for the flight recorder.
func (p *Placement) MarshalBinary() ([]byte, error) { return json.Marshal(p) }

// DecodePlacement reads what MarshalBinary wrote.
func DecodePlacement(b []byte) (Program, error) {
	return DecodeJSON("control: placement", b, new(Placement))
}
