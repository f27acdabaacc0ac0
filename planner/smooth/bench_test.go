package smooth_test

import (
	"context"
	"testing"

	"poise/internal/golden"
	"poise/kinematics"
	"poise/planner"
	"poise/planner/smooth"
	"poise/robot"
	"poise/robot/load"
	"poise/spatial"
)

func loadRobot(tb testing.TB, name string) *robot.Model {
	tb.Helper()
	if name != "arm6" && name != "pony" {
		name = golden.Path(tb, "robots/"+name)
	}
	r, err := load.Robot(name, load.Options{OverrideLimits: true})
	must(tb, err)
	return r.Model
}

func tipAt(m *robot.Model, g *robot.Group, q []float64) spatial.Pose {
	d := kinematics.NewData(m)
	d.UpdatePosition(q)
	return d.Pose(d.At(g.Tip))
}

func groupOf(tb testing.TB, m *robot.Model, name string) *robot.Group {
	tb.Helper()
	id, ok := m.Group(name)
	if !ok {
		tb.Fatalf("no group %q", name)
	}
	return &m.Groups()[id]
}

func linRequest(m *robot.Model, g *robot.Group, goal spatial.Pose, scaling float64) planner.Request {
	name := m.Frames()[g.Tip].Name
	return planner.Request{Command: planner.LIN, CommandName: "LIN", Group: g.Name, VelocityScaling: scaling, AccelerationScaling: scaling,
		Goals: []planner.Goal{{Positions: []planner.PositionGoal{{Link: name, Points: []planner.PointGoal{{Position: goal.P}}}},
			Orientations: []planner.OrientationGoal{{Link: name, Orientation: goal.R.Quat()}}}}}
}

// reach returns the joints of a group with the tip at a pose.
func reach(tb testing.TB, m *robot.Model, g *robot.Group, X spatial.Pose, seed []float64) []float64 {
	tb.Helper()
	r := linRequest(m, g, X, 1)
	r.Command = planner.PTP
	mo, why := (&smooth.Planner{Model: m, Sampling: 0.1}).Plan(context.Background(), &r, seed)
	if why != nil {
		tb.Fatal(why)
	}
	q := append([]float64(nil), mo.Start...)
	for k, j := range mo.Joints {
		q[m.Joints()[j].Q] = mo.Trajectory.Points[len(mo.Trajectory.Points)-1].Position[k]
	}
	return q
}

// armWithoutJerk is arm6 with its velocities and accelerations only.
func armWithoutJerk(tb testing.TB) *robot.Model { return withoutJerk(tb, "arm6") }

func withoutJerk(tb testing.TB, name string) *robot.Model {
	text := "joint_limits:\n"
	for _, j := range loadRobot(tb, name).Joints() {
		if j.Limits.Acceleration.Has {
			text += "  " + j.Name + ": {has_velocity_limits: true, max_velocity: " + ftoa(j.Limits.Velocity.Value) +
				", has_acceleration_limits: true, max_acceleration: " + ftoa(j.Limits.Acceleration.Value) + "}\n"
		}
	}
	if name != "arm6" {
		name = golden.Path(tb, "robots/"+name)
	}
	return withLimits(tb, name, text, "")
}

// BenchmarkLin plans a straight metre, sampled every millisecond: inverse
// kinematics, timing and samples.
func BenchmarkLin(b *testing.B) {
	for _, c := range []struct {
		name    string
		model   func(testing.TB) *robot.Model
		group   string
		scaling float64
	}{
		{"6-axes", armWithoutJerk, "manipulator", 1},
		{"6-axes-half-speed", armWithoutJerk, "manipulator", 0.5},
		{"6-axes-jerk", func(tb testing.TB) *robot.Model { return loadRobot(tb, "arm6") }, "manipulator", 1},
		{"7-axes", func(tb testing.TB) *robot.Model { return withoutJerk(tb, "panda") }, "panda_arm", 1},
		{"7-axes-jerk", func(tb testing.TB) *robot.Model { return loadRobot(tb, "panda") }, "panda_arm", 1},
	} {
		b.Run(c.name, func(b *testing.B) {
			m := c.model(b)
			g := groupOf(b, m, c.group)
			tool := spatial.Quat{X: 1}.Matrix()
			from, to := spatial.Pose{P: at(0.45, -0.5, 0.5), R: tool}, spatial.Pose{P: at(0.45, 0.5, 0.5), R: tool}
			seed := make([]float64, m.NumQ())
			if c.group == "panda_arm" {
				copy(seed, []float64{0, -0.785, 0, -2.356, 0, 1.571, 0.785})
				from.R = tipAt(m, g, seed).R
				from.P, to.P, to.R = at(0.4, -0.5, 0.4), at(0.4, 0.5, 0.4), from.R
			}
			q := reach(b, m, g, from, seed)
			req := linRequest(m, g, to, c.scaling)
			p := smooth.Planner{Model: m}
			b.ReportAllocs()
			var mo *planner.Motion
			for b.Loop() {
				var why *planner.Refusal
				if mo, why = p.Plan(context.Background(), &req, q); why != nil {
					b.Fatal(why)
				}
			}
			b.ReportMetric(float64(len(mo.Trajectory.Points)), "samples")
		})
	}
}

// BenchmarkSequence plans seven lines blended with each other, every 4 ms.
func BenchmarkSequence(b *testing.B) {
	for name, m := range map[string]*robot.Model{"plain": armWithoutJerk(b), "jerk": loadRobot(b, "arm6")} {
		b.Run(name, func(b *testing.B) {
			g := groupOf(b, m, "manipulator")
			tool := spatial.Quat{X: 1}.Matrix()
			q := reach(b, m, g, spatial.Pose{P: at(0.4, -0.3, 0.4), R: tool}, make([]float64, m.NumQ()))
			var items []planner.Item
			for i := range 7 {
				X := spatial.Pose{P: at(0.4+0.2*float64(i%2), -0.3+0.09*float64(i), 0.4+0.05*float64(i%3)), R: tool}
				items = append(items, planner.Item{Request: linRequest(m, g, X, 1), Radius: 0.04})
			}
			items[0].Request.Goals[0].Positions[0].Points[0].Position = at(0.55, -0.35, 0.45)
			items[6].Radius = 0
			p := smooth.Planner{Model: m, Sampling: 0.004}
			b.ReportAllocs()
			for b.Loop() {
				if _, why := p.Sequence(context.Background(), items, q); why != nil {
					b.Fatal(why)
				}
			}
		})
	}
}

// BenchmarkGrowth shows that time grows with the number of samples and no faster.
func BenchmarkGrowth(b *testing.B) {
	m := armWithoutJerk(b)
	g := groupOf(b, m, "manipulator")
	q := make([]float64, m.NumQ())
	X := tipAt(m, g, q)
	X.P = X.P.Add(at(0, 0.2, 0))
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		for _, c := range []planner.Command{planner.LIN, planner.PTP} {
			b.Run(c.String()+"/"+ftoa(float64(n)), func(b *testing.B) {
				req := linRequest(m, g, X, 0.5)
				req.Command = c
				first, why := (&smooth.Planner{Model: m, Sampling: 0.01}).Plan(context.Background(), &req, q)
				if why != nil {
					b.Fatal(why)
				}
				p := smooth.Planner{Model: m, Sampling: duration(first) / float64(n)}
				count := 0
				for b.Loop() {
					mo, why := p.Plan(context.Background(), &req, q)
					if why != nil {
						b.Fatal(why)
					}
					count = len(mo.Trajectory.Points)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(count), "ns/sample")
			})
		}
	}
}
