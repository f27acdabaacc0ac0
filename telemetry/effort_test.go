package telemetry

import (
	"math"
	"strings"
	"testing"

	"poise/arbiter"
	"poise/control"
	"poise/control/swing"
	"poise/loop"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/sim"
)

// carrier is a swing with feed-forward.
type carrier struct{ *swing.Controller }

func (c carrier) Update(in *control.Input, out *control.Reference) (control.Status, control.Reason) {
	st, why := c.Controller.Update(in, out)
	for leaf := range out.Has.All {
		if int(leaf) < len(out.Tau) {
			out.Tau[leaf] = 20 * math.Cos(out.Q[leaf]+out.Time)
		}
	}
	return st, why
}

var carrierKinds = Kinds{"carrier": {
	New: func(m *robot.Model, s loop.Settings) (control.Controller, error) {
		limits, _, err := control.JointLimits(m, s.Transition)
		return carrier{swing.New(limits)}, err
	},
	Decode: swing.Decode,
}}

// TestEffortReplays: feed-forward through hand-overs, holds, stops and limits is the
// same in a replay, bit for bit.
func TestEffortReplays(t *testing.T) {
	bot, err := load.Robot("arm6", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := bot.Model
	servos := make([]sim.Servo, len(m.Joints()))
	for i := range servos {
		servos[i] = sim.Servo{Stiffness: 800, Lag: 0.02, Loss: 0.05}
	}
	bus := sim.New(sim.Config{Servos: servos, Seed: 4, Load: func(dst, q []float64) {
		for i := range dst {
			dst[i] = 15 * math.Cos(q[i])
		}
	}})
	cfg := loop.Config{Model: m, Bus: bus, Settings: loop.Settings{Policy: arbiter.PolicyLast, Inversion: servo.InversionConfig{Name: "lead", Lead: servo.Lead{Time: 0.01}}}}
	for _, name := range []string{"a", "b"} {
		c, err := carrierKinds["carrier"].New(m, cfg.Settings)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Controllers = append(cfg.Controllers, loop.Registration{Name: name, Kind: "carrier", Controller: c})
	}
	l, rec, enc, file := recordedLoop(t, "arm6", cfg)
	const ticks = 6000
	most := 0.0
	for k := range ticks {
		switch {
		case k == 20, k%2000 == 1900:
			l.Send(loop.Order{Kind: loop.Reset})
			l.Send(loop.Order{Kind: loop.PowerOn})
		case k%2000 == 1700:
			l.Stop(1)
		case k%310 == 200:
			l.Send(loop.Order{Kind: loop.CancelGoal, Controller: arbiter.ClientID(k / 310 % 2)})
		case k%310 == 100:
			l.Send(loop.Order{Kind: loop.StartGoal, Controller: arbiter.ClientID(k / 310 % 2), Goal: uint64(k), Program: &swing.Program{
				Needs: control.JointLeaves(6), Centre: make([]float64, len(servos)), Amplitude: 0.05, Frequency: 2}})
		}
		l.Step(servo.Tick{N: uint64(k), Time: int64(k) * 1e6, Dt: 1e-3})
		if s, ok := l.Snapshot(); ok {
			most = max(most, math.Abs(s.Command.Tau[1]))
		}
		for {
			if _, ok := l.Receive(); !ok {
				break
			}
		}
		if err := rec.drain(enc); err != nil {
			t.Fatal(err)
		}
	}
	r, err := NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Replay(r, m, carrierKinds)
	if err != nil || out.First != nil || out.Ticks != ticks {
		t.Fatalf("%v %+v, first %v", err, out, out.First)
	}
	if most < 10 || out.HandOvers < 10 || out.Checkpoints == 0 {
		t.Errorf("too little happened: %g N·m, %+v", most, out)
	}
}

// TestOtherInvertersAreNotRecorded: a replay could not make them again.
func TestOtherInvertersAreNotRecorded(t *testing.T) {
	bot, err := load.Robot("arm6", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = NewHeader("arm6", 1e-3, &loop.Config{Model: bot.Model, Inverter: servo.Lead{}})
	if err == nil || !strings.Contains(err.Error(), "servo.Lead") {
		t.Errorf("%v", err)
	}
}
