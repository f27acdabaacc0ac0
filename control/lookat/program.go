package lookat

import (
	"poise/control"
	"poise/robot"
	"poise/spatial"
)

// Program looks at a point until it is cancelled. It is never written after it was
// sent.
type Program struct {
	Needs     robot.Set `json:"needs"`
	Wants     robot.Set `json:"wants"` // it looks with what it has
	Target    Target    `json:"target"`
	Tolerance float64   `json:"tolerance"` // of the gaze, rad, for a target to count as within reach; 0 means 1°
}

// Target is what to look at. It starts with a Program, or is fed to one.
type Target struct {
	At     int64        `json:"at"` // when it was made, on the clock of the cycle (Tick.Time), ns; of a fed one
	Point  spatial.Vec3 `json:"point"`
	InBase bool         `json:"in_base"` // Point is seen from the base and moves with it; otherwise it is in the world
}

// At returns the program that looks at a point of the world with eyes and head: it
// goes on with the eyes alone while another controller has the head.
func At(m *robot.Model, point spatial.Vec3) (*Program, error) {
	g, err := findGaze(m)
	if err != nil {
		return nil, err
	}
	p := &Program{Needs: g.eyesSet, Wants: g.headSet, Target: Target{Point: point}}
	if p.Needs.Empty() {
		p.Needs, p.Wants = p.Wants, p.Needs
	}
	return p, nil
}

// Claim returns what it asks for.
func (p *Program) Claim() (needs, wants robot.Set) { return p.Needs, p.Wants }

// MarshalBinary is for the flight recorder.
func (p *Program) MarshalBinary() ([]byte, error) { return control.EncodeRecord("program", p) }

// Claim asks for nothing: a target is fed to what runs already.
func (t *Target) Claim() (needs, wants robot.Set) { return robot.Set{}, robot.Set{} }

// MarshalBinary is for the flight recorder.
func (t *Target) MarshalBinary() ([]byte, error) { return control.EncodeRecord("target", t) }

// Decode reads what MarshalBinary wrote.
func Decode(b []byte) (control.Program, error) {
	return control.DecodeRecord("lookat", b, func(kind string) control.Program {
		switch kind {
		case "program":
			return new(Program)
		case "target":
			return new(Target)
		}
		return nil
	})
}
