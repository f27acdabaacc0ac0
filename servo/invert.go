package servo

import "fmt"

// Command is what one joint is to do by the end of a period: what an Inverter makes
// a setpoint of. Units are those of Setpoint.
type Command struct {
	Joint        int // in array order
	Position     float64
	Velocity     float64
	Acceleration float64
	Effort       float64 // feed-forward: what the joint is to give at this motion
	Stiffness    float64 // share of the servo's full stiffness, 0 … 1
	Voltage      float64 // of the supply as measured, V; 0 if nothing measures it
	Dt           float64 // period, s
}

// Inverter makes setpoints of commands by a model of the servos. It chooses among
// the powered modes; whether a joint has torque is not its to decide. It is called
// once per joint and tick, joints in array order, also for joints without torque.
// Loop-safe.
type Inverter interface {
	InvertTo(dst *Setpoint, c *Command)
}

// InversionConfig chooses an Inverter by name and parameters: plain data, which
// recordings carry along. The zero value is a lead of 0 s.
type InversionConfig struct {
	Name string `json:"name"` // "lead", also if it is empty
	Lead Lead   `json:"lead"`
}

// NewInverter returns the inverter that a configuration chooses.
func NewInverter(c InversionConfig) (Inverter, error) {
	if c.Name != "" && c.Name != "lead" {
		return nil, fmt.Errorf("servo: no inversion is named %q; there is lead", c.Name)
	}
	if !(c.Lead.Time >= 0) || !finite(c.Lead.Time) {
		return nil, fmt.Errorf("servo: lead of %g s, must be zero or above", c.Lead.Time)
	}
	return c.Lead, nil
}

// Lead is the inverter of position servos that are not modelled. It makes up for
// the time that a setpoint takes: the position is where the joint is to be a lead
// later, and the servo is given the period and the lead to get there. A packet
// that is lost then costs a little lead, not a halt.
type Lead struct {
	Time float64 `json:"time"` // s, ≥ 0
}

var _ Inverter = Lead{}

// InvertTo aims ahead; velocity, effort and stiffness pass. Loop-safe.
func (l Lead) InvertTo(dst *Setpoint, c *Command) {
	*dst = Setpoint{Mode: Position, Position: c.Position + c.Velocity*l.Time, Velocity: c.Velocity,
		Effort: c.Effort, Stiffness: c.Stiffness, PlayTime: c.Dt + l.Time}
}
