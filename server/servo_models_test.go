package server

import (
	"math"
	"strings"
	"testing"

	"poise/graph"
	"poise/loop"
	"poise/loop/runner"
	"poise/msgs/poisemsgs"
	"poise/server/config"
	"poise/servo"
)

// TestServoModelsAtRunTime: models come by message, by joint or by type of servo, all of a request
// or none; each set has a version, and an earlier one can be returned to. The cycle takes them over.
func TestServoModelsAtRunTime(t *testing.T) {
	b := still(t, "heavy", func(c *config.Config) {
		c.Loop.Period, c.Loop.Inversion = 0.01, config.InvertModel
		c.Robots = []config.Robot{{Name: "heavy", Driver: "physics"}}
	})
	l, err := graph.Listen[poisemsgs.ServoModels](b.s.graph, "/servo_models_state", graph.SubscribeOptions{QoS: graph.QoS{Depth: 100, Latched: true}})
	if err != nil {
		t.Fatal(err)
	}
	s := b.bot.models
	set := func(q poisemsgs.SetServoModelsRequest) (version uint32, err error) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			version, err = s.set(t.Context(), "test", &q)
		}()
		for {
			select {
			case <-done:
				return version, err
			default:
				b.step()
			}
		}
	}
	inForce := func(joint string) (a2 float64) {
		m := s.kept[len(s.kept)-1].Joints[b.joint(joint)]
		if m == nil {
			t.Fatalf("%s has no model", joint)
		}
		return m.A[2]
	}
	four := func(name string, a2 float64) poisemsgs.ServoModel {
		return poisemsgs.ServoModel{Name: name, Kp: 230, Kgear: 1, Alpha: []float64{2.1095, 53.9546, a2, 234.9008}}
	}
	before := inForce("joint11")
	told := func() (text string) {
		b.step()
		b.bot.exec.View(func(now *loop.Snapshot) { _, text = servoModelHealth(&now.Inversion) })
		return text
	}
	if text := told(); !strings.HasSuffix(text, "by version 1") {
		t.Errorf("diagnostics at the start: %q, servo_models_state has version 1", text)
	}
	if v, err := set(poisemsgs.SetServoModelsRequest{Models: []poisemsgs.ServoModel{four("joint11", 9)}}); err != nil || v != 2 || inForce("joint11") != 9 {
		t.Fatalf("version %d, %v", v, err)
	}
	if m := s.kept[1].Joints[b.joint("joint11")]; m.Voltage != 12 || m.Effort == 0 || m.Quantum == 0 {
		t.Errorf("what the message does not say is lost: %+v", m)
	}
	if v, err := set(poisemsgs.SetServoModelsRequest{Version: 10, Models: []poisemsgs.ServoModel{four("drs-0101", 5)}}); err != nil || v != 10 {
		t.Fatalf("version %d, %v", v, err)
	}
	bad := four("joint11", math.NaN())
	short := four("joint11", 9)
	short.Alpha = short.Alpha[:3]
	tiny := four("joint11", 9)
	tiny.Ks = 1e-9
	for _, c := range []struct {
		q    poisemsgs.SetServoModelsRequest
		want string
	}{
		{poisemsgs.SetServoModelsRequest{Version: 10, Models: []poisemsgs.ServoModel{four("joint11", 1)}}, "version 10 is not newer than 10"},
		{poisemsgs.SetServoModelsRequest{Version: 4294967295, Models: []poisemsgs.ServoModel{four("joint11", 1)}}, "version 4294967295 is above 2147483647"},
		{poisemsgs.SetServoModelsRequest{Models: []poisemsgs.ServoModel{tiny}}, "ks/kp, is 4.348e-12 rad, want 1e-05"},
		{poisemsgs.SetServoModelsRequest{Models: []poisemsgs.ServoModel{four("joint12", 1), four("joint111", 1)}}, `"joint111"`},
		{poisemsgs.SetServoModelsRequest{Models: []poisemsgs.ServoModel{four("joint12", 1), bad}}, `servo model "joint11": parameters.a2 is NaN, not a finite number`},
		{poisemsgs.SetServoModelsRequest{Models: []poisemsgs.ServoModel{short}}, "alpha has 3 numbers"},
		{poisemsgs.SetServoModelsRequest{}, "no model is given"},
		{poisemsgs.SetServoModelsRequest{Models: []poisemsgs.ServoModel{four("joint12", 1), four("joint11", 1), four("joint12", 3)}}, `servo model "joint12" is given twice`},
		{poisemsgs.SetServoModelsRequest{Rollback: true, Version: 7}, "version 7 is not among those"},
	} {
		if v, err := set(c.q); err == nil || !strings.Contains(err.Error(), c.want) || v != 10 {
			t.Errorf("version %d, %v, want %q", v, err, c.want)
		}
	}
	if inForce("joint12") == 1 {
		t.Error("half of a refused request is taken")
	}
	if v, err := set(poisemsgs.SetServoModelsRequest{Rollback: true, Version: 1}); err != nil || v != 11 || inForce("joint11") != before {
		t.Errorf("back: version %d, %v, a2 %g, was %g", v, err, inForce("joint11"), before)
	}
	if v, err := set(poisemsgs.SetServoModelsRequest{Rollback: true}); err != nil || v != 12 || inForce("joint11") != 9 {
		t.Errorf("and back again: version %d, %v", v, err)
	}
	// each goes to its joint, in whatever order they come
	var mixed []poisemsgs.ServoModel
	order := []string{"joint44", "joint11", "joint53", "joint25"}
	for i, name := range order {
		mixed = append(mixed, four(name, 3+float64(i)))
	}
	if v, err := set(poisemsgs.SetServoModelsRequest{Models: mixed}); err != nil || v != 13 {
		t.Errorf("mixed: version %d, %v", v, err)
	}
	for i, name := range order {
		if inForce(name) != 3+float64(i) {
			t.Errorf("%s has a2 = %g, want %d", name, inForce(name), 3+i)
		}
	}
	b.seconds(5, func() {})
	b.bot.exec.View(func(now *loop.Snapshot) {
		if x := now.Inversion; x.Version != 13 || x.Blending || x.Modelled == 0 || !x.Measured {
			t.Errorf("the cycle has %+v", x)
		}
	})
	if n := l.Subscription.Len(); n != 6 {
		t.Errorf("%d sets were published, want the first and five changes", n)
	}
}

// TestDiagnosticsNameWhatServoModelsLack: stale and absurd voltages, servos that cannot do more.
func TestDiagnosticsNameWhatServoModelsLack(t *testing.T) {
	b := still(t, "heavy", func(c *config.Config) {
		c.Loop.Period = 0.01
		c.Robots = []config.Robot{{Name: "heavy", Driver: "physics"}}
	})
	for _, c := range []struct {
		state servo.InversionState
		level uint8
		want  string
	}{
		{servo.InversionState{Modelled: 20, Version: 3, Voltage: 11.5}, levelOK, "20 joints by version 3"},
		{servo.InversionState{Modelled: 20, Stale: true}, levelWarn, "the voltage is no longer measured"},
		{servo.InversionState{Modelled: 20, Absurd: true}, levelWarn, "beyond 50 … 125 % of nominal"},
		{servo.InversionState{Modelled: 19, Failed: 1}, levelWarn, "1 joint has no finite goal"},
		{servo.InversionState{Modelled: 20, Saturated: 2}, levelWarn, "2 servos cannot give all"},
	} {
		var now loop.Snapshot
		b.bot.exec.View(func(s *loop.Snapshot) { now = *s })
		now.Inversion = c.state
		found := false
		for _, s := range diagnostics("heavy", b.bot.model, &now, &runner.Stats{}, "").Status {
			if s.Name == "heavy/servo models" {
				found = true
				if s.Level != c.level || !strings.Contains(s.Message, c.want) {
					t.Errorf("%+v: level %d, %q, want %q", c.state, s.Level, s.Message, c.want)
				}
			}
		}
		if !found {
			t.Errorf("%+v is not told", c.state)
		}
	}
}
