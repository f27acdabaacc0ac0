package stream

import (
	"encoding/json"
	"fmt"

	"poise/control"
	"poise/robot"
)

// Program follows a stream with the joints of Needs, and those of Wants while it
// has them, until it is cancelled. It is never written after it was sent.
type Program struct {
	Needs    robot.Set `json:"needs"`
	Wants    robot.Set `json:"wants"`
	Timeout  float64   `json:"timeout"`  // s without a value until it holds; 0 means 0.5
	Patience float64   `json:"patience"` // s without a value until it gives up; 0 is never
	Speed    float64   `json:"speed"`    // share of the limits of velocity, 0 … 1; 0 means 1
}

// Claim returns what it asks for.
func (p *Program) Claim() (needs, wants robot.Set) { return p.Needs, p.Wants }

// MarshalBinary is for the flight recorder.
func (p *Program) MarshalBinary() ([]byte, error) { return encode("program", p) }

// Sample is one value of the stream: where some joints are to be.
type Sample struct {
	At      int64     `json:"at"` // when it was made, on the clock of the cycle (Tick.Time), ns
	Joints  robot.Set `json:"joints"`
	Q       []float64 `json:"q"`                 // of each joint of the robot; those of Joints count
	Support []Support `json:"support,omitempty"` // which limbs carry
}

// Support says how much a limb carries: 0 is free, 1 carries.
type Support struct {
	Chain  robot.ChainID `json:"chain"`
	Weight float64       `json:"weight"`
}

// Claim asks for nothing: a sample is fed to what runs already.
func (s *Sample) Claim() (needs, wants robot.Set) { return robot.Set{}, robot.Set{} }

// MarshalBinary is for the flight recorder.
func (s *Sample) MarshalBinary() ([]byte, error) { return encode("sample", s) }

// record is a program or a sample in a recording.
type record struct {
	Kind string          `json:"kind"`
	Data json.RawMessage `json:"data"`
}

func encode(kind string, x any) ([]byte, error) {
	data, err := json.Marshal(x)
	if err != nil {
		return nil, err
	}
	return json.Marshal(record{kind, data})
}

// Decode reads what MarshalBinary wrote.
func Decode(b []byte) (control.Program, error) {
	var r record
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("stream: %w", err)
	}
	var p control.Program
	switch r.Kind {
	case "program":
		p = new(Program)
	case "sample":
		p = new(Sample)
	default:
		return nil, fmt.Errorf("stream: %q is neither a program nor a sample", r.Kind)
	}
	if err := json.Unmarshal(r.Data, p); err != nil {
		return nil, fmt.Errorf("stream: %w", err)
	}
	return p, nil
}
