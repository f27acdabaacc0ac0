package walk

import (
	"math"

	"poise/control"
)

// swingTicks is for how many setpoints a foot of a crawl is in the air at least: of fewer, one that is lost is not caught up with.
const swingTicks = 7.2

// choose sets the gait for a cycle of a period; while it walks the plan takes it between two steps.
func (c *Controller) choose(dt float64) {
	name := c.wanted
	if len(c.run.program.Steps) > 0 {
		name = "crawl" // one foot at a time
	} else if name == "" {
		name = c.bySpeed(dt)
	}
	if name == c.plan.Next().Name && !c.renewed {
		return
	}
	for i := range c.gaits {
		if c.gaits[i].Name != name {
			continue
		}
		c.slowed.Set(&c.gaits[i])
		c.slowed.Slow(swingTicks * dt)
		if c.lags && c.wanted == "" {
			c.slowed.Most *= laggingShare
		}
		if c.plan.SetGait(&c.slowed) == nil {
			c.renewed = false
		}
	}
}

// backAt is the share of its fastest speed at which a slower gait is taken up again.
const backAt = 0.8

// lagging is how far a joint is from its command, rad, when it is seen to lag. Servos with a weight to carry pass it before the first step.
const lagging = 0.01

// behind reports whether legs lag behind what they are commanded: their servos get positions alone (cycle 0), and one was that far
// from its command since the walk began. Those of a robot without mass are not.
func (c *Controller) behind(input *control.Input) bool {
	if input.Torques.Contains(c.driven) {
		return false
	}
	for leaf := range c.driven.All {
		if c.lags || math.Abs(input.Meas.Q[leaf]-input.Cmd.Q[leaf]) > lagging {
			return true
		}
	}
	return false
}

// laggingShare is the share of its fastest speed at which a gait is walked that is chosen for legs that lag. The
// pony, whose crawl makes 0.061 m/s, crawls at 0.04 m/s in cycle 0 at any period; at 0.05 m/s joints leave their command by 0.35 rad.
const laggingShare = 0.65

// tripod is how many feet carry a robot that does not balance.
const tripod = 3

// bySpeed returns the gait for the speed that is commanded: the slowest that goes as fast in a cycle of a period. Legs that lag
// behind what they are commanded do not balance on two feet: for them it is one in which three stand at any time, if there is one.
func (c *Controller) bySpeed(dt float64) string {
	least := 0
	for _, k := range c.speeds {
		if c.lags && c.gaits[k].Standing() >= tripod {
			least = tripod
		}
	}
	now := -1
	for i, k := range c.speeds {
		if c.gaits[k].Name == c.plan.Next().Name {
			now = i
		}
	}
	need, name := c.plan.Wanted(), ""
	for i, k := range c.speeds {
		g := c.gaits[k]
		if g.Standing() < least {
			continue
		}
		name = g.Name
		g.Slow(swingTicks * dt)
		fastest := g.Fastest(c.reach)
		if c.lags {
			fastest *= laggingShare
		}
		if i < now {
			fastest *= backAt
		}
		if need <= fastest {
			break
		}
	}
	return name
}
