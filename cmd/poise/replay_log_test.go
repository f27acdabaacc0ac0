package main

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"poise/arbiter"
	"poise/control/swing"
	"poise/loop"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/physics"
	"poise/sim"
	"poise/telemetry"
)

const excitedPeriod = 0.01 // s

// recordExcited records the arm so101 in physics, its joints swung slowly and faster, with a line that
// delays by 15 ms.
func recordExcited(t *testing.T) (name string, m *robot.Model) {
	t.Helper()
	bot, err := load.Robot("so101", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m = bot.Model
	motors := physics.MotorsOf(m)
	model, err := sim.NewModel(m, sim.Config{Passive: physics.PassiveOf(motors)})
	if err != nil {
		t.Fatal(err)
	}
	bus := physics.New(physics.Config{Model: model, Motors: motors, Ground: nil, Line: physics.Line{Delay: 0.015}, Seed: 7})
	cfg := loop.Config{Model: m, Bus: bus, Settings: loop.Settings{Policy: arbiter.PolicyLast}}
	l, rec := swinging(t, "so101", excitedPeriod, cfg, "one", "two", "three")
	res, err := m.Resources()
	if err != nil {
		t.Fatal(err)
	}
	arm, _ := res.Find("arm")
	file := &bytes.Buffer{}
	synctest.Test(t, func(t *testing.T) { // the writer keeps up, however busy the machine is
		excite(t, l, rec, file, arm, len(m.Joints()))
	})
	name = filepath.Join(t.TempDir(), "flight.poise")
	if err := os.WriteFile(name, file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return name, m
}

// excite runs the loop for 26 s of its own time.
func excite(t *testing.T, l *loop.Loop, rec *telemetry.Recorder, file *bytes.Buffer, arm robot.Set, joints int) {
	stretches := []swing.Program{{Amplitude: 0.5, Frequency: 2}, {Amplitude: 0.1, Frequency: 6}, {Amplitude: 0.6, Frequency: 1.3}}
	running, end := context.WithCancel(context.Background())
	written := make(chan error)
	go func() { written <- rec.Run(running, file) }()
	for k := range 2600 {
		time.Sleep(time.Duration(excitedPeriod * float64(time.Second)))
		if k == 10 {
			l.Send(loop.Order{Kind: loop.PowerOn})
		}
		if n := k / 800; k%800 == 30 && n < len(stretches) {
			p := stretches[n]
			p.Needs, p.Centre = arm, make([]float64, joints)
			l.Send(loop.Order{Kind: loop.StartGoal, Controller: arbiter.ClientID(n), Goal: uint64(k + 1), Program: &p})
		}
		l.Step(servo.Tick{N: uint64(k), Time: int64(float64(k) * excitedPeriod * 1e9), Dt: excitedPeriod})
	}
	end()
	if err := <-written; err != nil || rec.Lost() > 0 {
		t.Fatalf("%v, %d ticks lost", err, rec.Lost())
	}
}

// TestARecordingBecomesALog: what a flight recorder kept is a log, from which poise ident finds the
// servos that physics has.
func TestARecordingBecomesALog(t *testing.T) {
	name, _ := recordExcited(t)
	log := filepath.Join(t.TempDir(), "log.csv")
	if out, stderr, code := poise("", "replay", name, "--log", log, "--from", "1"); code != 0 || !strings.Contains(out, "hashes are equal") {
		t.Fatalf("%d %s %s", code, stderr, out)
	}
	// physics measures at the end of a tick of 10 ms; the limits of the arm leave too little
	// acceleration to find a0 well, and nothing above 3 Hz
	out, stderr, code := poise("", "ident", log, "--robot", "so101", "--joint", "elbow_flex", "--delay", "0.005", "--json")
	if code != 0 {
		t.Fatalf("%d %s", code, stderr)
	}
	for _, a := range identifiedIn(t, out) {
		t.Logf("%s: accepted %v %v, %v", a.Joint, *a.Accepted, a.Details, a.Parameters)
		if !*a.Accepted || a.Joint != "elbow_flex" {
			t.Errorf("%s: %v", a.Joint, a.Details)
			continue
		}
		for p, want := range map[string]float64{"a1": 35, "a2": 4, "a3": 100} {
			if limit := map[string]float64{"a1": 0.03, "a2": 0.08, "a3": 0.03}[p]; math.Abs(a.Parameters[p]/want-1) > limit {
				t.Errorf("%s: %s is %.4g, want %g", a.Joint, p, a.Parameters[p], want)
			}
		}
	}
	for _, args := range [][]string{{"--log", "log.txt"}, {"--log", "l.csv", "--from", "3", "--to", "2"}, {"--from", "5"}, {"--to", "5"}} {
		if _, _, code := poise("", append([]string{"replay", name}, args...)...); code != exitUsage {
			t.Errorf("%v: code %d", args, code)
		}
	}
}
