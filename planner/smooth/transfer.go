package smooth

import (
	"math"

	"poise/planner"
	"poise/robot"
	"poise/trajectory"
	"poise/trajectory/move"
)

// transfer is a motion of joints from state to state, to be sampled.
type transfer struct {
	motion   *move.Motion
	from, to []move.State
	period   float64
}

// newTransfer plans the point-to-point motion of a task. The duration is a whole number
// of periods. It returns nil if nothing moves.
func newTransfer(m *robot.Model, task *planner.Task, period float64) (*transfer, *planner.Refusal) {
	n := len(task.Joints)
	t := &transfer{from: make([]move.State, n), to: make([]move.State, n), period: period}
	limits := make([]move.Limits, n)
	moves := false
	for k, j := range task.Joints {
		joint := &m.Joints()[j]
		start, goal := task.Start[joint.Q], task.Goal[joint.Q]
		if joint.Kind == robot.Continuous {
			goal = start + math.Remainder(goal-start, 2*math.Pi)
		}
		v := task.StartVelocity[k]
		// smoothing needs a period at constant velocity first
		t.from[k], t.to[k] = move.State{P: start + v*period, V: v}, move.State{P: goal}
		if v == 0 && goal == start {
			limits[k] = move.Symmetric(1, 1, math.Inf(1))
			continue
		}
		if why := planner.NeedsLimits(joint, planner.PTP); why != nil {
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

// Duration returns how long the motion takes before it is smoothed.
func (t *transfer) Duration() float64 { return t.motion.Duration() }

// End returns where a joint of the task ends.
func (t *transfer) End(joint int) float64 { return t.to[joint].P }

// Start returns where a joint begins.
func (t *transfer) Start(joint int) float64 { return t.from[joint].P - t.period*t.from[joint].V }

// stopTransfer plans the way to rest of a task's start: wherever that is, or back at the
// start itself. Scaling does not count.
func stopTransfer(m *robot.Model, task *planner.Task, period float64, back bool) (*transfer, *planner.Refusal) {
	n := len(task.Joints)
	t := &transfer{from: make([]move.State, n), to: make([]move.State, n), period: period}
	limits := make([]move.Limits, n)
	for k, j := range task.Joints {
		joint := &m.Joints()[j]
		q, v := task.Start[joint.Q], task.StartVelocity[k]
		t.from[k], t.to[k] = move.State{P: q + v*period, V: v}, move.State{P: q}
		limits[k] = move.Symmetric(1, 1, math.Inf(1))
		if v == 0 {
			continue
		}
		if why := planner.NeedsLimits(joint, planner.PTP); why != nil {
			return nil, why
		}
		a := min(joint.Limits.Acceleration.Value, -planner.Deceleration(&joint.Limits).Value)
		limits[k] = move.Symmetric(joint.Limits.Velocity.Value, a, jerk(&joint.Limits))
	}
	var err error
	if t.motion, err = move.New(limits); err == nil && back {
		err = t.motion.Reach(t.from, t.to, move.Options{Sync: move.Phase, Period: period})
	} else if err == nil {
		err = t.motion.ReachVelocity(t.from, nil, move.Options{Sync: move.Phase, Period: period})
		for k := range t.to {
			t.to[k].P = t.motion.Axis(k).Target().P
		}
	}
	if err != nil {
		return nil, planner.Refuse(planner.BadState, "the robot cannot be stopped: %v", err)
	}
	return t, nil
}

func jerk(l *robot.Limits) float64 {
	if l.Jerk.Has {
		return l.Jerk.Value
	}
	return math.Inf(1)
}

// axisLimits are the scaled limits of a joint that goes a way. Acceleration and
// deceleration stand for up and down as seen on that way; a joint that already
// moves may have to turn back, and then the smaller of both must do.
func axisLimits(l *robot.Limits, task *planner.Task, way, velocity float64) move.Limits {
	v := l.Velocity.Value * task.VelocityScaling
	a, d := l.Acceleration.Value*task.AccelerationScaling, -planner.Deceleration(l).Value*task.AccelerationScaling
	if velocity != 0 {
		a = min(a, d)
		d = a
	}
	if way < 0 {
		a, d = d, a
	}
	return move.Limits{VelMin: -v, VelMax: v, AccMin: -d, AccMax: a, Jerk: jerk(l)}
}

// Samples returns the motion smoothed over its samples: a cubic B-spline whose
// control points are where the joints would be. Between two samples accelerations
// change linearly; velocity, acceleration and jerk are averages of those of the
// motion around, and so within all its limits. It begins a period earlier than
// the motion and ends a period later.
func (t *transfer) Samples() *trajectory.Trajectory {
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
