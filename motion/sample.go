package motion

import (
	"errors"
	"fmt"
	"math"

	"poise/control/follow"
	"poise/problem"
	"poise/robot"
	"poise/trajectory"
	"poise/trajectory/spline"
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
func Sample(g *follow.Goal, m *robot.Model, period float64) (*Samples, error) {
	curve, err := curveOf(g, m)
	if err != nil {
		return nil, err
	}
	if !(period > 0) || curve.Duration()/period > maxSamples {
		return nil, &problem.Problem{Code: ErrOperation, Value: period, Limit: curve.Duration() / maxSamples,
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
	for j, name := range g.Moved() {
		c := Curve{Joint: name, Limits: limitsOf(m, name)}
		for _, p := range t.Points {
			c.Position, c.Velocity, c.Acceleration = append(c.Position, p.Position[j]), append(c.Velocity, p.Velocity[j]), append(c.Acceleration, p.Acceleration[j])
		}
		s.Curves = append(s.Curves, c)
	}
	return s, nil
}

// curveOf returns the curve of a document's goal.
func curveOf(g *follow.Goal, m *robot.Model) (*spline.Spline, error) {
	if len(g.Points) == 0 {
		return nil, errors.New("no row is enabled: a motion needs two")
	}
	return g.Curve(m)
}

// Peak is what one joint does at most: exact extremes of its curve.
type Peak struct {
	Joint     string
	Low, High float64 // positions

	// magnitudes with their sign
	Velocity, Acceleration float64

	Limits robot.Limits
}

// Peaks returns the extremes of a goal's curve, joint by joint. The robot may be nil.
func Peaks(g *follow.Goal, m *robot.Model) ([]Peak, error) {
	s, err := curveOf(g, m)
	if err != nil {
		return nil, err
	}
	var all []Peak
	for j, name := range g.Moved() {
		p := Peak{Joint: name, Limits: limitsOf(m, name)}
		low, high := s.Range(j, spline.Position, s.Start(), s.End())
		p.Low, p.High = low.Value, high.Value
		p.Velocity = s.Peak(j, spline.Velocity, s.Start(), s.End()).Value
		p.Acceleration = s.Peak(j, spline.Acceleration, s.Start(), s.End()).Value
		all = append(all, p)
	}
	return all, nil
}

func limitsOf(m *robot.Model, joint string) (l robot.Limits) {
	if m == nil {
		return l
	}
	if id, ok := m.Joint(joint); ok {
		l = m.Joints()[id].Limits
	}
	return l
}

// LimitsOf returns the limits of joints of a robot as arrays; what the robot does not
// limit is infinite.
func LimitsOf(m *robot.Model, joints []string) *trajectory.Limits {
	l := &trajectory.Limits{}
	value := func(x robot.Limit, absent float64) float64 {
		if x.Has {
			return x.Value
		}
		return absent
	}
	inf := math.Inf(1)
	for _, name := range joints {
		var of robot.Limits
		if id, ok := m.Joint(name); ok {
			of = m.Joints()[id].Limits
		}
		l.Lower, l.Upper = append(l.Lower, value(of.Lower, -inf)), append(l.Upper, value(of.Upper, inf))
		l.Velocity = append(l.Velocity, value(of.Velocity, inf))
		a := value(of.Acceleration, inf)
		l.Acceleration = append(l.Acceleration, a)
		l.Deceleration = append(l.Deceleration, math.Abs(value(of.Deceleration, a)))
	}
	return l
}
