package edge_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"poise/edge"
	"poise/executive"
	"poise/motion"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/planner/pipeline"
	"poise/problem"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	"poise/spatial"
)

func loaded(t *testing.T, name string) *robot.Model {
	t.Helper()
	bot, err := load.Robot(name, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return bot.Model
}

// someMotion has something in every field.
func someMotion() poisemsgs.Motion {
	return poisemsgs.Motion{
		Name: "greet", Description: "waves", Tags: []string{"head", "friendly"}, StartPose: "stand", Loop: true,
		GoalTimeTolerance: 0.5, Columns: []string{"joint51", "joint52"}, Chains: []string{"leg1"},
		Joints: []poisemsgs.MotionJoint{
			{Name: "joint51", Enabled: true, PathTolerance: []poisemsgs.MotionTolerance{{Position: 0.1, Velocity: 0.2, Acceleration: 0.3}}},
			{Name: "joint52", GoalTolerance: []poisemsgs.MotionTolerance{{Position: -1}}},
		},
		Points: []poisemsgs.MotionPoint{
			{Time: 0, Label: "begin", Enabled: true, Positions: []float64{0, 0.1}, Supports: []float64{1}, Mark: "start"},
			{Time: 1, Positions: []float64{0.2, -0.1}, Supports: []float64{0}, Mark: "end"},
		},
		Events: []poisemsgs.MotionEvent{{Time: 0.5, Type: "voice/say", Command: "hello", Options: "loud"}},
	}
}

func TestMotionsComeBackAsTheyWere(t *testing.T) {
	m := someMotion()
	if back := edge.Motion(m.Name, edge.Document(&m)); !reflect.DeepEqual(back, m) {
		t.Errorf("a motion comes back as\n%+v, it was\n%+v", back, m)
	}
	empty := poisemsgs.Motion{Name: "empty"}
	if back := edge.Motion("empty", edge.Document(&empty)); !reflect.DeepEqual(back, empty) {
		t.Errorf("an empty motion comes back as %+v", back)
	}
	op := edge.Operation(&poisemsgs.MotionOperation{Op: "move", Rows: []int32{1, 2}, Time: 0.5, Value: 2, Names: []string{"a"}, Values: []float64{3}, Texts: []string{"b"}})
	if want := (motion.Operation{Op: "move", Rows: []int{1, 2}, Time: 0.5, Value: 2, Names: []string{"a"}, Values: []float64{3}, Texts: []string{"b"}}); !reflect.DeepEqual(op, want) {
		t.Errorf("an operation is %+v, want %+v", op, want)
	}
}

func TestProblemsOfAMotionAreTakenApart(t *testing.T) {
	m := someMotion()
	m.Columns[1], m.Joints[1].Name = "joint51", ""
	err := edge.Document(&m).Check()
	if err == nil {
		t.Fatal("a motion with a column twice is found good")
	}
	all := edge.MotionProblems(err)
	if len(all) < 2 {
		t.Errorf("%d problems of a motion with two: %v", len(all), all)
	}
	if one := edge.MotionProblems(errors.New("torn")); len(one) != 1 || one[0].Text != "torn" || one[0].Code == "" {
		t.Errorf("a plain error is explained as %+v", one)
	}
}

// someGoal has something in every field that can be followed.
func someGoal() *msgs.FollowJointTrajectoryWithActionsGoal {
	at := msgs.DurationFromSeconds
	g := &msgs.FollowJointTrajectoryWithActionsGoal{GoalTimeTolerance: at(0.25)}
	g.Trajectory.JointNames = []string{"joint51", "support/leg1"}
	g.Trajectory.Points = []msgs.JointTrajectoryPoint{
		{Positions: []float64{0, 1}, Velocities: []float64{0, 0}, Accelerations: []float64{0, 0}},
		{Positions: []float64{0.5, 0}, Velocities: []float64{0, 0}, Accelerations: []float64{0, 0}, TimeFromStart: at(1.5)},
	}
	g.PathTolerance = []msgs.JointTolerance{{Name: "joint51", Position: 0.1, Velocity: 0.2, Acceleration: 0.3}}
	g.GoalTolerance = []msgs.JointTolerance{{Name: "joint51", Position: -1}}
	g.Actions = []msgs.TextCommandStamped{{TimeFromStart: at(0.75), Command: msgs.TextCommand{Type: "voice/say", Command: "hello", Options: "loud"}}}
	return g
}

func TestTrajectoryGoalsComeBackAsTheyWere(t *testing.T) {
	g := someGoal()
	f, err := edge.FollowGoalWithActions(g)
	if err != nil {
		t.Fatal(err)
	}
	if back := edge.GoalMessage(&f.Goal); !reflect.DeepEqual(back, g) {
		t.Errorf("a goal comes back as\n%+v, it was\n%+v", back, g)
	}
	g.Trajectory.Header.Stamp = msgs.TimeOf(1234567890)
	if f, err = edge.FollowGoalWithActions(g); err != nil || f.Stamp != 1234567890 {
		t.Errorf("the stamp is %d, %v", f.Stamp, err)
	}
}

func TestWhatCannotBeFollowedIsNamed(t *testing.T) {
	for want, change := range map[string]func(g *msgs.FollowJointTrajectoryGoal){
		"trajectory.points[1].effort": func(g *msgs.FollowJointTrajectoryGoal) { g.Trajectory.Points[1].Effort = []float64{1, 1} },
		"multi_dof_trajectory":        func(g *msgs.FollowJointTrajectoryGoal) { g.MultiDOFTrajectory.JointNames = []string{"base"} },
		"component_path_tolerance": func(g *msgs.FollowJointTrajectoryGoal) {
			g.ComponentPathTolerance = make([]msgs.JointComponentTolerance, 1)
		},
		"component_goal_tolerance": func(g *msgs.FollowJointTrajectoryGoal) {
			g.ComponentGoalTolerance = make([]msgs.JointComponentTolerance, 2)
		},
	} {
		g := &msgs.FollowJointTrajectoryGoal{Trajectory: someGoal().Trajectory}
		change(g)
		if _, err := edge.FollowGoal(g); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the refusal %v does not name %s", err, want)
		}
	}
}

func result(code, text string) *executive.Result {
	r := &executive.Result{Code: code}
	if text != "" {
		r.Explanations = []problem.Problem{*problem.New(problem.Code(code), "%s", text)}
	}
	return r
}

func TestEndsHaveTheNumbersOfTheirMessages(t *testing.T) {
	for code, want := range map[string]int32{"ok": 0, "unknown_joint": -2, "too_old": -3, "tolerance_broken": -4, "goal_missed": -5, "whatever": -1} {
		if got, text := edge.FollowCode(result(code, "because")); got != want || text != "because" {
			t.Errorf("%s is %d %q in control_msgs, want %d", code, got, text, want)
		}
	}
	for code, want := range map[string]int32{"ok": 1, "cancelled": -7, "replaced": -7, "beyond_velocity_limit": -2, "whatever": -4} {
		if got := edge.ExecutionCode(result(code, "because"), "test"); got.Val != want || got.Message != "because" || got.Source != "test" {
			t.Errorf("%s is %+v in moveit_msgs, want %d", code, got, want)
		}
	}
	m := loaded(t, "pony")
	for code, want := range map[string]int32{"ok": 0, "bad_step": -1, "start_too_far": -4, "whatever": -5} {
		if got, _ := edge.StepCode(m, result(code, "")); got != want {
			t.Errorf("%s is %d for steps, want %d", code, got, want)
		}
	}
	limb := result("bad_step", "no such limb")
	limb.Explanations[0].Resource = "leg9"
	if got, _ := edge.StepCode(m, limb); got != edge.StepInvalidEndEffector {
		t.Errorf("an unknown limb is %d", got)
	}
}

func TestFeedbackInWordsAndPoints(t *testing.T) {
	f := &executive.Feedback{Tick: servo.Tick{Stamp: 5e9}, Phase: executive.Moving, Time: 0.5, Duration: 2, Rate: 0.5, Joints: []string{"joint51"},
		Desired: []float64{1}, Actual: []float64{0.9}, Error: []float64{0.1}, DesiredSpeed: []float64{2}, ActualSpeed: []float64{3},
		Events: []executive.Event{{Type: "eyes/action", Command: "blink"}}}
	if got, want := edge.StatusText(f), "moving 0.50/2.00 s at 50 %; event eyes/action blink"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p := edge.FollowFeedback(f)
	if p.Desired.Positions[0] != 1 || p.Actual.Velocities[0] != 3 || p.Error.Positions[0] != 0.1 || p.Header.Stamp.Sec != 5 || p.Desired.TimeFromStart.Seconds() != 0.5 {
		t.Errorf("feedback is %+v", p)
	}
	if with := edge.FollowFeedbackWithActions(f); !reflect.DeepEqual(with.Actual, p.Actual) || !reflect.DeepEqual(with.Desired, p.Desired) {
		t.Error("feedback with actions differs from that without")
	}
}

func TestRobotInfoKnowsTheRobot(t *testing.T) {
	m := loaded(t, "pony")
	r, err := edge.RobotInfo(m)
	if err != nil {
		t.Fatal(err)
	}
	if r.Base != "floating" || r.Root != "base_link" || len(r.Joints) < len(m.Joints()) || len(r.Groups) != len(m.Groups()) || len(r.Poses) != len(m.Poses()) {
		t.Errorf("base %s, root %s, %d joints, %d groups, %d poses", r.Base, r.Root, len(r.Joints), len(r.Groups), len(r.Poses))
	}
	for i, j := range m.Joints() {
		if got := r.Joints[i]; got.Name != j.Name || got.Resource == "" || got.HasServo == j.Virtual || got.Upper != j.Limits.Upper.Value {
			t.Errorf("joint %s is told as %+v", j.Name, got)
		}
		if !math.IsNaN(r.Joints[i].MaxAcceleration) && !j.Limits.Acceleration.Has {
			t.Errorf("joint %s has an acceleration limit that it does not have", j.Name)
		}
	}
	legs := 0
	for _, c := range r.Chains {
		if strings.HasPrefix(c.Support, "support/") {
			legs++
		}
	}
	if legs != 4 {
		t.Errorf("%d chains stand, the pony has four legs", legs)
	}
	for _, p := range r.Mirror {
		if p.Sign != 1 && p.Sign != -1 {
			t.Errorf("mirror pair %+v", p)
		}
	}
}

func TestPosesComeBackAsTheyWere(t *testing.T) {
	X := spatial.Pose{R: spatial.Quat{X: 0.1, Y: 0.2, Z: 0.3, W: 0.9}.Matrix(), P: spatial.Vec3{X: 1, Y: 2, Z: 3}}
	q, _ := spatial.Quat{X: 0.1, Y: 0.2, Z: 0.3, W: 0.9}.Unit()
	X.R = q.Matrix()
	Y, ok := edge.PoseOf(edge.Pose(X))
	if !ok || X.P != Y.P {
		t.Fatalf("a pose comes back as %+v", Y)
	}
	for i := range X.R {
		if math.Abs(X.R[i]-Y.R[i]) > 1e-15 {
			t.Errorf("a rotation comes back as %v, was %v", Y.R, X.R)
		}
	}
	if _, ok := edge.PoseOf(msgs.Pose{}); ok {
		t.Error("a pose without an orientation is taken")
	}
}

func TestStepGoals(t *testing.T) {
	m := loaded(t, "pony")
	point := poisemsgs.RigidBodyTrajectoryPoint{Pose: msgs.Pose{Orientation: msgs.Quaternion{W: 1}}, Contact: true}
	g := &poisemsgs.FollowStepSequenceGoal{TimeFromStart: []float64{0, 1}, PositionTolerance: 0.02,
		EeMotion: []poisemsgs.RigidBodyTrajectory{{Name: "leg1", Points: []poisemsgs.RigidBodyTrajectoryPoint{point, {Pose: point.Pose}}}}}
	s, err := edge.StepGoal(m, g)
	if err != nil {
		t.Fatal(err)
	}
	if c := s.Goal.Limbs[0].Contacts; c[0] != "hoof_flat" || c[1] != "" || !s.Goal.InBase || s.Goal.Base != nil {
		t.Errorf("contacts %q, in base %v", c, s.Goal.InBase)
	}
	g.BaseMotion.Points = []poisemsgs.RigidBodyTrajectoryPoint{point, point}
	if s, err = edge.StepGoal(m, g); err != nil || s.Goal.InBase || len(s.Goal.Base) != 2 {
		t.Errorf("with a motion of the base: in base %v, %v", s.Goal.InBase, err)
	}
	g.Header.FrameID = "base_link"
	if s, err = edge.StepGoal(m, g); err != nil || !s.Goal.InBase {
		t.Errorf("seen from the base: %v", err)
	}
	g.EeMotion[0].Name = "head" // nothing to stand on
	g.BaseMotion.Points[1].Pose.Orientation = msgs.Quaternion{}
	if _, err = edge.StepGoal(m, g); err == nil || !strings.Contains(err.Error(), "head") || !strings.Contains(err.Error(), "base_motion.points[1]") {
		t.Errorf("two problems, told as %v", err)
	}
	g.Append = true
	if _, err = edge.StepGoal(m, g); !errors.Is(err, edge.ErrAppend) {
		t.Errorf("append: %v", err)
	}
}

func TestFramesOfTargets(t *testing.T) {
	m := loaded(t, "pony")
	for frame, want := range map[string][2]bool{"": {false, true}, "world": {false, true}, "/world": {false, true}, "base": {true, true}, "base_link": {true, true}, "moon": {false, false}} {
		if base, ok := edge.InBase(m, &msgs.Header{FrameID: frame}); base != want[0] || ok != want[1] {
			t.Errorf("frame %q: in base %v, known %v", frame, base, ok)
		}
	}
}

// TestHints: what a stream, a plan or a target calls by a wrong name is asked back with
// the right one.
func TestHints(t *testing.T) {
	m := loaded(t, "arm6")
	request := func(edit func(*msgs.MotionPlanRequest)) func() error {
		return func() error {
			r := copied(t, requests()["CIRC"])
			edit(&r)
			_, why := plan(m, &r)
			return why
		}
	}
	for _, c := range []struct {
		hint string
		ask  func() error
	}{
		{`"joint_1"`, func() error {
			_, err := edge.JointSample(m, servo.Tick{}, &msgs.JointState{Name: []string{"joint1"}, Position: []float64{0}})
			return err
		}},
		{`"world"`, func() error {
			_, err := edge.LookTarget(m, servo.Tick{}, &msgs.PointStamped{Header: msgs.Header{FrameID: "wrld"}})
			return err
		}},
		{`"pilz_industrial_motion_planner"`, request(func(r *msgs.MotionPlanRequest) { r.PipelineID = "pilz" })},
		{`"poise"`, request(func(r *msgs.MotionPlanRequest) { r.PipelineID = "pose" })},
		{`"CIRC"`, request(func(r *msgs.MotionPlanRequest) { r.PlannerID = "CRC" })},
		{`"manipulator"`, request(func(r *msgs.MotionPlanRequest) { r.GroupName = "manipulater" })},
		{`"base_link"`, request(func(r *msgs.MotionPlanRequest) {
			r.GoalConstraints[0].PositionConstraints[0].Header.FrameID = "base_lnk"
		})},
		{`"tool0"`, request(func(r *msgs.MotionPlanRequest) { r.MaxCartesianSpeed, r.CartesianSpeedLimitedLink = 0.1, "tol0" })},
	} {
		if err := c.ask(); err == nil || !strings.Contains(err.Error(), "did you mean "+c.hint) {
			t.Errorf("%s is not meant: %v", c.hint, err)
		}
	}
}

func TestASequenceHasOnePlanner(t *testing.T) {
	item := func(name string, seconds float64) msgs.MotionSequenceItem {
		return msgs.MotionSequenceItem{BlendRadius: 0.1, Req: msgs.MotionPlanRequest{PlannerID: "PTP", GroupName: "manipulator", PipelineID: name, AllowedPlanningTime: seconds,
			GoalConstraints: []msgs.Constraints{{JointConstraints: []msgs.JointConstraint{{JointName: "joint_1", Position: 1}}}}}}
	}
	q := edge.SequenceQuestion(&msgs.MotionSequenceRequest{Items: []msgs.MotionSequenceItem{item(pipeline.Own, 1), item(pipeline.Own, 2)}})
	if q.Refusal != nil || len(q.Items) != 2 || !q.Sequence || q.Pipeline != pipeline.Own || q.Seconds != 3 || q.Items[0].Radius != 0.1 {
		t.Errorf("%+v", q)
	}
	q = edge.SequenceQuestion(&msgs.MotionSequenceRequest{Items: []msgs.MotionSequenceItem{item(pipeline.Own, 1), item(pipeline.Pilz, 2)}})
	if q.Refusal == nil || q.Refusal.Item != 1 {
		t.Errorf("two planners: %v", q.Refusal)
	}
}
