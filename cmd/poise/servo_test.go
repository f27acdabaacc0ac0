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

const servoYAML = "{kp: 100, gear: 1, ks: 37, lead: 0, dead_zone: 0.02, voltage: 12, parameters: {a0: 2.1095, a1: 53.9546, a2: 12.5499, a3: 234.9008}}"

func servoFile(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestServoInvertsAndBack: what invert answers makes torque answer what was asked.
func TestServoInvertsAndBack(t *testing.T) {
	file := servoFile(t, "m.yaml", servoYAML)
	out, stderr, code := poise(`{"q":0.3,"v":1.5,"a":-4,"tau":0.6,"voltage":11}`+"\n", "servo", file, "invert")
	var g struct {
		Goal      *float64
		Saturated *bool
	}
	if err := json.Unmarshal([]byte(out), &g); err != nil || code != 0 || stderr != "" || g.Goal == nil || g.Saturated == nil || *g.Saturated {
		t.Fatalf("%d %v %s in %s", code, err, stderr, out)
	}
	want := 0.3 + (2.1095*-4+53.9546*1.5+12.5499+234.9008*0.6)/(100*11)
	if math.Abs(*g.Goal-want) > 1e-12 {
		t.Errorf("goal %g, want %g", *g.Goal, want)
	}
	line, _ := json.Marshal(map[string]float64{"goal": *g.Goal, "q": 0.3, "v": 1.5, "a": -4, "voltage": 11})
	out, _, _ = poise(string(line)+"\n", "servo", file, "torque")
	var a struct{ Tau, Band *float64 }
	if err := json.Unmarshal([]byte(out), &a); err != nil || a.Tau == nil || a.Band == nil || math.Abs(*a.Tau-0.6) > 1e-12 || *a.Band != 0 {
		t.Errorf("%v in %s", err, out)
	}
	out, _, _ = poise(`{"goal":0.1,"q":0.1,"v":0,"a":0}`+"\n", "servo", file, "torque")
	if want := `{"tau":0,"band":0.053426382`; !strings.HasPrefix(out, want) {
		t.Errorf("at rest %s, want %s…", out, want)
	}
	out, _, _ = poise(`{"q":0,"v":0,"a":0,"tau":-9,"voltage":12}`+"\n", "servo", file, "invert")
	if out != `{"goal":-0.37,"saturated":true}`+"\n" {
		t.Errorf("more than it can give: %s", out)
	}
}

// TestServoBadLinesAreAnswered: a line that is wrong is answered, and the next is read.
func TestServoBadLinesAreAnswered(t *testing.T) {
	file := servoFile(t, "m.yaml", servoYAML)
	for _, c := range []struct{ line, want string }{
		{`{"q":0,"v":0,"a":0,"tau":0,"voltage":0}`, "voltage is 0 V, must be above 0"},
		{`{"q":0,"v":0,"a":0,"tau":0,"voltage":1e300}`, "voltage is 1e+300 V, at most 1000"},
		{`{"q":0,"v":NaN,"a":0,"tau":0,"voltage":12}`, "v: a finite number is wanted"},
		{`{"q":0,"v":0,"a":0,"voltage":12}`, "tau is missing"},
		{`{"q":0,"v":0,"a":0,"tau":0,"volts":12}`, `key \"volts\" is unknown`},
		{`{"q":[0],"v":0,"a":0,"tau":0,"voltage":12}`, "q: a finite number is wanted, not [0]"},
		{`nonsense`, "not JSON"},
	} {
		out, stderr, code := poise(c.line+"\n"+`{"q":0.25,"v":0,"a":0,"tau":0,"voltage":12}`+"\n", "servo", file, "invert")
		first, second, _ := strings.Cut(out, "\n")
		if code != 1 || stderr != "" || !strings.Contains(first, c.want) || second != `{"goal":0.25,"saturated":false}`+"\n" {
			t.Errorf("%s: %d %q %q", c.line, code, stderr, out)
		}
	}
}

func TestServoFilesAndUsage(t *testing.T) {
	several := servoFile(t, "several.yaml", "knee: {kp: 100, parameters: {a3: 200}}\nhip: {kp: 50, parameters: {a3: 100}}\n")
	bad := servoFile(t, "bad.yaml", "kp: -1\nparameters: {a3: 200}\n")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"servo"}, 2, "which servo model?"},
		{[]string{"servo", several}, 2, "invert, torque"},
		{[]string{"servo", several, "inverse"}, 2, `"inverse" is unknown`},
		{[]string{"servo", several, "invert"}, 2, "has 2 models: choose one by --model (knee, hip)"},
		{[]string{"servo", several, "invert", "--model", "kne"}, 1, `did you mean "knee"`},
		{[]string{"servo", servoFile(t, "m.yaml", servoYAML), "invert", "--model", "x"}, 2, "m.yaml is one model without a name: leave --model out"},
		{[]string{"servo", bad, "invert"}, 1, "bad.yaml:1: servo model: kp is -1, must be above 0"},
		{[]string{"servo", filepath.Join(t.TempDir(), "none.yaml"), "invert"}, 1, "none.yaml"},
	} {
		out, stderr, code := poise("", c.args...)
		if code != c.code || out != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: %d %q, want %d %q", c.args, code, stderr, c.code, c.want)
		}
	}
	out, stderr, code := poise(`{"q":0,"v":0,"a":0,"tau":1,"voltage":10}`+"\n", "servo", several, "invert", "--model", "hip")
	if code != 0 || out != `{"goal":0.2,"saturated":false}`+"\n" {
		t.Errorf("%d %s %s", code, out, stderr)
	}
	// of a property file the model of all others, too
	property := func(name string, kp int) string {
		return fmt.Sprintf(`<struct name="%s" type="ServoModel"><simple name="kp" type="double"><value>%d</value></simple><struct name="alpha" type="double">`+
			strings.Repeat(`<simple name="E" type="double"><value>1</value></simple>`, 4)+`</struct></struct>`, name, kp)
	}
	cpf := servoFile(t, "models.cpf", "<properties>"+property("default_servo_model", 10)+property("knee", 20)+"</properties>")
	for name, want := range map[string]string{"knee": `{"goal":0.01,"saturated":false}`, "default_servo_model": `{"goal":0.02,"saturated":false}`} {
		out, stderr, code := poise(`{"q":0,"v":0,"a":0,"tau":2,"voltage":10}`+"\n", "servo", cpf, "invert", "--model", name)
		if code != 0 || out != want+"\n" {
			t.Errorf("%s: %d %s %s", name, code, out, stderr)
		}
	}
	if _, stderr, code := poise("", "servo", cpf, "invert"); code != 2 || !strings.Contains(stderr, "2 models: choose one by --model (knee, default_servo_model)") {
		t.Errorf("%d %s", code, stderr)
	}
	// without a nominal voltage every line has to say it
	out, _, code = poise(`{"q":0,"v":0,"a":0,"tau":1}`+"\n", "servo", several, "invert", "--model", "hip")
	if code != 1 || !strings.Contains(out, "voltage is missing") {
		t.Errorf("%d %s", code, out)
	}
}
