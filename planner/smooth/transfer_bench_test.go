package smooth

import (
	"testing"

	"poise/planner"
	"poise/robot/load"
)

// BenchmarkPTPProfile plans a point-to-point motion of six joints without sampling
// it.
func BenchmarkPTPProfile(b *testing.B) {
	r, err := load.Robot("arm6", load.Options{})
	if err != nil {
		b.Fatal(err)
	}
	req := planner.Request{Command: planner.PTP, Group: "manipulator", VelocityScaling: 1, AccelerationScaling: 1,
		Goals: []planner.Goal{{Joints: []planner.JointGoal{{Joint: "joint_1", Position: 1}, {Joint: "joint_2", Position: 0.4}, {Joint: "joint_3", Position: -0.6},
			{Joint: "joint_4", Position: 0.8}, {Joint: "joint_5", Position: -1}, {Joint: "joint_6", Position: 2}}}}}
	scene := planner.Scene{Model: r.Model, Current: make([]float64, r.Model.NumQ())}
	task, why := scene.Resolve(&req)
	if why != nil {
		b.Fatal(why)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, why := newTransfer(r.Model, task, 1e-3); why != nil {
			b.Fatal(why)
		}
	}
}
