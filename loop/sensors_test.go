package loop

import (
	"math"
	"testing"

	"poise/robot/load"
	"poise/servo"
	"poise/servo/sim"
	"poise/spatial"
)

// sensing adds an inertial unit and a touch sensor to simulated servos; they fail in
// some ticks.
type sensing struct {
	*sim.Bus
	broken bool
}

func (b *sensing) Exchange(t servo.Tick, dst *servo.Measurement, src []servo.Setpoint) servo.Fault {
	f := b.Bus.Exchange(t, dst, src)
	x := float64(t.N)
	if b.broken {
		x = math.NaN()
	}
	dst.IMU[0] = servo.Inertial{Orientation: spatial.Quat{W: 1}, Rate: spatial.Vec3{X: x}}
	dst.Touch[0] = servo.Contact{Force: spatial.Vec3{Z: x}, Pressed: true}
	return f
}

// TestSensorsReachControllers: what inertial units and touch sensors say is in the
// measured state a tick later; what is non-finite is not: the last finite value grows
// older.
func TestSensorsReachControllers(t *testing.T) {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	bus := &sensing{Bus: sim.New(sim.Config{Servos: make([]sim.Servo, len(bot.Model.Joints()))})}
	l, err := New(Config{Model: bot.Model, Bus: bus, Settings: Settings{Sensors: servo.Sensors{IMU: 1, Touch: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	n := uint64(0)
	step := func() {
		l.Step(servo.Tick{N: n, Time: int64(n) * 1e6, Dt: 1e-3})
		n++
	}
	for range 5 {
		step()
	}
	bus.broken = true
	for age := range uint32(4) {
		step() // reads what the tick before exchanged
		m := l.input.Meas
		if i, c := &m.IMU[0], &m.Touch[0]; i.Rate.X != 4 || c.Force.Z != 4 || i.Age != age || c.Age != age || !c.Pressed {
			t.Fatalf("after %d ticks: %+v, %+v", age, *i, *c)
		}
	}
	s, _ := l.Snapshot()
	if s.Measured.IMU[0].Age != 3 || s.Measured.Touch[0].Age != 3 {
		t.Errorf("in the snapshot: %+v, %+v", s.Measured.IMU[0], s.Measured.Touch[0])
	}
}

// TestASilentInertialUnitIsToldOnce: a unit that was heard and falls silent is a warning, once, which ends when it is
// back; nothing is held or let go for it.
func TestASilentInertialUnitIsToldOnce(t *testing.T) {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	bus := &sensing{Bus: sim.New(sim.Config{Servos: make([]sim.Servo, len(bot.Model.Joints()))})}
	l, err := New(Config{Model: bot.Model, Bus: bus, Settings: Settings{Sensors: servo.Sensors{IMU: 1, Touch: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	n, raised, cleared := uint64(0), 0, 0
	step := func(ticks int) {
		for range ticks {
			l.Step(servo.Tick{N: n, Time: int64(n) * 1e7, Dt: 1e-2})
			n++
			for r, ok := l.Receive(); ok; r, ok = l.Receive() {
				switch {
				case r.Kind == FaultRaised && r.Fault == SilentUnit:
					raised++
					if r.Severity != SeverityWarn {
						t.Errorf("%+v", r)
					}
				case r.Kind == FaultCleared && r.Fault == SilentUnit:
					cleared++
				}
			}
		}
	}
	step(100)
	bus.broken = true
	if step(45); raised != 0 {
		t.Error("told after 0.45 s")
	}
	if step(300); raised != 1 || cleared != 0 || !l.faults.blocked.Empty() {
		t.Errorf("told %d times, gone %d times, held %v", raised, cleared, l.faults.blocked)
	}
	bus.broken = false
	if step(100); raised != 1 || cleared != 1 {
		t.Errorf("back again: told %d times, gone %d times", raised, cleared)
	}
}
