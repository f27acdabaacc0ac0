package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
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

// fragile is a swing that panics in a program of its own.
type fragile struct{ *swing.Controller }

// fatalFrequency marks the program that does it, rad/s.
const fatalFrequency = 1.25

func (c fragile) Start(in *control.Input, p control.Program) control.Reason {
	if s, ok := p.(*swing.Program); ok && s.Frequency == fatalFrequency {
		panic("test")
	}
	return c.Controller.Start(in, p)
}

var testKinds = Kinds{"fragile": {
	New: func(m *robot.Model, s loop.Settings) (control.Controller, error) {
		limits, _, err := control.JointLimits(m, s.Transition)
		return fragile{swing.New(limits)}, err
	},
	Decode: swing.Decode,
}}

// session runs a loop on a simulated pony with goals, hand-overs, faults, stops,
// late ticks, a panic and a subscriber, and records it.
type session struct {
	m      *robot.Model
	l      *loop.Loop
	bus    *sim.Bus
	rec    *Recorder
	file   *bytes.Buffer
	enc    *encoder
	faults int
	panics int
	owners int
	miss   int // every so many ticks some before are missed; 0 is never
	missed int // periods
}

func newSession(t testing.TB) *session {
	t.Helper()
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &session{m: bot.Model}
	servos := make([]sim.Servo, len(s.m.Joints()))
	for i := range servos {
		servos[i] = sim.Servo{Lag: 0.02, Loss: 0.05, Noise: 1e-4, Delay: 1}
	}
	s.bus = sim.New(sim.Config{Servos: servos, Seed: 77})
	cfg := loop.Config{Model: s.m, Bus: s.bus, Settings: loop.Settings{Leave: loop.Leaving{Do: loop.LeaveRest, Rest: []loop.RestPlace{{Joint: 3, Position: 0.2}}}, Policy: arbiter.PolicyLast, Inversion: servo.InversionConfig{Lead: servo.Lead{Time: 0.02}}}}
	for _, name := range []string{"a", "b", "c"} {
		c, err := testKinds["fragile"].New(s.m, cfg.Settings)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Controllers = append(cfg.Controllers, loop.Registration{Name: name, Kind: "fragile", Controller: c})
	}
	s.l, s.rec, s.enc, s.file = recordedLoop(t, "pony", cfg)
	return s
}

// recordedLoop makes a loop of a robot whose ticks are recorded.
func recordedLoop(t testing.TB, robot string, cfg loop.Config) (*loop.Loop, *Recorder, *encoder, *bytes.Buffer) {
	t.Helper()
	h, err := NewHeader(robot, 1e-3, &cfg)
	if err != nil {
		t.Fatal(err)
	}
	rec := NewRecorder(h)
	cfg.Tap = rec
	l, err := loop.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	file := &bytes.Buffer{}
	enc, err := newEncoder(file, &h)
	if err != nil {
		t.Fatal(err)
	}
	return l, rec, enc, file
}

// run performs n ticks, writing the recording as it goes.
func (s *session) run(t testing.TB, n int) {
	t.Helper()
	res, err := s.m.Resources()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(9, 9))
	limb := func() robot.Set {
		all := res.List()
		return all[rng.IntN(len(all))].Set
	}
	s.bus.Plan(sim.Trouble{Joint: 2, From: 1200, Until: 1600, Temperature: 95})
	s.bus.Plan(sim.Trouble{Joint: 8, From: 1700, Until: 2000, Silent: true})
	s.bus.Down(func(n uint64) bool { return n > 2130 && n < 2180 })
	for k := range n {
		switch {
		case k == 100:
			s.l.Send(loop.Order{Kind: loop.PowerOn})
		case k%700 == 650:
			s.l.Stop(uint8(rng.IntN(3)))
		case k%700 == 690:
			s.l.Send(loop.Order{Kind: loop.Reset})
			s.l.Send(loop.Order{Kind: loop.PowerOn})
			for c := range 3 {
				s.l.Send(loop.Order{Kind: loop.Run, Controller: arbiter.ClientID(c)})
			}
		case k%37 == 0:
			p := &swing.Program{Needs: limb(), Wants: limb(), Centre: make([]float64, len(s.m.Joints())), Amplitude: 0.1 * rng.Float64(), Frequency: 1 + rng.Float64(), Duration: rng.Float64()}
			if rng.IntN(10) == 0 {
				p.Frequency = fatalFrequency
			}
			s.l.Send(loop.Order{Kind: loop.StartGoal, Controller: arbiter.ClientID(rng.IntN(3)), Goal: uint64(k), Program: p})
		case k%101 == 0:
			s.l.Send(loop.Order{Kind: loop.SetRate, Value: 2 * rng.Float64()})
			s.l.Late(uint32(rng.IntN(2)))
		case k%450 == 430: // limbs are let go and get their torque back
			s.l.Send(loop.Order{Kind: loop.TorqueOff, Program: &control.Torque{Joints: limb()}})
		case k%450 == 445:
			s.l.Send(loop.Order{Kind: loop.TorqueOn, Program: &control.Torque{Joints: limb().Union(limb())}})
		case k == 2300: // a gap of the cycle stops the robot
			s.l.Late(200)
		case k == n-300: // and in the end it is left
			s.l.Leave()
		}
		if s.miss > 0 && k%s.miss == s.miss-1 { // the cycle is late, by up to 30 periods
			late := rng.IntN(30) + 1
			s.missed += late
			s.l.Late(uint32(late))
		}
		at := k + s.missed
		s.l.Step(servo.Tick{N: uint64(at), Time: int64(at) * 1e6, Dt: 1e-3, Stamp: int64(at) * 1e6})
		s.l.Snapshot()
		for {
			r, ok := s.l.Receive()
			if !ok {
				break
			}
			switch {
			case r.Kind == loop.FaultRaised && r.Fault == loop.ControllerPanic:
				s.panics++
			case r.Kind == loop.FaultRaised:
				s.faults++
			case r.Kind == loop.OwnerChanged:
				s.owners++
			}
			if r.Last != nil {
				r.Last.Release()
			}
		}
		if err := s.rec.drain(s.enc); err != nil {
			t.Fatal(err)
		}
	}
}

func recording(t testing.TB, ticks int) (*session, []byte) {
	t.Helper()
	s := newSession(t)
	s.run(t, ticks)
	return s, s.file.Bytes()
}

func replay(t testing.TB, file []byte, m *robot.Model) (*Outcome, error) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return Replay(r, m, testKinds)
}

// TestReplayIsBitIdentical is the proof that nothing but what is recorded decides:
// across goals, hand-overs, stops, panics, faults and late ticks.
func TestReplayIsBitIdentical(t *testing.T) {
	ticks := 10000
	if testing.Short() {
		ticks = 5000
	}
	s, file := recording(t, ticks)
	out, err := replay(t, file, s.m)
	if err != nil {
		t.Fatal(err)
	}
	if out.First != nil || out.Ticks != uint64(ticks) || len(out.Notes) != 0 || out.Missing != 0 {
		t.Fatalf("%+v, first %v", out, out.First)
	}
	if s.faults == 0 || s.panics == 0 || s.owners < 20 || out.Stops == 0 || out.Late == 0 || out.Orders == 0 || out.Checkpoints == 0 {
		t.Errorf("too little happened: %d faults, %d panics, %d hand-overs, %+v", s.faults, s.panics, s.owners, out)
	}
	if out.HandOvers != uint64(s.owners) || out.Faults != uint64(s.faults+s.panics) {
		t.Errorf("%d hand-overs and %d faults were replayed, %d and %d happened", out.HandOvers, out.Faults, s.owners, s.faults+s.panics)
	}
	t.Logf("%d ticks, %d orders, %d hand-overs, %d faults (%d panics), %d stops, %d late ticks, %d checkpoints: all hashes equal; %.0f bytes a tick",
		out.Ticks, out.Orders, out.HandOvers, out.Faults, s.panics, out.Stops, out.Late, out.Checkpoints, float64(len(file))/float64(ticks))
}

// TestReplayWithMissedTicks: numbers of ticks that did not take place are left out, and what
// motions do about it is repeated bit for bit.
func TestReplayWithMissedTicks(t *testing.T) {
	s := newSession(t)
	s.miss = 61
	s.run(t, 3000)
	out, err := replay(t, s.file.Bytes(), s.m)
	if err != nil {
		t.Fatal(err)
	}
	if out.First != nil || out.Ticks != 3000 || out.Late < 49 || s.missed < 100 || out.Checkpoints == 0 {
		t.Errorf("%d ticks, %d late, %d periods missed, %d checkpoints, difference %v", out.Ticks, out.Late, s.missed, out.Checkpoints, out.First)
	}
}

// TestReplayFindsADifference changes one bit of one reading: the tick is found, and
// the joint named.
func TestReplayFindsADifference(t *testing.T) {
	s := newSession(t)
	tampered := false
	// a frame that lies about one reading
	spoil := func(f *frame) {
		if f.tick.N == 500 {
			f.measured.Joints[0].Position += 1e-3
			tampered = true
		}
	}
	runSpoiled(t, s, spoil)
	out, err := replay(t, s.file.Bytes(), s.m)
	if err != nil {
		t.Fatal(err)
	}
	if !tampered || out.First == nil {
		t.Fatalf("tampered %v, difference %v", tampered, out.First)
	}
	t.Logf("%v, joints %v", out.First, out.First.Joints)
}

// runSpoiled runs with power on at once from a spoiled reading.
func runSpoiled(t *testing.T, s *session, spoil func(*frame)) {
	t.Helper()
	for k := range 5000 {
		if k == 501 {
			s.l.Send(loop.Order{Kind: loop.PowerOn}) // begins where the joints are
		}
		s.l.Step(servo.Tick{N: uint64(k), Time: int64(k) * 1e6, Dt: 1e-3})
		for {
			if _, ok := s.l.Receive(); !ok {
				break
			}
		}
		for f := s.rec.queue.Peek(); f != nil; f = s.rec.queue.Peek() {
			spoil(f)
			if err := s.enc.frame(f); err != nil {
				t.Fatal(err)
			}
			s.rec.queue.Release()
		}
	}
	if err := s.enc.flush(); err != nil {
		t.Fatal(err)
	}
}

func TestReplayRefusesAnotherRobot(t *testing.T) {
	_, file := recording(t, 10)
	arm, err := load.Robot("arm6", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := replay(t, file, arm.Model); !errors.Is(err, ErrOtherRobot) {
		t.Errorf("%v", err)
	}
}

func TestReplayRefusesUnknownKinds(t *testing.T) {
	s, file := recording(t, 10)
	r, err := NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Replay(r, s.m, nil); err == nil || strings.Count(err.Error(), "fragile") != 3 {
		t.Errorf("%v", err)
	}
}

// TestReaderSaysWhereItBroke cuts and damages a recording.
func TestReaderSaysWhereItBroke(t *testing.T) {
	s, file := recording(t, 300)
	if _, err := NewReader(strings.NewReader("something else entirely")); err == nil {
		t.Error("any file is a recording")
	}
	var f *FormatError
	cut := file[:len(file)-7]
	out, err := replay(t, cut, s.m)
	if !errors.As(err, &f) || out.Ticks != 299 || out.First != nil {
		t.Errorf("cut: %v, %+v", err, out)
	}
	damaged := bytes.Clone(file)
	damaged[len(damaged)/2] ^= 4
	if _, err := replay(t, damaged, s.m); !errors.As(err, &f) {
		t.Errorf("damaged: %v", err)
	}
}

// TestMissingTicksAreTold: a writer that sleeps makes a gap, not a pause of the
// cycle.
func TestMissingTicksAreTold(t *testing.T) {
	s := newSession(t)
	step := func(k int) { s.l.Step(servo.Tick{N: uint64(k), Time: int64(k) * 1e6, Dt: 1e-3}) }
	for k := range 5000 {
		step(k)
	}
	lost := s.rec.Lost()
	if err := s.rec.drain(s.enc); err != nil {
		t.Fatal(err)
	}
	step(5000)
	if err := s.rec.drain(s.enc); err != nil {
		t.Fatal(err)
	}
	out, err := replay(t, s.file.Bytes(), s.m)
	if err != nil || lost == 0 || out.Missing != lost || out.Ticks+lost != 5000 || out.First != nil {
		t.Errorf("%v: %+v, %d lost", err, out, lost)
	}
}

func TestRecorderDoesNotAllocate(t *testing.T) {
	s := newSession(t)
	k := 0
	if n := testing.AllocsPerRun(1500, func() {
		s.l.Step(servo.Tick{N: uint64(k), Time: int64(k) * 1e6, Dt: 1e-3})
		k++
	}); n != 0 {
		t.Errorf("%v allocations a tick", n)
	}
}

// TestRunWritesToTheEnd is the recorder as it is used: a goroutine beside the loop.
func TestRunWritesToTheEnd(t *testing.T) {
	s := newSession(t)
	ctx, cancel := context.WithCancel(context.Background())
	var file bytes.Buffer
	done := make(chan error)
	go func() { done <- s.rec.Run(ctx, &file) }()
	for k := range 1000 {
		s.l.Step(servo.Tick{N: uint64(k), Time: int64(k) * 1e6, Dt: 1e-3})
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if out, err := replay(t, file.Bytes(), s.m); err != nil || out.Ticks != 1000 || out.First != nil {
		t.Errorf("%v: %+v", err, out)
	}
}

func TestHeaderSurvives(t *testing.T) {
	s, file := recording(t, 1)
	r, err := NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(s.rec.header)
	b, _ := json.Marshal(r.Header)
	if !bytes.Equal(a, b) || r.Header.Model == "" || r.Header.Architecture == "" || r.Header.Configuration == "" {
		t.Errorf("%s\n%s", a, b)
	}
}

func FuzzReader(f *testing.F) {
	_, file := recording(f, 6)
	f.Add(file)
	f.Add(file[:len(file)/2])
	f.Add([]byte(magic))
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := NewReader(bytes.NewReader(b))
		if err != nil {
			return
		}
		var x Tick
		for range 1000 {
			if err := r.Next(&x); err != nil {
				var format *FormatError
				if !errors.Is(err, io.EOF) && !errors.As(err, &format) {
					t.Fatalf("%T %v", err, err)
				}
				break
			}
		}
		if r, err = NewReader(bytes.NewReader(b)); err == nil {
			_, _ = Replay(r, bot.Model, testKinds)
		}
	})
}

func BenchmarkRecorder(b *testing.B) {
	s := newSession(b)
	k := 0
	b.ReportAllocs()
	for b.Loop() {
		s.l.Step(servo.Tick{N: uint64(k), Time: int64(k) * 1e6, Dt: 1e-3})
		k++
		s.rec.queue.Release()
	}
}
