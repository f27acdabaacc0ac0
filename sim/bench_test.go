package sim

import (
	"testing"

	"poise/robot/load"
)

// standing is the pony on its four hooves, with the servos of its legs.
func standing(tb testing.TB) *world {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	passive := make([]Passive, len(bot.Model.Joints()))
	for i := range passive {
		passive[i] = Passive{Armature: 0.009, Damping: 0.23}
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

func BenchmarkStand(b *testing.B) {
	w := standing(b)
	b.ReportMetric(float64(len(w.d.touches)), "contacts")
	b.ReportAllocs()
	for b.Loop() {
		w.d.Step(w.s, &w.in)
	}
}

// BenchmarkFlight is a step with nothing to touch: the motors alone.
func BenchmarkFlight(b *testing.B) {
	w := standing(b)
	w.in.Ground = nil
	for b.Loop() {
		w.d.Step(w.s, &w.in)
		w.s.Q[2], w.s.V[2] = 1, 0
	}
}
