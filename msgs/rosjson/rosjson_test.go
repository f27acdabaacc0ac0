package rosjson

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"poise/internal/golden"
	"poise/msgs"
)

func TestReadsJSONAndYAMLAlike(t *testing.T) {
	asJSON := `{"planner_id":"LIN","max_velocity_scaling_factor":1,
		"start_state":{"joint_state":{"name":["a","b"],"position":[1,2.5]},"is_diff":true}}`
	asYAML := `
planner_id: LIN
max_velocity_scaling_factor: 1
start_state:
  joint_state: {name: [a, b], position: [1, 2.5]}
  is_diff: true
`
	var fromJSON, fromYAML msgs.MotionPlanRequest
	if err := Unmarshal([]byte(asJSON), &fromJSON); err != nil {
		t.Fatal(err)
	}
	if err := Unmarshal([]byte(asYAML), &fromYAML); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(fromJSON, fromYAML) {
		t.Errorf("JSON gives %+v\nYAML gives %+v", fromJSON, fromYAML)
	}
	if fromJSON.PlannerID != "LIN" || fromJSON.StartState.JointState.Position[1] != 2.5 || !fromJSON.StartState.IsDiff {
		t.Errorf("read %+v", fromJSON)
	}
}

func TestBothSpellingsOfTimeAreRead(t *testing.T) {
	for _, s := range []string{`{"time_from_start":{"sec":1,"nanosec":5}}`, `{"time_from_start":{"secs":1,"nsecs":5}}`} {
		var p msgs.JointTrajectoryPoint
		if err := Unmarshal([]byte(s), &p); err != nil {
			t.Fatal(err)
		}
		if p.TimeFromStart != (msgs.Duration{Sec: 1, Nanosec: 5}) {
			t.Errorf("%s gives %+v", s, p.TimeFromStart)
		}
	}
	if out := string(Marshal(msgs.Duration{Sec: 1, Nanosec: 5})); out != `{"sec":1,"nanosec":5}` {
		t.Errorf("written as %s", out)
	}
}

func TestRefusalsNamePathLineAndValue(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"unknown field", "{\n\"planer_id\":\"LIN\"}", `line 2: planer_id: the message has no such field`},
		{"unknown nested field", `{"start_state":{"joint_state":{"names":[]}}}`, `start_state.joint_state.names: the message has no such field; it has header, name`},
		{"wrong kind", `{"goal_constraints":[{"name":3}]}`, `goal_constraints[0].name: want a string, got a number "3"`},
		{"list expected", `{"goal_constraints":{}}`, `goal_constraints: want a list, got an object`},
		{"object expected", `{"start_state":[]}`, `start_state: want an object, got a list`},
		{"number expected", `{"max_velocity_scaling_factor":"fast"}`, `want a number, got a string "fast"`},
		{"number too large", `{"max_velocity_scaling_factor":1e999}`, `1e999 is not a number that fits`},
		{"whole number expected", `{"num_planning_attempts":1.5}`, `1.5 is not a whole number`},
		{"whole number too large", `{"num_planning_attempts":3000000000}`, `3000000000 does not fit into int32`},
		{"boolean expected", `{"start_state":{"is_diff":1}}`, `want true or false, got a number "1"`},
		{"field twice", `{"planner_id":"LIN","planner_id":"PTP"}`, `planner_id: the field is given twice`},
		{"broken JSON", "{\n\n\"planner_id\":", `line 3: unexpected EOF`},
		{"something after it", `{} {}`, `something follows the value`},
		{"not an object", `[1,2]`, `want an object, got a list`},
		{"empty", ``, `the text is empty`},
		{"two documents", "a: 1\n---\na: 2\n", `more than one document`},
		{"deep", strings.Repeat("[", 100) + strings.Repeat("]", 100), `nested deeper than`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var r msgs.MotionPlanRequest
			err := Unmarshal([]byte(tc.in), &r)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v\nwant it to say %s", err, tc.want)
			}
		})
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	var r msgs.MotionPlanRequest
	err := Unmarshal([]byte(`{"a":1,"b":2,"planner_id":3}`), &r)
	if n := strings.Count(err.Error(), "\n") + 1; n != 3 {
		t.Errorf("%d problems told, want 3:\n%v", n, err)
	}
}

func TestYAMLBombIsRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); the bound is met after millions of nodes")
	}
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'j'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 9) + "]\n"
	}
	if _, err := parse([]byte(bomb)); err == nil {
		t.Error("a bomb of aliases was read")
	}
}

func TestNullIsNaNAndNaNIsNull(t *testing.T) {
	var p msgs.Point
	if err := Unmarshal([]byte(`{"x":null,"y":1}`), &p); err != nil {
		t.Fatal(err)
	}
	if !math.IsNaN(p.X) || p.Y != 1 {
		t.Errorf("read %+v", p)
	}
	p.Z = math.Inf(1)
	if out := string(Marshal(p)); out != `{"x":null,"y":1,"z":null}` {
		t.Errorf("written %s", out)
	}
}

func TestHasKeyTellsMessagesApart(t *testing.T) {
	for in, want := range map[string]bool{`{"items":[]}`: true, `{"req":{}}`: false, "items:\n- {}\n": true} {
		if got, err := HasKey([]byte(in), "items"); got != want || err != nil {
			t.Errorf("HasKey(%s) = %v, %v", in, got, err)
		}
	}
	if _, err := HasKey([]byte(`[]`), "items"); err == nil {
		t.Error("a list has keys")
	}
}

func TestEveryGoldenRequestReads(t *testing.T) {
	dir := golden.Path(t, "golden/pilz/requests")
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	if len(files) < 100 {
		t.Fatalf("%d request files", len(files))
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		sequence, err := HasKey(data, "items")
		if err != nil {
			t.Fatal(err)
		}
		if sequence {
			err = roundTrip[msgs.MotionSequenceRequest](data)
		} else {
			err = roundTrip[msgs.MotionPlanRequest](data)
		}
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(f), err)
		}
	}
}

type different struct{ a, b any }

func (d different) Error() string { return "what was written reads back differently" }

func roundTrip[M any](data []byte) error {
	var a, b M
	if err := Unmarshal(data, &a); err != nil {
		return err
	}
	if err := Unmarshal(Marshal(a), &b); err != nil {
		return err
	}
	if string(Marshal(a)) != string(Marshal(b)) {
		return different{a, b}
	}
	return nil
}

func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte(`{"planner_id":"LIN","goal_constraints":[{"joint_constraints":[{"joint_name":"a","position":1}]}]}`))
	f.Add([]byte("planner_id: PTP\nstart_state: {is_diff: true}\n"))
	f.Add([]byte("&a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r msgs.MotionPlanRequest
		if Unmarshal(data, &r) == nil {
			if err := roundTrip[msgs.MotionPlanRequest](data); err != nil {
				t.Error(err)
			}
		}
	})
}
