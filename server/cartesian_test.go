package server_test

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"poise/msgs"
	"poise/wire/rosbridge/client"
)

// TestStraightPathsThroughWaypoints: compute_cartesian_path moves nothing, follows the waypoints with
// points that are close enough, says how far it comes if one is out of reach, and refuses what
// it could only ignore; what it returns is performed.
func TestStraightPathsThroughWaypoints(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, arm)
		before := b.joints("/joint_states")
		fk := func(state msgs.RobotState) msgs.Pose {
			var r msgs.GetPositionFKResponse
			b.call("/compute_fk", &msgs.GetPositionFKRequest{FKLinkNames: []string{"tool0"}, RobotState: state}, &r)
			return r.PoseStamped[0].Pose
		}
		here := fk(msgs.RobotState{})
		to := func(dx, dy, dz float64) msgs.Pose {
			x := here
			x.Position.X, x.Position.Y, x.Position.Z = x.Position.X+dx, x.Position.Y+dy, x.Position.Z+dz
			return x
		}
		path := func(q msgs.GetCartesianPathRequest) (r msgs.GetCartesianPathResponse) {
			q.GroupName, q.MaxVelocityScalingFactor, q.MaxAccelerationScalingFactor = "manipulator", 0.5, 0.5
			b.call("/compute_cartesian_path", &q, &r)
			return r
		}
		const step = 0.004
		r := path(msgs.GetCartesianPathRequest{Waypoints: []msgs.Pose{to(0, 0.05, 0), to(0, 0.05, 0.04)}, MaxStep: step})
		if r.ErrorCode.Val != msgs.ErrorSuccess || r.Fraction != 1 {
			t.Fatalf("fraction %g: %d %s", r.Fraction, r.ErrorCode.Val, r.ErrorCode.Message)
		}
		b.unmoved(before, b.joints("/joint_states"))
		last, corner := here, 1.0
		for _, x := range r.Solution.JointTrajectory.Points {
			at := fk(msgs.RobotState{JointState: msgs.JointState{Name: r.Solution.JointTrajectory.JointNames, Position: x.Positions}})
			if d := distance(at, last); d > step*1.01 {
				t.Errorf("two points are %g m apart", d)
			}
			corner, last = min(corner, distance(at, to(0, 0.05, 0))), at
		}
		if end := distance(last, to(0, 0.05, 0.04)); end > 1e-6 || corner > 1e-3 {
			t.Errorf("the path passes the corner at %g m, and ends %g m from its end", corner, end)
		}
		u, _ := b.end(b.send("/execute_trajectory", executeType, &msgs.ExecuteTrajectoryGoal{Trajectory: r.Solution}))
		b.want(u, succeeded)
		ends(b, &r.Solution)

		// a second waypoint out of reach
		here = fk(msgs.RobotState{})
		r = path(msgs.GetCartesianPathRequest{Waypoints: []msgs.Pose{to(0, 0, 0.02), to(2, 0, 0.02)}, MaxStep: 0.01})
		if r.ErrorCode.Val != msgs.ErrorSuccess || !strings.Contains(r.ErrorCode.Message, "ends early") || r.Fraction <= 0.01 || r.Fraction >= 0.9 || len(r.Solution.JointTrajectory.Points) < 2 {
			t.Errorf("out of reach: fraction %g: %d %s, %d points", r.Fraction, r.ErrorCode.Val, r.ErrorCode.Message, len(r.Solution.JointTrajectory.Points))
		}

		for what, q := range map[string]msgs.GetCartesianPathRequest{
			"avoid_collisions": {Waypoints: []msgs.Pose{here}, MaxStep: 0.01, AvoidCollisions: true},
			"max_step":         {Waypoints: []msgs.Pose{here}},
			"0 waypoints":      {MaxStep: 0.01},
			"no_such_link":     {Waypoints: []msgs.Pose{here}, MaxStep: 0.01, LinkName: "no_such_link"},
			"no_such_frame":    {Waypoints: []msgs.Pose{here}, MaxStep: 0.01, Header: msgs.Header{FrameID: "no_such_frame"}},
		} {
			if r := path(q); r.ErrorCode.Val == msgs.ErrorSuccess || r.Fraction != 0 || !strings.Contains(r.ErrorCode.Message, what) {
				t.Errorf("%s: %g, %d %s", what, r.Fraction, r.ErrorCode.Val, r.ErrorCode.Message)
			}
		}

		var params msgs.GetPlannerParamsResponse
		b.call("/get_planner_params", &msgs.GetPlannerParamsRequest{PlannerConfig: "LIN"}, &params)
		b.call("/set_planner_params", &msgs.SetPlannerParamsRequest{Params: params.Params}, &msgs.SetPlannerParamsResponse{})
		set := &msgs.SetPlannerParamsRequest{Params: msgs.PlannerParams{Keys: []string{"range"}, Values: []string{"0.1"}}}
		if _, err := b.c.Call(b.ctx, "/set_planner_params", client.Text(set, msgs.ROS2)); err == nil || !strings.Contains(err.Error(), "range") {
			t.Errorf("a parameter is set: %v", err)
		}
	})
}

func distance(a, b msgs.Pose) float64 {
	p, q := a.Position, b.Position
	return math.Hypot(math.Hypot(p.X-q.X, p.Y-q.Y), p.Z-q.Z)
}
