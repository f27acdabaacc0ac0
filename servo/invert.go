package servo

import (
	"errors"
	"fmt"

	"poise/problem"
	"poise/servo/model"
)

// Command is what one joint is to do by the end of a period: what an Inverter makes
// a setpoint of. Units are those of Setpoint.
type Command struct {
	Joint        int // in array order
	Position     float64
	Velocity     float64
	Acceleration float64
	Effort       float64 // feed-forward: what the joint is to give at this motion
	Stiffness    float64 // share of the servo's full stiffness, 0 … 1
	Voltage      float64 // of the supply as it was measured in this tick, V; 0 if it was not
	Dt           float64 // period, s
	Torque       bool    // the joint has torque
	ByModel      bool    // it is to be driven by its servo's model, if one is known
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
	Name      string         `json:"name"` // "lead", also if it is empty, or "model"
	Lead      Lead           `json:"lead"`
	Models    []*model.Model `json:"models,omitempty"`     // [joints] of "model"; null where none is known
	Version   uint64         `json:"version,omitempty"`    // of the models
	FixedGain bool           `json:"fixed_gain,omitempty"` // servos do not heed Setpoint.Stiffness
	Beyond    float64        `json:"beyond,omitempty"`     // s by which setpoints are extrapolated beyond the period, in case the next one is lost; see Beyond
}

// NewInverter returns the inverter that a configuration chooses.
func NewInverter(c InversionConfig) (Inverter, error) {
	if !(c.Lead.Time >= 0) || !finite(c.Lead.Time) {
		return nil, fmt.Errorf("servo: lead of %g s, must be zero or above", c.Lead.Time)
	}
	if !(c.Beyond >= 0) || !finite(c.Beyond) {
		return nil, fmt.Errorf("servo: setpoints reach %g s beyond a period, must be zero or above", c.Beyond)
	}
	switch c.Name {
	case "", "lead":
		if c.Beyond > 0 {
			return &carried{Inverter: c.Lead, carry: carry{over: c.Beyond}}, nil
		}
		return c.Lead, nil
	case "model":
		for j, m := range c.Models {
			if m != nil {
				if err := usable(m); err != nil {
					return nil, fmt.Errorf("servo: model of joint %d: %w", j, err)
				}
			}
		}
		return newByModel(c), nil
	}
	return nil, fmt.Errorf("servo: no inversion is named %q; there are lead and model%s", c.Name, problem.Hint(c.Name, []string{"lead", "model"}))
}

// usable reports what is wrong with a model in the cycle, where its voltage counts.
func usable(m *model.Model) error {
	wrong := m.Check()
	if m.Voltage == 0 {
		wrong = append(wrong, errors.New("voltage is missing"))
	}
	return errors.Join(wrong...)
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
	*dst = Setpoint{Mode: Position}
	dst.Position, dst.Velocity, dst.Effort = c.Position+c.Velocity*l.Time, c.Velocity, c.Effort
	dst.Stiffness, dst.PlayTime = c.Stiffness, c.Dt+l.Time
}
