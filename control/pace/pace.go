// Package pace is the clock of motions that are generated while they run. Pause,
// speed override, cancel and a stop of category 2 change how fast its time runs,
// never the path:
//
//	q(t)  at rate r:   q̇ = r·q′,   q̈ = r²·q″ + r′·q′
//
// The rate changes as fast as the accelerations left over by r²·q″ allow. Package
// trajectory/clock does this for motions known in advance, and looks ahead; here
// only the present is known, so a motion must keep its limits at rate 1 by itself.
package pace

import (
	"math"

	"poise/control"
	"poise/robot"
	"poise/trajectory/move"
)

// Peak is the share of a robot's limits that controllers plan with; the rest is
// for the hand-over, which takes place while they move already.
const Peak = 0.9

// Shared returns the limits that a controller plans with.
func Shared(limits []move.Limits) []move.Limits {
	all := make([]move.Limits, len(limits))
	for i, l := range limits {
		all[i] = move.Limits{VelMin: Peak * l.VelMin, VelMax: Peak * l.VelMax, AccMin: Peak * l.AccMin, AccMax: Peak * l.AccMax, Jerk: Peak * l.Jerk}
	}
	return all
}

// Clock is the time of a motion.
type Clock struct {
	Time float64 // of the motion, s
	Rate float64 // how fast it runs
	most float64 // the largest rate
	was  float64 // rate a step ago
	dt   float64 // of that step
}

// share is how much of an acceleration limit a change of rate may fill up: the
// rest is for what steps of one period add.
const share = 0.95

// slope is the fastest change of a rate, 1/s, also where nothing moves.
const slope = 10

// Start sets the clock to zero, running at a rate. most is the largest rate that
// the motion bears as a whole, at least 1: see Fastest. Loop-safe.
func (c *Clock) Start(rate, most float64) {
	*c = Clock{most: max(most, 1), dt: 1}
	c.Rate = min(max(rate, 0), c.most)
	c.was = c.Rate
}

// Step lets one period dt pass, with the rate on its way to want. v and a are the
// velocities and accelerations of the motion at its present time and at rate 1, by
// joint; joints says which count. Loop-safe.
func (c *Clock) Step(dt, want float64, limits []move.Limits, joints robot.Set, v, a []float64) {
	want = min(max(want, 0), c.most)
	slow, fast := -float64(slope), float64(slope)
	square := c.Rate * c.Rate
	for leaf := range joints.All {
		j := int(leaf)
		if j >= len(v) || math.Abs(v[j]) < 1e-12 {
			continue
		}
		// −A ≤ r²·a + r′·v ≤ A, solved for r′; zero is always allowed
		room := share * limits[j].AccMax
		up, down := (room-square*a[j])/v[j], (-room-square*a[j])/v[j]
		fast, slow = min(fast, max(up, down, 0)), max(slow, min(up, down, 0))
		if bears := limits[j].VelMax / math.Abs(v[j]); bears < want {
			want = bears
		}
	}
	c.was, c.dt = c.Rate, dt
	c.Rate += min(max(want-c.Rate, slow*dt), fast*dt)
	c.Time += dt * (c.was + c.Rate) / 2
}

// Reference fills in what a joint does at the clock's rate, given its state at the
// clock's time and at rate 1. Loop-safe.
func (c *Clock) Reference(out *control.Reference, joint int, s move.State) {
	s = c.Real(s)
	out.Q[joint], out.V[joint], out.A[joint] = s.P, s.V, s.A
}

// Real returns how an axis moves at the clock's rate, given its state at the
// clock's time and at rate 1. Loop-safe.
func (c *Clock) Real(s move.State) move.State {
	bend := (c.Rate - c.was) / c.dt
	return move.State{P: s.P, V: c.Rate * s.V, A: c.Rate*c.Rate*s.A + bend*s.V}
}

// Fastest returns the largest rate at which a motion whose joints reach these
// velocities and accelerations at rate 1 keeps its limits; never below 1.
func Fastest(limits []move.Limits, joints robot.Set, v, a []float64) float64 {
	most := math.Inf(1)
	for leaf := range joints.All {
		if j := int(leaf); j < len(v) {
			most = min(most, limits[j].VelMax/math.Abs(v[j]), math.Sqrt(limits[j].AccMax/math.Abs(a[j])))
		}
	}
	return max(most, 1)
}
