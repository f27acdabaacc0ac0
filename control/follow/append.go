package follow

import (
	"slices"

	"poise/control"
	"poise/robot"
	"poise/trajectory"
)

// Append checks a goal that is to go on where a program ends, and returns one for
// both. It moves the same joints, its times count from that end, and its
// tolerances hold from when it starts. Given to a controller that still plays p,
// the motion goes on without a seam; later, it begins where p ended.
func (p *Program) Append(m *robot.Model, o Options, g *Goal) (*Program, error) {
	next := *g
	next.Begin = 0
	from := p.last(m)
	c := compiler{m: m, o: o, g: &next, from: &from}
	if !p.sameJoints(g) || p.r.Loop || g.Loop {
		c.bad.add(Problem{Kind: CannotExtend, Point: -1, Help: "name the same joints, and loop neither"},
			"the motion of %d joints cannot be extended by one of %d columns", len(p.r.Joints), len(g.Joints))
		return nil, c.bad.err()
	}
	next.Joints, next.Points = p.sorted(g)
	then, err := c.program()
	if err != nil {
		return nil, err
	}
	if gap := then.seam(p); gap != nil {
		return nil, gap
	}
	r := then.r
	end := p.motion.End()
	by := end - then.motion.Start()
	if whole := then.motion.End() + by - p.motion.Start(); whole > maxDuration {
		c.bad.add(Problem{Kind: TooMuch, Point: -1, Value: whole, Limit: maxDuration}, "together they last %g s, at most %d s are played", whole, int(maxDuration))
		return nil, c.bad.err()
	}
	r.Parts = slices.Clone(p.r.Parts)
	for _, x := range then.r.Parts {
		x = x.shifted(by)
		x.Times[0] = r.Parts[len(r.Parts)-1].end() // no rounding between them
		r.Parts = append(r.Parts, x)
	}
	r.Events = slices.Clone(p.r.Events)
	for _, e := range then.r.Events {
		e.Time += by
		r.Events = append(r.Events, e)
	}
	for k := range r.Velocity {
		r.Velocity[k] = max(r.Velocity[k], p.r.Velocity[k])
		r.Acceleration[k] = max(r.Acceleration[k], p.r.Acceleration[k])
		r.Deceleration[k] = max(r.Deceleration[k], p.r.Deceleration[k])
	}
	r.Steps, r.Chains = p.joinTracks(&then.r, by)
	r.Begin, r.Continues, r.Splice, r.Extended = p.r.Begin, p.id, end, len(p.r.Events)
	r.Duration += by
	return build(r)
}

// last returns a command at the end of the program.
func (p *Program) last(m *robot.Model) control.Motion {
	at := control.NewMotion(len(m.Joints()), len(m.Chains()), 0)
	q := make([]float64, p.motion.Joints())
	p.motion.PositionTo(q, p.motion.End())
	for k, j := range p.r.Joints {
		at.Q[j] = q[k]
	}
	return at
}

func (p *Program) sameJoints(g *Goal) bool {
	n := 0
	for _, name := range g.Joints {
		if slices.Contains(p.r.Names, name) {
			n++
		} else if len(name) < len(SupportPrefix) || name[:len(SupportPrefix)] != SupportPrefix {
			return false
		}
	}
	return n == len(p.r.Names)
}

// sorted returns the goal's columns in the order of the program's.
func (p *Program) sorted(g *Goal) ([]string, []trajectory.Point) {
	order := make([]int, 0, len(g.Joints))
	for _, name := range p.r.Names {
		order = append(order, slices.Index(g.Joints, name))
	}
	for k, name := range g.Joints {
		if !slices.Contains(p.r.Names, name) {
			order = append(order, k)
		}
	}
	pick := func(row []float64) []float64 {
		if len(row) != len(order) {
			return row // its size is wrong, and will be refused
		}
		out := make([]float64, len(order))
		for i, k := range order {
			out[i] = row[k]
		}
		return out
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

// seam returns how the beginning of a program misses the end of another.
func (p *Program) seam(before *Program) error {
	n := p.motion.Joints()
	q, v, a, end := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	p.motion.StateTo(q, v, a, p.motion.Start())
	before.motion.PositionTo(end, before.motion.End())
	var bad problems
	for k, name := range p.r.Names {
		if gap := distance(q[k], end[k], p.r.Wraps[k]); gap > closed {
			bad.add(Problem{Kind: StartTooFar, Joint: name, Point: 0, Value: gap, Limit: closed, Help: "begin where the motion ends, or allow an approach"},
				"%q is %.4g away from where the motion before ends, %.4g is allowed", name, gap, closed)
		}
	}
	return bad.err()
}

// joinTracks returns the supports of both motions, one after the other.
func (p *Program) joinTracks(then *record, by float64) (steps []float64, chains []carried) {
	steps = slices.Clone(p.r.Steps)
	for _, t := range then.Steps {
		if t += by; len(steps) > 0 && t <= steps[len(steps)-1] {
			steps = steps[:len(steps)-1] // the seam belongs to what follows
		}
		steps = append(steps, t)
	}
	own := len(steps) - len(then.Steps)
	row := func(x *carried, i int) control.Support {
		if x == nil || x.Track == nil {
			return control.Support{Contact: x.contact()}
		}
		return x.Track[i]
	}
	find := func(list []carried, id robot.ChainID) *carried {
		for i := range list {
			if list[i].Chain == id {
				return &list[i]
			}
		}
		return nil
	}
	for _, x := range append(slices.Clone(p.r.Chains), then.Chains...) {
		if find(chains, x.Chain) != nil {
			continue
		}
		first, second := find(p.r.Chains, x.Chain), find(then.Chains, x.Chain)
		if first.tracked() || second.tracked() {
			x.Track = make([]control.Support, 0, len(steps))
			for i := range own {
				x.Track = append(x.Track, row(first, i))
			}
			for i := range then.Steps {
				x.Track = append(x.Track, row(second, i))
			}
			for i := range x.Track {
				if x.Track[i].Weight == 0 {
					x.Track[i].Contact = x.Contact
				}
			}
		}
		chains = append(chains, x)
	}
	return steps, chains
}

func (x *carried) tracked() bool { return x != nil && x.Track != nil }

func (x *carried) contact() robot.ContactID {
	if x == nil {
		return robot.NoContact
	}
	return x.Contact
}
