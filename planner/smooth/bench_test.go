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
	if err != nil {
		tb.Fatal(err)
	}
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

func BenchmarkLin(b *testing.B) {
	for _, c := range []struct {
		name, robot, group string
		q                  []float64
		goal               spatial.Vec3
		scale              float64
	}{
		{"prbt/hard", "prbt", "manipulator", []float64{-0.38453431455316434, 1.163882112135636, -0.8796492718297433, 1.806470310072398, 2.2150192036550154, -2.144884853498012}, spatial.Vec3{X: -0.4765034440701523, Y: -0.3196059662522548, Z: -0.022997774101723656}, 1},
		{"prbt/easy", "prbt", "manipulator", []float64{-0.38453431455316434, 1.163882112135636, -0.8796492718297433, 1.806470310072398, 2.2150192036550154, -2.144884853498012}, spatial.Vec3{X: -0.4765034440701523, Y: -0.3196059662522548, Z: -0.022997774101723656}, 0.2},
		{"arm6/jerk", "arm6", "manipulator", []float64{-0.974468864528693, 2.0165622224437914, -0.7561258664360135, 2.519889169958831, -2.9844602914874505, 5.94658993690827, 0.030575378029391625}, spatial.Vec3{X: -0.326290838570429, Y: -0.5182356313298357, Z: 0.5906346358481542}, 1},
		{"panda", "panda", "panda_arm", []float64{-1.3809530089187754, 0.7103668767404734, -2.8392150261222917, -1.7569416691326176, -1.4452868661754075, 2.1246471807090725, 0.8842823558543298, 0.036416744922051346}, spatial.Vec3{X: -0.04019622768073225, Y: 0.6454656071339968, Z: 0.04652953802297877}, 1},
	} {
		b.Run(c.name, func(b *testing.B) {
			m := loadRobot(b, c.robot)
			g := groupOf(b, m, c.group)
			X := tipAt(m, g, c.q)
			X.P = c.goal
			req := linRequest(m, g, X)
			req.VelocityScaling, req.AccelerationScaling = c.scale, c.scale
			p := smooth.Planner{Model: m}
			b.ReportAllocs()
			var mo *planner.Motion
			for b.Loop() {
				var why *planner.Refusal
				if mo, why = p.Plan(context.Background(), req, c.q); why != nil {
					b.Fatal(why)
				}
			}
			b.ReportMetric(duration(mo), "s-motion")
		})
	}
}

func linRequest(m *robot.Model, g *robot.Group, goal spatial.Pose) *planner.Request {
	name := m.Frames()[g.Tip].Name
	return &planner.Request{Command: planner.LIN, CommandName: "LIN", Group: g.Name, VelocityScaling: 1, AccelerationScaling: 1,
		Goals: []planner.Goal{{Positions: []planner.PositionGoal{{Link: name, Points: []planner.PointGoal{{Position: goal.P}}}},
			Orientations: []planner.OrientationGoal{{Link: name, Orientation: goal.R.Quat()}}}}}
}
