package edge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"poise/edge"
	"poise/msgs"
	"poise/msgs/rosjson"
	"poise/planner"
	"poise/planner/pilz"
	"poise/planner/pipeline"
	"poise/planner/smooth"
	"poise/robot"
	"poise/robot/load"
)

func arm6(t testing.TB) *robot.Model {
	t.Helper()
	r, err := load.Robot("arm6", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Model
}

// start is a place with room around it.
var start = []float64{0.1, 0.3, -0.4, 0.1, -1.2, 0.2}

func place(x, y, z float64) msgs.PositionConstraint {
	return msgs.PositionConstraint{LinkName: "tool0", Weight: 1, Header: msgs.Header{FrameID: "base_link"},
		ConstraintRegion: msgs.BoundingVolume{
			Primitives:     []msgs.SolidPrimitive{{Type: msgs.PrimitiveSphere, Dimensions: []float64{0.02}}},
			PrimitivePoses: []msgs.Pose{{Position: msgs.Point{X: x, Y: y, Z: z}, Orientation: msgs.Quaternion{X: 1}}}}}
}

// requests are one of each command, with every field filled that it takes.
func requests() map[string]msgs.MotionPlanRequest {
	base := msgs.MotionPlanRequest{
		GroupName: "manipulator", NumPlanningAttempts: 1, AllowedPlanningTime: 5,
		MaxVelocityScalingFactor: 0.5, MaxAccelerationScalingFactor: 0.5,
		CartesianSpeedLimitedLink: "tool0", MaxCartesianSpeed: 0.3,
		WorkspaceParameters: msgs.WorkspaceParameters{MinCorner: msgs.Vector3{X: -1, Y: -1, Z: -1}, MaxCorner: msgs.Vector3{X: 1, Y: 1, Z: 1}},
		StartState: msgs.RobotState{JointState: msgs.JointState{
			Name:     []string{"joint_1", "joint_2", "joint_3", "joint_4", "joint_5", "joint_6"},
			Position: slices.Clone(start), Velocity: make([]float64, 6), Effort: make([]float64, 6)}},
	}
	pose := []msgs.Constraints{{Name: "goal", PositionConstraints: []msgs.PositionConstraint{place(0.5, 0.2, 0.5)},
		OrientationConstraints: []msgs.OrientationConstraint{{LinkName: "tool0", Orientation: msgs.Quaternion{X: 0.8, Y: 0.6}, Weight: 1,
			Header: msgs.Header{FrameID: "base_link"}, AbsoluteXAxisTolerance: 0.1, AbsoluteYAxisTolerance: 0.1, AbsoluteZAxisTolerance: 0.1}}}}

	ptp, lin, circ, polyline := base, base, base, base
	ptp.PlannerID, lin.PlannerID, circ.PlannerID, polyline.PlannerID = "PTP", "LIN", "CIRC", "POLYLINE"
	for i, q := range []float64{0.3, 0.1, -0.3, 0.2, -1, 0} {
		if i == 0 {
			ptp.GoalConstraints = []msgs.Constraints{{Name: "goal"}}
		}
		ptp.GoalConstraints[0].JointConstraints = append(ptp.GoalConstraints[0].JointConstraints,
			msgs.JointConstraint{JointName: fmt.Sprintf("joint_%d", i+1), Position: q, ToleranceAbove: 0.01, ToleranceBelow: 0.01, Weight: 1})
	}
	lin.GoalConstraints, circ.GoalConstraints, polyline.GoalConstraints = pose, pose, pose
	circ.PathConstraints = msgs.Constraints{Name: "interim", PositionConstraints: []msgs.PositionConstraint{place(0.55, 0.15, 0.55)}}
	polyline.PathConstraints = msgs.Constraints{PositionConstraints: []msgs.PositionConstraint{place(0.6, 0, 0.6), place(0.6, 0.2, 0.6)}}
	polyline.PathConstraints.PositionConstraints[0].ConstraintRegion.Primitives = nil // its radius follows from
	polyline.SmoothnessLevel = 0.4
	return map[string]msgs.MotionPlanRequest{"PTP": ptp, "LIN": lin, "CIRC": circ, "POLYLINE": polyline}
}

// copied returns a request that shares nothing with another.
func copied(t testing.TB, m msgs.MotionPlanRequest) (c msgs.MotionPlanRequest) {
	t.Helper()
	raw, err := json.Marshal(m)
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// plan answers a request like the command line does.
func plan(m *robot.Model, msg *msgs.MotionPlanRequest) (*planner.Motion, *planner.Refusal) {
	req, why := edge.PlanRequest(msg)
	if why != nil {
		return nil, why
	}
	p := smooth.Planner{Model: m, Sampling: 0.02}
	return p.Plan(context.Background(), &req, make([]float64, m.NumQ()))
}

// satisfied are the fields that every plan satisfies or that are labels, and why.
// They are written without indices.
var satisfied = map[string]string{
	"workspace_parameters":                                                                "bounds of a mobile base, and the base rests; corners the wrong way round are refused",
	"allowed_planning_time":                                                               "the caller's deadline; see TestAllowedPlanningTimeIsKept of the command line",
	"num_planning_attempts":                                                               "every attempt gives the same plan",
	"start_state.is_diff":                                                                 "a start state is always completed by the current one",
	"start_state.joint_state.header":                                                      "a label",
	"start_state.joint_state.effort":                                                      "how the robot holds itself does not move it; their number is checked",
	"start_state.multi_dof_joint_state.header":                                            "a label of what is refused",
	"goal_constraints.name":                                                               "a label",
	"goal_constraints.joint_constraints.tolerance_above":                                  "the goal is reached exactly; negative ones are refused",
	"goal_constraints.joint_constraints.tolerance_below":                                  "the goal is reached exactly; negative ones are refused",
	"goal_constraints.joint_constraints.weight":                                           "there is one goal",
	"goal_constraints.position_constraints.weight":                                        "there is one goal",
	"goal_constraints.position_constraints.constraint_region.primitives":                  "the goal is in the middle of its region",
	"goal_constraints.position_constraints.constraint_region.primitive_poses.orientation": "of the region, in whose middle the goal is",
	"goal_constraints.orientation_constraints.weight":                                     "there is one goal",
	"goal_constraints.orientation_constraints.absolute_x_axis_tolerance":                  "the goal is reached exactly; negative ones are refused",
	"goal_constraints.orientation_constraints.absolute_y_axis_tolerance":                  "the goal is reached exactly; negative ones are refused",
	"goal_constraints.orientation_constraints.absolute_z_axis_tolerance":                  "the goal is reached exactly; negative ones are refused",
	"goal_constraints.orientation_constraints.parameterization":                           "of tolerances, which the goal keeps in any",
	"path_constraints.name":                                                               "a label of a polyline",
	"path_constraints.position_constraints.weight":                                        "every point is passed",
	"path_constraints.position_constraints.constraint_region.primitives":                  "a circle passes the middle of the region",
	"path_constraints.position_constraints.constraint_region.primitive_poses.orientation": "a circle turns from start to goal",
}

// isSatisfied reports whether a field, or what it is a part of, is in the list.
func isSatisfied(path string, used map[string]bool) bool {
	if strings.Contains(path, ".header.") && !strings.HasSuffix(path, ".frame_id") {
		return true // stamps and sequence numbers: the robot is still while it plans
	}
	for {
		if _, ok := satisfied[path]; ok {
			used[path] = true
			return true
		}
		i := strings.LastIndexByte(path, '.')
		if i < 0 {
			return false
		}
		path = path[:i]
	}
}

// edits calls do with every field below a value, and a function that changes it.
func edits(v reflect.Value, path string, do func(path string, change func())) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Tag.Get("json")
			if path != "" {
				name = path + "." + name
			}
			edits(v.Field(i), name, do)
		}
	case reflect.Slice:
		do(path, func() { v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem()))) })
		for i := range v.Len() {
			edits(v.Index(i), path, do)
		}
	case reflect.String:
		do(path, func() { v.SetString(v.String() + "odd") })
	case reflect.Bool:
		do(path, func() { v.SetBool(!v.Bool()) })
	case reflect.Float32, reflect.Float64:
		do(path, func() { v.SetFloat(v.Float()*0.9 + 0.013) })
	case reflect.Int32:
		do(path, func() { v.SetInt(v.Int() + 1) })
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		do(path, func() { v.SetUint(v.Uint() + 1) })
	default:
		panic("no edit for " + path)
	}
}

// Every field of a request, changed by itself, changes the plan, or refuses it, or
// is in a list that says why not.
func TestEveryFieldIsHonouredOrRefused(t *testing.T) {
	m := arm6(t)
	used := map[string]bool{}
	for name, base := range requests() {
		want, why := plan(m, &base)
		if why != nil {
			t.Fatalf("%s: %v", name, why)
		}
		count := 0
		edits(reflect.ValueOf(&base).Elem(), "", func(string, func()) { count++ })
		for n := range count {
			if testing.Short() && n%8 != 0 {
				continue
			}
			msg, i := copied(t, base), 0
			field := ""
			edits(reflect.ValueOf(&msg).Elem(), "", func(path string, change func()) {
				if i == n {
					field = path
					change()
				}
				i++
			})
			got, why := plan(m, &msg)
			switch {
			case why != nil && why.Error() == "":
				t.Errorf("%s: %s is refused without a word", name, field)
			case why != nil || !reflect.DeepEqual(got.Trajectory, want.Trajectory):
			case !isSatisfied(field, used):
				t.Errorf("%s: %s changes nothing", name, field)
			}
		}
	}
	for path := range satisfied {
		if !used[path] && !testing.Short() {
			t.Errorf("%s need not be in the list", path)
		}
	}
}

// What could only be ignored is refused by its name, and so is what makes no sense.
func TestWhatCannotBeHonouredIsRefusedByName(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		field string
		code  int32
		edit  func(m *msgs.MotionPlanRequest)
	}{
		{"trajectory_constraints", msgs.ErrorPlanningFailed, func(m *msgs.MotionPlanRequest) {
			m.TrajectoryConstraints.Constraints = make([]msgs.Constraints, 1)
		}},
		{"reference_trajectories", msgs.ErrorInvalidMotionPlan, func(m *msgs.MotionPlanRequest) { m.ReferenceTrajectories = make([]msgs.GenericTrajectory, 1) }},
		{"pipeline_id", msgs.ErrorPlanningFailed, func(m *msgs.MotionPlanRequest) { m.PipelineID = "ompl" }},
		{"num_planning_attempts", msgs.ErrorInvalidMotionPlan, func(m *msgs.MotionPlanRequest) { m.NumPlanningAttempts = -1 }},
		{"allowed_planning_time", msgs.ErrorInvalidMotionPlan, func(m *msgs.MotionPlanRequest) { m.AllowedPlanningTime = -1 }},
		{"allowed_planning_time", msgs.ErrorInvalidMotionPlan, func(m *msgs.MotionPlanRequest) { m.AllowedPlanningTime = nan }},
		{"workspace_parameters", msgs.ErrorInvalidMotionPlan, func(m *msgs.MotionPlanRequest) { m.WorkspaceParameters.MinCorner.Y = 2 }},
		{"workspace_parameters", msgs.ErrorInvalidMotionPlan, func(m *msgs.MotionPlanRequest) { m.WorkspaceParameters.MaxCorner.Z = nan }},
		{"multi_dof_joint_state", msgs.ErrorInvalidRobotState, func(m *msgs.MotionPlanRequest) {
			m.StartState.MultiDOFJointState.Transforms = make([]msgs.Transform, 1)
		}},
		{"attached_collision_objects", msgs.ErrorInvalidRobotState, func(m *msgs.MotionPlanRequest) {
			m.StartState.AttachedCollisionObjects = make([]msgs.AttachedCollisionObject, 1)
		}},
		{"path_constraints", msgs.ErrorInvalidMotionPlan, func(m *msgs.MotionPlanRequest) { m.PathConstraints.Name = "center" }},
		{"path_constraints", msgs.ErrorInvalidMotionPlan, func(m *msgs.MotionPlanRequest) {
			m.PathConstraints.OrientationConstraints = make([]msgs.OrientationConstraint, 1)
		}},
		{"smoothness_level", msgs.ErrorInvalidMotionPlan, func(m *msgs.MotionPlanRequest) { m.SmoothnessLevel = 0.5 }},
		{"visibility_constraints", msgs.ErrorInvalidGoalConstraints, func(m *msgs.MotionPlanRequest) {
			m.GoalConstraints[0].VisibilityConstraints = make([]msgs.VisibilityConstraint, 1)
		}},
		{"meshes", msgs.ErrorInvalidGoalConstraints, func(m *msgs.MotionPlanRequest) {
			m.GoalConstraints[0].PositionConstraints[0].ConstraintRegion.Meshes = make([]msgs.Mesh, 1)
		}},
		{"dimension", msgs.ErrorInvalidGoalConstraints, func(m *msgs.MotionPlanRequest) {
			m.GoalConstraints[0].PositionConstraints[0].ConstraintRegion.Primitives[0].Dimensions[0] = -1
		}},
		{"weight", msgs.ErrorInvalidGoalConstraints, func(m *msgs.MotionPlanRequest) { m.GoalConstraints[0].PositionConstraints[0].Weight = nan }},
		{"tolerances", msgs.ErrorInvalidGoalConstraints, func(m *msgs.MotionPlanRequest) {
			m.GoalConstraints[0].OrientationConstraints[0].AbsoluteYAxisTolerance = -0.1
		}},
		{"parameterization", msgs.ErrorInvalidGoalConstraints, func(m *msgs.MotionPlanRequest) {
			m.GoalConstraints[0].OrientationConstraints[0].Parameterization = 2
		}},
		{"primitive poses", msgs.ErrorInvalidGoalConstraints, func(m *msgs.MotionPlanRequest) {
			r := &m.GoalConstraints[0].PositionConstraints[0].ConstraintRegion
			r.PrimitivePoses = append(r.PrimitivePoses, r.PrimitivePoses[0])
		}},
	} {
		msg := requests()["LIN"]
		msg = copied(t, msg)
		c.edit(&msg)
		_, why := plan(arm6(t), &msg)
		if why == nil {
			t.Errorf("%s is accepted", c.field)
			continue
		}
		code := edge.PlanCode(&pipeline.Answer{Refusal: why}, "here")
		if code.Val != c.code || !strings.Contains(code.Message, c.field) || code.Source != "here" {
			t.Errorf("%s: %+v, want code %d", c.field, code, c.code)
		}
	}
}

// Every kind of refusal has a number of MoveIt's, and success has its own.
func TestEveryRefusalHasACode(t *testing.T) {
	for kind := planner.BadRequest; kind <= planner.TimedOut; kind++ {
		code := edge.PlanCode(&pipeline.Answer{Refusal: planner.Refuse(kind, "no")}, "s")
		if code.Val == msgs.ErrorUndefined || code.Val == msgs.ErrorSuccess || code.Message == "" {
			t.Errorf("%v: %+v", kind, code)
		}
	}
	if code := edge.PlanCode(&pipeline.Answer{}, "s"); code.Val != msgs.ErrorSuccess || code.Message != "" {
		t.Errorf("success: %+v", code)
	}
}

// The response of a plan, written and read again, is the plan.
func TestResponseCarriesThePlan(t *testing.T) {
	m := arm6(t)
	msg := requests()["LIN"]
	motion, why := plan(m, &msg)
	if why != nil {
		t.Fatal(why)
	}
	answer := &pipeline.Answer{Motions: []*planner.Motion{motion}, Seconds: 0.25}
	raw := rosjson.Marshal(edge.PlanResponse(m, answer, msg.GroupName, msgs.MoveItErrorCodes{Val: msgs.ErrorSuccess, Source: "here"}))
	var r msgs.MotionPlanResponse
	if err := rosjson.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	jt := &r.Trajectory.JointTrajectory
	if want := []string{"joint_1", "joint_2", "joint_3", "joint_4", "joint_5", "joint_6"}; !slices.Equal(jt.JointNames, want) {
		t.Errorf("joints %v, want those of the group in its order", jt.JointNames)
	}
	if r.GroupName != "manipulator" || r.PlanningTime != 0.25 || r.ErrorCode.Val != msgs.ErrorSuccess {
		t.Errorf("group %q, time %g, code %+v", r.GroupName, r.PlanningTime, r.ErrorCode)
	}
	last := int64(-1)
	for i, p := range jt.Points {
		x := motion.Trajectory.Points[i]
		if !slices.Equal(p.Positions, x.Position) || !slices.Equal(p.Velocities, x.Velocity) || !slices.Equal(p.Accelerations, x.Acceleration) {
			t.Fatalf("point %d: %v, want %v", i, p, x)
		}
		if now := p.TimeFromStart.Nanos(); now <= last || math.Abs(float64(now)*1e-9-x.Time) > 1e-9 {
			t.Fatalf("point %d at %d ns after %d ns, planned %g s", i, now, last, x.Time)
		} else {
			last = now
		}
	}
	js := &r.TrajectoryStart.JointState
	if len(js.Name) != len(m.Joints()) || !slices.Equal(js.Position[:6], start) || len(js.Velocity) != 0 {
		t.Errorf("starts at %v %v %v", js.Name, js.Position, js.Velocity)
	}
}

// A motion that begins moving says so in its start.
func TestMovingStartIsInTheResponse(t *testing.T) {
	m := arm6(t)
	msg := requests()["PTP"]
	msg.StartState.JointState.Velocity = []float64{0.3, -0.2, 0.1, 0, 0.05, 0}
	motion, why := plan(m, &msg)
	if why != nil {
		t.Fatal(why)
	}
	answer := &pipeline.Answer{Motions: []*planner.Motion{motion}}
	single := edge.PlanResponse(m, answer, "", msgs.MoveItErrorCodes{}).TrajectoryStart
	several := edge.SequenceResponse(m, answer, msgs.MoveItErrorCodes{}).SequenceStart
	for _, s := range []msgs.RobotState{single, several} {
		if len(s.JointState.Velocity) != len(s.JointState.Name) {
			t.Fatalf("%d velocities of %d joints", len(s.JointState.Velocity), len(s.JointState.Name))
		}
		for k, v := range msg.StartState.JointState.Velocity {
			if math.Abs(s.JointState.Velocity[k]-v) > 1e-5 {
				t.Errorf("%s starts at %g, given %g", s.JointState.Name[k], s.JointState.Velocity[k], v)
			}
		}
	}
}

// Nothing of a refused request is in its response.
func TestRefusedResponsesAreEmpty(t *testing.T) {
	m := arm6(t)
	answer := &pipeline.Answer{Refusal: planner.Refuse(planner.BadGoal, "no")}
	code := edge.PlanCode(answer, "here")
	if r := edge.PlanResponse(m, answer, "manipulator", code); len(r.Trajectory.JointTrajectory.Points)+len(r.TrajectoryStart.JointState.Name) > 0 || r.ErrorCode != code {
		t.Errorf("%+v", r)
	}
	if r := edge.SequenceResponse(m, answer, code); len(r.PlannedTrajectories)+len(r.SequenceStart.JointState.Name) > 0 || r.ErrorCode != code {
		t.Errorf("%+v", r)
	}
}

// To Pilz a speed without a link is none; here it is the tool's.
func TestSpeedWithoutALinkIsTheTools(t *testing.T) {
	m := arm6(t)
	msg := copied(t, requests()["LIN"])
	msg.MaxCartesianSpeed = 0.1
	named, refusal := plan(m, &msg)
	if refusal != nil {
		t.Fatal(refusal)
	}
	msg.CartesianSpeedLimitedLink = ""
	unnamed, refusal := plan(m, &msg)
	if refusal != nil || !reflect.DeepEqual(named.Trajectory, unnamed.Trajectory) {
		t.Errorf("another plan without the link: %v", refusal)
	}
	req, _ := edge.PlanRequest(&msg)
	p := pilz.Planner{Model: m}
	slow, refusal := p.Plan(context.Background(), &req, make([]float64, m.NumQ()))
	if refusal != nil {
		t.Fatal(refusal)
	}
	req.MaxSpeed = 0
	fast, _ := p.Plan(context.Background(), &req, make([]float64, m.NumQ()))
	if !reflect.DeepEqual(slow.Trajectory, fast.Trajectory) {
		t.Error("compat: a speed without a link counts")
	}
}
