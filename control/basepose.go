package control

import (
	"encoding/json"

	"poise/robot"
	"poise/spatial"
)

// BasePlacement says where the base of a robot is, from a source that knows it: odometry
// goes on from there. It is sent like a program and, like one, never written again.
type BasePlacement struct {
	Pose spatial.Pose `json:"pose"` // X_WB
}

// FarthestBase is how far from the origin a base may be along an axis, m: up to there a double
// resolves 1e-10 m, so that torques are smooth.
const FarthestBase = 1e5

// Claim returns nothing: what moves goes on.
func (p *BasePlacement) Claim() (needs, wants robot.Set) { return robot.Set{}, robot.Set{} }

// MarshalBinary is for the flight recorder.
func (p *BasePlacement) MarshalBinary() ([]byte, error) { return json.Marshal(p) }

// DecodeBasePlacement reads what MarshalBinary wrote.
func DecodeBasePlacement(b []byte) (Program, error) {
	return DecodeJSON("control: placement of the base", b, new(BasePlacement))
}
