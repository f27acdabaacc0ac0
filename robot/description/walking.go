package description

import (
	"slices"

	"poise/problem"
)

// GaitNames are the gaits that a robot has.
var GaitNames = []string{"crawl", "amble", "trot", "in_place"}

// checkWalking reports numbers that no robot walks with; whether this one can, package walk tells.
func (d *Description) checkWalking(fail func(int, string, string, ...any)) {
	w := &d.Walking
	within := func(lines map[string]int, thing, key, unit string, x *float64, least, most float64) {
		if x != nil && !(*x >= least && *x <= most) {
			fail(lines[key], thing, "%s %g%s is not within %g … %g%s", key, *x, unit, least, most, unit)
		}
	}
	within(w.Lines, "walking", "height", " m", w.Height, 0.01, 10)
	within(w.Lines, "walking", "reach", " m", w.Reach, 0.001, 5)
	within(w.Lines, "walking", "margin", " m", w.Margin, 0.0005, 1)
	within(w.Lines, "walking", "fade", " s", w.Fade, 0.005, 1)
	known := func(line int, name string) {
		if !slices.Contains(GaitNames, name) {
			fail(line, "walking", "gait %q is not one of %s%s", name, problem.List(GaitNames), problem.Hint(name, GaitNames))
		}
	}
	for i, name := range w.BySpeed {
		known(w.Lines["by_speed"], name)
		if slices.Contains(w.BySpeed[:i], name) {
			fail(w.Lines["by_speed"], "walking", "by_speed has %s twice", name)
		}
	}
	for i := range w.Gaits {
		g := &w.Gaits[i]
		thing := problem.Named("gait", g.Name)
		known(g.Line, g.Name)
		within(g.Lines, thing, "period", " s", g.Period, 0.2, 30)
		within(g.Lines, thing, "duty", "", g.Duty, 0.05, 0.99)
		within(g.Lines, thing, "lift", " m", g.Lift, 0.0005, 1)
		within(g.Lines, thing, "speed", " m/s", g.Speed, 0.0001, 100)
		if len(g.Order) > 0 && len(g.Phase) > 0 {
			fail(g.Lines["phase"], thing, "phase stands beside order: one of them says when feet are lifted")
		}
		for _, x := range g.Phase {
			if !(x.Value >= 0 && x.Value < 1) {
				fail(x.Line, thing, "phase of %s: %g is not within 0 … 1, without 1", x.Chain, x.Value)
			}
		}
	}
}

// checkGetUp reports steps that say nothing, or no time.
func (d *Description) checkGetUp(fail func(int, string, string, ...any)) {
	g := &d.GetUp
	if g.Line != 0 && len(g.Belly) == 0 {
		fail(g.Line, "get_up", "belly is missing: the poses that raise the robot from its belly")
	}
	for _, part := range [][]Rise{g.Left, g.Belly} {
		for _, s := range part {
			if !(s.In >= 0.1 && s.In <= 60) {
				fail(s.Line, "get_up", "in %g s is not within 0.1 … 60 s", s.In)
			}
			if (s.Pose == "") == (len(s.Joints) == 0) {
				fail(s.Line, "get_up", "a step has either pose or joints")
			}
		}
	}
}
