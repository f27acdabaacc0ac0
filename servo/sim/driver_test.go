package sim

import (
	"errors"
	"testing"

	"poise/robot/load"
	"poise/servo"
	"poise/servo/servotest"
)

// TestContract holds the driver to the contract of drivers: ideal, playing hardware, and
// with everything that goes wrong on a line.
func TestContract(t *testing.T) {
	for _, c := range []struct {
		name, robot       string
		settings          Settings
		ticks             int
		tolerance, effort float64
	}{
		{"ideal", "arm6", DefaultSettings(), 100, 1e-9, 1},
		{"ideal pony", "pony", DefaultSettings(), 100, 1e-9, 1},
		{"playing hardware", "arm6", RealSettings(), 100, 0.01, 1000},
		{"lossy", "arm6", Settings{Placed: true, Loss: 0.5, Seed: 3}, 100, 1e-9, 1},
		{"lossy, posed by hand", "arm6", Settings{Loss: 0.3, Lag: 0.02, Noise: 0.0002, Seed: 4}, 100, 0.002, 1},
		{"delayed", "arm6", Settings{Placed: true, Delay: 0.05, Seed: 1}, 100, 1e-9, 1},
		{"delayed, posed by hand", "arm6", Settings{Delay: 0.2, Lag: 0.02, Seed: 1}, 100, 1e-4, 1},
		{"quantised", "arm6", Settings{Placed: true, Quantum: 0.005, Noise: 0.0005, Seed: 5}, 100, 0.006, 1},
		{"all of it", "pony", Settings{Quantum: 0.002, Noise: 0.0005, Delay: 0.02, Loss: 0.2, Lag: 0.03, Gravity: true, Seed: 6}, 200, 0.02, 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			bot, err := load.Robot(c.robot, load.Options{})
			if err != nil {
				t.Fatal(err)
			}
			servotest.Run(t, func(t testing.TB) servotest.Subject {
				const period = 0.01
				d, err := NewDriver(bot.Model, period, c.settings)
				if err != nil {
					t.Fatal(err)
				}
				bus, silent := busOf(d), false
				bus.Down(func(uint64) bool { return silent })
				return servotest.Subject{Driver: d, Joints: len(bot.Model.Joints()), Period: period,
					Silence: func(on bool) { silent = on }, Ticks: c.ticks, Tolerance: c.tolerance, Effort: c.effort}
			})
		})
	}
}

func busOf(d any) *Bus {
	if p, ok := d.(placed); ok {
		return p.bus
	}
	return d.(posed).bus
}

// TestANewLifeIsNew: setpoints and moves by hand that were on their way when the driver was
// closed do nothing after it was opened again, and joints are where they were.
func TestANewLifeIsNew(t *testing.T) {
	bot, err := load.Robot("arm6", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDriver(bot.Model, 0.01, Settings{Delay: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	n := len(bot.Model.Joints())
	dst, src := servo.NewMeasurement(n, servo.Sensors{}), make([]servo.Setpoint, n)
	tick := uint64(0)
	exchange := func(times int) {
		for range times {
			d.Exchange(servo.Tick{N: tick, Dt: 0.01}, dst, src)
			tick++
		}
	}
	if err := d.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	exchange(10)
	if !d.(servo.HandPoser).PoseByHand(1, 0.5) {
		t.Fatal("a joint without torque cannot be posed")
	}
	exchange(1)
	src[0] = servo.Setpoint{Mode: servo.Position, Position: 1, PlayTime: 0.01, Stiffness: 1}
	exchange(2) // on its way
	d.(servo.HandPoser).PoseByHand(2, 0.5)
	if err := errors.Join(d.Close(), d.Open(t.Context())); err != nil {
		t.Fatal(err)
	}
	src[0] = servo.Setpoint{}
	exchange(20)
	rest := bot.Model.RestPositions()
	for i, want := range []float64{rest[0], 0.5, rest[2]} {
		if q := dst.Joints[i].Position; q != want {
			t.Errorf("joint %d is at %g, want %g", i, q, want)
		}
	}
}
