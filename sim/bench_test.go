package sim

import (
	"fmt"
	"testing"

	"poise/robot"
	"poise/robot/load"
)

// standing is the pony on its four hooves, with the servos of its legs.
func standing(tb testing.TB, friction float64) *world {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	passive := make([]Passive, len(bot.Model.Joints()))
	for i := range passive {
		passive[i] = Passive{Armature: 0.009, Damping: 0.23, Friction: friction}
	}
	w := simulate(tb, bot.Model, Config{Passive: passive})
	pose, _ := bot.Model.Pose("stand")
	for k, id := range pose.Joints {
		w.s.Q[bot.Model.Joints()[id].Q] = pose.Q[k][0]
	}
	w.d.kin.UpdatePosition(w.s.Q)
	w.s.Q[2] -= w.m.Clearance(w.d.kin, w.in.Ground)
	for i := range w.in.Drives {
		w.in.Drives[i] = Drive{Kp: 11.7, Limit: 2.35, Position: w.s.Q[w.m.joints[i].q]}
	}
	w.run(0.5)
	return w
}

// BenchmarkStand is a step of the flat-soled pony on four feet, without dry friction in its
// joints and with it.
func BenchmarkStand(b *testing.B) {
	for name, friction := range map[string]float64{"smooth": 0, "dry": 0.053} {
		b.Run(name, func(b *testing.B) { steps(b, standing(b, friction)) })
	}
}

// BenchmarkStacks is how a step grows with bodies and their contacts: stacks of three.
func BenchmarkStacks(b *testing.B) {
	for _, n := range []int{3, 12, 48} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := simulate(b, build(b, stack(n, func(int) float64 { return 0.5 }), robot.BaseFixed), Config{})
			for i := range n {
				w.s.Q[7*i], w.s.Q[7*i+2] = 0.3*float64(i/3), 0.025+0.05*float64(i%3)
			}
			w.run(0.1)
			steps(b, w)
		})
	}
}

func steps(b *testing.B, w *world) {
	b.ReportAllocs()
	for b.Loop() {
		w.d.Step(w.s, &w.in)
	}
	b.ReportMetric(float64(len(w.d.touches)), "contacts")
}

// BenchmarkFlight is a step with nothing to touch: the motors alone.
func BenchmarkFlight(b *testing.B) {
	w := standing(b, 0)
	w.in.Ground = nil
	for b.Loop() {
		w.d.Step(w.s, &w.in)
		w.s.Q[2], w.s.V[2] = 1, 0
	}
}
