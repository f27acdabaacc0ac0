package server_test

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/server/config"
	"poise/wire/rosbridge/client"
)

func arm(c *config.Config) { c.Robot = "arm6" }

// lin asks for a straight line of arm6's tool to a point, its orientation kept.
func lin(b *bed, dx, dy, dz float64) msgs.MotionPlanRequest {
	b.t.Helper()
	var fk msgs.GetPositionFKResponse
	b.call("/compute_fk", &msgs.GetPositionFKRequest{FKLinkNames: []string{"tool0"}}, &fk)
	if fk.ErrorCode.Val != msgs.ErrorSuccess {
		b.t.Fatalf("compute_fk: %s", fk.ErrorCode.Message)
	}
	X := fk.PoseStamped[0].Pose
	X.Position.X, X.Position.Y, X.Position.Z = X.Position.X+dx, X.Position.Y+dy, X.Position.Z+dz
	place := msgs.PositionConstraint{LinkName: "tool0"}
	place.ConstraintRegion.PrimitivePoses = []msgs.Pose{{Position: X.Position, Orientation: msgs.Quaternion{W: 1}}}
	return msgs.MotionPlanRequest{PlannerID: "LIN", GroupName: "manipulator", MaxVelocityScalingFactor: 0.5, MaxAccelerationScalingFactor: 0.5,
		GoalConstraints: []msgs.Constraints{{PositionConstraints: []msgs.PositionConstraint{place},
			OrientationConstraints: []msgs.OrientationConstraint{{LinkName: "tool0", Orientation: X.Orientation}}}}}
}

// ends wants the robot to be where a trajectory ends.
func ends(b *bed, t *msgs.RobotTrajectory) {
	b.t.Helper()
	points := t.JointTrajectory.Points
	if len(points) == 0 {
		b.t.Fatal("there is no trajectory")
	}
	at := b.joints("/joint_states")
	for i, name := range t.JointTrajectory.JointNames {
		if want := points[len(points)-1].Positions[i]; math.Abs(at[name]-want) > 1e-6 {
			b.t.Errorf("%s is at %g, the plan ends at %g", name, at[name], want)
		}
	}
}

func move(b *bed, q msgs.MotionPlanRequest, only bool) (client.Update, msgs.MoveGroupResult) {
	b.t.Helper()
	u, _ := b.end(b.send("/move_action", moveType, &msgs.MoveGroupGoal{Request: q, PlanningOptions: msgs.PlanningOptions{PlanOnly: only}}))
	var r msgs.MoveGroupResult
	if !u.Rejected {
		if err := client.Read(u.Result, &r); err != nil {
			b.t.Fatal(err)
		}
	}
	return u, r
}

func TestLinesArePlannedAndPerformed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, arm)
		before := b.joints("/joint_states")

		// plans that move nothing
		var plan msgs.GetMotionPlanResponse
		b.call("/plan_kinematic_path", &msgs.GetMotionPlanRequest{MotionPlanRequest: lin(b, 0, 0.1, 0)}, &plan)
		if code := plan.MotionPlanResponse.ErrorCode; code.Val != msgs.ErrorSuccess {
			t.Fatalf("plan_kinematic_path: %d %s", code.Val, code.Message)
		}
		u, r := move(b, lin(b, 0, 0.1, 0), true)
		b.want(u, succeeded)
		if r.ErrorCode.Val != msgs.ErrorSuccess || len(r.PlannedTrajectory.JointTrajectory.Points) < 2 {
			t.Errorf("plan_only: code %d, %d points", r.ErrorCode.Val, len(r.PlannedTrajectory.JointTrajectory.Points))
		}
		if n := len(r.ExecutedTrajectory.JointTrajectory.Points); n > 0 {
			t.Errorf("plan_only says that it performed %d points", n)
		}
		b.unmoved(before, b.joints("/joint_states"))

		// one that does
		u, r = move(b, lin(b, 0, 0.1, 0), false)
		b.want(u, succeeded)
		ends(b, &r.PlannedTrajectory)
		// already there: it may succeed at once
		u, r = move(b, lin(b, 0, 0, 0), false)
		b.want(u, succeeded)
		if r.ErrorCode.Val != msgs.ErrorSuccess {
			t.Errorf("at the goal already: %d %s", r.ErrorCode.Val, r.ErrorCode.Message)
		}
		// what was planned elsewhere, back to the beginning
		b.call("/plan_kinematic_path", &msgs.GetMotionPlanRequest{MotionPlanRequest: lin(b, 0, -0.1, 0)}, &plan)
		u, _ = b.end(b.send("/execute_trajectory", executeType, &msgs.ExecuteTrajectoryGoal{Trajectory: plan.MotionPlanResponse.Trajectory}))
		b.want(u, succeeded)
		ends(b, &plan.MotionPlanResponse.Trajectory)
		// and what cannot be
		u, r = move(b, lin(b, 5, 0, 0), false)
		b.want(u, aborted)
		if r.ErrorCode.Val != msgs.ErrorNoIKSolution || r.ErrorCode.Message == "" {
			t.Errorf("out of reach: %d %q", r.ErrorCode.Val, r.ErrorCode.Message)
		}
		q := lin(b, 0, 0, 0)
		q.PlannerID = "SPLINE"
		if u, r = move(b, q, false); u.Status != aborted || !strings.Contains(r.ErrorCode.Message+u.Text, "SPLINE") {
			t.Errorf("an unknown planner: status %d %s%s", u.Status, u.Text, u.Result)
		}
	})
}

// TestOneAnswerOnEveryRoad: the service and the action answer a request with the
// same code, the same words and the same trajectory, also one that cannot be asked.
func TestOneAnswerOnEveryRoad(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, arm)
		for name, change := range map[string]func(q *msgs.MotionPlanRequest){
			"planned":         func(*msgs.MotionPlanRequest) {},
			"slowed":          func(q *msgs.MotionPlanRequest) { q.MaxVelocityScalingFactor = 1 },
			"unknown command": func(q *msgs.MotionPlanRequest) { q.PlannerID = "SPLINE" },
			"unknown group":   func(q *msgs.MotionPlanRequest) { q.GroupName = "leg" },
			"unknown planner": func(q *msgs.MotionPlanRequest) { q.PipelineID = "ompl" },
			"no such field":   func(q *msgs.MotionPlanRequest) { q.ReferenceTrajectories = make([]msgs.GenericTrajectory, 1) },
			"too fast":        func(q *msgs.MotionPlanRequest) { q.MaxVelocityScalingFactor = 2 },
			"no time for it":  func(q *msgs.MotionPlanRequest) { q.AllowedPlanningTime = 1e-12 },
		} {
			q := lin(b, 0, 0.1, 0)
			change(&q)
			var plan msgs.GetMotionPlanResponse
			b.call("/plan_kinematic_path", &msgs.GetMotionPlanRequest{MotionPlanRequest: q}, &plan)
			_, moved := move(b, q, true)
			p := plan.MotionPlanResponse
			if p.ErrorCode != moved.ErrorCode || name != "planned" && name != "slowed" && (p.ErrorCode.Val == msgs.ErrorSuccess || p.ErrorCode.Message == "") {
				t.Errorf("%s: the service answers %+v, the action %+v", name, p.ErrorCode, moved.ErrorCode)
			}
			if !reflect.DeepEqual(p.Trajectory, moved.PlannedTrajectory) || !reflect.DeepEqual(p.TrajectoryStart, moved.TrajectoryStart) {
				t.Errorf("%s: two trajectories", name)
			}
		}
	})
}

func TestThePipelineChoosesThePlanner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, arm)
		spacing := func(pipeline string) float64 {
			q := lin(b, 0, 0.1, 0)
			q.PipelineID = pipeline
			var plan msgs.GetMotionPlanResponse
			b.call("/plan_kinematic_path", &msgs.GetMotionPlanRequest{MotionPlanRequest: q}, &plan)
			p := plan.MotionPlanResponse.Trajectory.JointTrajectory.Points
			if len(p) < 2 {
				t.Fatalf("pipeline %q: %s", pipeline, plan.MotionPlanResponse.ErrorCode.Message)
			}
			return p[1].TimeFromStart.Seconds() - p[0].TimeFromStart.Seconds()
		}
		const compat = "pilz_industrial_motion_planner"
		own, pilz := spacing(""), spacing(compat)
		if math.Abs(own-0.005) > 1e-9 {
			t.Errorf("Poise's own plan has a point every %g s, the cycle is 0.005 s", own)
		}
		if math.Abs(pilz-0.1) > 1e-9 {
			t.Errorf("the compat plan has a point every %g s, the original has one every 0.1 s", pilz)
		}
		var plan msgs.GetMotionPlanResponse
		q := lin(b, 0, 0.1, 0)
		q.PipelineID = "ompl"
		b.call("/plan_kinematic_path", &msgs.GetMotionPlanRequest{MotionPlanRequest: q}, &plan)
		if c := plan.MotionPlanResponse.ErrorCode; c.Val == msgs.ErrorSuccess || !strings.Contains(c.Message, "ompl") {
			t.Errorf("pipeline ompl: %d %s", c.Val, c.Message)
		}

		// the default is a setting
		other := start(t, func(c *config.Config) { arm(c); c.Planner.Pipeline = compat })
		var answer msgs.GetMotionPlanResponse
		other.call("/plan_kinematic_path", &msgs.GetMotionPlanRequest{MotionPlanRequest: lin(other, 0, 0.1, 0)}, &answer)
		// and can be overruled
		q = lin(other, 0, 0.1, 0)
		q.PipelineID = "poise"
		other.call("/plan_kinematic_path", &msgs.GetMotionPlanRequest{MotionPlanRequest: q}, &plan)
		if n := len(plan.MotionPlanResponse.Trajectory.JointTrajectory.Points); n < 50 {
			t.Errorf("pipeline poise where the other is the default: %d points, %s", n, plan.MotionPlanResponse.ErrorCode.Message)
		}
		p := answer.MotionPlanResponse.Trajectory.JointTrajectory.Points
		if len(p) < 2 || math.Abs(p[1].TimeFromStart.Seconds()-0.1) > 1e-9 {
			t.Errorf("with the configured default: %d points, %s", len(p), answer.MotionPlanResponse.ErrorCode.Message)
		}
	})
}

func TestSequencesAlwaysExecute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, arm)
		before := b.joints("/joint_states")
		request := func() msgs.MotionSequenceRequest {
			return msgs.MotionSequenceRequest{Items: []msgs.MotionSequenceItem{
				{BlendRadius: 0.02, Req: lin(b, 0, 0.08, 0)}, {Req: lin(b, 0, 0.08, -0.08)}}}
		}
		var plan msgs.GetMotionSequenceResponse
		b.call("/plan_sequence_path", &msgs.GetMotionSequenceRequest{Request: request()}, &plan)
		if c := plan.Response.ErrorCode; c.Val != msgs.ErrorSuccess {
			t.Fatalf("plan_sequence_path: %d %s", c.Val, c.Message)
		}
		b.unmoved(before, b.joints("/joint_states"))

		run := func(q msgs.MotionSequenceRequest) (*msgs.MotionSequenceResponse, bool) {
			u, err := b.send("/sequence_move_group", chainType, &msgs.MoveGroupSequenceGoal{Request: q}), error(nil)
			performed := false
			for {
				news, e := u.Next(b.ctx)
				if err = e; err != nil {
					t.Fatal(err)
				}
				if news.Done {
					b.want(news, succeeded)
					var r msgs.MoveGroupSequenceResult
					if err := client.Read(news.Result, &r); err != nil {
						t.Fatal(err)
					}
					return &r.Response, performed
				}
				performed = performed || strings.Contains(string(news.Feedback), "MONITOR")
			}
		}
		r, performed := run(request())
		if !performed || len(r.PlannedTrajectories) == 0 {
			t.Fatalf("performed %v, %d trajectories", performed, len(r.PlannedTrajectories))
		}
		ends(b, &r.PlannedTrajectories[len(r.PlannedTrajectories)-1])
		// at the goal already it is planned and performed all the same; that takes less than
		// the time between two feedbacks, and executive TestMoveMayBeThereAlready watches it
		here := msgs.MotionSequenceRequest{Items: []msgs.MotionSequenceItem{{Req: lin(b, 0, 0, 0)}}}
		if r, _ = run(here); len(r.PlannedTrajectories) == 0 {
			t.Error("a sequence whose goal is where the robot is was not planned")
		}
	})
}

func TestKinematicsAsServices(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, arm)
		var fk msgs.GetPositionFKResponse
		state := msgs.RobotState{JointState: msgs.JointState{Name: []string{"joint_1"}, Position: []float64{0.5}}}
		b.call("/compute_fk", &msgs.GetPositionFKRequest{FKLinkNames: []string{"tool0"}, RobotState: state}, &fk)
		var solved msgs.GetPositionIKResponse
		b.call("/compute_ik", &msgs.GetPositionIKRequest{IKRequest: msgs.PositionIKRequest{GroupName: "manipulator", PoseStamped: fk.PoseStamped[0]}}, &solved)
		if solved.ErrorCode.Val != msgs.ErrorSuccess {
			t.Fatalf("compute_ik: %s", solved.ErrorCode.Message)
		}
		var back msgs.GetPositionFKResponse
		b.call("/compute_fk", &msgs.GetPositionFKRequest{FKLinkNames: []string{"tool0"}, RobotState: solved.Solution}, &back)
		p, q := fk.PoseStamped[0].Pose.Position, back.PoseStamped[0].Pose.Position
		if d := math.Hypot(math.Hypot(p.X-q.X, p.Y-q.Y), p.Z-q.Z); d > 1e-6 {
			t.Errorf("the solution is %g m from the pose that was asked for", d)
		}
		b.call("/compute_fk", &msgs.GetPositionFKRequest{FKLinkNames: []string{"tool9"}}, &fk)
		if fk.ErrorCode.Val != msgs.ErrorInvalidLinkName || !strings.Contains(fk.ErrorCode.Message, `"tool9" is unknown; did you mean "tool0"?`) {
			t.Errorf("an unknown link: %d %s", fk.ErrorCode.Val, fk.ErrorCode.Message)
		}
		state.JointState.Name[0] = "joint1"
		b.call("/compute_fk", &msgs.GetPositionFKRequest{FKLinkNames: []string{"tool0"}, RobotState: state}, &fk)
		if fk.ErrorCode.Val != msgs.ErrorInvalidRobotState || !strings.Contains(fk.ErrorCode.Message, `did you mean "joint_1"?`) {
			t.Errorf("an unknown joint: %d %s", fk.ErrorCode.Val, fk.ErrorCode.Message)
		}
		b.call("/compute_fk", &msgs.GetPositionFKRequest{Header: msgs.Header{FrameID: "base_lnk"}, FKLinkNames: []string{"tool0"}}, &fk)
		if fk.ErrorCode.Val != msgs.ErrorFrameTransformFailure || !strings.Contains(fk.ErrorCode.Message, `did you mean "base_link"?`) {
			t.Errorf("an unknown frame: %d %s", fk.ErrorCode.Val, fk.ErrorCode.Message)
		}
		b.call("/compute_ik", &msgs.GetPositionIKRequest{IKRequest: msgs.PositionIKRequest{GroupName: "manipulater"}}, &solved)
		if solved.ErrorCode.Val != msgs.ErrorInvalidGroupName || !strings.Contains(solved.ErrorCode.Message, `did you mean "manipulator"?`) {
			t.Errorf("an unknown group: %d %s", solved.ErrorCode.Val, solved.ErrorCode.Message)
		}
	})
}

func TestAPlanCanBeKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, arm)
		b.refused("/motions/save_last", &poisemsgs.MotionsSaveLastRequest{Name: "line"}, "no trajectory")
		u, _ := move(b, lin(b, 0, 0.1, 0), true)
		b.want(u, succeeded)
		b.must("/motions/save_last", &poisemsgs.MotionsSaveLastRequest{Name: "line"})
		b.refused("/motions/save_last", &poisemsgs.MotionsSaveLastRequest{Name: "line"}, "line")
		u, _ = b.end(b.send("/play_motion", textType, play("line", "")))
		b.want(u, succeeded)
	})
}
