package telemetry

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"poise/loop"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/sim"
	"poise/spatial"
)

// sensedBus adds inertial units and touch sensors to simulated servos, some of
// whose values are not finite.
type sensedBus struct {
	*sim.Bus
	rng  *rand.Rand
	sent []servo.Measurement // copies of what was exchanged
}

func (b *sensedBus) Exchange(t servo.Tick, dst *servo.Measurement, src []servo.Setpoint) servo.Fault {
	f := b.Bus.Exchange(t, dst, src)
	x := func() float64 {
		if b.rng.IntN(50) == 0 {
			return math.NaN()
		}
		return b.rng.NormFloat64()
	}
	for i := range dst.IMU {
		if b.rng.IntN(3) == 0 {
			dst.IMU[i].Age++ // not heard
			continue
		}
		dst.IMU[i] = servo.Inertial{Orientation: spatial.Quat{W: x(), X: x(), Y: x(), Z: x()},
			Rate: spatial.Vec3{X: x(), Y: x(), Z: x()}, Acceleration: spatial.Vec3{X: x(), Y: x(), Z: x()}}
	}
	for i := range dst.Touch {
		dst.Touch[i] = servo.Contact{Force: spatial.Vec3{Z: x()}, Moment: spatial.Vec3{X: x(), Y: x()}, Pressed: b.rng.IntN(2) == 0, Age: uint32(b.rng.IntN(3))}
	}
	kept := servo.NewMeasurement(len(dst.Joints), servo.Sensors{IMU: len(dst.IMU), Touch: len(dst.Touch)})
	kept.Copy(dst)
	b.sent = append(b.sent, *kept)
	return f
}

// TestSensorsAreRecorded: what the bus said comes back bit for bit, and the
// recording replays.
func TestSensorsAreRecorded(t *testing.T) {
	bot, err := load.Robot("arm6", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := len(bot.Model.Joints())
	bus := &sensedBus{Bus: sim.New(sim.Config{Servos: make([]sim.Servo, n)}), rng: rand.New(rand.NewPCG(3, 1))}
	cfg := loop.Config{Model: bot.Model, Bus: bus, Settings: loop.Settings{Sensors: servo.Sensors{IMU: 2, Touch: 3}}}
	l, rec, enc, file := recordedLoop(t, "arm6", cfg)
	const ticks = 500
	for k := range ticks {
		if k == 10 {
			l.Send(loop.Order{Kind: loop.PowerOn})
		}
		l.Step(servo.Tick{N: uint64(k), Time: int64(k) * 1e6, Dt: 1e-3})
		if err := rec.drain(enc); err != nil {
			t.Fatal(err)
		}
	}
	sameMeasurements(t, file.Bytes(), bus.sent)
	out, err := replay(t, file.Bytes(), bot.Model)
	if err != nil || out.First != nil || out.Ticks != ticks {
		t.Fatalf("%v %+v", err, out)
	}
}

func sameMeasurements(t *testing.T, file []byte, want []servo.Measurement) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var now, then layout
	same := func(k int, a, b fields) {
		if b := appendChanges(nil, a, b); len(b) != 1 || b[0] != 0 {
			t.Fatalf("tick %d: recorded otherwise than exchanged: changes % x", k, b)
		}
	}
	var tick Tick
	for k := range want {
		if err := r.Next(&tick); err != nil {
			t.Fatal(err)
		}
		got, w := tick.Measured, &want[k]
		for i := range w.Joints {
			same(k, now.joint(&got.Joints[i]), then.joint(&w.Joints[i]))
		}
		for i := range w.IMU {
			same(k, now.inertial(&got.IMU[i]), then.inertial(&w.IMU[i]))
		}
		for i := range w.Touch {
			same(k, now.touch(&got.Touch[i]), then.touch(&w.Touch[i]))
		}
	}
}

// TestReaderRefusesAbsurdSensors of a header that was tampered with.
func TestReaderRefusesAbsurdSensors(t *testing.T) {
	for _, s := range []servo.Sensors{{IMU: -1}, {Touch: -1}, {IMU: maxSensors + 1}, {Touch: 1 << 40}} {
		var file bytes.Buffer
		h := Header{Joints: 1, Leaves: 1, Period: 1e-3, Settings: loop.Settings{Sensors: s}}
		e := &encoder{w: bufio.NewWriter(&file)}
		text, err := json.Marshal(&h)
		if err != nil {
			t.Fatal(err)
		}
		file.WriteString(magic)
		if err := e.record(headerRecord, text); err != nil {
			t.Fatal(err)
		}
		if err := e.flush(); err != nil {
			t.Fatal(err)
		}
		if _, err := NewReader(&file); err == nil {
			t.Errorf("%+v was accepted", s)
		}
	}
}
