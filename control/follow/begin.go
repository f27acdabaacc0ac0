package follow

import (
	"math"

	"poise/control"
	"poise/problem"
	"poise/trajectory"
)

// near is a distance from the first point that is left to the bridge even where
// an approach is allowed, rad or m.
const near = 0.01

// closed is how far apart the ends of a loop, or a motion and what follows it, may
// be, rad or m.
const closed = 0.001

// shortestMove is the time that an approach takes at least, s.
const shortestMove = 0.05

// body returns the goal's own points, by column, with angles the short way.
func (c *compiler) body() Segment {
	pick := func(row []float64) []float64 {
		if len(row) == 0 {
			return nil
		}
		out := make([]float64, max(len(c.column), 1))
		for k, j := range c.column {
			out[k] = row[j]
		}
		return out
	}
	points := make([]trajectory.Point, len(c.g.Points))
	for i, p := range c.g.Points {
		points[i] = trajectory.Point{Time: p.Time, Position: pick(p.Position), Velocity: pick(p.Velocity), Acceleration: pick(p.Acceleration)}
		c.r.Steps = append(c.r.Steps, p.Time)
	}
	for k := range c.column {
		if c.r.Wraps[k] {
			unwrap(points, k)
		}
	}
	return segmentOf(points)
}

// begin puts the parts of the motion together: a way to the first point, the
// body, and in a loop the way back.
func (c *compiler) begin(body Segment) {
	if c.r.Loop {
		c.r.Again = body.Times[0]
	}
	switch {
	case body.Times[0] > 0:
		c.leadIn(&body)
	case len(body.Times) == 1: // a pose
		body.Times = []float64{0, instant}
		body.Q = append(body.Q, body.Q[0])
		body.V, body.A = nil, nil
		fallthrough
	default:
		c.approach(body.Q[0])
	}
	c.r.Parts = append(c.r.Parts, body)
	if c.r.Loop {
		c.wayBack(&c.r.Parts[len(c.r.Parts)-1])
	}
}

// leadIn begins a goal whose first point is later than zero where the command is.
func (c *compiler) leadIn(body *Segment) {
	if c.from == nil {
		c.bad.add(problem.Problem{Code: NoStart, Row: 1, At: body.Times[0], Value: body.Times[0], Help: "give a point at time 0"},
			"the first point is at %g s, and where the robot is at 0 s is not known", body.Times[0])
		return
	}
	first := trajectory.Point{Position: c.pose}
	if len(c.joints) == 0 {
		first.Position = make([]float64, 1)
	}
	for k := range c.joints {
		if c.r.Wraps[k] { // the whole motion moves to the turn that the joint is in
			by := trajectory.Nearest(body.Q[0][k], c.pose[k]) - body.Q[0][k]
			for i := range body.Q {
				body.Q[i][k] += by
			}
		}
	}
	if c.r.Loop { // each round begins at the first point, at rest
		c.r.Parts = append(c.r.Parts, resting(first.Position, body.Q[0], 0, body.Times[0]))
		if len(body.Times) == 1 {
			body.Times, body.Q, body.V, body.A = append(body.Times, body.Times[0]+instant), append(body.Q, body.Q[0]), nil, nil
		}
		return
	}
	row := func(of []float64) []float64 {
		out := make([]float64, max(len(c.joints), 1))
		for k, id := range c.joints {
			out[k] = of[id]
		}
		return out
	}
	body.Times, body.Q = append([]float64{0}, body.Times...), append([][]float64{first.Position}, body.Q...)
	if body.V != nil {
		body.V = append([][]float64{row(c.from.V)}, body.V...)
	}
	if body.A != nil {
		body.A = append([][]float64{row(c.from.A)}, body.A...)
	}
}

// approach inserts a move to the first point if the robot stands elsewhere, or
// refuses.
func (c *compiler) approach(first []float64) {
	if c.from == nil || c.r.Begin != 0 && c.g.Approach == 0 {
		return // the controller judges when it begins
	}
	start := make([]float64, len(first))
	far := false
	for k := range c.joints {
		start[k] = c.pose[k]
		if c.r.Wraps[k] {
			start[k] = trajectory.Nearest(c.pose[k], first[k])
		}
		off, most := math.Abs(start[k]-first[k]), c.r.Path[k].Position
		far = far || off > near || most >= 0 && off > most
		if most >= 0 && off > most && c.g.Approach == 0 {
			c.bad.add(problem.Problem{Code: StartTooFar, Joint: c.r.Names[k], Row: 1, Value: off, Limit: most, Help: "move there first, or allow an approach"},
				"%q is %.4g %s away from where the motion starts, %.4g is allowed", c.r.Names[k], off, c.unit(k), most)
		}
	}
	if c.g.Approach > 0 && far {
		took := c.moveTime(start, first)
		c.r.Parts = append(c.r.Parts, resting(start, first, -took, 0))
		c.carryThere(-took)
	}
}

// carryThere gives supports a step for the approach: what carries both now and at the
// first point carries on the way, and nothing else.
func (c *compiler) carryThere(from float64) {
	c.r.Steps = append([]float64{from}, c.r.Steps...)
	for i := range c.r.Chains {
		x := &c.r.Chains[i]
		if x.Track == nil {
			continue
		}
		on, now := x.Track[0], c.from.Support[x.Chain]
		if now.Contact != on.Contact {
			now.Weight = 0
		}
		on.Weight = min(on.Weight, now.Weight)
		x.Track = append([]control.Support{on}, x.Track...)
	}
}

// wayBack closes a loop.
func (c *compiler) wayBack(body *Segment) {
	first, last := body.Q[0], body.Q[len(body.Q)-1]
	again := make([]float64, len(first))
	open := false
	for k := range c.joints {
		if again[k] = first[k]; c.r.Wraps[k] {
			again[k] = trajectory.Nearest(first[k], last[k])
		}
		if gap := math.Abs(again[k] - last[k]); gap > closed {
			open = true
			if c.g.Approach == 0 {
				c.bad.add(problem.Problem{Code: OpenLoop, Joint: c.r.Names[k], Row: len(c.g.Points), At: body.End(), Value: gap, Limit: closed,
					Help: "end where it begins, or allow an approach"}, "the loop ends with %q %.4g %s away from its beginning", c.r.Names[k], gap, c.unit(k))
			}
		}
	}
	if !open {
		copy(last, again) // rounding is closed exactly
		return
	}
	if c.g.Approach > 0 {
		c.r.Parts = append(c.r.Parts, resting(last, again, body.End(), body.End()+c.moveTime(last, again)))
	}
}

// moveTime returns how long a quintic from rest to rest takes with the share of
// the limits that an approach may use. Its peaks are 15/8·d/T and 10/√3·d/T².
func (c *compiler) moveTime(from, to []float64) float64 {
	share, t := c.g.Approach, shortestMove
	for k, id := range c.joints {
		d, l := math.Abs(to[k]-from[k]), c.moves[id]
		t = max(t, 1.875*d/(share*l.VelMax), math.Sqrt(5.7735026918962577*d/(share*l.AccMax)))
	}
	return t
}

// resting returns a move from a pose to another, at rest at both.
func resting(from, to []float64, start, end float64) Segment {
	zero := [][]float64{make([]float64, len(from)), make([]float64, len(from))}
	return Segment{Times: []float64{start, end}, Q: [][]float64{from, to}, V: zero, A: zero}
}
