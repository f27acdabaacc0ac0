package control

import (
	"encoding/json"

	"poise/robot"
)

// Torque names the joints whose torque an order switches. It is sent like a program
// and, like one, never written again.
type Torque struct {
	Joints robot.Set `json:"joints"`
}

// Claim returns the joints.
func (p *Torque) Claim() (needs, wants robot.Set) { return p.Joints, robot.Set{} }

// MarshalBinary is for the flight recorder.
func (p *Torque) MarshalBinary() ([]byte, error) { return json.Marshal(p) }

// DecodeTorque reads what MarshalBinary wrote.
func DecodeTorque(b []byte) (Program, error) {
	return DecodeJSON("control: torque", b, new(Torque))
}

// Releaser is a Program that takes the torque of joints away. It may begin on joints
// that have none, which no other program may, and it ends when they get torque.
type Releaser interface {
	Program
	Releases() robot.Set
}
