package walk

import (
	"math"

	"poise/gait"
)

// heading keeps the robot on its course: where servos differ and hooves slip, a body turns otherwise than
// planned, and only an inertial unit sees it.
type heading struct {
	known  bool
	last   float64 // measured less planned heading, a tick ago
	drift  float64 // how that has changed since the start
	turned float64 // what was added to the plan meanwhile
}

// Feedback of the heading.
const (
	headingGain = 0.8  // 1/s
	headingMost = 0.15 // rad/s
	headingJump = 0.2  // rad in a tick: the base was put elsewhere
)

// follow notes how the measured heading leaves the planned one. Loop-safe.
func (h *heading) follow(measured, planned float64) {
	now := math.Remainder(measured-planned, 2*math.Pi)
	if !h.known {
		h.known, h.last = true, now
	}
	if by := math.Remainder(now-h.last, 2*math.Pi); math.Abs(by) < headingJump {
		h.drift += by
	}
	h.last = now
}

// correct returns how fast to turn for it in a tick of dt. Loop-safe.
func (h *heading) correct(dt float64) float64 {
	rate := min(max(-headingGain*(h.drift+h.turned), -headingMost), headingMost)
	h.turned += rate * dt
	return rate
}

// A robot whose base is tilted so far, rad, or so low, as a share of its height while it walks, has fallen: no slope is as
// steep, and no step as deep.
const (
	mostTilt    = 0.6
	lowestShare = 0.72
)

// Upright returns when the robot has fallen.
func (c *Controller) Upright() (tilt, height float64) {
	if c.catch.steps.On() {
		return catchTilt, lowestShare * c.height
	}
	return mostTilt, lowestShare * c.height
}

// Stands reports whether it is on all its feet, and rests there.
func (c *Controller) Stands() bool {
	return !c.ready || c.plan.Phase() == gait.Stands && !c.catch.steps.On()
}
