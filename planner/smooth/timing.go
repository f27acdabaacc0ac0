package smooth

import (
	"errors"
	"math"

	"poise/planner"
	"poise/trajectory"
	"poise/trajectory/retime"
)

// finish joins the strands of a run, times it and appends it to the motion. If
// the start does not move along the path, or too fast, it is bridged instead.
func (b *builder) finish(strands []*strand) (bridged bool, why *planner.Refusal) {
	first, speed := strands[0].first(), 0.0
	if first.cartesian() && moving(first.task) {
		along := false
		if speed, along = startSpeed(strands[0].pieces[0], first.task.StartVelocity); !along {
			return true, b.about(b.bridge(first), first.item)
		}
	}
	pieces, why := b.join(strands)
	if why != nil {
		return false, why
	}
	pieces = braking(pieces, speed, len(b.result.Joints))
	r := newRoute(b.Model, b.result.Joints, pieces, b.here)
	run := timedRun{route: r, builder: b, start: speed}
	if len(pieces) == 1 && !first.cartesian() && math.IsInf(first.linkSpeed(), 1) {
		// a point-to-point motion is timed already
		b.append(samples(pieces[0].curve))
		if !moving(first.task) {
			b.spend(strands[0].legs, b.runs, pieces[0].curve.End())
		}
		return false, nil
	}
	t, err := run.solve()
	var fast *retime.SpeedError
	switch {
	case errors.As(err, &fast) && !fast.End && speed > 0:
		return true, b.about(b.bridge(first), first.item)
	case err != nil:
		return false, b.about(planner.Refuse(planner.LimitExceeded, "the motion cannot be timed: %v", err), first.item)
	}
	if len(strands) == 1 && len(strands[0].legs) == 1 && speed == 0 {
		b.spend(strands[0].legs, b.runs, t.Points[len(t.Points)-1].Time)
	}
	b.slowdowns(&run, b.append(t))
	return false, nil
}

// rest takes what rounding has left of velocity and acceleration out of a point.
func rest(p *trajectory.Point) {
	clear(p.Velocity)
	clear(p.Acceleration)
}

// append adds a trajectory, which ends at rest, to the motion and returns when it begins there.
func (b *builder) append(t *trajectory.Trajectory) (start float64) {
	out := b.result.Trajectory
	rest(&t.Points[len(t.Points)-1])
	n := len(out.Points)
	if n == 0 {
		out.Points = t.Points
		return 0
	}
	start = out.Points[n-1].Time
	t.Points = t.Points[1:]
	for _, p := range t.Points {
		p.Time += start
		out.Points = append(out.Points, p)
	}
	return start
}

// timedRun is a run on its way from geometry to samples.
type timedRun struct {
	*builder
	route      *route
	start, end float64 // speeds along the route
	law        retime.Law
}

// margin is what the fast way leaves of the joints' limits to the smoothing of
// its samples.
const margin = 0.995

// solve finds the fastest law and samples it.
func (t *timedRun) solve() (*trajectory.Trajectory, error) {
	limits := make([]trajectory.Limits, len(t.route.pieces))
	jerky := false
	for i, p := range t.route.pieces {
		limits[i] = p.limits
		jerky = jerky || p.limits.Jerk != nil
	}
	problem := retime.Problem{Path: t.route, Limits: limits, StartSpeed: t.start, EndSpeed: t.end}
	var solver retime.Solver
	if !jerky && t.start == 0 && t.end == 0 {
		problem.Limits = tightened(limits, len(t.route.joints))
		if err := solver.Solve(&t.law, &problem); err != nil {
			return nil, err
		}
		if out, s := t.sampled(); t.holds(out, s) {
			t.deviates(out, t.between(s))
			return out, nil
		}
		problem.Limits = limits
	}
	problem.Period = t.period
	if err := solver.Solve(&t.law, &problem); err != nil {
		return nil, err
	}
	out, err := trajectory.Sample(retime.NewMotion(t.route, &t.law), t.period)
	if err != nil {
		return nil, err
	}
	if t.start == 0 && !ends(out) { // a law that nothing had to smooth yet
		out, s := t.sampled()
		t.deviates(out, t.between(s))
		return out, nil
	}
	step := out.Points[len(out.Points)-1].Time / float64(len(out.Points)-1)
	t.deviates(out, func(i int) float64 {
		s, _, _ := t.law.At((float64(i) + 0.5) * step)
		return s
	})
	return out, nil
}

// between returns the function that tells where smoothed samples are half way to
// the next.
func (t *timedRun) between(s []place) func(i int) float64 {
	return func(i int) float64 { return (s[i].s+s[i+1].s)/2 + t.period/8*(s[i].v-s[i+1].v) }
}

// ends reports whether a trajectory ends without acceleration, up to rounding.
func ends(t *trajectory.Trajectory) bool {
	const rounding = 1e-9 // of any acceleration limit that makes sense
	for _, a := range t.Points[len(t.Points)-1].Acceleration {
		if math.Abs(a) > rounding {
			return false
		}
	}
	return true
}

// tightened returns limits with a margin on those of the joints.
func tightened(all []trajectory.Limits, joints int) []trajectory.Limits {
	out := make([]trajectory.Limits, len(all))
	for i, l := range all {
		out[i] = trajectory.Limits{Velocity: shrunk(l.Velocity, joints), Acceleration: shrunk(l.Acceleration, joints), Deceleration: shrunk(l.Deceleration, joints)}
	}
	return out
}

func shrunk(x []float64, joints int) []float64 {
	x = append([]float64(nil), x...)
	for j := range joints {
		x[j] *= margin
	}
	return x
}

// place is where a sample is on a route, and how fast.
type place struct{ s, v float64 }

// sampled samples the law evenly, smoothed over its samples: the path parameter
// is a cubic B-spline in time whose control points are where the law would be. It
// begins and ends at rest without acceleration, a period earlier and later than
// the law. It returns where on the route each sample is, too.
func (t *timedRun) sampled() (out *trajectory.Trajectory, places []place) {
	h, duration := t.period, t.law.Duration()
	count := max(1, int(math.Ceil(duration/h-1e-9)))
	n := len(t.route.joints)
	out, places = trajectory.New(count+3, n), make([]place, count+3)
	row := make([]float64, 3*(n+measures))
	q, dq, ddq := row[:n+measures], row[n+measures:2*(n+measures)], row[2*(n+measures):]
	end := t.route.breaks[len(t.route.breaks)-1]
	at := func(k int) float64 {
		switch {
		case k <= 1:
			return 0
		case k >= count+1:
			return end
		}
		s, _, _ := t.law.At(float64(k-1) * h)
		return s
	}
	piece := 0
	before, now := at(-1), at(0)
	for k := range out.Points {
		next := at(k + 1)
		up, down := next-now, now-before
		s, v, a := now+(up-down)/6, (up+down)/(2*h), (up-down)/(h*h)
		before, now = now, next
		places[k] = place{s, v}
		for piece+1 < len(t.route.pieces) && s > t.route.breaks[piece+1] {
			piece++
		}
		t.route.StateTo(q, dq, ddq, piece, s)
		p := &out.Points[k]
		p.Time = float64(k) * h
		for j := range n {
			p.Position[j] = q[j]
			p.Velocity[j] = dq[j] * v
			p.Acceleration[j] = ddq[j]*v*v + dq[j]*a
		}
	}
	return out, places
}

// holds reports whether the quintic through samples keeps the limits of the
// joints at every instant. On a segment its velocity and acceleration lie between
// the control points of their Bernstein form; where those are within the limits
// so is the curve. (They are so close to it that nothing more exact is needed.)
func (t *timedRun) holds(out *trajectory.Trajectory, s []place) bool {
	piece := 0
	for i := 1; i < len(out.Points); i++ {
		first := piece
		for piece+1 < len(t.route.pieces) && s[i].s > t.route.breaks[piece+1] {
			piece++
		}
		for k := first; k <= piece; k++ {
			if !t.segmentHolds(&out.Points[i-1], &out.Points[i], &t.route.pieces[k].limits) {
				return false
			}
		}
	}
	return true
}

func (t *timedRun) segmentHolds(from, to *trajectory.Point, l *trajectory.Limits) bool {
	const slack = 1 + 1e-8 // rounding of differences
	h := t.period
	per := 1 / h
	for j := range t.route.joints {
		q0, v0, a0 := from.Position[j], from.Velocity[j], from.Acceleration[j]
		q1, v1, a1 := to.Position[j], to.Velocity[j], to.Acceleration[j]
		d := (q1 - q0) * per

		// velocities: v0, b1, b2, b3, v1
		b1, b3 := v0+h*a0/4, v1-h*a1/4
		b2 := 5*d - 2*(v0+v1) + h*(a1-a0)/4
		fast, slow := max(v0, b1, b2, b3, v1), min(v0, b1, b2, b3, v1)
		if most := l.Velocity[j] * slack; fast > most || -slow > most {
			return false
		}

		// accelerations: a0, c1, c2, a1
		c1 := 20*(d-0.4*v1-0.6*v0)*per + a1 - 2*a0
		c2 := 20*(0.6*v1+0.4*v0-d)*per - 2*a1 + a0
		up, down := l.Acceleration[j], l.Deceleration[j]
		switch {
		case slow < 0 && fast > 0: // it turns, or rests: both
			up = min(up, down)
			down = up
		case slow < 0:
			up, down = down, up
		}
		if max(a0, c1, c2, a1) > up*slack || -min(a0, c1, c2, a1) > down*slack {
			return false
		}
	}
	return true
}
