package follow

import (
	"math"
	"slices"
	"testing"

	"poise/control"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	"poise/trajectory"
)

// nodRecord is a record written by hand: one joint there and back, with two events, and a
// chain that carries its weight in the second half.
func nodRecord() Record {
	return Record{
		Names: []string{"joint_1"}, Joints: []int{0}, Wraps: []bool{false},
		Parts:    []Segment{{Times: []float64{0, 0.5, 1}, Q: [][]float64{{0}, {0.1}, {0}}}},
		Velocity: []float64{2}, Acceleration: []float64{8}, Deceleration: []float64{8}, MaxRate: 2,
		Path:     []trajectory.Tolerance{{Position: -1, Velocity: -1, Acceleration: -1}},
		Final:    []trajectory.Tolerance{{Position: 0.01, Velocity: -1, Acceleration: -1}},
		GoalTime: 1,
		Steps:    []float64{0, 0.5},
		Chains:   []Support{{Chain: 0, Leaf: 7, Contact: 1, Track: []control.Support{{Contact: 1}, {Weight: 1, Contact: 1}}}},
		Events:   []Event{{Time: 0.25, Command: "a"}, {Time: 0.75, Command: "b"}},
	}
}

func built(t testing.TB, r Record) *Program {
	t.Helper()
	p, err := Build(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPlaysARecord: by its clock, with its events and supports, to its end.
func TestPlaysARecord(t *testing.T) {
	bot, err := load.Robot("arm6", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const dt = 0.01
	joints := len(bot.Model.Joints())
	p, c := built(t, nodRecord()), New(bot.Model)
	cmd, meas := control.NewMotion(joints, 1, 0), control.NewMeasured(joints, 0, servo.Sensors{})
	out := control.NewReference(joints, 1, 0)
	input := &control.Input{Tick: servo.Tick{Dt: dt}, Cmd: &cmd, Meas: &meas, Rate: 1}
	if why := c.Start(input, p); why.Code != control.OK {
		t.Fatalf("%+v", why)
	}
	want := make([]float64, 1)
	for k := 0; ; k++ {
		input.Tick.N++
		out.Reset()
		status, why := c.Update(input, out)
		if status == control.Done {
			if k < 100 || k > 102 {
				t.Errorf("it is done after %d ticks", k)
			}
			break
		}
		if status != control.Going || k > 102 {
			t.Fatalf("tick %d: %v %+v", k, status, why)
		}
		at := min(float64(k)*dt, 1)
		p.Curve().PositionTo(want, at)
		if math.Abs(out.Q[0]-want[0]) > 1e-12 {
			t.Fatalf("at %g s: %g, want %g", at, out.Q[0], want[0])
		}
		if carries, half := out.Support[0].Weight == 1, out.Time >= 0.5; carries != half {
			t.Fatalf("at %g s the chain carries %g", out.Time, out.Support[0].Weight)
		}
		passed := uint32(0)
		for _, e := range p.Record().Events {
			if e.Time <= out.Time {
				passed++
			}
		}
		if out.Passed != passed {
			t.Fatalf("at %g s %d events have left, want %d", out.Time, out.Passed, passed)
		}
		copy(cmd.Q, out.Q)
		copy(meas.Q, out.Q)
	}
}

// TestSupportsHoldFromTheirStep until the next, and chains without a track are free. A foot that is free until a step knows how far it is on its way.
func TestSupportsHoldFromTheirStep(t *testing.T) {
	r := nodRecord()
	r.Chains = append(r.Chains, Support{Chain: 1, Leaf: 8, Contact: 2})
	p := built(t, r)
	dst := make([]control.Support, 2)
	for at, weight := range map[float64]float64{-1: 0, 0: 0, 0.499: 0, 0.5: 1, 1: 1, 2: 1} {
		dst[1].Weight = 1
		p.supportTo(dst, nil, at)
		swing := 0.0 // on its way to the step at 0.5 s
		if at >= 0 && at < 0.5 {
			swing = max(at/0.5, math.SmallestNonzeroFloat64)
		}
		if dst[0] != (control.Support{Weight: weight, Contact: 1, Swing: swing}) || dst[1] != (control.Support{Contact: 2}) {
			t.Errorf("at %g s: %+v", at, dst)
		}
	}
}

// TestEventsOfALoopGoOnCounting: those before it begins again leave in the first
// round only.
func TestEventsOfALoopGoOnCounting(t *testing.T) {
	r := nodRecord()
	r.Loop, r.Again = true, 0.5
	p := built(t, r)
	for number, want := range []string{"a", "b", "b", "b"} {
		if got := p.Event(uint32(number)).Command; got != want {
			t.Errorf("event %d is %q, want %q", number, got, want)
		}
	}
	for round, want := range []uint32{2, 3, 4} {
		if got := p.left(uint32(round), 2); got != want {
			t.Errorf("after round %d %d events have left, want %d", round, got, want)
		}
	}
}

func TestDamagedRecordsAreRefused(t *testing.T) {
	built(t, nodRecord())
	for name, damage := range map[string]func(r *Record){
		"no parts":                  func(r *Record) { r.Parts = nil },
		"no points":                 func(r *Record) { r.Parts[0].Times = nil },
		"a gap between parts":       func(r *Record) { r.Parts = append(r.Parts, Segment{Times: []float64{2, 3}, Q: [][]float64{{0}, {0}}}) },
		"parts of other widths":     func(r *Record) { r.Parts[0].Q = [][]float64{{0, 0}, {0, 0}, {0, 0}} },
		"times that go back":        func(r *Record) { r.Parts[0].Times[1] = 2 },
		"too long":                  func(r *Record) { r.Parts[0].Times[2] = 2 * maxRecordDuration },
		"too many points":           func(r *Record) { r.Parts[0].Times = make([]float64, maxRecordPoints+1) },
		"a joint that no robot has": func(r *Record) { r.Joints[0] = robot.MaxLeaves },
		"no names":                  func(r *Record) { r.Names = nil },
		"no tolerances":             func(r *Record) { r.Path = nil },
		"no limits":                 func(r *Record) { r.Velocity = nil },
		"a loop without a way":      func(r *Record) { r.Loop, r.Again = true, 1 },
		"a short track":             func(r *Record) { r.Chains[0].Track = r.Chains[0].Track[:1] },
		"steps that go back":        func(r *Record) { slices.Reverse(r.Steps) },
		"events that go back":       func(r *Record) { slices.Reverse(r.Events) },
	} {
		r := nodRecord()
		if damage(&r); nil == func() error { _, err := Build(r); return err }() {
			t.Errorf("%s: it was built", name)
		}
	}
}

// FuzzDecode: whatever a recording holds, it is a program or an error.
func FuzzDecode(f *testing.F) {
	loop := nodRecord()
	loop.Loop, loop.Again = true, 0.5
	for _, r := range []Record{nodRecord(), loop} {
		b, err := built(f, r).MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"parts":[{"times":[0,1],"q":[[0],[1]]}],"joints":[3],"names":["x"]}`))
	bot, err := load.Robot("arm6", load.Options{})
	if err != nil {
		f.Fatal(err)
	}
	joints, chains := len(bot.Model.Joints()), len(bot.Model.Chains())
	cmd, meas := control.NewMotion(joints, chains, 0), control.NewMeasured(joints, 0, servo.Sensors{})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Decode(b)
		if err != nil {
			return
		}
		c, out := New(bot.Model), control.NewReference(joints, chains, 0)
		input := &control.Input{Tick: servo.Tick{Dt: 0.01}, Cmd: &cmd, Meas: &meas, Rate: 1}
		if c.Start(input, p).Code != control.OK {
			return
		}
		for range 20 {
			input.Tick.N++
			out.Reset()
			c.Update(input, out)
		}
	})
}
