package walk

import (
	"math"

	"poise/control"
	"poise/gait"
)

// slope leads the body uphill. The plan is of level ground, and what is level in it is parallel to the ground that the robot stands on:
// where that slopes, gravity has the zero-moment point downhill of where it is planned by height·slope, 14 mm for the pony at 5°.
type slope struct {
	known bool
	lean  gait.Point // of the body, in the axes of the plan: how far its upward axis is from the vertical
	offset
}

// What counts as a slope.
const (
	leanTime    = 1.5  // s in which a lean is taken for that of the ground
	flatLean    = 0.02 // rad that inertial units err by: up to that the ground is level,
	slopeLean   = 0.04 // and from here on it slopes by all of it
	slopeFar    = 0.12 // of its height that the body is led uphill at most: 7°
	slopeFollow = 2.0  // 1/s: natural frequency of the way there
)

// uphill finds how the body is led in this tick. Loop-safe.
func (c *Controller) uphill(input *control.Input) {
	s, dt := &c.slope, input.Tick.Dt
	var to gait.Point
	if R, known := c.tilted(input); known && len(c.legs) >= balanceLegs && !c.catch.steps.On() {
		up := R.Col(2)
		if !s.known {
			s.known, s.lean = true, gait.Point{X: up.X, Y: up.Y}
		}
		share := min(dt/leanTime, 1)
		s.lean.X, s.lean.Y = s.lean.X+share*(up.X-s.lean.X), s.lean.Y+share*(up.Y-s.lean.Y)
		z := c.height + c.above
		size := math.Hypot(s.lean.X, s.lean.Y)
		k := min(max((size-flatLean)/(slopeLean-flatLean), 0), 1)
		if k *= k * (3 - 2*k); k*size > slopeFar {
			k = slopeFar / size
		}
		to = gait.Point{X: -k * z * s.lean.X, Y: -k * z * s.lean.Y}
	}
	if c.ends(input) {
		s.rest(dt)
		return
	}
	s.x.lead(to.X, slopeFollow, dt)
	s.y.lead(to.Y, slopeFollow, dt)
}

// ends reports whether the walk stands and is to end: a slope that is still being learnt, or a push that is over, does not keep it moving. Loop-safe.
func (c *Controller) ends(input *control.Input) bool {
	return input.Rate == 0 && c.plan.Phase() == gait.Stands && !c.catch.steps.On() && !(c.braced.on && c.braced.calm <= braceRests)
}
