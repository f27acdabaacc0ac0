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

// samples returns the motion smoothed over its samples: a cubic B-spline whose
// control points are where the joints would be. Between two samples accelerations
// change linearly; velocity, acceleration and jerk are averages of those of the
// motion around, and so within all its limits. It begins a period earlier than
// the motion and ends a period later.
func (t *transfer) samples() *trajectory.Trajectory {
	count := int(math.Round(t.motion.Duration()/t.period)) + 2
	n, h := len(t.from), t.period
	out := trajectory.New(count+1, n)
	pts := out.Points
	for k := range pts {
		pts[k].Time = float64(k) * h
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
		for k := range pts {
			next := at(k + 1)
			up, down := next.P-now.P, now.P-before.P
			pts[k].Position[j] = now.P + (up-down)/6
			pts[k].Velocity[j] = (up + down) / (2 * h)
			pts[k].Acceleration[j] = within((up-down)/(h*h), before.A, now.A, next.A)
			before, now = now, next
		}
		// the ends are what was asked for, bit for bit
		pts[0].Position[j], pts[0].Velocity[j], pts[0].Acceleration[j] = from.P-h*from.V, from.V, 0
		pts[count].Position[j], pts[count].Velocity[j], pts[count].Acceleration[j] = t.to[j].P, 0, 0
	}
	return out
}

// within takes the rounding of a difference of close numbers out of an average:
// it lies between what it is an average of, where that does not jump.
func within(x, a, b, c float64) float64 {
	low, high := min(a, b, c), max(a, b, c)
	return min(max(x, min(low, 0)), max(high, 0))
}

// geometry returns the way of a point-to-point motion without its time: over the
// parameter
//
//	s = ∫ ‖(q̇₁/v₁, q̇₂/v₂, …)‖ dt
//
// with the joints' velocity limits v, in which it is as regular at the ends,
// where the motion rests, as elsewhere. It returns the largest ds/dt, and that of
// a moving start, too.
func geometry(t *trajectory.Trajectory, limits []float64) (way *spline.Spline, most, start float64) {
	pts, n := t.Points, len(limits)
	pace := func(v []float64) (sum float64) {
		for j, x := range v {
			sum += x / limits[j] * x / limits[j]
		}
		return math.Sqrt(sum)
	}
	paces := make([]float64, len(pts))
	for i := range pts {
		paces[i] = pace(pts[i].Velocity)
		most = max(most, paces[i])
	}
	// near rest directions drown in rounding: the way is straight there
	const slow, short = 1e-3, 1e-7
	var s []float64
	var q, d1, d2 [][]float64
	at := 0.0
	for i := range pts {
		p := &pts[i]
		if i > 0 {
			at += between(&pts[i-1], p, pace)
		}
		end := i == 0 || i == len(pts)-1
		if !end && (paces[i] < slow*most || at-s[len(s)-1] < short) {
			continue
		}
		dd := make([]float64, 2*n)
		if x := paces[i]; x >= slow*most {
			// q′ = q̇/p, q″ = (q̈ − q̇·ṗ/p)/p²
			dot := 0.0
			for j, v := range p.Velocity {
				dot += v / limits[j] * p.Acceleration[j] / limits[j]
			}
			for j, v := range p.Velocity {
				dd[j], dd[n+j] = v/x, (p.Acceleration[j]-v*dot/(x*x))/(x*x)
			}
		}
		s, q, d1, d2 = append(s, at), append(q, p.Position), append(d1, dd[:n]), append(d2, dd[n:])
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
func between(a, b *trajectory.Point, pace func([]float64) float64) float64 {
	mid, h := make([]float64, len(a.Velocity)), b.Time-a.Time
	for j := range mid {
		mid[j] = (a.Velocity[j]+b.Velocity[j])/2 + h/8*(a.Acceleration[j]-b.Acceleration[j])
	}
	return h / 6 * (pace(a.Velocity) + 4*pace(mid) + pace(b.Velocity))
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
