package motion

import (
	"fmt"

	"poise/robot"
	"poise/trajectory"
)

// maxSamples bounds what one question for curves may cost.
const maxSamples = 100_000

// Samples are the curves of a goal at even times.
type Samples struct {
	Times  []float64
	Curves []Curve // one per joint of the goal
}

// Curve is what one joint does, at the times of the Samples.
type Curve struct {
	Joint                            string
	Position, Velocity, Acceleration []float64
	Limits                           robot.Limits // of the robot; absent where it has none
}

// Sample draws the curves of a goal at even times, at most a period apart, ends
// included. The robot may be nil: then there are no limits.
func (g *Goal) Sample(m *robot.Model, period float64) (*Samples, error) {
	curve, err := g.Curve(m)
	if err != nil {
		return nil, err
	}
	if !(period > 0) || curve.Duration()/period > maxSamples {
		return nil, &Problem{Kind: ErrOperation, Value: period, Limit: curve.Duration() / maxSamples,
			Text: fmt.Sprintf("a period of %v s for a motion of %v s: it must be at least %v s", period, curve.Duration(), curve.Duration()/maxSamples)}
	}
	t, err := trajectory.Sample(curve, period)
	if err != nil {
		return nil, err
	}
	s := &Samples{}
	for _, p := range t.Points {
		s.Times = append(s.Times, p.Time)
	}
	for j, name := range g.Joints {
		c := Curve{Joint: name}
		if m != nil {
			if id, ok := m.Joint(name); ok {
				c.Limits = m.Joints()[id].Limits
			}
		}
		for _, p := range t.Points {
			c.Position, c.Velocity, c.Acceleration = append(c.Position, p.Position[j]), append(c.Velocity, p.Velocity[j]), append(c.Acceleration, p.Acceleration[j])
		}
		s.Curves = append(s.Curves, c)
	}
	return s, nil
}
