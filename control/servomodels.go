package control

import (
	"encoding/json"
	"fmt"

	"poise/robot"
	"poise/servo"
)

// ServoModels are models of servos that are to be taken over. They are sent like a program and,
// like one, never written again.
type ServoModels struct {
	servo.ModelSet
}

// Claim returns nothing: models are unowned.
func (p *ServoModels) Claim() (needs, wants robot.Set) { return needs, wants }

// MarshalBinary is for the flight recorder.
func (p *ServoModels) MarshalBinary() ([]byte, error) { return json.Marshal(&p.ModelSet) }

// DecodeServoModels reads what MarshalBinary wrote.
func DecodeServoModels(b []byte) (Program, error) {
	p := new(ServoModels)
	if err := json.Unmarshal(b, &p.ModelSet); err != nil {
		return nil, fmt.Errorf("control: servo models: %w", err)
	}
	for joint, err := range p.Check() {
		return nil, fmt.Errorf("control: servo models: joint %d: %w", joint, err)
	}
	return p, nil
}
