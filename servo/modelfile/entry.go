package modelfile

import (
	"strings"

	"poise/servo/model"
)

// Entry is a servo model as robot.yaml and files of models write it.
type Entry struct {
	Name       string         `yaml:",key"`
	Line       int            `yaml:",line"`
	Lines      map[string]int `yaml:",lines"`
	Kp         float64        `yaml:"kp"`         // gain
	Voltage    float64        `yaml:"voltage"`    // nominal, V
	Gear       float64        `yaml:"gear"`       // turns of the servo for one of the joint; 0 is that of servos.JOINT.gear
	Effort     float64        `yaml:"effort"`     // greatest torque, N·m
	Saturation float64        `yaml:"ks"`         // greatest left side over the voltage, in its place
	Lead       float64        `yaml:"lead"`       // s
	DeadZone   *float64       `yaml:"dead_zone"`  // rad/s
	Stiffness  float64        `yaml:"stiffness"`  // N·m/rad
	Backlash   float64        `yaml:"backlash"`   // rad
	Resolution float64        `yaml:"resolution"` // rad
	Parameters Parameters     `yaml:"parameters"`
	Identified Identified     `yaml:"identified"`
}

// Identified says how a model was found; empty of one that was not.
type Identified struct {
	Date        string  `yaml:"date"`        // UTC
	Voltage     float64 `yaml:"voltage"`     // mean, V; 0 is unknown
	Temperature float64 `yaml:"temperature"` // mean, °C; 0 is unknown
	RMSE        float64 `yaml:"rmse"`        // of positions that were not fitted, rad
	Taken       string  `yaml:"taken"`       // parameters of the servo's type, with blanks between them
}

// Parameters are those of the equation of package model.
type Parameters struct {
	Lines map[string]int `yaml:",lines"`
	A0    float64        `yaml:"a0"`
	A1    float64        `yaml:"a1"`
	A2    float64        `yaml:"a2"`
	A3    float64        `yaml:"a3"`
	A4    float64        `yaml:"a4"`
	A5    float64        `yaml:"a5"`
	Speed float64        `yaml:"vs"` // rad/s
}

// Model returns the model that the entry describes.
func (e *Entry) Model() model.Model {
	p := &e.Parameters
	m := model.Model{Kp: e.Kp, Voltage: e.Voltage, Gear: e.Gear, Saturation: e.Saturation, Effort: e.Effort, Lead: e.Lead,
		DeadZone: model.DefaultDeadZone, Stiffness: e.Stiffness, Backlash: e.Backlash, Quantum: e.Resolution,
		A: [6]float64{p.A0, p.A1, p.A2, p.A3, p.A4, p.A5}, Speed: p.Speed}
	if e.DeadZone != nil {
		m.DeadZone = *e.DeadZone
	}
	return m
}

// LineOf returns where what an error of model.Check begins with stands, or else the entry.
func (e *Entry) LineOf(wrong error) int {
	name, _, _ := strings.Cut(wrong.Error(), " ")
	if inner, ok := strings.CutPrefix(name, "parameters."); ok {
		if line := e.Parameters.Lines[inner]; line > 0 {
			return line
		}
		name = "parameters"
	}
	if line := e.Lines[name]; line > 0 {
		return line
	}
	return e.Line
}
