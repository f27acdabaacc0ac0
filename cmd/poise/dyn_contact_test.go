package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"poise/internal/rig"
)

// askContact asks for the pony in its stand pose and returns the answer as a client sees it.
func askContact(t *testing.T, supports string) (a map[string]json.RawMessage, q []float64) {
	t.Helper()
	m := rig.Model(t, "pony")
	q = make([]float64, m.NumQ())
	q[2], q[6] = 0.223, 1
	pose, _ := m.Pose("stand")
	for i, j := range pose.Joints {
		q[m.Joints()[j].Q] = pose.Q[i][0]
	}
	zero := make([]float64, m.NumV())
	line, err := json.Marshal(map[string]any{"q": q, "v": zero, "a": zero, "supports": json.RawMessage(supports), "friction": 0.8})
	if err != nil {
		t.Fatal(err)
	}
	out, stderr, _ := poise(string(line)+"\n", "dyn", "pony", "contact")
	if err := json.Unmarshal([]byte(out), &a); err != nil || stderr != "" {
		t.Fatalf("%v %s in %s", err, stderr, out)
	}
	return a, q
}

func TestDynContactAnswersEverything(t *testing.T) {
	a, q := askContact(t, `{"leg1":1,"leg2":1,"leg3":1,"leg4":1}`)
	for _, key := range []string{"tau", "forces", "residual", "a", "com", "cop", "zmp", "polygon", "margin"} {
		if a[key] == nil || string(a[key]) == "null" {
			t.Errorf("%s is missing", key)
		}
	}
	var forces map[string]struct{ Force, Moment, Point []float64 }
	into(t, a["forces"], &forces)
	if len(forces) != 4 || len(list(t, a["tau"])) != len(q)-7 || len(list(t, a["residual"])) != 6 {
		t.Errorf("%d forces, %d torques", len(forces), len(list(t, a["tau"])))
	}
	for name, f := range forces {
		if len(f.Force) != 3 || len(f.Moment) != 3 || len(f.Point) != 3 || f.Force[2] < 5 || math.Abs(f.Point[2]) > 1e-3 {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestDynContactInFlight(t *testing.T) {
	a, _ := askContact(t, `{"leg1":0}`)
	for key, want := range map[string]string{"forces": "{}", "cop": "null", "zmp": "null", "margin": "null", "polygon": "[]"} {
		if string(a[key]) != want {
			t.Errorf("%s is %s, want %s", key, a[key], want)
		}
	}
	if r := list(t, a["residual"]); r[2] < 20 {
		t.Errorf("residual %v, want the weight", r)
	}
}

func TestDynContactNamesWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ supports, want string }{
		{`{"leg1":1.5}`, "supports.leg1 is 1.5, want 0 to 1"},
		{`{"lge1":1}`, `chain \"lge1\" is unknown`},
		{`{"head":1}`, `chain \"head\" has no contact in robot.yaml`},
		{`{"leg1":"x"}`, "supports.leg1: a finite number is wanted"},
		{`3`, "supports: an object is wanted"},
	} {
		a, _ := askContact(t, c.supports)
		if !strings.Contains(string(a["error"]), c.want) {
			t.Errorf("%s: %s, want %q", c.supports, a["error"], c.want)
		}
	}
	out, _, code := poise(`{"q":[],"v":[],"a":[],"supports":{},"friction":1}`+"\n", "dyn", "arm6", "contact")
	if code == exitOK || !strings.Contains(out, "the base of the robot is fixed") {
		t.Errorf("a fixed robot: code %d, %s", code, out)
	}
	far := make([]float64, rig.Model(t, "pony").NumQ())
	far[1], far[2], far[6] = -1e300, 2e5, 1
	line, err := json.Marshal(map[string]any{"q": far, "supports": map[string]float64{}, "friction": 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"contact", "wholebody"} {
		if out, _, code := poise(string(line)+"\n", "dyn", "pony", kind); code == exitOK || !strings.Contains(out, "q[1] is -1e+300 m, want at most 100000 m") || !strings.Contains(out, "q[2] is 200000 m") {
			t.Errorf("dyn %s far away: code %d, %s", kind, code, out)
		}
	}
	out, _, _ = poise(`{"supports":{},"friction":-1}`+"\n", "dyn", "pony", "contact")
	if !strings.Contains(out, "friction is -1, want 0 or more") || !strings.Contains(out, "q is missing") {
		t.Errorf("friction below 0: %s", out)
	}
}
