package smooth_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"poise/edge"
	"poise/internal/golden"
	"poise/kinematics"
	"poise/msgs"
	"poise/msgs/rosjson"
	"poise/planner"
	"poise/planner/smooth"
	"poise/spatial"
)

// Whatever a message says, it is planned within the limits or refused with a
// reason.
func FuzzRequest(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(golden.Root(f), "examples", "plan", "*.json"))
	must(f, err)
	for _, name := range files {
		raw, err := os.ReadFile(name)
		must(f, err)
		f.Add(raw)
	}
	f.Add([]byte(`{"planner_id":"LIN","group_name":"manipulator","max_velocity_scaling_factor":1,"max_acceleration_scaling_factor":1,
"goal_constraints":[{"position_constraints":[{"link_name":"tool0","constraint_region":{"primitive_poses":[{"position":{"x":0.5,"y":0.3,"z":0.5},"orientation":{"w":1}}]}}],
"orientation_constraints":[{"link_name":"tool0","orientation":{"x":1}}]}]}`))
	f.Add([]byte(`{"items":[{"blend_radius":0.1,"req":{"planner_id":"PTP","group_name":"manipulator","max_velocity_scaling_factor":0.5,"max_acceleration_scaling_factor":1e-3,
"goal_constraints":[{"joint_constraints":[{"joint_name":"joint_1","position":1}]}]}},{"req":{"planner_id":"PTP","group_name":"manipulator","max_velocity_scaling_factor":1,
"max_acceleration_scaling_factor":1,"goal_constraints":[{"joint_constraints":[{"joint_name":"joint_2","position":-1e300}]}]}}]}`))
	m := loadRobot(f, "arm6")
	q := make([]float64, m.NumQ())
	kinematics.NewSpace(m).NeutralTo(q)
	p := smooth.Planner{Model: m, Sampling: 0.02}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var list msgs.MotionSequenceRequest
		if rosjson.Unmarshal(raw, &list) != nil {
			var one msgs.MotionPlanRequest
			if rosjson.Unmarshal(raw, &one) != nil {
				return
			}
			list.Items = []msgs.MotionSequenceItem{{Req: one}}
		}
		var items []planner.Item
		for i := range list.Items {
			req, why := edge.PlanRequest(&list.Items[i].Req)
			if why != nil {
				return
			}
			items = append(items, planner.Item{Request: req, Radius: list.Items[i].BlendRadius})
		}
		all, why := p.Sequence(context.Background(), items, q)
		if why != nil {
			if why.Text == "" || why.Kind == 0 {
				t.Fatalf("refused without a reason: %+v", why)
			}
			return
		}
		for _, x := range all {
			checkMotion(t, m, x, p.Sampling)
		}
	})
}

// Any numbers in a well-formed request, and a second item blended with it.
func FuzzNumbers(f *testing.F) {
	f.Add(uint8(1), 0.5, 0.3, 0.5, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.6, 0.1, 0.5, 0.05, 0.0)
	f.Add(uint8(2), 0.5, 0.3, 0.5, 1.0, 0.0, 0.0, 0.0, 0.3, 0.1, 0.6, 0.1, 0.5, 0.0, 0.2)
	f.Add(uint8(3), 0.5, 0.0, 0.5, 1.0, 0.1, 0.0, 0.0, 1.0, 1.0, 0.6, 0.1, 0.5, 0.1, 0.0)
	f.Add(uint8(0), 0.4, -0.3, 0.6, 1.0, 0.0, 0.2, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.08, -0.3)
	f.Add(uint8(4), 0.49, 0.0, 0.71, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.49, 0.0, 0.61, 0.02, 0.0)
	m := loadRobot(f, "arm6")
	q := make([]float64, m.NumQ())
	names := []string{"center", "interim", "circle", "center:angle=2", "interim:angle=-500deg"}
	f.Fuzz(func(t *testing.T, kind uint8, x, y, z, qx, qy, qz, qw, vs, as, vx, vy, vz, radius, speed float64) {
		b := newBench(t, m, "manipulator")
		b.p.Sampling = 0.05
		r := b.request([]planner.Command{planner.PTP, planner.LIN, planner.CIRC, planner.POLYLINE, planner.CIRC}[kind%5])
		r.Goals = b.pose(at(x, y, z), spatial.Quat{X: qx, Y: qy, Z: qz, W: qw})
		r.VelocityScaling, r.AccelerationScaling = vs, as
		via := planner.PositionGoal{Link: b.tip(), Points: []planner.PointGoal{{Position: at(vx, vy, vz), Orientation: down, Radius: radius}}}
		switch r.Command {
		case planner.CIRC:
			r.Via = planner.Via{Name: names[int(kind)%len(names)], Points: []planner.PositionGoal{via}}
			if r.Via.Name == "circle" {
				r.Via.Points = append(r.Via.Points, planner.PositionGoal{Link: b.tip(), Points: []planner.PointGoal{{Position: at(vy, vz, vx)}}})
			}
		case planner.POLYLINE:
			mid := planner.PositionGoal{Points: []planner.PointGoal{{Position: at(x, vy, z), Orientation: down}}}
			r.Via = planner.Via{Points: []planner.PositionGoal{via, mid}}
			r.Smoothness = as
		}
		if speed != 0 {
			r.Start = b.startState(q, []float64{speed, 0, -speed, 0, speed / 2, 0})
		}
		back := b.lin(at(0.49, 0, 0.71), down)
		if kind%2 == 0 {
			back = b.ptp(0, 0, 0, 0, 0, 0)
		}
		all, why := b.p.Sequence(context.Background(), []planner.Item{{Request: r, Radius: radius}, {Request: back}}, q)
		if why != nil {
			if why.Text == "" || why.Kind == 0 || why.Kind == planner.LimitExceeded {
				t.Fatalf("%+v", why)
			}
			return
		}
		for _, x := range all {
			if math.Abs(speed) < 3 { // a start beyond the limits stays beyond them for a while
				checkMotion(t, m, x, b.p.Sampling)
			}
		}
	})
}
