//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"poise/robot/load"
)

// servoEvent is a line of the emulator's log.
type servoEvent struct {
	Time     float64 `json:"time"`
	Joint    string  `json:"joint"`
	Event    string  `json:"event"`
	Text     string  `json:"text"`
	Goal     float64 `json:"goal"`
	Position float64 `json:"position"`
}

// events returns all lines of the log; it reads those that are new.
func (e *emulating) events() []servoEvent {
	e.t.Helper()
	f, err := os.Open(e.logFile)
	if err != nil {
		e.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Seek(e.read, io.SeekStart); err != nil {
		e.t.Fatal(err)
	}
	for lines := bufio.NewReader(f); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return e.seen // the last line may be half written
		}
		e.read += int64(len(line))
		var x servoEvent
		if err := json.Unmarshal(line, &x); err != nil {
			e.t.Fatal(err)
		}
		e.seen = append(e.seen, x)
	}
}

// wait looks at the log until something is so.
func (e *emulating) wait(what string, so func(all []servoEvent) bool) {
	e.t.Helper()
	for end := time.Now().Add(hang); !so(e.events()); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			e.t.Fatalf("still waiting until %s", what)
		}
	}
}

// after waits until the emulator's own clock is so many seconds further, and returns the events
// since then began.
func (e *emulating) after(seconds float64) (all []servoEvent) {
	e.t.Helper()
	n := len(e.events())
	began := e.seen[n-1].Time
	e.wait("time has passed", func(all []servoEvent) bool { return all[len(all)-1].Time > began+seconds })
	return e.seen[n:]
}

// TestNoServoRunsAwayWhenTheServerIsKilled, twenty times in make soak: kill -9 at random instants of a motion, without a
// guard and with one. The emulator's log shows what every servo did: it comes to rest at the
// goal that it has, or where the guard or its own watchdog stops it, and never goes further
// than to a goal that it was given. A server that is started again finds it holding.
func TestNoServoRunsAwayWhenTheServerIsKilled(t *testing.T) {
	t.Parallel()
	needsProgram(t)
	for _, c := range []struct {
		family string
		guard  bool
	}{{"feetech", false}, {"dynamixel", false}, {"dynamixel", true}, {"herkulex", true}} {
		t.Run(c.family+map[bool]string{true: "/guarded"}[c.guard], func(t *testing.T) {
			robot := servosOfFamily(t, c.family)
			e := emulateIt(t, c.family, "--robot", robot)
			rng := rand.New(rand.NewPCG(19, uint64(len(c.family))))
			times := 1
			if os.Getenv("POISE_SOAK") != "" {
				times = 20
			}
			for range times {
				killInMotion(t, e, robot, c.guard, rng)
			}
		})
	}
}

// killInMotion lets a server move the emulated arm, kills it, and looks what the servos do.
func killInMotion(t *testing.T, e *emulating, robot string, guard bool, rng *rand.Rand) {
	t.Helper()
	args := []string{"--robot", robot, "--bus", e.port, "--no-record", "--config", writtenFile(t, slowWorld), "--motions", t.TempDir()}
	if err := os.WriteFile(filepath.Join(args[len(args)-1], "sweep.motion.yaml"), []byte(sweepMotion), 0o600); err != nil {
		t.Fatal(err)
	}
	if guard {
		args = append(args, "--guard")
	}
	r := serveThrough(t, nil, nil, args...)
	child := r.cmd.Process.Pid
	if guard {
		all := children(t, child)
		if len(all) != 1 {
			t.Fatalf("the guard has %d children", len(all))
		}
		child = all[0]
	}
	r.until("all servos have torque", func() bool {
		_, _, code := r.cli("torque", "on", "--robot", "real")
		on := map[string]bool{}
		for _, x := range e.events() {
			on[x.Joint] = strings.Contains(x.Text, "torque position") || x.Event == "torque on" || on[x.Joint] && x.Event != "torque off"
		}
		holding := 0
		for _, yes := range on {
			if yes {
				holding++
			}
		}
		return code == exitOK && holding == 6
	})
	began := len(e.events())
	goal, moves := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(goal)
		for {
			_, _, _ = r.cli("play", "sweep", "--robot", "real", "--loop")
			select {
			case <-moves:
				return
			default: // servos that a busy machine keeps from answering are a fault, which ends the motion before it begins
				_, _, _ = r.cli("reset", "--robot", "real")
				_, _, _ = r.cli("torque", "on", "--robot", "real")
			}
		}
	}()
	e.wait("the arm moves", func(all []servoEvent) bool {
		least, most := math.Inf(1), math.Inf(-1)
		for _, x := range all[began:] {
			if x.Joint == "wrist_roll" && x.Event == "state" {
				least, most = min(least, x.Position), max(most, x.Position)
			}
		}
		return most-least > 0.3
	})
	close(moves)
	time.Sleep(time.Duration(rng.IntN(400_000)) * time.Microsecond)
	if err := syscall.Kill(child, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-r.ended
	r.ended <- nil // for the clean-up
	<-goal
	goals := map[string][2]float64{} // of the motion, by joint
	for _, x := range e.events()[began:] {
		g, ok := goals[x.Joint]
		if !ok {
			g = [2]float64{x.Goal, x.Goal}
		}
		goals[x.Joint] = [2]float64{min(g[0], x.Goal, x.Position), max(g[1], x.Goal, x.Position)}
	}
	later := e.after(2)
	for _, x := range later { // the last goals before the kill are logged after it
		if g, ok := goals[x.Joint]; ok {
			goals[x.Joint] = [2]float64{min(g[0], x.Goal), max(g[1], x.Goal)}
		}
	}
	rest := map[string]servoEvent{}
	for _, x := range later {
		if g := goals[x.Joint]; x.Position < g[0]-outside || x.Position > g[1]+outside {
			t.Errorf("%s ran to %.3f, its goals were %.3f … %.3f", x.Joint, x.Position, g[0], g[1])
		}
		if x.Event == "violation" {
			t.Errorf("%+v", x)
		}
		rest[x.Joint] = x
	}
	for _, x := range e.after(1) {
		was, ok := rest[x.Joint]
		if !ok || x.Event != "state" {
			continue
		}
		if math.Abs(x.Position-was.Position) > 0.02 || !strings.Contains(x.Text, "torque position") {
			t.Errorf("%s is not at rest with torque: %.3f, then %.3f, %s", x.Joint, was.Position, x.Position, x.Text)
		}
	}
}

// sweepMotion moves two joints to and fro; a slow machine lets them be late.
const sweepMotion = `description: to and fro
joints: {shoulder_pan: {}, wrist_roll: {}}
points:
  - {time: 0, positions: {shoulder_pan: -0.4, wrist_roll: -0.5}}
  - {time: 1, positions: {shoulder_pan: 0.4, wrist_roll: 0.5}}
  - {time: 2, positions: {shoulder_pan: -0.4, wrist_roll: -0.5}}
`

// outside is how far a joint with play and weight may swing beyond the goals of its servo, rad.
const outside = 0.12

// servosOfFamily is a robot with servos of a family, in a folder.
func servosOfFamily(t *testing.T, family string) string {
	t.Helper()
	folder := t.TempDir() + "/arm"
	if err := load.Copy("so101", folder); err != nil {
		t.Fatal(err)
	}
	file := folder + "/robot.yaml"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	kind := map[string][2]string{"feetech": {"sts3215", "2048"}, "dynamixel": {"xl430-w250", "2048"}, "herkulex": {"drs-0101", "512"}}[family]
	changed := strings.NewReplacer("type: sts3215, zero: 2048", "type: "+kind[0]+", zero: "+kind[1], "type: sts3215, zero: 1533", "type: "+kind[0]+", zero: "+kind[1]).Replace(string(text))
	if family == "feetech" {
		changed = string(text)
	}
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}
