package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"poise/arbiter"
	"poise/control/swing"
	"poise/loop"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/sim"
	"poise/telemetry"
)

// swinging makes a loop whose controllers swing joints, and what records it.
func swinging(t *testing.T, robot string, period float64, cfg loop.Config, names ...string) (*loop.Loop, *telemetry.Recorder) {
	t.Helper()
	for _, name := range names {
		c, err := recordedKinds["swing"].New(cfg.Model, cfg.Settings)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Controllers = append(cfg.Controllers, loop.Registration{Name: name, Kind: "swing", Controller: c})
	}
	h, err := telemetry.NewHeader(robot, period, &cfg)
	if err != nil {
		t.Fatal(err)
	}
	rec := telemetry.NewRecorder(h)
	cfg.Tap = rec
	l, err := loop.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l, rec
}

// record makes a recording of the pony, with a hand-over and a fault.
func record(t *testing.T) string {
	t.Helper()
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := bot.Model
	bus := sim.New(sim.Config{Servos: make([]sim.Servo, len(m.Joints()))})
	bus.Plan(sim.Trouble{Joint: 1, From: 700, Temperature: 99})
	cfg := loop.Config{Model: m, Bus: bus, Settings: loop.Settings{Policy: arbiter.PolicyLast}}
	l, rec := swinging(t, "pony", 1e-3, cfg, "one", "two")
	res, err := m.Resources()
	if err != nil {
		t.Fatal(err)
	}
	leg, _ := res.Find("leg1")
	for k := range 1500 {
		switch k {
		case 10:
			l.Send(loop.Order{Kind: loop.PowerOn})
		case 20, 400:
			p := &swing.Program{Needs: leg, Centre: make([]float64, len(m.Joints())), Amplitude: 0.1, Frequency: 1}
			l.Send(loop.Order{Kind: loop.StartGoal, Controller: arbiter.ClientID(k / 400), Goal: uint64(k), Program: p})
		}
		l.Step(servo.Tick{N: uint64(k), Time: int64(k) * 1e6, Dt: 1e-3})
	}
	name := filepath.Join(t.TempDir(), "flight.poise")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := rec.Run(ended, file); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestReplayCommand(t *testing.T) {
	name := record(t)
	out, errs, code := runCommand("replay", name)
	if code != exitOK || !strings.Contains(out, "all 1500 hashes are equal") || errs != "" {
		t.Fatalf("code %d\n%s%s", code, out, errs)
	}
	out, _, code = runCommand("replay", "--json", name)
	var a replayAnswer
	if err := json.Unmarshal([]byte(out), &a); err != nil || code != exitOK {
		t.Fatalf("code %d, %v: %s", code, err, out)
	}
	if !a.Equal || a.Ticks != 1500 || a.HandOvers < 2 || a.Faults != 1 || a.Orders != 3 {
		t.Errorf("%+v", a)
	}
}

func TestReplayCommandRefuses(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir()) // nothing was recorded
	name := record(t)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	cut := name + ".cut"
	if err := os.WriteFile(cut, whole[:len(whole)-3], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"replay"}, exitFailure, "flight.rec: no such file"},
		{[]string{"replay"}, exitFailure, "poise serve records"},
		{[]string{"replay", name, name}, exitUsage, "one recording, 2 given"},
		{[]string{"replay", filepath.Join(t.TempDir(), "none")}, exitFailure, "no such file"},
		{[]string{"replay", "replay.go"}, exitFailure, "byte 0"},
		{[]string{"replay", cut}, exitFailure, "middle of a record"},
		{[]string{"replay", "--robot", "arm6", name}, exitFailure, "another robot"},
	} {
		if _, errs, code := runCommand(tc.args...); code != tc.code || !strings.Contains(errs, tc.says) {
			t.Errorf("%v: code %d, %q", tc.args, code, errs)
		}
	}
}

// runCommand runs poise and returns what it printed.
func runCommand(args ...string) (out, errs string, code int) {
	var o, e strings.Builder
	code = run(&env{in: strings.NewReader(""), out: &o, err: &e}, args)
	return o.String(), e.String(), code
}
