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
	if p := pieces[0]; p.curve == nil { // a point-to-point motion is timed already
		took := p.timed.Points[len(p.timed.Points)-1].Time
		b.append(p.timed)
		if !moving(first.task) {
			b.spend(strands[0].legs, 0, took)
		}
		return false, nil
	}
	if !first.cartesian() && moving(first.task) {
		speed = pieces[0].opening * pieces[0].scale
	}
	run := timedRun{builder: b, start: speed}
	t, err := run.begin(pieces)
	var fast *retime.SpeedError
	var refused *planner.Refusal
	switch {
	case errors.As(err, &refused):
		return false, b.about(refused, first.item)
	case errors.As(err, &fast) && !fast.End && speed > 0:
		return true, b.about(b.bridge(first), first.item)
	case err != nil:
		return false, b.about(planner.Refuse(planner.LimitExceeded, "the motion cannot be timed: %v", err), first.item)
	}
	if speed == 0 {
		var legs []*leg
		for _, s := range strands {
			legs = append(legs, s.legs...)
		}
		b.spend(legs, run.sharp, t.Points[len(t.Points)-1].Time)
	}
	took := t.Points[len(t.Points)-1].Time
	at := b.append(t)
	b.slowdowns(&run, at)
	if len(strands) == 1 && len(strands[0].legs) == 1 {
		b.overall(&run, first, at, took)
	}
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
	route *route
	start float64 // speed along the route with which it begins
	law   retime.Law
	sharp float64 // how long the law takes before it is smoothed, if known
}

// begin solves with as little room to brake as a moving start needs.
func (t *timedRun) begin(pieces []*piece) (out *trajectory.Trajectory, err error) {
	const tries = 7
	for k := range tries {
		t.route = newRoute(t.Model, t.result.Joints, braking(pieces, t.start, len(t.result.Joints), k), t.here)
		out, err = t.solve()
		var fast *retime.SpeedError
		if t.start == 0 || !errors.As(err, &fast) || fast.End {
			break
		}
	}
	return out, err
}

// margins are what the fast way leaves of the joints' limits to the smoothing of
// its samples, one try after the other.
var margins = []float64{0.995, 0.98, 0.95}

// solve finds the fastest law and samples it.
func (t *timedRun) solve() (*trajectory.Trajectory, error) {
	limits := make([]trajectory.Limits, len(t.route.pieces))
	jerky := false
	for i, p := range t.route.pieces {
		limits[i] = p.limits
		jerky = jerky || p.limits.Jerk != nil
	}
	problem := retime.Problem{Path: t.route, Limits: limits, StartSpeed: t.start}
	var solver retime.Solver
	if t.start == 0 {
		tries := margins
		if jerky { // dear ones
			tries = margins[1:2]
		}
		for i, margin := range tries {
			problem.Limits = tightened(limits, len(t.route.joints), margin)
			if err := solver.Solve(&t.law, &problem); err != nil {
				return nil, err
			}
			if i == 0 && !jerky {
				t.sharp = t.law.Duration()
			}
			if why := tooLong(t.law.Duration(), t.period); why != nil {
				return nil, why
			}
			if out, s := t.sampled(); t.holds(out, s) {
				t.deviates(out, t.between(s))
				return out, nil
			}
		}
		problem.Limits = limits
	}
	if t.sharp == 0 { // how long will it be?
		if err := solver.Solve(&t.law, &retime.Problem{Path: t.route, Limits: withoutJerk(limits), StartSpeed: t.start}); err != nil {
			return nil, err
		}
		if why := tooLong(t.law.Duration(), t.period); why != nil {
			return nil, why
		}
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
func tightened(all []trajectory.Limits, joints int, margin float64) []trajectory.Limits {
	out := make([]trajectory.Limits, len(all))
	for i, l := range all {
		out[i] = trajectory.Limits{Velocity: shrunk(l.Velocity, joints, margin), Acceleration: shrunk(l.Acceleration, joints, margin),
			Deceleration: shrunk(l.Deceleration, joints, margin), Jerk: shrunk(l.Jerk, joints, margin)}
	}
	return out
}

func withoutJerk(all []trajectory.Limits) []trajectory.Limits {
	out := append([]trajectory.Limits(nil), all...)
	for i := range out {
		out[i].Jerk = nil
	}
	return out
}

func shrunk(x []float64, joints int, margin float64) []float64 {
	if x == nil {
		return nil
	}
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
// Where limits change along the run, smoothing lets the wider ones reach over by
// two samples: scaling is a wish, and wide limits are the joints' own.
func (t *timedRun) holds(out *trajectory.Trajectory, s []place) bool {
	const reach = 2
	last := len(out.Points) - 1
	first, ahead := 0, 0 // pieces within reach of the segment
	for i := 1; i <= last; i++ {
		for ahead+1 < len(t.route.pieces) && s[min(i+reach, last)].s > t.route.breaks[ahead+1] {
			ahead++
		}
		for first < ahead && s[max(i-1-reach, 0)].s > t.route.breaks[first+1] {
			first++
		}
		l := &t.route.pieces[first].limits
		if first < ahead {
			l = t.widest(first, ahead)
		}
		if !t.segmentHolds(&out.Points[i-1], &out.Points[i], l) {
			return false
		}
	}
	return true
}

// widest returns the widest limits of the joints on some pieces.
func (t *timedRun) widest(first, last int) *trajectory.Limits {
	n := len(t.route.joints)
	all := make([]float64, 3*n)
	w := &trajectory.Limits{Velocity: all[:n], Acceleration: all[n : 2*n], Deceleration: all[2*n:], Jerk: t.route.pieces[first].limits.Jerk}
	for _, p := range t.route.pieces[first : last+1] {
		for j := range n {
			w.Velocity[j] = max(w.Velocity[j], p.limits.Velocity[j])
			w.Acceleration[j] = max(w.Acceleration[j], p.limits.Acceleration[j])
			w.Deceleration[j] = max(w.Deceleration[j], p.limits.Deceleration[j])
		}
	}
	return w
}

func (t *timedRun) segmentHolds(from, to *trajectory.Point, l *trajectory.Limits) bool {
	const slack, rounding = 1 + 1e-8, 1e-8 // of differences
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
		if l.Jerk == nil {
			continue
		}
		if most := l.Jerk[j] * (slack + rounding); max(math.Abs(c1-a0), math.Abs(c2-c1), math.Abs(a1-c2))*3*per > most {
			return false
		}
	}
	return true
}
