package swing

import (
	"math"

	"poise/robot"
	"poise/trajectory/move"
)

// swingClock is the time of a swing. Pause, speed override, cancel and a stop of
// category 2 change how fast it goes, never the path:
//
//	q(t)  at rate r:   q̇ = r·q′,   q̈ = r²·q″ + r′·q′
//
// The rate changes as fast as the accelerations left over by r²·q″ allow. Package
// trajectory/clock does this for splines, and looks ahead; a sine is the same all
// the way, and needs neither.
type swingClock struct {
	time, rate, most float64
}

// clockShare is how much of an acceleration limit a change of rate may fill up:
// the rest is for what steps of one period add.
const clockShare = 0.95

// clockSlope is the fastest change of a rate, 1/s, also where nothing moves.
const clockSlope = 10

// start sets the clock to zero, at rate 1 or less. most is the largest rate that
// the motion bears as a whole, at least 1: see fastest. Loop-safe.
func (c *swingClock) start(most float64) { c.time, c.most, c.rate = 0, max(most, 1), 1 }

// now returns the motion's time, s.
func (c *swingClock) now() float64 { return c.time }

// advance moves the time on by one period dt, with the rate on its way to want.
// v and a are the velocities and accelerations of the motion at its present time
// and at rate 1, by joint; joints says which count. Loop-safe.
func (c *swingClock) advance(dt, want float64, limits []move.Limits, joints robot.Set, v, a []float64) {
	want = min(max(want, 0), c.most)
	slow, fast := -float64(clockSlope), float64(clockSlope)
	square := c.rate * c.rate
	for leaf := range joints.All {
		j := int(leaf)
		if j >= len(v) || math.Abs(v[j]) < 1e-12 {
			continue
		}
		// −A ≤ r²·a + r′·v ≤ A, solved for r′; zero is always allowed
		room := clockShare * limits[j].AccMax
		up, down := (room-square*a[j])/v[j], (-room-square*a[j])/v[j]
		fast, slow = min(fast, max(up, down, 0)), max(slow, min(up, down, 0))
	}
	next := c.rate + min(max(want-c.rate, slow*dt), fast*dt)
	c.time += dt * (c.rate + next) / 2
	c.rate = next
}

// fastest returns the largest rate at which a motion whose joints reach these
// velocities and accelerations at rate 1 keeps its limits; never below 1, since a
// motion keeps them as it was made.
func fastest(limits []move.Limits, joints robot.Set, v, a []float64) float64 {
	most := math.Inf(1)
	for leaf := range joints.All {
		if j := int(leaf); j < len(v) {
			most = min(most, limits[j].VelMax/math.Abs(v[j]), math.Sqrt(limits[j].AccMax/math.Abs(a[j])))
		}
	}
	return max(most, 1)
}
