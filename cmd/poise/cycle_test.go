package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"poise/loop"
	"poise/robot/load"
	"poise/telemetry"
)

// TestCycleAndServoModelsOnTheCommandLine: the cycle of a robot with mass is chosen for all of it
// and for a limb, models of servos come while it runs, refusals name the thing and change nothing,
// and the recording of it replays bit for bit.
func TestCycleAndServoModelsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "flight.rec")
	r := serveIt(t, "--config", writtenFile(t, fmt.Sprintf("loop: {silence: 600, period: 0.005, inversion: model}\n"+
		"faults: {cycle_gap: {severity: ignore}, overrun: {severity: ignore}, tracking_error: {severity: ignore}}\n"+
		"record: {file: %q}\nrobots: [{name: virtual, driver: physics}]\n", file)))
	cycles := func() map[string]int {
		var s struct {
			Name  []string
			Cycle []byte
		}
		if err := json.Unmarshal([]byte(r.do("", "topic", "echo", "dynamics_state", "--count", "1", "--json")), &s); err != nil || len(s.Name) != len(s.Cycle) {
			t.Fatal(err, s)
		}
		of := map[string]int{}
		for i, name := range s.Name {
			of[name] = int(s.Cycle[i])
		}
		return of
	}
	chosen := func(joint11, joint51 int) {
		t.Helper()
		r.until(fmt.Sprintf("joint11 is in cycle %d, joint51 in %d", joint11, joint51), func() bool {
			of := cycles()
			return of["joint11"] == joint11 && of["joint51"] == joint51
		})
	}
	chosen(0, 0)
	r.do("done", "cycle", "1")
	chosen(1, 1)
	r.do("done", "cycle", "0", "head")
	chosen(1, 0)
	r.fails(1, "cycle 2 is of the whole robot, not of head alone", "cycle", "2", "head") // the whole body is led, or nothing of it
	chosen(1, 0)
	for _, args := range [][]string{{"cycle"}, {"cycle", "3"}, {"cycle", "-1"}, {"cycle", "NaN"}, {"cycle", "1.5", "head"}} {
		r.fails(exitUsage, "0", args...)
	}
	r.fails(1, `no resource, group or joint "haed"; did you mean "head"?`, "cycle", "1", "haed")
	r.fails(1, `no resource, group or joint "wing"`, "cycle", "0", "leg1", "wing")
	r.fails(1, `no robot "real"`, "cycle", "0", "--robot", "real")
	const four = `{"models": [{"name": %q, "kp": 230, "kgear": 1, "alpha": [2.1, 53.9, %v, 234.9], "stiffness": %v}], "version": %d}`
	set := func(name string, a2, stiffness any, version int) []string {
		return []string{"call", "set_servo_models", fmt.Sprintf(four, name, a2, stiffness, version)}
	}
	r.do(`"version": 2`, set("joint11", 9, 8, 0)...)
	for _, c := range []struct {
		args []string
		want string
	}{
		{set("joint11", 9, 8, 1), "version 1 is not newer than 2"},
		{set("joint111", 9, 8, 0), `no joint or type of servo "joint111"; did you mean "joint11"?`},
		{set("joint11", "null", 8, 0), `servo model "joint11": parameters.a2 is NaN`},
		{set("joint11", 9, 1e9, 0), `servo model "joint11": stiffness is 1e+09, at most 1e+06`},
		{set("joint11", 9, -1, 0), `servo model "joint11": stiffness is -1`},
		{set("joint11", 1e9, 8, 0), `servo model "joint11": dry friction is 4.257e+06 N·m, want 0 … 1000`},
	} {
		r.fails(1, c.want, c.args...)
	}
	r.do(`"version": 3`, "call", "set_servo_models", `{"rollback": true}`)
	chosen(1, 0) // refusals changed nothing
	r.do("nod: done", "play", "nod", "--speed", "200")
	r.do("done", "cycle", "2")
	chosen(2, 2)
	r.do("done", "cycle", "0")
	chosen(0, 0)
	r.stop(syscall.SIGTERM)
	if a := replayed(t, file); a.Ticks == 0 || !a.Equal {
		t.Errorf("%d ticks, equal is %v", a.Ticks, a.Equal)
	}
	levelsOf(t, file)
	rec, err := telemetry.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	orders := map[loop.OrderKind]int{}
	var tick telemetry.Tick
	for rec.Next(&tick) == nil {
		for _, o := range tick.Orders {
			orders[o.Kind]++
		}
	}
	if orders[loop.SetCycle] != 4 || orders[loop.SetModels] != 2 {
		t.Errorf("the recording has %d choices of the cycle and %d sets of models, want 4 and 2", orders[loop.SetCycle], orders[loop.SetModels])
	}
	if strings.Contains(r.log.String(), "level=ERROR") {
		t.Error(r.log.String())
	}
}

// levelsOf replays a recording of which some was in cycle 2, and reads the levels that it writes.
func levelsOf(t *testing.T, file string) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "levels.jsonl")
	rec, err := telemetry.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := (&servoLogFlags{levels: to, to: math.Inf(1)}).replay(rec, bot.Model)
	if err != nil || out.First != nil {
		t.Fatal(err, out)
	}
	text, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	lines, served := strings.Split(strings.TrimSpace(string(text)), "\n"), 0
	for i, line := range lines {
		var m struct {
			Status string
			Levels []struct {
				Name    string
				AskedBy []string `json:"asked_by"`
			}
			Limbs []struct{ Ratio float64 }
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		if m.Status == "served" && len(m.Levels) > 8 && m.Levels[0].Name == "dynamics" && len(m.Levels[0].AskedBy) > 0 && len(m.Limbs) > 0 {
			served++
		}
	}
	if served == 0 || uint64(len(lines)) >= out.Ticks {
		t.Errorf("of %d ticks %d are in cycle 2, %d are served with their levels", out.Ticks, len(lines), served)
	}
}
