package smooth

import (
	"errors"
	"math"

	"poise/planner"
	"poise/trajectory"
	"poise/trajectory/retime"
)

// finish joins the strands of a run, times it and appends it to the motion. If
// the start is too fast for that, it is bridged instead.
func (b *builder) finish(strands []*strand, speed float64) (bridged bool, why *planner.Refusal) {
	first := strands[0].first()
	pieces, why := b.join(strands)
	if why != nil {
		return false, why
	}
	r := newRoute(b.Model, b.result.Joints, pieces, b.here)
	run := timedRun{route: r, builder: b, start: speed}
	if len(pieces) == 1 && !first.cartesian() && math.IsInf(first.linkSpeed(), 1) {
		// a point-to-point motion is timed already
		b.append(samples(pieces[0].curve))
		return false, nil
	}
	t, err := run.solve()
	var fast *retime.SpeedError
	switch {
	case errors.As(err, &fast) && !fast.End && speed > 0: // too fast for the path
		return true, b.about(b.bridge(first), first.item)
	case err != nil:
		return false, b.about(planner.Refuse(planner.LimitExceeded, "the motion cannot be timed: %v", err), first.item)
	}
	b.slowdowns(&run, b.append(t))
	return false, nil
}

// append adds a trajectory to the motion and returns when it begins there.
func (b *builder) append(t *trajectory.Trajectory) (start float64) {
	out := b.result.Trajectory
	if n := len(out.Points); n > 0 {
		start = out.Points[n-1].Time
		t.Points = t.Points[1:]
	}
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
const margin = 0.998

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
		if out := t.sampled(); t.holds(out, limits) {
			return out, nil
		}
		problem.Limits = limits
	}
	problem.Period = t.period
	if err := solver.Solve(&t.law, &problem); err != nil {
		return nil, err
	}
	return trajectory.Sample(retime.NewMotion(t.route, &t.law), t.period)
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

// sampled samples the law evenly, smoothed over its samples: the path parameter
// is a cubic B-spline in time whose control points are where the law would be. It
// begins and ends at rest without acceleration, a period earlier and later than
// the law.
func (t *timedRun) sampled() *trajectory.Trajectory {
	h, duration := t.period, t.law.Duration()
	count := max(1, int(math.Ceil(duration/h-1e-9)))
	step := duration / float64(count) // of the law, in one period
	n := len(t.route.joints)
	out := trajectory.New(count+3, n)
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
		s, _, _ := t.law.At(float64(k-1) * step)
		return s
	}
	piece := 0
	before, now := at(-1), at(0)
	for k := range out.Points {
		next := at(k + 1)
		up, down := next-now, now-before
		s, v, a := now+(up-down)/6, (up+down)/(2*h), (up-down)/(h*h)
		before, now = now, next
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
	return out
}

// holds reports whether the quintic through samples keeps the limits of the
// joints at every instant. Where limits change along the run it does not know.
func (t *timedRun) holds(out *trajectory.Trajectory, limits []trajectory.Limits) bool {
	const slack = 1e-9
	n := len(t.route.joints)
	head := func(x []float64) []float64 { return x[:n] }
	l := trajectory.Limits{Velocity: head(limits[0].Velocity), Acceleration: head(limits[0].Acceleration), Deceleration: head(limits[0].Deceleration)}
	for i := range limits {
		for j := range n {
			if limits[i].Velocity[j] != l.Velocity[j] || limits[i].Acceleration[j] != l.Acceleration[j] || limits[i].Deceleration[j] != l.Deceleration[j] {
				return false
			}
		}
	}
	curve, err := out.Interpolant()
	return err == nil && len(l.Violations(curve, slack)) == 0
}
