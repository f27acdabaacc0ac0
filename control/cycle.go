package control

import (
	"encoding/json"

	"poise/robot"
)

// Cycle chooses by which cycle of motion control joints are driven. It is sent like a
// program and, like one, never written again.
type Cycle struct {
	Number int       `json:"number"` // 0 positions alone, 1 with the torques that the motion needs, 2 by the whole body under strict priorities
	Joints robot.Set `json:"joints"`
}

// LastCycle is the highest number of a cycle of motion control.
const LastCycle = 2

// Claim returns the joints.
func (p *Cycle) Claim() (needs, wants robot.Set) { return p.Joints, robot.Set{} }

// MarshalBinary is for the flight recorder.
func (p *Cycle) MarshalBinary() ([]byte, error) { return json.Marshal(p) }

// DecodeCycle reads what MarshalBinary wrote.
func DecodeCycle(b []byte) (Program, error) {
	return DecodeJSON("control: choice of the cycle", b, new(Cycle))
}
