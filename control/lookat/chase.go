package lookat

import (
	"math"

	"poise/control"
	"poise/robot"
	"poise/trajectory/move"
)

// chase makes what inverse kinematics wants of some joints into a motion within
// limits. While the goal moves gently the joints are there, without a lag:
//
//	reference = goal + offset,   offset → 0
//
// When it jumps, or moves faster than its share of the limits, the offset takes up
// the difference in position, velocity and acceleration and decays as fast as the
// rest of the limits allows. Filtering comes after the inverse kinematics, never
// before: what is filtered is what moves.
type chase struct {
	joints []robot.JointID
	gentle []move.Limits // what the goal may do by itself
	rest   []move.Limits // what the offset may do
	most   []move.Limits // what both may do together
	plan   *move.Motion
	from   []move.State
	zero   []move.State

	began float64
	was   []float64    // goal of the last tick
	mean  []float64    // velocity of the goal during the last tick,
	v, a  []float64    // and at its end
	now   []move.State // reference
	fresh bool         // the goal has no past
	halts bool         // it is to stand still, and does what brake says

	lower, upper []float64    // of each joint
	brake        *move.Motion // the shortest stop, with all of the limits
	braking      bool
	braked       float64      // since
	next         []move.State // scratch
}

// newChase returns a chase for joints; tracking is the share of the limits for
// goals that move, and offsets have the rest.
func newChase(joints []robot.JointID, limits []move.Limits, bounds []control.Bounds, tracking float64) (*chase, error) {
	n := len(joints)
	c := &chase{joints: joints, from: make([]move.State, n), zero: make([]move.State, n), was: make([]float64, n),
		mean: make([]float64, n), v: make([]float64, n), a: make([]float64, n), now: make([]move.State, n), next: make([]move.State, n)}
	for _, j := range joints {
		c.gentle = append(c.gentle, scaled(limits[j], tracking))
		c.rest = append(c.rest, scaled(limits[j], 1-tracking))
		c.lower, c.upper = append(c.lower, bounds[j].Lower), append(c.upper, bounds[j].Upper)
		c.most = append(c.most, limits[j])
	}
	var err error
	if c.brake, err = move.New(c.most); err != nil {
		return nil, err
	}
	c.plan, err = move.New(c.rest)
	return c, err
}

func scaled(l move.Limits, s float64) move.Limits {
	return move.Limits{VelMin: s * l.VelMin, VelMax: s * l.VelMax, AccMin: s * l.AccMin, AccMax: s * l.AccMax, Jerk: s * l.Jerk}
}

// take begins with joints as they are commanded.
func (c *chase) take(cmd *control.Motion) {
	for i, j := range c.joints {
		c.now[i] = cmd.State(int(j))
	}
	c.fresh, c.halts, c.braking = true, false, false
}

// step moves on by dt to time t, towards a goal (a whole configuration, index by
// q). Loop-safe.
func (c *chase) step(t, dt float64, goal []float64, q []int) {
	if c.fresh || c.halts || c.jumps(dt, goal, q) || c.exceeds(t) {
		c.rebase(t-dt, dt, goal, q)
	}
	for i, at := range q {
		o := c.plan.Axis(i).At(t - c.began)
		c.next[i] = move.State{P: goal[at] + o.P, V: c.v[i] + o.V, A: c.a[i] + o.A}
		c.was[i] = goal[at]
	}
	if !c.braking && !c.viable() {
		c.braking, c.braked = c.brake.Stop(c.now) == nil, t-dt
	}
	if !c.braking {
		copy(c.now, c.next)
		return
	}
	c.brake.StatesTo(c.now, t-c.braked)
	if t-c.braked >= c.brake.Duration() {
		c.braking, c.fresh = false, true // at rest: begin again from here
	}
}

// viable reports whether joints could still stop before their limits if they went
// where they are to go next. One that is beyond already is not asked.
func (c *chase) viable() bool {
	const rounding = 1e-9 // rad
	if c.brake.Stop(c.next) != nil {
		return false
	}
	for i := range c.next {
		p, to := c.now[i].P, c.brake.Axis(i).Target().P
		if p <= c.upper[i] && to > c.upper[i]+rounding || p >= c.lower[i] && to < c.lower[i]-rounding {
			return false
		}
	}
	return true
}

// jumps notes how the goal moves, and tells if that is more than gentle. A goal
// that is suddenly elsewhere is taken to stand there.
func (c *chase) jumps(dt float64, goal []float64, q []int) (any bool) {
	for i, at := range q {
		mean := (goal[at] - c.was[i]) / dt
		a := (mean - c.mean[i]) / dt
		switch {
		case math.Abs(mean) > c.gentle[i].VelMax:
			mean, a, any = 0, 0, true
		case math.Abs(a) > c.gentle[i].AccMax:
			a, any = 0, true
		}
		c.mean[i], c.v[i], c.a[i] = mean, mean+dt/2*a, a
	}
	return any
}

// exceeds tells if goal and offset, each gentle by itself, are too much together. An
// offset that began while its joint moved has that joint's acceleration, all of it,
// so goals that jump again and again would add up.
func (c *chase) exceeds(t float64) bool {
	for i := range c.v {
		o := c.plan.Axis(i).At(t - c.began)
		if math.Abs(c.a[i]+o.A) > c.most[i].AccMax || math.Abs(c.v[i]+o.V) > c.most[i].VelMax {
			return true
		}
	}
	return false
}

// rebase lets the offset take up the difference between reference and goal, as
// they were at time began.
func (c *chase) rebase(began, dt float64, goal []float64, q []int) {
	for i, at := range q {
		if c.fresh || c.halts {
			c.mean[i], c.v[i], c.a[i] = 0, 0, 0
		}
		v, a := c.v[i], c.a[i]
		c.from[i] = move.State{P: c.now[i].P - (goal[at] - dt*v + dt*dt/2*a), V: c.now[i].V - (v - dt*a), A: c.now[i].A - a}
	}
	c.fresh, c.halts = false, false
	if c.plan.Reach(c.from, c.zero, move.Options{}) == nil {
		c.began = began
	}
}

// halt brings the joints to rest and keeps them there, whatever their goal is.
// Loop-safe.
func (c *chase) halt(t, dt float64) {
	if !c.halts {
		c.halts, c.braking, c.braked = true, false, t-dt
		if c.brake.Stop(c.now) != nil {
			return
		}
	}
	c.brake.StatesTo(c.now, t-c.braked)
}

// write fills in the reference of the joints.
func (c *chase) write(out *control.Reference) {
	for i, j := range c.joints {
		out.Has = out.Has.With(robot.LeafID(j))
		out.Q[j], out.V[j], out.A[j] = c.now[i].P, c.now[i].V, c.now[i].A
	}
}
