package walk

import (
	"math"

	"poise/control"
	"poise/gait"
)

// brace is what a walk does that is pushed: its feet in the air come down at once, and it rests on all of them until it is calm. On four soles it
// withstands what it does standing, and may catch itself by steps. Undisturbed walks tip by less than that, hard ones too.
type brace struct {
	on    bool
	took  float64 // s since then
	calm  float64 // s for which its capture point has been where it stands
	rough float64 // m that the capture point of the walk has been off lately: one that lags, in cycle 0, tips with each step
}

// Braced feet. Ways are shares of the height of the centre of mass, times of √(height/g), accelerations of g.
const (
	braceFar    = 0.15 // that the capture point is off,
	braceRough  = 2.0  // beside so many times of what it has been on average
	roughTime   = 2.0  // s of that
	braceWithin = 0.90 // 0.12 s of the pony
	braceMost   = 1.0
	braceCalm   = 0.10 // that it may be off when the walk goes on,
	braceRests  = 0.3  // for so long, s
	braceKnows  = 1.5  // s after which a lean may become usual again: it may have come to stand on a slope
)

// braces finds whether a walk is to stop because it is pushed, and when it goes on. Loop-safe.
func (c *Controller) braces(input *control.Input) {
	b, z, off := &c.braced, c.height+c.above, math.Hypot(c.sway.off.X, c.sway.off.Y)
	walks := c.plan.Phase() == gait.Walks || c.plan.Phase() == gait.Lands
	if !b.on {
		if c.steady && walks && off > braceFar*z+braceRough*b.rough {
			b.on, b.took, b.calm = true, 0, 0
			c.disturbed = true
			c.plan.Brace(braceWithin*math.Sqrt(z/c.gravity), braceMost*c.gravity)
		}
		b.rough += min(input.Tick.Dt/roughTime, 1) * (off - b.rough)
		return
	}
	b.took += input.Tick.Dt
	if b.calm += input.Tick.Dt; off > braceCalm*z {
		b.calm = 0
	}
	if b.calm > braceRests && input.Rate > 0 && c.plan.Phase() == gait.Stands && !c.catch.steps.On() {
		b.on = false
		c.gather(input)
	}
}

// gather puts the feet to their places, unless it is to end or footsteps say where they are to be.
func (c *Controller) gather(input *control.Input) {
	if input.Rate > 0 && len(c.run.program.Steps) == 0 {
		c.plan.Gather()
	}
}
