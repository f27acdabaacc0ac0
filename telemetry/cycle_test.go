package telemetry

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"poise/arbiter"
	"poise/control"
	"poise/control/swing"
	"poise/loop"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/model"
	"poise/servo/sim"
)

// TestCyclesAndServoModelsReplay: a switch to cycle 1 and back, of all joints and of some, and
// models of servos that come at run time, a rolled back one too, are the same in a replay, bit for
// bit. That hashes tell them is shown by the same run without those orders, which differs from the
// first of them on.
func TestCyclesAndServoModelsReplay(t *testing.T) {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := bot.Model
	file, hashes := switchedRun(t, m, true)
	r, err := NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Replay(r, m, swingKinds)
	if err != nil || out.First != nil || out.Ticks != uint64(len(hashes)) {
		t.Fatalf("%v %+v, first %v", err, out, out.First)
	}
	_, plain := switchedRun(t, m, false)
	for k := range hashes {
		if hashes[k] != plain[k] {
			if k < switchAt || k > switchAt+100 {
				t.Errorf("the first difference is at tick %d, the first order at %d", k, switchAt)
			}
			return
		}
	}
	t.Error("hashes do not tell by which cycle and models servos are driven")
}

// switchAt is the tick of the first order.
const switchAt = 300

var swingKinds = Kinds{"swing": {
	New: func(m *robot.Model, s loop.Settings) (control.Controller, error) {
		limits, _, err := control.JointLimits(m, s.Transition)
		return swing.New(limits), err
	},
	Decode: swing.Decode,
}}

// switchedRun swings some joints for some seconds, and returns the recording and the hash of each
// tick.
func switchedRun(t *testing.T, m *robot.Model, switched bool) (file *bytes.Buffer, hashes []uint64) {
	t.Helper()
	models := make([]*model.Model, len(m.Joints()))
	servos := make([]sim.Servo, len(models))
	for i := range servos {
		models[i] = m.Servo(robot.JointID(i)).Model
		servos[i] = sim.Servo{Stiffness: 12, Lag: 0.02, Loss: 0.02}
	}
	bus := sim.New(sim.Config{Servos: servos, Seed: 4})
	cfg := loop.Config{Model: m, Bus: bus, Settings: loop.Settings{Policy: arbiter.PolicyLast, Inversion: servo.InversionConfig{Name: "model", Models: models}}}
	c, err := swingKinds["swing"].New(m, cfg.Settings)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Controllers = append(cfg.Controllers, loop.Registration{Name: "a", Kind: "swing", Controller: c})
	l, rec, enc, written := recordedLoop(t, "pony", cfg)
	all, some := control.JointLeaves(len(models)), robot.Leaf(0).With(24)
	other := slices.Clone(models)
	heavier := *models[0]
	heavier.A[2] *= 2
	other[0] = &heavier
	for k := range 2400 {
		switch k {
		case 20:
			l.Send(loop.Order{Kind: loop.PowerOn})
		case 100:
			l.Send(loop.Order{Kind: loop.StartGoal, Goal: 1, Program: &swing.Program{Needs: all, Centre: make([]float64, len(models)), Amplitude: 0.05, Frequency: 2}})
		}
		if switched {
			for _, o := range switches(k, all, some, models, other) {
				l.Send(o)
			}
		}
		l.Step(servo.Tick{N: uint64(k), Time: int64(k) * 1e6, Dt: 1e-3})
		for {
			if rep, ok := l.Receive(); !ok {
				break
			} else if rep.Kind == loop.OrderRefused {
				t.Fatalf("tick %d: an order is refused: %+v", k, rep)
			}
		}
		if err := rec.drain(enc); err != nil {
			t.Fatal(err)
		}
	}
	return written, hashesOf(t, written.Bytes())
}

// hashesOf reads the hash of each tick.
func hashesOf(t *testing.T, recording []byte) (all []uint64) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	var tick Tick
	for {
		switch err := r.Next(&tick); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatal(err)
		}
		all = append(all, tick.Hash)
	}
}

// switches are the orders of a tick.
func switches(k int, all, some robot.Set, models, other []*model.Model) []loop.Order {
	cycle := func(number int, joints robot.Set) loop.Order {
		return loop.Order{Kind: loop.SetCycle, Program: &control.Cycle{Number: number, Joints: joints}}
	}
	set := func(version uint64, joints []*model.Model) loop.Order {
		return loop.Order{Kind: loop.SetModels, Program: &control.ServoModels{ModelSet: servo.ModelSet{Version: version, Joints: joints}}}
	}
	switch k {
	case switchAt:
		return []loop.Order{cycle(1, all)}
	case 700:
		return []loop.Order{set(2, other)}
	case 900: // while the models before are still being taken over
		return []loop.Order{set(3, models), cycle(0, some)}
	case 1500:
		return []loop.Order{cycle(0, all), set(4, other)}
	case 1600: // while it is still on its way
		return []loop.Order{cycle(1, some)}
	}
	return nil
}
