package main

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"poise/internal/rig"
)

type wholebodyLine struct {
	A, Tau []float64
	Forces map[string]struct{ Force, Moment, Point []float64 }
	Levels []struct {
		Name            string
		Residual, Slack float64
		Active          []string
		Status          string
	}
	Feasible   bool
	Iterations int
	Error      string
}

// askWholebody asks for the pony in its stand pose, with changes to an ordinary request.
func askWholebody(t *testing.T, changes map[string]any) (a wholebodyLine) {
	t.Helper()
	m := rig.Model(t, "pony")
	q := make([]float64, m.NumQ())
	q[2], q[6] = 0.223, 1
	pose, _ := m.Pose("stand")
	for i, j := range pose.Joints {
		q[m.Joints()[j].Q] = pose.Q[i][0]
	}
	request := map[string]any{
		"q": q, "v": make([]float64, m.NumV()), "supports": map[string]int{"leg1": 1, "leg2": 1, "leg3": 1, "leg4": 1},
		"friction": 0.6, "margin": 0.01, "base": map[string]any{"linear": []int{0, 0, 0}, "angular": []int{0, 0, 0}},
		"limits": map[string]any{"tau": 1.18, "a": 200},
	}
	maps.Copy(request, changes)
	maps.DeleteFunc(request, func(_ string, v any) bool { return v == nil })
	line, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	out, _, _ := poise(string(line)+"\n", "dyn", "pony", "wholebody")
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return a
}

func names(a wholebodyLine) string {
	var all []string
	for _, l := range a.Levels {
		all = append(all, l.Name)
	}
	return strings.Join(all, " ")
}

func TestDynWholebodyStands(t *testing.T) {
	for order, levels := range map[string]string{
		"seed":    "dynamics contacts limits friction zmp base limbs regularisation",
		"default": "dynamics contacts orientation limits posture base_height_tilt base_plane limbs regularisation",
	} {
		a := askWholebody(t, map[string]any{"order": order})
		if names(a) != levels || !a.Feasible || len(a.Forces) != 4 || len(a.Tau) != len(a.A)-6 {
			t.Fatalf("%s: %s, feasible %v, %d forces, %s", order, names(a), a.Feasible, len(a.Forces), a.Error)
		}
		up := 0.0
		for _, f := range a.Forces {
			up += f.Force[2]
			if len(f.Moment) != 3 || len(f.Point) != 3 {
				t.Errorf("%s: %+v", order, f)
			}
		}
		m := rig.Model(t, "pony")
		// free joints may fall in order seed: the weight is carried to a quarter
		if weight := m.Mass() * 9.81; math.Abs(up-weight) > 0.25*weight {
			t.Errorf("%s: %g N carry a weight of %g", order, up, weight)
		}
		for _, l := range a.Levels {
			if l.Name != "regularisation" && (l.Residual > 1e-8 || l.Slack > 1e-8) || l.Status != "optimal" || l.Active == nil {
				t.Errorf("%s: %+v", order, l)
			}
		}
	}
}

func TestDynWholebodyServesWhatIsAsked(t *testing.T) {
	a := askWholebody(t, map[string]any{
		"order": "seed", "supports": map[string]int{"leg2": 1, "leg3": 1, "leg4": 1}, "zmp": []float64{-0.02, -0.01},
		"limbs": map[string]any{"leg1": map[string]any{"linear": []float64{0, 0, 1}}}, "joints": map[string]float64{"joint51": 0.5},
	})
	if !strings.Contains(names(a), "zmp zmp_trajectory base") {
		t.Fatalf("levels %s %s", names(a), a.Error)
	}
	m := rig.Model(t, "pony")
	id, _ := m.Joint("joint51")
	if got := a.A[m.Joints()[id].V]; math.Abs(got-0.5) > 1e-6 && a.Levels[7].Residual < 1e-8 {
		t.Errorf("joint51 accelerates by %g", got)
	}
	slip := askWholebody(t, map[string]any{"order": "default", "friction": 0.3, "base": map[string]any{"linear": []float64{6, 0, 0}}})
	for name, f := range slip.Forces {
		if limit := 0.3 / math.Sqrt2 * f.Force[2]; math.Abs(f.Force[0]) > limit+1e-9 || math.Abs(f.Force[1]) > limit+1e-9 {
			t.Errorf("%s leaves its pyramid: %v", name, f.Force)
		}
	}
	if !strings.Contains(strings.Join(slip.Levels[3].Active, ","), "friction_+x leg1") {
		t.Errorf("active: %v", slip.Levels[3].Active)
	}
}

func TestDynWholebodyNamesWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		want    string
		changes map[string]any
	}{
		{"q is missing", map[string]any{"q": nil}},
		{"friction is -1, want 0 or more", map[string]any{"friction": -1}},
		{"margin is -1, want 0 or more", map[string]any{"margin": -1}},
		{`order is "sede", want "seed" or "default"; did you mean "seed"?`, map[string]any{"order": "sede"}},
		{"base: linear has 2 numbers, want 3", map[string]any{"base": map[string]any{"linear": []int{1, 2}}}},
		{`base: key "lin" is unknown`, map[string]any{"base": map[string]any{"lin": 1}}},
		{"base: an object is wanted", map[string]any{"base": 3}},
		{"zmp has 3 numbers, want 2", map[string]any{"zmp": []int{1, 2, 3}}},
		{`limbs: chain "leg1" stands (supports.leg1 is 1), so it cannot be asked to accelerate`, map[string]any{"limbs": map[string]any{"leg1": map[string]any{"linear": []int{0, 0, 1}}}}},
		{`limbs: chain "arm" is unknown`, map[string]any{"limbs": map[string]any{"arm": map[string]any{"linear": []int{0, 0, 1}}}}},
		{"limbs: head: linear is missing", map[string]any{"limbs": map[string]any{"head": map[string]any{}}}},
		{`joints: joint "joint99" is unknown`, map[string]any{"joints": map[string]any{"joint99": 1}}},
		{"joints.joint51: a finite number is wanted", map[string]any{"joints": map[string]any{"joint51": "x"}}},
		{"limits: tau has 2 numbers, want 38", map[string]any{"limits": map[string]any{"tau": []int{1, 2}}}},
		{"limits: a is -1, want 0 or more", map[string]any{"limits": map[string]any{"a": -1}}},
		{`key "limit" is unknown`, map[string]any{"limit": 1}},
	} {
		if a := askWholebody(t, c.changes); !strings.Contains(a.Error, c.want) {
			t.Errorf("%v: %q, want %q", c.changes, a.Error, c.want)
		}
	}
	if a := askWholebody(t, map[string]any{"order": 3}); a.Error != "order: a string is wanted, not 3" {
		t.Errorf("told once: %q", a.Error)
	}
	massless := filepath.Join(t.TempDir(), "massless.urdf")
	if err := os.WriteFile(massless, []byte(`<robot name="massless"><link name="base"/></robot>`), 0o644); err != nil {
		t.Fatal(err)
	}
	out, _, code := poise(`{"q":[0,0,0,0,0,0,1],"v":[0,0,0,0,0,0],"supports":{},"friction":1}`+"\n", "dyn", massless, "wholebody", "--floating")
	if code == exitOK || !strings.Contains(out, "no link of the robot has a mass") {
		t.Errorf("a robot without masses: code %d, %s", code, out)
	}
	for op, line := range map[string]string{"gravity": `{"q":[]}`, "crba": `{"q":[]}`, "rnea": `{"q":[],"v":[],"a":[]}`} {
		if out, _, code := poise(line+"\n", "dyn", massless, op); code != exitFailure || !strings.Contains(out, "no link of the robot has a mass") {
			t.Errorf("%s of a robot without masses: code %d, %s", op, code, out)
		}
	}
	out, _, code = poise(`{"q":[],"v":[],"supports":{},"friction":1}`+"\n", "dyn", "arm6", "wholebody")
	if code == exitOK || !strings.Contains(out, "the base of the robot is fixed") {
		t.Errorf("a fixed robot: code %d, %s", code, out)
	}
}
