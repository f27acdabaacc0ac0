package physics

import (
	"math"
	"testing"

	"poise/robot"
	"poise/servo"
	"poise/sim"
	"poise/spatial"
)

// outdoors is the pony behind its driver, standing with torque.
type outdoors struct {
	t   *testing.T
	d   *Driver
	m   *robot.Model
	dst *servo.Measurement
	src []servo.Setpoint
	n   uint64
}

func stand(t *testing.T, change func(s *Settings)) *outdoors {
	t.Helper()
	m := model(t, "pony")
	s := DefaultSettings()
	if change != nil {
		change(&s)
	}
	d, err := NewDriver(m, 0.01, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	o := &outdoors{t: t, d: d.(*Driver), m: m, dst: servo.NewMeasurement(len(m.Joints()), d.Capabilities().Sensors)}
	o.src = make([]servo.Setpoint, len(m.Joints()))
	for i, q := range m.RestPositions() {
		o.src[i] = servo.Setpoint{Mode: servo.Position, Position: q, Stiffness: 1, PlayTime: 0.01}
	}
	return o
}

// run exchanges for some time and returns what is true then.
func (o *outdoors) run(seconds float64) (now Truth) {
	o.t.Helper()
	for range int(math.Round(seconds / 0.01)) {
		if f := o.d.Exchange(servo.Tick{N: o.n, Dt: 0.01}, o.dst, o.src); f != 0 {
			o.t.Fatalf("exchange %d: fault %v", o.n, f)
		}
		o.n++
	}
	o.d.World().See(func(t *Truth) {
		now = Truth{Q: make([]float64, len(t.Q)), V: make([]float64, len(t.V)), Torque: make([]float64, len(t.Torque))}
		now.copy(t)
	})
	return now
}

func (o *outdoors) must(err error) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
}

func (o *outdoors) link(name string) robot.FrameID {
	id, ok := o.m.Frame(name)
	if !ok {
		o.t.Fatalf("no link %s", name)
	}
	return id
}

func carried(t Truth) (z float64) {
	for _, c := range t.Contacts {
		z += c.Force.Z
	}
	return z
}

func tilt(t Truth) float64 {
	R := spatial.Quat{X: t.Q[3], Y: t.Q[4], Z: t.Q[5], W: t.Q[6]}.Matrix()
	return math.Acos(math.Min(1, R[8]))
}

// TestWorldActs: the robot stands, is pushed over, is put back where it lies and stands
// again; it is dropped, loaded and set on ice.
func TestWorldActs(t *testing.T) {
	o := stand(t, nil)
	w, base := o.d.World(), o.link("base_link")
	weight := o.m.Mass() * 9.81
	now := o.run(1)
	z := now.Q[2]
	if math.Abs(carried(now)/weight-1) > 0.001 || tilt(now) > 0.01 || math.Abs(now.Time-1) > 1e-9 {
		t.Fatalf("at rest: carries %g N of %g N, tilt %g, time %g", carried(now), weight, tilt(now), now.Time)
	}
	o.must(w.Push(base, spatial.Vec3{}, spatial.Vec3{Y: 25}, 0.2))
	if now = o.run(0.1); len(now.Pushes) != 1 || now.Pushes[0].Force.Y != 25 {
		t.Errorf("it is pushed by %+v", now.Pushes)
	}
	if now = o.run(1.4); tilt(now) < 0.7 || len(now.Pushes) != 0 {
		t.Fatalf("after a push: tilt %g, pushed by %+v", tilt(now), now.Pushes)
	}
	lay := now
	o.must(w.PutBack(o.m.RestPositions()))
	if !w.Pending() {
		t.Error("the cycle has taken it already")
	}
	if now = o.run(1); tilt(now) > 0.01 || math.Abs(now.Q[2]-z) > 0.001 || w.Pending() {
		t.Errorf("put back: tilt %g, height %g, was %g", tilt(now), now.Q[2], z)
	}
	if math.Hypot(now.Q[0]-lay.Q[0], now.Q[1]-lay.Q[1]) > 0.01 {
		t.Errorf("it lay at %v and stands at %v", lay.Q[:3], now.Q[:3])
	}
	o.must(w.Drop(0.05))
	if now = o.run(0.05); len(now.Contacts) != 0 || now.V[2] > -0.3 {
		t.Errorf("dropped: %d contacts, %g m/s", len(now.Contacts), now.V[2])
	}
	if now = o.run(1); math.Abs(carried(now)/weight-1) > 0.01 {
		t.Errorf("after a drop it carries %g N", carried(now))
	}
	o.must(w.PutBack(o.m.RestPositions()))
	o.must(w.SetPayload(base, 0.5, spatial.Vec3{Z: 0.05}))
	if now = o.run(1); math.Abs(carried(now)/(weight+0.5*9.81)-1) > 0.001 {
		t.Errorf("loaded it carries %g N", carried(now))
	}
	o.must(w.SetPayload(base, 0, spatial.Vec3{}))
	o.must(w.SetFriction(0.1))
	o.must(w.SetSlope(0, 0.2)) // steeper than its friction holds: it slides
	o.must(w.PutBack(o.m.RestPositions()))
	before := o.run(0.1)
	if now = o.run(0.5); math.Hypot(now.Q[0]-before.Q[0], now.Q[1]-before.Q[1]) < 0.05 {
		t.Errorf("on ice it slid from %v to %v", before.Q[:2], now.Q[:2])
	}
	if f, roll, pitch, _, load := w.Ground(); f != 0.1 || roll != 0 || pitch != 0.2 || load != 0 {
		t.Errorf("ground: %g %g %g, payload %g", f, roll, pitch, load)
	}
}

// TestGrabHoldsThePony: a hand lifts it off the ground, holds it there and lets it go.
func TestGrabHoldsThePony(t *testing.T) {
	o := stand(t, nil)
	w := o.d.World()
	now := o.run(0.5)
	at := spatial.Vec3{X: now.Q[0], Y: now.Q[1], Z: now.Q[2] + 0.2}
	o.must(w.Grab(o.link("base_link"), spatial.Vec3{Z: 0.05}, at, 0))
	if now = o.run(4); len(now.Contacts) != 0 || !now.Grabbed || len(now.Pushes) != 1 {
		t.Errorf("held: %d contacts, grabbed %v", len(now.Contacts), now.Grabbed)
	}
	if f := now.Pushes[0].Force; math.Abs(f.Z/(o.m.Mass()*9.81)-1) > 0.1 {
		t.Errorf("held by %v N", f)
	}
	o.must(w.Release())
	if now = o.run(1); now.Grabbed || math.Abs(carried(now)/(o.m.Mass()*9.81)-1) > 0.02 {
		t.Errorf("released: grabbed %v, carries %g N", now.Grabbed, carried(now))
	}
}

// TestSupplyAndLineChange: voltage and loss while the robot runs.
func TestSupplyAndLineChange(t *testing.T) {
	o := stand(t, nil)
	w := o.d.World()
	o.run(0.2)
	o.must(w.SetVoltage(9))
	if now := o.run(0.1); math.Abs(now.Volts-9) > 0.01 || math.Abs(o.dst.Joints[0].Voltage-9) > 0.01 {
		t.Errorf("%g V, measured %g V", now.Volts, o.dst.Joints[0].Voltage)
	}
	o.must(w.SetLoss(1))
	o.run(0.1)
	if o.dst.Joints[0].Age == 0 {
		t.Error("readings arrive though all get lost")
	}
}

// TestWorldRefuses: what cannot be is refused with its value and limit, and nothing changes.
func TestWorldRefuses(t *testing.T) {
	o := stand(t, nil)
	w, base := o.d.World(), o.link("base_link")
	nan := math.NaN()
	for name, err := range map[string]error{
		"a force":       w.Push(base, spatial.Vec3{}, spatial.Vec3{X: nan}, 1),
		"a great force": w.Push(base, spatial.Vec3{}, spatial.Vec3{X: 1e9}, 1),
		"no time":       w.Push(base, spatial.Vec3{}, spatial.Vec3{X: 1}, 0),
		"a long time":   w.Push(base, spatial.Vec3{}, spatial.Vec3{X: 1}, 1e9),
		"a grab":        w.Grab(base, spatial.Vec3{}, spatial.Vec3{X: nan}, 0),
		"a stiff grab":  w.Grab(base, spatial.Vec3{}, spatial.Vec3{}, 1e12),
		"friction":      w.SetFriction(-1),
		"slope":         w.SetSlope(nan, 0),
		"voltage":       w.SetVoltage(-1),
		"loss":          w.SetLoss(2),
		"payload":       w.SetPayload(base, -1, spatial.Vec3{}),
		"height":        w.Drop(0),
	} {
		if err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if w.Pending() {
		t.Error("something was ordered all the same")
	}
	for range maxOrders {
		o.must(w.Release())
	}
	if w.Release() == nil {
		t.Error("a full ring takes more")
	}
	o.run(0.01)
	o.must(w.Release())
}

// TestABrokenSimulationIsPutBack: after numbers that are not finite the bus is silent, and a
// robot that is put back runs again.
func TestABrokenSimulationIsPutBack(t *testing.T) {
	o := stand(t, nil)
	o.run(0.2)
	o.d.bus.state.V[7] = math.Inf(1)
	if f := o.d.Exchange(servo.Tick{Dt: 0.01}, o.dst, o.src); f&servo.BusDown == 0 {
		t.Fatalf("fault %v", f)
	}
	o.must(o.d.World().PutBack(o.m.RestPositions()))
	if now := o.run(1); now.Broken != sim.OK || tilt(now) > 0.01 {
		t.Errorf("broken %v, tilt %g", now.Broken, tilt(now))
	}
}

// TestWorldDoesNotAllocate: pushes, grabs and changes cost the cycle nothing but time.
func TestWorldDoesNotAllocate(t *testing.T) {
	o := stand(t, nil)
	w, base := o.d.World(), o.link("base_link")
	o.must(w.Grab(base, spatial.Vec3{}, spatial.Vec3{Z: 0.3}, 0))
	o.must(w.Push(base, spatial.Vec3{}, spatial.Vec3{X: 1}, 1))
	if n := testing.AllocsPerRun(20, func() { o.d.Exchange(servo.Tick{Dt: 0.01}, o.dst, o.src) }); n != 0 {
		t.Errorf("an exchange allocates %v times", n)
	}
}
