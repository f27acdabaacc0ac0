package follow

import (
	"math"
	"slices"
	"strings"

	"poise/control"
	"poise/problem"
	"poise/robot"
	"poise/trajectory"
)

// Append checks a goal that is to go on where a program ends, and returns one for
// both. It moves the same joints, its times count from that end, and its
// tolerances hold from when it starts. Given to a controller that still plays p,
// the motion goes on without a seam; later, it begins where p ended.
func Append(m *robot.Model, o Options, p *Program, g *Goal) (*Program, error) {
	next, from, first := *g, lastOf(m, p), p.Record()
	next.Begin = 0
	c := compiler{m: m, o: o, g: &next, from: &from}
	if !sameJoints(first.Names, g) || first.Loop || g.Loop {
		c.bad.add(problem.Problem{Code: CannotExtend, Help: "name the same joints, and loop neither"},
			"the motion of %d joints cannot be extended by one of %d columns", len(first.Joints), len(g.Joints))
		return nil, c.bad.err()
	}
	next.Joints, next.Points = sorted(first.Names, g)
	then, err := c.program()
	if err != nil {
		return nil, err
	}
	c.seam(p, then)
	end := p.Curve().End()
	by := end - then.Curve().Start()
	c.together(p, then)
	if c.bad.any() {
		return nil, c.bad.err()
	}
	r := *then.Record()
	r.Parts = slices.Clone(first.Parts)
	for _, x := range then.Record().Parts {
		x.Times = shifted(x.Times, by)
		x.Times[0] = r.Parts[len(r.Parts)-1].End() // no rounding between them
		r.Parts = append(r.Parts, x)
	}
	r.Events = slices.Clone(first.Events)
	if r.Limbs == nil {
		r.Limbs = first.Limbs
	}
	for _, e := range then.Record().Events {
		e.Time += by
		r.Events = append(r.Events, e)
	}
	r.Velocity = larger(r.Velocity, first.Velocity)
	r.Acceleration = larger(r.Acceleration, first.Acceleration)
	r.Deceleration = larger(r.Deceleration, first.Deceleration)
	r.Steps, r.Chains = joinTracks(first, then.Record(), by)
	r.Begin, r.Continues, r.Splice, r.Extended = first.Begin, p.ID(), end, len(first.Events)
	return Build(r)
}

func shifted(times []float64, by float64) []float64 {
	out := make([]float64, len(times))
	for i, t := range times {
		out[i] = t + by
	}
	return out
}

func larger(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = max(a[i], b[i])
	}
	return out
}

// lastOf returns a command at the end of a program.
func lastOf(m *robot.Model, p *Program) control.Motion {
	at := control.NewMotion(len(m.Joints()), len(m.Chains()), 0)
	curve := p.Curve()
	q := make([]float64, curve.Joints())
	curve.PositionTo(q, curve.End())
	for k, j := range p.Record().Joints {
		at.Q[j] = q[k]
	}
	return at
}

// sameJoints reports whether a goal moves exactly the joints of some names.
func sameJoints(names []string, g *Goal) bool {
	n := 0
	for _, name := range g.Joints {
		if slices.Contains(names, name) {
			n++
		} else if !strings.HasPrefix(name, SupportPrefix) {
			return false
		}
	}
	return n == len(names)
}

// sorted returns the goal's columns in the order of some names, and the rest after
// them.
func sorted(first []string, g *Goal) ([]string, []trajectory.Point) {
	order := make([]int, 0, len(g.Joints))
	for _, name := range first {
		order = append(order, slices.Index(g.Joints, name))
	}
	for k, name := range g.Joints {
		if !slices.Contains(first, name) {
			order = append(order, k)
		}
	}
	pick := func(row []float64) []float64 {
		if len(row) != len(order) {
			return row // its size is wrong, and will be refused
		}
		return picked(row, order)
	}
	names := make([]string, len(order))
	for i, k := range order {
		names[i] = g.Joints[k]
	}
	points := make([]trajectory.Point, len(g.Points))
	for i, x := range g.Points {
		points[i] = trajectory.Point{Time: x.Time, Position: pick(x.Position), Velocity: pick(x.Velocity), Acceleration: pick(x.Acceleration)}
	}
	return names, points
}

// seam refuses a program that does not begin where the one before it ends.
func (c *compiler) seam(before, then *Program) {
	n := then.Curve().Joints()
	begin, end := make([]float64, n), make([]float64, n)
	then.Curve().PositionTo(begin, then.Curve().Start())
	before.Curve().PositionTo(end, before.Curve().End())
	for k, name := range c.r.Names {
		if c.r.Wraps[k] {
			begin[k] = trajectory.Nearest(begin[k], end[k])
		}
		if gap := math.Abs(begin[k] - end[k]); gap > closed {
			c.bad.add(problem.Problem{Code: StartTooFar, Joint: name, Row: 1, Value: gap, Limit: closed, Help: "begin where the motion ends, or allow an approach"},
				"%q is %.4g %s away from where the motion before ends, %.4g is allowed", name, gap, c.unit(k), closed)
		}
	}
}

// together refuses what is too much as one motion.
func (c *compiler) together(before, then *Program) {
	points := 0
	for _, p := range [...]*Program{before, then} {
		for i := range p.Record().Parts {
			points += len(p.Record().Parts[i].Times)
		}
	}
	if most := 2 * maxPoints; points > most {
		c.bad.add(problem.Problem{Code: TooMuch, Value: float64(points), Limit: float64(most)}, "together they have %d points, at most %d are played", points, most)
	}
	length := func(p *Program) float64 { return p.Curve().End() - p.Curve().Start() }
	if whole := length(before) + length(then); whole > maxDuration {
		c.bad.add(problem.Problem{Code: TooMuch, Value: whole, Limit: maxDuration}, "together they last %g s, at most %d s are played", whole, int(maxDuration))
	}
}

// joinTracks returns the supports of two motions, one after the other.
func joinTracks(first, then *Record, by float64) (steps []float64, chains []Support) {
	steps = slices.Clone(first.Steps)
	for _, t := range then.Steps {
		if t += by; len(steps) > 0 && t <= steps[len(steps)-1] {
			steps = steps[:len(steps)-1] // the seam belongs to what follows
		}
		steps = append(steps, t)
	}
	own := len(steps) - len(then.Steps)
	for _, support := range append(slices.Clone(first.Chains), then.Chains...) {
		if chainOf(chains, support.Chain) != nil {
			continue
		}
		a, b := chainOf(first.Chains, support.Chain), chainOf(then.Chains, support.Chain)
		if tracked(a) || tracked(b) || holds(a) && b != nil && !holds(b) {
			support.Track, support.Holds = trackOf(a, support.Contact, own), false
			next := trackOf(b, support.Contact, len(then.Steps))
			if holds(b) && own > 0 { // what it carries by then
				for i := range next {
					next[i] = support.Track[own-1]
				}
			}
			support.Track = append(support.Track, next...)
		}
		chains = append(chains, support)
	}
	return steps, chains
}

func chainOf(list []Support, id robot.ChainID) *Support {
	for i := range list {
		if list[i].Chain == id {
			return &list[i]
		}
	}
	return nil
}

func tracked(x *Support) bool { return x != nil && x.Track != nil }

func holds(x *Support) bool { return x != nil && x.Track == nil && x.Holds }

// trackOf returns the first steps of what a chain carries; one without a track is
// free, or is taken to stand if it holds what it carried.
func trackOf(x *Support, own robot.ContactID, steps int) []control.Support {
	track := make([]control.Support, steps)
	for i := range track {
		if tracked(x) {
			track[i] = x.Track[i]
		} else if holds(x) {
			track[i].Weight = 1
		}
		if track[i].Weight == 0 || holds(x) {
			track[i].Contact = own
		}
	}
	return track
}
