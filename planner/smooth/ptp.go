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
	return t, nil
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
