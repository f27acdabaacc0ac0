package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"poise/internal/golden"
	"poise/msgs"
	"poise/msgs/rosjson"
)

const linRequest = `{"planner_id":"LIN","group_name":"manipulator","max_velocity_scaling_factor":0.5,"max_acceleration_scaling_factor":0.5,
"goal_constraints":[{"position_constraints":[{"link_name":"tool0","constraint_region":{"primitive_poses":[{"position":{"x":0.5,"y":0.2,"z":0.5},"orientation":{"w":1}}]}}],
"orientation_constraints":[{"link_name":"tool0","orientation":{"x":0,"y":1,"z":0,"w":0}}]}]}`

const home = `{"joint_1":0.1,"joint_2":0.1,"joint_3":0.3,"joint_5":-0.3}`

// plan runs poise plan and reads a single response.
func plan(t *testing.T, request string, args ...string) (r msgs.MotionPlanResponse, code int) {
	t.Helper()
	out, stderr, code := poise(request, append([]string{"plan"}, args...)...)
	if lines := strings.Count(stderr, "\n"); lines != code { // a refusal is told in one line
		t.Fatalf("exit %d: %q", code, stderr)
	}
	if err := rosjson.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return r, code
}

func TestPlanAnswersAMotionThatEndsAtRest(t *testing.T) {
	for _, mode := range [][]string{nil, {"--compat", "pilz"}} {
		r, code := plan(t, linRequest, append([]string{"arm6", "-", "--current", home}, mode...)...)
		if code != exitOK || r.ErrorCode.Val != 1 || r.GroupName != "manipulator" {
			t.Fatalf("%v: exit %d, %+v", mode, code, r.ErrorCode)
		}
		jt := r.Trajectory.JointTrajectory
		if fmt.Sprint(jt.JointNames) != "[joint_1 joint_2 joint_3 joint_4 joint_5 joint_6]" {
			t.Errorf("joints %v", jt.JointNames)
		}
		before := int64(-1)
		for i, p := range jt.Points {
			if now := p.TimeFromStart.Nanos(); now <= before {
				t.Fatalf("%v: point %d does not come later", mode, i)
			} else {
				before = now
			}
		}
		last := jt.Points[len(jt.Points)-1]
		for k := range last.Velocities {
			if last.Velocities[k] != 0 || last.Accelerations[k] != 0 {
				t.Errorf("%v: the last point moves: %v %v", mode, last.Velocities, last.Accelerations)
			}
		}
		if len(r.TrajectoryStart.JointState.Name) != 7 || r.TrajectoryStart.JointState.Position[0] != 0.1 {
			t.Errorf("start %+v", r.TrajectoryStart.JointState)
		}
	}
}

func TestRefusalIsAResponseAndExitCodeOne(t *testing.T) {
	for _, tc := range []struct {
		name, request string
		val           int32
		says          string
	}{
		{"no JSON", `{"planner_id":`, -2, "cannot be read"},
		{"unknown field", `{"planer_id":"LIN"}`, -2, "planer_id"},
		{"empty", ``, -2, "empty"},
		{"a list", `[]`, -2, "object"},
		{"nothing said", `{}`, -2, "max_velocity_scaling_factor"},
		{"unknown planner", strings.Replace(linRequest, "LIN", "SPIRAL", 1), -1, "SPIRAL"},
		{"unknown group", strings.Replace(linRequest, "manipulator", "arm", 1), -15, `"arm"`},
		{"out of reach", strings.Replace(linRequest, `"x":0.5`, `"x":5`, 1), -31, "not reached"},
		{"unknown pipeline", strings.Replace(linRequest, `"planner_id"`, `"pipeline_id":"ompl","planner_id"`, 1), -1, "ompl"},
		{"attached object", strings.Replace(linRequest, `"planner_id"`, `"start_state":{"attached_collision_objects":[{"link_name":"tool0"}]},"planner_id"`, 1), -17, "attached_collision_objects"},
		{"trajectory constraints", strings.Replace(linRequest, `"planner_id"`, `"trajectory_constraints":{"constraints":[{}]},"planner_id"`, 1), -1, "trajectory_constraints"},
		{"path constraints of a line", strings.Replace(linRequest, `"planner_id"`, `"path_constraints":{"name":"center"},"planner_id"`, 1), -2, "path_constraints"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, code := plan(t, tc.request, "arm6", "-", "--current", home)
			if code != exitFailure || r.ErrorCode.Val != tc.val || !strings.Contains(r.ErrorCode.Message, tc.says) {
				t.Errorf("exit %d, %+v; want %d and %q", code, r.ErrorCode, tc.val, tc.says)
			}
			if len(r.Trajectory.JointTrajectory.Points) != 0 {
				t.Error("a refusal has points")
			}
		})
	}
}

func TestPlanGoldenThroughTheCommandLine(t *testing.T) {
	robot := golden.Path(t, "robots/prbt")
	for name, val := range map[string]int32{"lin2_cart": 1, "lin2_cart_full_speed": -1, "LIN_no_goal": -16, "PTP_start_size_mismatch": -17, "circ_invalid_aux_name": -2} {
		request := golden.Path(t, "golden/pilz/requests/"+name+".json")
		out, _, _ := poise("", "plan", "--compat=pilz", robot, request)
		var r msgs.MotionPlanResponse
		if err := rosjson.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		if r.ErrorCode.Val != val {
			t.Errorf("%s: %+v, want %d", name, r.ErrorCode, val)
		}
		if name == "lin2_cart" {
			p := r.Trajectory.JointTrajectory.Points
			if len(p) != 54 || math.Abs(p[53].TimeFromStart.Seconds()-5.224758294) > 1e-6 {
				t.Errorf("%d points, %v", len(p), p[len(p)-1].TimeFromStart)
			}
		}
	}
}

func TestPlanASequence(t *testing.T) {
	request := golden.Path(t, "golden/pilz/requests/SimpleSequence_0.149_yaml.json")
	out, _, code := poise("", "plan", golden.Path(t, "robots/prbt"), request, "--compat", "pilz")
	var r msgs.MotionSequenceResponse
	if err := rosjson.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if code != exitOK || len(r.PlannedTrajectories) != 1 || len(r.PlannedTrajectories[0].JointTrajectory.Points) != 71 {
		t.Errorf("exit %d, %+v, %d trajectories", code, r.ErrorCode, len(r.PlannedTrajectories))
	}
	out, _, code = poise(`{"items":[]}`, "plan", "arm6", "-")
	if err := rosjson.Unmarshal([]byte(out), &r); err != nil || code != exitOK || r.ErrorCode.Val != 1 {
		t.Errorf("an empty sequence: exit %d, %s", code, out)
	}
}

func TestPlanFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.json", "a.csv", "a.png", "a.svg"} {
		if testing.Short() && name == "a.png" {
			continue // pixels take their time, and there are no two goroutines in it
		}
		flag := "-o"
		if strings.HasSuffix(name, "g") {
			flag = "--plot"
		}
		file := filepath.Join(dir, name)
		out, stderr, code := poise(linRequest, "plan", "arm6", "-", "--current", home, "--sampling", "0.01", flag, file)
		if code != exitOK || stderr != "" {
			t.Fatalf("%s: %s", name, stderr)
		}
		if short := strings.HasPrefix(out, "LIN, manipulator 1."); short != (flag == "-o") || short && (strings.Count(out, "\n") != 1 || len(out) > 1000 || !strings.Contains(out, " s, 1") || !strings.Contains(out, " points")) {
			t.Errorf("%s prints %.300q", name, out)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		switch filepath.Ext(name) {
		case ".json":
			if !json.Valid(data) {
				t.Error("not JSON")
			}
		case ".csv":
			rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
			if err != nil || len(rows) < 10 || len(rows[0]) != 19 || rows[0][1] != "joint_1 position" {
				t.Errorf("%v, %d rows of %v", err, len(rows), rows[0])
			}
		case ".svg":
			if !bytes.Contains(data, []byte("speed of the tool")) {
				t.Error("the picture does not show the tool")
			}
		}
	}
}

// TestAPlanThatIsRefusedSaysSo: on standard error in one line, whether the answer is printed, written to a file or for programs.
func TestAPlanThatIsRefusedSaysSo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.json")
	for _, args := range [][]string{nil, {"-o", file}, {"--json"}} {
		out, stderr, code := poise("", append([]string{"plan", "arm6", "../../examples/plan/sequence_out_of_reach.yaml"}, args...)...)
		if code != exitFailure || !strings.HasPrefix(stderr, "poise: plan: item 1: ") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit %d, %q", args, code, stderr)
		}
		if silent := len(args) > 0 && args[0] == "-o"; (out == "") != silent {
			t.Errorf("%v prints %.200q", args, out)
		}
	}
	if text, err := os.ReadFile(file); err != nil || !json.Valid(text) {
		t.Errorf("%v: %.200q", err, text)
	}
}

func TestPlanUsage(t *testing.T) {
	for _, tc := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"arm6"}, exitUsage, "REQUEST"},
		{[]string{"arm6", "-", "-"}, exitUsage, "REQUEST"},
		{[]string{"arm6", "-", "--compat", "ompl"}, exitUsage, "ompl"},
		{[]string{"arm6", "-", "--compat", "pils"}, exitUsage, `did you mean "pilz"?`},
		{[]string{"arm6", "-", "--sampling", "-1"}, exitUsage, "--sampling -1"},
		{[]string{"arm6", "-", "-o", "x.txt"}, exitUsage, ".csv"},
		{[]string{"arm6", "-", "--plot", "x.gif"}, exitUsage, ".png"},
		{[]string{"arm6", "/no/such/file.json"}, exitFailure, "no such file"},
		{[]string{"arm6", "-", "--current", "[1,2]"}, exitFailure, "2 numbers, the robot 7"},
		{[]string{"arm6", "-", "--current", `{"joint1":0}`}, exitFailure, `did you mean "joint_1"`},
		{[]string{"arm6", "-", "--current", `{"name":["joint_1"],"position":[]}`}, exitFailure, "1 joints and gives 0"},
		{[]string{"arm6", "-", "--current", `"x"`}, exitFailure, "--current"},
	} {
		_, stderr, code := poise(linRequest, append([]string{"plan"}, tc.args...)...)
		if code != tc.code || !strings.Contains(stderr, tc.says) {
			t.Errorf("%v: exit %d, %q; want %d and %q", tc.args, code, stderr, tc.code, tc.says)
		}
	}
}

func TestAllowedPlanningTimeIsKept(t *testing.T) {
	slow := strings.Replace(linRequest, `"planner_id"`, `"allowed_planning_time":1e-9,"planner_id"`, 1)
	if r, code := plan(t, slow, "arm6", "-", "--current", home); code != exitFailure || r.ErrorCode.Val != msgs.ErrorTimedOut {
		t.Errorf("exit %d, %+v", code, r.ErrorCode)
	}
}

// A plan from a running robot: --current may have velocities, which count where the
// request says nothing about its start.
func TestCurrentStateMayMove(t *testing.T) {
	const running = `{"name":["joint_1","joint_2"],"position":[0.1,0.2],"velocity":[0.4,0]}`
	const ptp = `{"planner_id":"PTP","group_name":"manipulator","max_velocity_scaling_factor":1,"max_acceleration_scaling_factor":1,
"goal_constraints":[{"joint_constraints":[{"joint_name":"joint_1","position":1}]}]}`
	r, code := plan(t, ptp, "arm6", "-", "--current", running)
	if v := r.TrajectoryStart.JointState.Velocity; code != exitOK || len(v) == 0 || math.Abs(v[0]-0.4) > 1e-6 {
		t.Errorf("exit %d, starts at %v: %s", code, v, r.ErrorCode.Message)
	}
	if v := r.Trajectory.JointTrajectory.Points[0].Velocities; math.Abs(v[0]-0.4) > 1e-6 {
		t.Errorf("first point at %v", v)
	}
	if r, code := plan(t, ptp, "arm6", "-", "--current", running, "--compat", "pilz"); code != exitFailure || r.ErrorCode.Val != msgs.ErrorInvalidRobotState {
		t.Errorf("compat: exit %d, %+v", code, r.ErrorCode)
	}
	out, _, code := poise(`{"items":[{"req":`+ptp+`,"blend_radius":0},{"req":`+linRequest+`}]}`, "plan", "arm6", "-", "--current", running)
	var s msgs.MotionSequenceResponse
	if err := rosjson.Unmarshal([]byte(out), &s); err != nil || code != exitOK || len(s.SequenceStart.JointState.Velocity) == 0 {
		t.Errorf("sequence: %v, exit %d, %+v", err, code, s.ErrorCode)
	}
	if _, stderr, code := poise(ptp, "plan", "arm6", "-", "--current", `{"name":["joint_1"],"position":[0],"velocity":[1,2]}`); code != exitFailure || !strings.Contains(stderr, "velocities") {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

// More samples than memory should hold are refused in both modes, and at once.
func TestTooManySamplesAreRefused(t *testing.T) {
	for _, mode := range [][]string{nil, {"--compat", "pilz"}} {
		r, code := plan(t, linRequest, append([]string{"arm6", "-", "--current", home, "--sampling", "1e-9"}, mode...)...)
		if code != exitFailure || r.ErrorCode.Val != msgs.ErrorInvalidMotionPlan || !strings.Contains(r.ErrorCode.Message, "samples") {
			t.Errorf("%v: exit %d, %+v", mode, code, r.ErrorCode)
		}
	}
}

// A plan that is allowed half of what it needs ends when that is over.
func TestAllowedPlanningTimeEndsALongPlan(t *testing.T) {
	slow := strings.NewReplacer(`"planner_id"`, `"allowed_planning_time":0.02,"planner_id"`, `"max_velocity_scaling_factor":0.5`, `"max_velocity_scaling_factor":0.0002`).Replace(linRequest)
	if r, code := plan(t, slow, "arm6", "-", "--current", home); code != exitFailure || r.ErrorCode.Val != msgs.ErrorTimedOut {
		t.Errorf("exit %d, %+v", code, r.ErrorCode)
	}
}

// TestPlanAnswersAsTheServer: the command line and the service of a running server give one
// answer to one request, points, codes and words alike.
func TestPlanAnswersAsTheServer(t *testing.T) {
	needsProgram(t)
	s := serveIt(t, "--robot", "arm6", "--period", "0.005")
	const start = `"start_state":{"joint_state":{"name":["joint_1","joint_2","joint_3","joint_4","joint_5","joint_6"],"position":[0.1,0.1,0.3,0,-0.3,0]}},"planner_id"`
	sound := strings.Replace(linRequest, `"planner_id"`, start, 1)
	for name, request := range map[string]string{
		"planned":       sound,
		"as Pilz":       strings.Replace(sound, `"planner_id"`, `"pipeline_id":"pilz_industrial_motion_planner","planner_id"`, 1),
		"unknown group": strings.Replace(sound, `"manipulator"`, `"leg"`, 1),
		"out of reach":  strings.Replace(sound, `"x":0.5`, `"x":5`, 1),
		"too fast":      strings.Replace(sound, `factor":0.5`, `factor":2`, 1),
	} {
		sampling := "0.005" // the server's period
		if name == "as Pilz" {
			sampling = "0.1" // the original's
		}
		own, _ := plan(t, request, "arm6", "-", "--sampling", sampling)
		out, stderr, _ := poise("", "call", "plan_kinematic_path", `{"motion_plan_request":`+request+`}`, "--server", s.address)
		var theirs msgs.GetMotionPlanResponse
		if err := rosjson.Unmarshal([]byte(out), &theirs); err != nil {
			t.Fatalf("%s: %v\n%s%s", name, err, out, stderr)
		}
		answer := theirs.MotionPlanResponse
		if own.ErrorCode.Val != answer.ErrorCode.Val || own.ErrorCode.Message != answer.ErrorCode.Message {
			t.Errorf("%s: the program answers %+v, the server %+v", name, own.ErrorCode, answer.ErrorCode)
		}
		if !reflect.DeepEqual(own.Trajectory, answer.Trajectory) {
			t.Errorf("%s: two trajectories, of %d and of %d points", name, len(own.Trajectory.JointTrajectory.Points), len(answer.Trajectory.JointTrajectory.Points))
		}
		if planned := len(own.Trajectory.JointTrajectory.Points) > 0; planned != (own.ErrorCode.Val == msgs.ErrorSuccess) || planned == (name != "planned" && name != "as Pilz") {
			t.Errorf("%s: %+v", name, own.ErrorCode)
		}
	}
}

func TestProgressShowsOnlyOnATerminal(t *testing.T) {
	var quiet bytes.Buffer
	progress(&quiet, "planning")()
	if quiet.Len() != 0 {
		t.Errorf("%q", quiet.String())
	}
	synctest.Test(t, func(t *testing.T) {
		for after, want := range map[time.Duration]int{patience - time.Millisecond: 0, patience + 250*time.Millisecond: 3} {
			var b bytes.Buffer
			done := make(chan struct{})
			go func() { time.Sleep(after); close(done) }()
			showProgress(&b, "planning", nil, done)
			if s := b.String(); strings.Count(s, "planning [") != want || want > 0 && !strings.HasSuffix(s, "\r") {
				t.Errorf("within %v it shows %q, want %d bars", after, s, want)
			}
		}
	})
}

func FuzzPlanRequest(f *testing.F) {
	f.Add([]byte(linRequest))
	f.Add([]byte(`{"items":[{"req":` + linRequest + `,"blend_radius":0.05},{"req":` + linRequest + `}]}`))
	f.Fuzz(func(t *testing.T, request []byte) {
		out, stderr, code := poise(string(request), "plan", "arm6", "-", "--current", home, "--sampling", "0.05")
		if code == exitUsage || strings.Count(stderr, "\n") != code || !json.Valid([]byte(out)) {
			t.Fatalf("exit %d, %q, %s", code, stderr, out)
		}
	})
}
