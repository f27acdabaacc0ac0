package follow

import (
	"cmp"
	"math"
	"slices"

	"poise/problem"
	"poise/robot"
	"poise/trajectory"
)

// Defaults of tolerances where neither goal nor options say: what the editors of
// hand-taught motions have always proposed, rad; and what is alike for slides, m.
const (
	defaultPath, defaultFinal           = 0.522, 0.174
	defaultPathSlide, defaultFinalSlide = 0.05, 0.02

	defaultGoalTime = 1 // s
)

// tolerances reads what the goal allows, by column.
func (c *compiler) tolerances() {
	c.r.Path = c.stated("path", c.g.Path, c.o.Path, defaultPath, defaultPathSlide)
	c.r.Final = c.stated("goal", c.g.Final, c.o.Final, defaultFinal, defaultFinalSlide)
}

// stated returns the tolerances of all columns, negative where there is none: a
// goal that lists none has none, a joint that it does not list has the default.
func (c *compiler) stated(word string, listed []Tolerance, standard trajectory.Tolerance, turning, sliding float64) []trajectory.Tolerance {
	out := make([]trajectory.Tolerance, len(c.joints))
	for k, id := range c.joints {
		out[k] = trajectory.Tolerance{Position: -1, Velocity: -1, Acceleration: -1}
		if len(listed) > 0 {
			out[k] = none(standard)
			if standard.Position == 0 {
				if out[k].Position = turning; c.m.Joints()[id].Kind == robot.Prismatic {
					out[k].Position = sliding
				}
			}
		}
	}
	seen := map[string]bool{}
	for _, t := range listed {
		p := problem.Problem{Code: BadTolerance, Joint: t.Joint, Value: t.Position}
		k := slices.Index(c.r.Names, t.Joint)
		switch {
		case k < 0:
			c.bad.add(p, "%s tolerance for %q, which the goal does not move", word, t.Joint)
			continue
		case seen[t.Joint]:
			c.bad.add(p, "two %s tolerances for %q", word, t.Joint)
			continue
		case math.IsNaN(t.Position) || math.IsNaN(t.Velocity) || math.IsNaN(t.Acceleration):
			c.bad.add(p, "%s tolerance of %q is not finite", word, t.Joint)
			continue
		}
		seen[t.Joint] = true
		o := &out[k]
		o.Position, o.Velocity, o.Acceleration = orDefault(t.Position, o.Position), orDefault(t.Velocity, o.Velocity), orDefault(t.Acceleration, o.Acceleration)
	}
	return out
}

// none makes quantities without a limit negative.
func none(t trajectory.Tolerance) trajectory.Tolerance {
	return trajectory.Tolerance{Position: orDefault(t.Position, -1), Velocity: orDefault(t.Velocity, -1), Acceleration: orDefault(t.Acceleration, -1)}
}

// orDefault reads a number as goals state it.
func orDefault(x, standard float64) float64 {
	switch {
	case x == 0:
		return standard
	case x < 0 || math.IsInf(x, 1):
		return -1
	}
	return x
}

// events checks and sorts them; those of one instant keep their order.
func (c *compiler) events() {
	end := 0.0
	if n := len(c.g.Points); n > 0 {
		end = c.g.Points[n-1].Time
	}
	if n := len(c.g.Events); n > maxEvents {
		c.bad.add(problem.Problem{Code: TooMuch, Value: float64(n), Limit: maxEvents}, "%d events, at most %d are played", n, maxEvents)
		return
	}
	for i, e := range c.g.Events {
		if !(e.Time >= 0 && e.Time <= end+1e-9) {
			at, last := c.g.Table.At(e.Time), c.g.Table.At(end)
			c.bad.add(problem.Problem{Code: BadEvent, At: at, Value: at, Limit: last, Help: "events lie between 0 and the end"},
				"event %d (%s %s) is at %g s, the motion lasts %g s", i, e.Type, e.Command, at, last)
		}
	}
	c.r.Events = slices.Clone(c.g.Events)
	slices.SortStableFunc(c.r.Events, func(a, b Event) int { return cmp.Compare(a.Time, b.Time) })
	c.triggers()
}
