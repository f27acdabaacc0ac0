package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const anyPose = `"pose":{"position":{"x":0.4,"y":0.1,"z":0.5},"orientation":{"x":0,"y":1,"z":0,"w":0}}`

type ikAnswer struct {
	Q             []float64 `json:"q"`
	PositionError *float64  `json:"position_error"`
	RotationError *float64  `json:"rotation_error"`
	Error         string    `json:"error"`
	Reached       *ikAnswer `json:"reached"`
}

func askIK(t *testing.T, line string, args ...string) (a ikAnswer, code int) {
	t.Helper()
	out, stderr, code := poise(line+"\n", append([]string{"kin"}, args...)...)
	if stderr != "" {
		t.Fatal(stderr)
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return a, code
}

func TestIKAnswersAWholeConfigurationThatReaches(t *testing.T) {
	seed := `[0.1,0.2,-0.3,0.1,-0.4,0.2,0.01]`
	a, code := askIK(t, `{"frame":"tool0",`+anyPose+`,"seed":`+seed+`}`, "arm6", "ik")
	if code != exitOK || len(a.Q) != 7 || a.Q[6] != 0.01 {
		t.Fatalf("exit %d, q = %v; the gripper must keep the seed's value", code, a.Q)
	}
	q, _ := json.Marshal(a.Q)
	out, _, _ := poise(fmt.Sprintf(`{"q":%s,"frame":"tool0"}`, q), "kin", "arm6", "fk")
	var p pose
	if err := json.Unmarshal([]byte(out), &p); err != nil {
		t.Fatal(err)
	}
	far := math.Hypot(math.Hypot(p.Position.X-0.4, p.Position.Y-0.1), p.Position.Z-0.5)
	if far > 1e-6 || math.Abs(math.Abs(p.Orientation.Y)-1) > 1e-6 {
		t.Errorf("fk of the answer is %+v", p)
	}
	if *a.PositionError > 1e-6 || *a.RotationError > 1e-6 {
		t.Errorf("errors %g, %g", *a.PositionError, *a.RotationError)
	}
}

func TestIKWithoutSeedStartsAtZeroOrTheNearestLimit(t *testing.T) {
	a, code := askIK(t, `{"frame":"hoof1","pose":{"position":{"x":0.08,"y":0.04,"z":-0.18},"orientation":{"x":0,"y":0,"z":0,"w":1}}}`, "pony", "ik", "--fixed")
	if code != exitOK {
		t.Fatal(a.Error)
	}
	moved := 0
	for _, v := range a.Q {
		if v != 0 {
			moved++
		}
	}
	if moved == 0 || moved > 5 {
		t.Errorf("%d joints left zero, want only the leg's five", moved)
	}
}

func TestIKOfAPoseOutOfReachTellsWhatWasReached(t *testing.T) {
	a, code := askIK(t, `{"frame":"tool0","pose":{"position":{"x":9,"y":0,"z":0},"orientation":{"x":0,"y":0,"z":0,"w":1}}}`, "arm6", "ik")
	if code != exitFailure || a.Error == "" || a.Reached == nil || len(a.Reached.Q) != 7 {
		t.Fatalf("exit %d, %+v", code, a)
	}
	if *a.Reached.PositionError < 7 || !strings.Contains(a.Error, "tool0") {
		t.Errorf("%+v %s", *a.Reached.PositionError, a.Error)
	}
}

func TestIKOfAGroup(t *testing.T) {
	a, code := askIK(t, `{"frame":"tool0","group":"manipulator",`+anyPose+`}`, "arm6", "ik")
	if code != exitOK {
		t.Fatal(a.Error)
	}
	a, code = askIK(t, `{"frame":"tool0","group":"gripper",`+anyPose+`}`, "arm6", "ik")
	if code != exitFailure || !strings.Contains(a.Error, `group "gripper" does not move frame "tool0"`) {
		t.Errorf("exit %d, %s", code, a.Error)
	}
}

func TestIKOfAGroupWithoutJointsMovesNothing(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "bare")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"bare.urdf": `<robot name="bare"><link name="a"/><link name="b"/><joint name="j" type="revolute"><parent link="a"/><child link="b"/>
			<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>`,
		"bare.srdf": `<robot name="bare"><group name="none"><link name="a"/></group></robot>`,
	} {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a, code := askIK(t, `{"frame":"b","group":"none",`+anyPose+`}`, folder, "ik")
	if code != exitFailure || !strings.Contains(a.Error, `group "none" does not move frame "b"`) {
		t.Errorf("exit %d, %s", code, a.Error)
	}
}

func TestIKRefusesBadLinesByName(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{`{"frame":"tool",` + anyPose + `}`, `did you mean "tool0"?`},
		{`{"frame":"tool0"}`, `pose is missing`},
		{`{"frame":"tool0","pose":{"position":{"x":0,"y":0,"z":0}}}`, `pose.orientation is missing`},
		{`{"frame":"tool0","pose":{"position":{"x":0,"y":0},"orientation":{"x":0,"y":0,"z":0,"w":1}}}`, `pose.position.z is missing`},
		{`{"frame":"tool0","pose":{"position":{"x":0,"y":0,"z":"a"},"orientation":{"x":0,"y":0,"z":0,"w":1}}}`, `pose.position.z: a finite number is wanted`},
		{`{"frame":"tool0","pose":{"position":{"x":0,"y":0,"z":0},"orientation":{"x":0,"y":0,"z":0,"w":2}}}`, `pose.orientation has length 2`},
		{`{"frame":"tool0","pose":3}`, `pose: an object {"position":…,"orientation":…} is wanted, not 3`},
		{`{"frame":"tool0","pose":{"position":{"x":0,"y":0,"z":0},"orientation":{"x":0,"y":0,"z":0,"w":1},"frame":"a"}}`, `pose: key "frame" is unknown: want position, orientation`},
		{`{"frame":"tool0","pose":{"positon":{"x":0,"y":0,"z":0},"orientation":{"x":0,"y":0,"z":0,"w":1}}}`, `did you mean "position"?`},
		{`{"frame":"base_link",` + anyPose + `}`, `no joint moves frame "base_link"`},
		{`{"frame":"tool0","group":"arm",` + anyPose + `}`, `group "arm" is unknown; there are `},
		{`{"frame":"tool0","group":"",` + anyPose + `}`, `group "" is unknown`},
		{`{"frame":"tool0","group":null,` + anyPose + `}`, `group: a string is wanted`},
		{`{"frame":"tool0",` + anyPose + `,"seed":[1]}`, `seed has 1 numbers, want 7`},
		{`{"frame":"tool0",` + anyPose + `,"sead":[1]}`, `key "sead" is unknown: want frame, pose, seed, group; did you mean "seed"?`},
	} {
		a, code := askIK(t, tc.line, "arm6", "ik")
		if code != exitFailure || !strings.Contains(a.Error, tc.want) {
			t.Errorf("%s\nexit %d: %s\nwant it to say %s", tc.line, code, a.Error, tc.want)
		}
	}
}
