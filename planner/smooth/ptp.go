package smooth

import (
	"math"

	"poise/planner"
	"poise/robot"
	"poise/trajectory"
	"poise/trajectory/move"
	"poise/trajectory/spline"
)

// still is the joint movement that counts as none, rad or m.
const still = 1e-9

// transfer is a point-to-point motion: every joint with its own limits, all of
// them arriving together.
type transfer struct {
	motion   *move.Motion
	from, to []move.State
	period   float64
}

// transfer plans the motion of a task's joints. The duration is a whole number of
// periods. It returns nil if nothing moves.
func (p *Planner) transfer(task *planner.Task, period float64) (*transfer, *planner.Refusal) {
	n := len(task.Joints)
	t := &transfer{from: make([]move.State, n), to: make([]move.State, n), period: period}
	limits := make([]move.Limits, n)
	moves := false
	for k, j := range task.Joints {
		joint := &p.Model.Joints()[j]
		start, goal := task.Start[joint.Q], task.Goal[joint.Q]
		if joint.Kind == robot.Continuous {
			goal = start + math.Remainder(goal-start, 2*math.Pi)
		}
		v := task.StartVelocity[k]
		// smoothing needs a period at constant velocity first
		t.from[k], t.to[k] = move.State{P: start + v*period, V: v}, move.State{P: goal}
		if v == 0 && goal == start {
			limits[k] = move.Symmetric(1, 1, inf)
			continue
		}
		if why := needs(joint, planner.PTP); why != nil {
			return nil, why
		}
		moves = moves || v != 0 || math.Abs(goal-start) > still
		limits[k] = axisLimits(&joint.Limits, task, goal-start, v)
	}
	if !moves {
		return nil, nil
	}
	var err error
	if t.motion, err = move.New(limits); err != nil {
		return nil, planner.Refuse(planner.LimitExceeded, "the limits of group %q cannot be planned with: %v", task.Group.Name, err)
	}
	if err = t.motion.Reach(t.from, t.to, move.Options{Sync: move.Phase, Period: period}); err != nil {
		return nil, planner.Refuse(planner.BadState, "the motion cannot be planned: %v", err)
	}
	return t, tooLong(t.motion.Duration(), period)
}

// axisLimits are the scaled limits of a joint that goes a way. Acceleration and
// deceleration stand for up and down as seen on that way; a joint that already
// moves may have to turn back, and then the smaller of both must do.
func axisLimits(l *robot.Limits, task *planner.Task, way, velocity float64) move.Limits {
	v := l.Velocity.Value * task.VelocityScaling
	a, d := l.Acceleration.Value*task.AccelerationScaling, -deceleration(l).Value*task.AccelerationScaling
	if velocity != 0 {
		a = min(a, d)
		d = a
	}
	if way < 0 {
		a, d = d, a
	}
	return move.Limits{VelMin: -v, VelMax: v, AccMin: -d, AccMax: a, Jerk: scale(l.Jerk, 1)}
}

// curve returns the motion smoothed over its samples: a cubic B-spline whose
// control points are where the joints would be. Between two samples accelerations
// change linearly; velocity, acceleration and jerk are averages of those of the
// motion around, and so within all its limits. The curve begins a period earlier
// than the motion and ends a period later.
func (t *transfer) curve() *spline.Spline {
	count := int(math.Round(t.motion.Duration()/t.period)) + 2
	n, h := len(t.from), t.period
	times := make([]float64, count+1)
	rows := func() [][]float64 {
		all, out := make([]float64, (count+1)*n), make([][]float64, count+1)
		for i := range out {
			out[i] = all[i*n : (i+1)*n]
		}
		return out
	}
	q, v, a := rows(), rows(), rows()
	for k := range times {
		times[k] = float64(k) * h
	}
	for j := range n {
		axis, from := t.motion.Axis(j), t.from[j]
		at := func(k int) move.State {
			if x := float64(k-1) * h; x > 0 {
				return axis.At(x)
			} else {
				return move.State{P: from.P + x*from.V, V: from.V}
			}
		}
		before, now := at(-1), at(0)
		for k := range times {
			next := at(k + 1)
			up, down := next.P-now.P, now.P-before.P
			q[k][j] = now.P + (up-down)/6
			v[k][j] = (up + down) / (2 * h)
			a[k][j] = within((up-down)/(h*h), before.A, now.A, next.A)
			before, now = now, next
		}
		// the ends are what was asked for, bit for bit
		q[0][j], v[0][j], a[0][j] = from.P-h*from.V, from.V, 0
		q[count][j], v[count][j], a[count][j] = t.to[j].P, 0, 0
	}
	s, err := spline.Quintic(times, q, v, a)
	if err != nil {
		panic("smooth: " + err.Error()) // made of finite numbers at rising times
	}
	return s
}

// within takes the rounding of a difference of close numbers out of an average:
// it lies between what it is an average of, where that does not jump.
func within(x, a, b, c float64) float64 {
	low, high := min(a, b, c), max(a, b, c)
	return min(max(x, min(low, 0)), max(high, 0))
}

// samples returns a curve whose knots are its samples as a trajectory.
func samples(s *spline.Spline) *trajectory.Trajectory {
	t := trajectory.New(s.Segments()+1, s.Joints())
	for i, at := range s.Knots() {
		p := &t.Points[i]
		p.Time = at
		s.SegmentTo(p.Position, p.Velocity, p.Acceleration, min(i, s.Segments()-1), at)
	}
	s.PositionTo(t.Points[len(t.Points)-1].Position, s.End()) // what was asked for, bit for bit
	return t
}

// geometry returns the way of a point-to-point motion without its time: over the
// parameter
//
//	s = ∫ ‖(q̇₁/v₁, q̇₂/v₂, …)‖ dt
//
// with the joints' velocity limits v, in which it is as regular at the ends,
// where the motion rests, as elsewhere. It returns the largest ds/dt, and that of
// a moving start, too.
func geometry(c *spline.Spline, limits []float64) (way *spline.Spline, most, start float64) {
	n := c.Joints()
	var s []float64
	var q, d1, d2 [][]float64
	pace := func(v []float64) (sum float64) {
		for j, x := range v {
			sum += x / limits[j] * x / limits[j]
		}
		return math.Sqrt(sum)
	}
	knots := c.Knots()
	rows := make([]float64, len(knots)*3*n)
	paces := make([]float64, len(knots))
	for i, t := range knots {
		row := rows[i*3*n : (i+1)*3*n]
		c.SegmentTo(row[:n], row[n:2*n], row[2*n:], min(i, c.Segments()-1), t)
		paces[i] = pace(row[n : 2*n])
		most = max(most, paces[i])
	}
	// near rest directions drown in rounding: the way is straight there
	const slow, short = 1e-3, 1e-7
	at, last := 0.0, -1
	for i := range knots {
		row := rows[i*3*n : (i+1)*3*n]
		if i > 0 {
			at += between(rows[(i-1)*3*n:i*3*n], row, knots[i]-knots[i-1], n, pace)
		}
		end := i == 0 || i == len(knots)-1
		if !end && (paces[i] < slow*most || at-s[last] < short) {
			continue
		}
		dd := make([]float64, 2*n)
		v, a := row[n:2*n], row[2*n:]
		if p := paces[i]; p >= slow*most {
			// q′ = q̇/p, q″ = (q̈ − q̇·ṗ/p)/p²
			dot := 0.0
			for j := range v {
				dot += v[j] / limits[j] * a[j] / limits[j]
			}
			for j := range v {
				dd[j], dd[n+j] = v[j]/p, (a[j]-v[j]*dot/(p*p))/(p*p)
			}
		}
		s, q, d1, d2 = append(s, at), append(q, row[:n]), append(d1, dd[:n]), append(d2, dd[n:])
		last++
	}
	straightEnds(s, q, d1, paces[0] < slow*most, pace)
	way, err := spline.Quintic(s, q, d1, d2)
	if err != nil {
		panic("smooth: " + err.Error()) // made of finite numbers at rising places
	}
	return way, most, paces[0]
}

// between returns ∫ p dt from one sample to the next, by Simpson's rule: the
// velocity half way is that of the cubic.
func between(a, b []float64, h float64, n int, pace func([]float64) float64) float64 {
	mid := make([]float64, n)
	for j := range mid {
		mid[j] = (a[n+j]+b[n+j])/2 + h/8*(a[2*n+j]-b[2*n+j])
	}
	return h / 6 * (pace(a[n:2*n]) + 4*pace(mid) + pace(b[n:2*n]))
}

// straightEnds gives the first and the last place, where the motion rests, the
// direction of their neighbours.
func straightEnds(s []float64, q, d1 [][]float64, first bool, pace func([]float64) float64) {
	last := len(s) - 1
	direct := func(i, from, to int) {
		for j := range d1[i] {
			d1[i][j] = q[to][j] - q[from][j]
		}
		size := pace(d1[i])
		for j := range d1[i] {
			d1[i][j] /= size
		}
	}
	if first {
		direct(0, 0, 1)
	}
	direct(last, last-1, last)
}
