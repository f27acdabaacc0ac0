package follow

import (
	"math"
	"strings"

	"poise/trajectory"
)

// sameTime is a difference of times that is rounding, s.
const sameTime = 1e-9

// Part returns the goal between two of its times, both included, counted from the
// first: at rest at both ends, with the events between them, and the supports that
// hold there. An end that is no point of the goal lies on its curve.
func (g *Goal) Part(from, to float64) (*Goal, error) {
	var bad problems
	first, last := 0.0, 0.0
	if n := len(g.Points); n > 0 {
		first, last = g.Points[0].Time, g.Points[n-1].Time
	}
	if !(from >= first-sameTime && from < to && to <= last+sameTime) {
		bad.add(Problem{Kind: BadOption, Point: -1, At: from, Value: to, Limit: last}, "a part from %g to %g s, the points lie between %g and %g s", from, to, first, last)
		return nil, bad.err()
	}
	curve, err := Curve(g.Points)
	if err != nil {
		return nil, err
	}
	part := *g
	part.Points, part.Events, part.Begin = nil, nil, 0
	part.Points = append(part.Points, g.end(curve.PositionTo, from))
	for _, p := range g.Points {
		if p.Time > from+sameTime && p.Time < to-sameTime {
			part.Points = append(part.Points, p)
		}
	}
	part.Points = append(part.Points, g.end(curve.PositionTo, to))
	for i := range part.Points {
		part.Points[i].Time = max(0, part.Points[i].Time-from)
	}
	for _, e := range g.Events {
		if e.Time >= from-sameTime && e.Time <= to+sameTime {
			e.Time = max(0, min(e.Time-from, to-from))
			part.Events = append(part.Events, e)
		}
	}
	return &part, nil
}

// end returns the state in which a part begins or ends: at rest.
func (g *Goal) end(position func(dst []float64, t float64), at float64) trajectory.Point {
	p := trajectory.Point{Time: at, Position: make([]float64, len(g.Joints))}
	position(p.Position, at)
	held := g.Points[0] // whose supports hold
	for _, x := range g.Points {
		if math.Abs(x.Time-at) <= sameTime {
			copy(p.Position, x.Position)
		}
		if x.Time <= at+sameTime {
			held = x
		}
	}
	for k, name := range g.Joints {
		if strings.HasPrefix(name, SupportPrefix) {
			p.Position[k] = held.Position[k]
		}
	}
	if len(held.Velocity) > 0 {
		p.Velocity = make([]float64, len(g.Joints))
	}
	if len(held.Acceleration) > 0 {
		p.Acceleration = make([]float64, len(g.Joints))
	}
	return p
}
