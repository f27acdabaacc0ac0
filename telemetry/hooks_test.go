package telemetry

import (
	"bytes"
	"encoding/json"
	"testing"

	"poise/control"
	"poise/control/swing"
	"poise/loop"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/sim"
)

// streamer follows a stream of centres, and lets events leave.
type streamer struct {
	*swing.Controller
	offset, stamp float64
}

// sample is a value of its stream.
type sample struct{ Stamp, Offset float64 }

func (*sample) Claim() (needs, wants robot.Set)  { return }
func (s *sample) MarshalBinary() ([]byte, error) { return json.Marshal(s) }

func (c *streamer) Feed(_ *control.Input, p control.Program) control.Reason {
	s, ok := p.(*sample)
	if !ok || s.Stamp < c.stamp {
		return control.Because(control.Stale)
	}
	c.offset, c.stamp = s.Offset, s.Stamp
	return control.Because(control.OK)
}

func (c *streamer) Update(in *control.Input, out *control.Reference) (control.Status, control.Reason) {
	st, why := c.Controller.Update(in, out)
	out.Passed = uint32(out.Time * 100)
	for leaf := range out.Has.All {
		if int(leaf) < len(out.Q) {
			out.Q[leaf] += c.offset
		}
	}
	return st, why
}

var streamKinds = Kinds{"streamer": {
	New: func(m *robot.Model, s loop.Settings) (control.Controller, error) {
		limits, _, err := control.JointLimits(m, s.Transition)
		return &streamer{Controller: swing.New(limits)}, err
	},
	Decode: func(b []byte) (control.Program, error) {
		if bytes.Contains(b, []byte("Stamp")) {
			s := new(sample)
			return s, json.Unmarshal(b, s)
		}
		return swing.Decode(b)
	},
}}

// TestStreamsAndPlacementsReplay records streams, placements, events and posing by
// hand, more programs than the recorder remembers, and runs them again.
func TestStreamsAndPlacementsReplay(t *testing.T) {
	bot, err := load.Robot("arm6", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := bot.Model
	n := len(m.Joints())
	bus := sim.New(sim.Config{Servos: make([]sim.Servo, n)})
	cfg := loop.Config{Model: m, Bus: bus}
	c, err := streamKinds["streamer"].New(m, cfg.Settings)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Controllers = []loop.Registration{{Name: "s", Kind: "streamer", Controller: c}}
	h, err := NewHeader("arm6", 1e-3, &cfg)
	if err != nil || !h.Virtual {
		t.Fatal(err, h.Virtual)
	}
	rec := NewRecorder(h)
	cfg.Tap = rec
	l, err := loop.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	enc, err := newEncoder(&file, &h)
	if err != nil {
		t.Fatal(err)
	}
	var told [loop.Echoed + 1]int
	const ticks = 4000
	for k := range ticks {
		switch {
		case k < 50:
			bus.PoseByHand(4, float64(k)/100)
		case k == 50:
			l.Send(loop.Order{Kind: loop.PowerOn})
		case k%40 == 0:
			l.Send(loop.Order{Kind: loop.StartGoal, Goal: uint64(k), Program: &swing.Program{Needs: robot.Leaf(0).With(1),
				Centre: make([]float64, n), Amplitude: 0.05, Frequency: 1 + float64(k%7)/10}})
			l.Send(loop.Order{Kind: loop.StartGoal, Controller: 77, Program: &swing.Program{}}) // of an unknown controller
		case k%3 == 0:
			l.Send(loop.Order{Kind: loop.Feed, Program: &sample{0, 9}}) // overtaken in its tick
			l.Send(loop.Order{Kind: loop.Feed, Program: &sample{float64(k), 1e-3 * float64(k%10)}})
		case k%5 == 0:
			l.Send(loop.Order{Kind: loop.Feed, Program: &sample{float64(k - 20), 0.3}}) // stale
			l.Send(loop.Order{Kind: loop.Place, Program: &control.Placement{Joints: []robot.JointID{2, robot.JointID(k % 4)}, Q: []float64{0.1, 0.2}}})
		}
		l.Step(servo.Tick{N: uint64(k), Time: int64(k) * 1e6, Dt: 1e-3})
		for {
			r, ok := l.Receive()
			if !ok {
				break
			}
			told[r.Kind]++
		}
		if err := rec.drain(enc); err != nil {
			t.Fatal(err)
		}
	}
	if told[loop.Placed] < 100 || told[loop.OrderRefused] < 100 || told[loop.EventsLeft] < 5 || enc.count <= memory {
		t.Errorf("too little happened: %v, %d programs", told, enc.count)
	}
	r, err := NewReader(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	out, err := Replay(r, m, streamKinds)
	if err != nil || out.First != nil || out.Ticks != ticks {
		t.Fatalf("%v: %+v, first %v", err, out, out.First)
	}
	if n := len(r.programs); n > 1000 {
		t.Errorf("%d programs are kept: values of streams share their numbers", n)
	}
}
