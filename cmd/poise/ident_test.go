package main

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"poise/internal/servoplant"
)

// identified is an answer of poise ident.
type identified struct {
	Joint                        string
	Parameters, Sigma            map[string]float64
	Delay, Condition, RMSE       *float64
	RMSETorque                   *float64 `json:"rmse_torque"`
	Autocorrelation              []float64
	Accepted                     *bool
	Reasons, Details, Taken      []string
	Kept                         bool
	Voltage, Temperature, Period *float64
}

func identifiedIn(t *testing.T, out string) (all []identified) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		var a identified
		if err := json.Unmarshal([]byte(line), &a); err != nil || a.Accepted == nil || a.Reasons == nil {
			t.Fatalf("%v in %s", err, line)
		}
		all = append(all, a)
	}
	return all
}

// writeServoLog writes the log of some joints, each a servo of its own, row by row in turn.
func writeServoLog(t *testing.T, duration float64, motion func(r *rand.Rand) func(float64) float64, joints ...string) (file string, truth []servoplant.Truth) {
	t.Helper()
	var lines [][]string
	for i, name := range joints {
		r := rand.New(rand.NewPCG(uint64(40+i), 1))
		p := servoplant.Bench(servoplant.Deployed.Scatter(r, 0.5))
		truth = append(truth, p.Truth)
		lines = append(lines, strings.SplitAfter(servoplant.CSV(name, p.Run(r, motion(r), duration)), "\n"))
	}
	var b strings.Builder
	b.WriteString(servoplant.Header)
	for i := range lines[0] {
		for _, l := range lines {
			if i < len(l) {
				b.WriteString(l[i])
			}
		}
	}
	return servoFile(t, "log.csv", b.String()), truth
}

func excited(r *rand.Rand) func(float64) float64 { return servoplant.Excitation(r, 1) }

// slowMotion has nothing above 1 Hz.
func slowMotion(*rand.Rand) func(float64) float64 {
	return func(t float64) float64 { return math.Min(t, 1) * (0.5*math.Sin(t) + 0.3*math.Sin(3.1*t)) }
}

// TestIdentFindsAndSaves: an object for each joint, a file that poise servo takes, a plot.
func TestIdentFindsAndSaves(t *testing.T) {
	log, truth := writeServoLog(t, 25, excited, "joint11", "joint12")
	folder := t.TempDir()
	models, picture := filepath.Join(folder, "models.yaml"), filepath.Join(folder, "fit.svg")
	out, stderr, code := poise("", "ident", log, "-o", models, "--plot", picture, "--json")
	all := identifiedIn(t, out)
	if code != 0 || stderr != "" || len(all) != 2 {
		t.Fatalf("%d %s %s", code, stderr, out)
	}
	for i, a := range all {
		if !*a.Accepted || len(a.Reasons) != 0 || a.Joint != []string{"joint11", "joint12"}[i] {
			t.Fatalf("%+v", a)
		}
		for name, want := range map[string]float64{"a0": truth[i].A0, "a1": truth[i].A1, "a2": truth[i].A2, "a3": truth[i].A3} {
			if e := math.Abs(a.Parameters[name]/want - 1); !(e < 0.1) || !(a.Sigma[name] > 0) {
				t.Errorf("%s: %s is %g ± %g, want %g", a.Joint, name, a.Parameters[name], a.Sigma[name], want)
			}
		}
		for _, name := range []string{"a4", "a5", "vs"} {
			if _, ok := a.Parameters[name]; !ok {
				t.Errorf("no parameter %s", name)
			}
		}
		if !(math.Abs(*a.Delay-0.0224) < 0.002) || !(*a.Condition > 1 && *a.Condition < 30) || !(*a.RMSE < 0.003) {
			t.Errorf("%s: delay %g, condition %g, rmse %g", a.Joint, *a.Delay, *a.Condition, *a.RMSE)
		}
		// the error of positions as a torque: y over a3
		if want := *a.RMSE * truth[i].Kp * *a.Voltage / truth[i].A3; !(math.Abs(*a.RMSETorque/want-1) < 0.05) {
			t.Errorf("%s: rmse %g rad and %g N·m, want %g", a.Joint, *a.RMSE, *a.RMSETorque, want)
		}
		// what is left is rounding alone
		if len(a.Autocorrelation) != 5 || slices.ContainsFunc(a.Autocorrelation, func(x float64) bool { return math.Abs(x) > 0.15 || x == 0 }) {
			t.Errorf("%s: autocorrelation %v", a.Joint, a.Autocorrelation)
		}
		if _, err := os.Stat(filepath.Join(folder, "fit-"+a.Joint+".svg")); err != nil {
			t.Error(err)
		}
	}
	text, err := os.ReadFile(models)
	if err != nil || !strings.Contains(string(text), "identified: {date:") || !strings.Contains(string(text), "voltage: 1") {
		t.Errorf("%v: %s", err, text)
	}
	out, stderr, code = poise(`{"q":0,"v":1,"a":0,"tau":0.5,"voltage":12}`+"\n", "servo", models, "invert", "--model", "joint12")
	if code != 0 || !strings.HasPrefix(out, `{"goal":`) {
		t.Errorf("%d %s %s", code, stderr, out)
	}
	betterIsKept(t, log, models)
}

// betterIsKept: a model in the file that predicts the log better stays, a worse one is replaced.
func betterIsKept(t *testing.T, log, models string) {
	t.Helper()
	good, err := os.ReadFile(models)
	if err != nil {
		t.Fatal(err)
	}
	bad := strings.Replace(string(good), "a1: ", "a1: 1", 1) // joint11: far too much damping
	if err := os.WriteFile(models, []byte(bad), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, stderr, code := poise("", "ident", log, "-o", models, "--joint", "joint11", "--json"); code != 0 || strings.Contains(out, `"kept"`) {
		t.Errorf("%d %s %s", code, stderr, out)
	}
	text, _ := os.ReadFile(models)
	if strings.Contains(string(text), "a1: 1"+strings.SplitN(string(good), "a1: ", 2)[1][:4]) || !strings.Contains(string(text), `"joint12"`) {
		t.Errorf("a worse model is not replaced, or another joint is lost:\n%s", text)
	}
	before, _ := os.ReadFile(models)
	// a delay that is off by 4 ms is still believed, and the model with it errs more
	out, stderr, code := poise("", "ident", log, "-o", models, "--joint", "joint11", "--delay", "0.0184", "--json")
	if all := identifiedIn(t, out); code != 0 || !*all[0].Accepted || !all[0].Kept {
		t.Errorf("a better model is not kept: %d %s %s", code, stderr, out)
	}
	if after, _ := os.ReadFile(models); string(after) != string(before) {
		t.Errorf("a better model is changed:\n%s", after)
	}
}

// TestIdentIsJudgedByAnotherLog: --holdout of the same servo agrees, that of another one does not.
func TestIdentIsJudgedByAnotherLog(t *testing.T) {
	log, _ := writeServoLog(t, 20, excited, "joint11")
	same, _ := writeServoLog(t, 12, slowMotion, "joint11")
	other, _ := writeServoLog(t, 12, excited, "joint12", "joint11") // its joint11 is another servo
	out, stderr, code := poise("", "ident", log, "--holdout", same, "--json")
	if all := identifiedIn(t, out); code != 0 || !*all[0].Accepted || !(*all[0].RMSE < 0.003) {
		t.Errorf("%d %s %s", code, stderr, out)
	}
	out, stderr, code = poise("", "ident", log, "--holdout", other, "--json")
	if all := identifiedIn(t, out); code != 0 || *all[0].Accepted || !slices.Equal(all[0].Reasons, []string{"holdout"}) {
		t.Errorf("judged by another servo: %d %s %s", code, stderr, out)
	}
	if _, stderr, code := poise("", "ident", log, "--holdout", filepath.Join(t.TempDir(), "absent.csv")); code != 1 || !strings.Contains(stderr, "absent.csv") {
		t.Errorf("%d %s", code, stderr)
	}
}

// TestIdentRefuses: a refusal is an answer, an unreadable log a failure with its line.
func TestIdentRefuses(t *testing.T) {
	slow, _ := writeServoLog(t, 12, slowMotion, "joint11")
	models := filepath.Join(t.TempDir(), "models.yaml")
	out, stderr, code := poise("", "ident", slow, "-o", models)
	all := identifiedIn(t, out)
	if code != 0 || *all[0].Accepted || !slices.Equal(all[0].Reasons, []string{"delay"}) || !strings.Contains(stderr, "not accepted: delay") {
		t.Errorf("%d %s %s", code, stderr, out)
	}
	if _, err := os.Stat(models); err == nil {
		t.Error("a refused model is written")
	}
	if out, _, _ := poise("", "ident", slow, "--delay", "0.0224", "--json"); !*identifiedIn(t, out)[0].Accepted {
		t.Errorf("with the delay: %s", out)
	}
	if out, _, code := poise("", "ident", slow, "--robot", "arm6", "--json"); code != 0 || !slices.Equal(identifiedIn(t, out)[0].Reasons, []string{"another_robot"}) {
		t.Errorf("another robot: %d %s", code, out)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{servoFile(t, "bad.csv", "time,joint,goal,position,voltage,torque\n0,a,0,0,12,0\n0.02,a,x,0,12,0\n")}, 1, "bad.csv:3: goal: a number is wanted"},
		{[]string{filepath.Join(t.TempDir(), "absent.csv")}, 1, "absent.csv"},
		{[]string{slow, "--joint", "joint12"}, 1, `joint "joint12"`},
		{[]string{slow, slow}, 2, "want one LOG"},
		{[]string{slow, "--kp", "0"}, 2, "--kp 0 must be above 0"},
		{[]string{slow, "--delay", "-1"}, 2, "--delay -1 s"},
		{[]string{slow, "-o", "models.txt"}, 2, "must end in .yaml"},
		{[]string{slow, "--plot", "fit.gif"}, 2, "must end in .png or .svg"},
	} {
		out, stderr, code := poise("", append([]string{"ident"}, c.args...)...)
		if code != c.code || out != "" || !strings.Contains(stderr, c.says) {
			t.Errorf("%v: %d %q %q, want %d and %q", c.args, code, out, stderr, c.code, c.says)
		}
	}
}
