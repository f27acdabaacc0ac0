package sim

import (
	"math"
	"testing"

	"poise/servo"
)

// carry returns a bus of one servo that carries a constant load.
func carry(c Servo, load float64) *Bus {
	return New(Config{Servos: []Servo{c}, Load: func(dst, q []float64) { dst[0] = load }})
}

// TestFeedForwardReducesTheSag: a servo sags by what feed-forward does not carry.
func TestFeedForwardReducesTheSag(t *testing.T) {
	for effort, want := range map[float64]float64{0: 0.8, 0.5: 0.9, 1: 1, 1.5: 1.1} {
		p := goTo(1)
		p.Effort = effort
		r := run(carry(Servo{Stiffness: 5}, 1), 0, 3, p)
		if math.Abs(r.Position-want) > 1e-12 || math.Abs(r.Effort-1) > 1e-12 {
			t.Errorf("feed-forward of %g N·m: at %g, want %g, gives %g N·m", effort, r.Position, want, r.Effort)
		}
	}
	p := goTo(1) // a servo that does not sag needs none
	p.Effort = 3
	if r := run(carry(Servo{}, 1), 0, 3, p); r.Position != 1 || r.Effort != 1 {
		t.Errorf("%+v", r)
	}
}

func TestVelocityIsKept(t *testing.T) {
	p := servo.Setpoint{Mode: servo.Velocity, Velocity: 2}
	if r := run(carry(Servo{Stiffness: 5}, 1), 0, 10, p); math.Abs(r.Position-2*10*dt) > 1e-12 || math.Abs(r.Velocity-2) > 1e-12 || r.Effort != 1 {
		t.Errorf("%+v", r)
	}
	if r := run(carry(Servo{VMax: 1}, 1), 0, 10, p); math.Abs(r.Velocity-1) > 1e-12 {
		t.Errorf("faster than it can: %+v", r)
	}
	if r := run(carry(Servo{Lag: 0.05}, 1), 0, 5, p); math.Abs(r.Velocity-2*(1-math.Exp(-1))) > 1e-12 {
		t.Errorf("after one time constant %+v", r)
	}
}

// TestEffortMovesAgainstDamping: what the load leaves of an effort becomes speed.
func TestEffortMovesAgainstDamping(t *testing.T) {
	b := carry(Servo{Damping: 4}, 1)
	if r := run(b, 0, 10, servo.Setpoint{Mode: servo.Effort, Effort: 3}); math.Abs(r.Velocity-0.5) > 1e-12 || math.Abs(r.Position-0.5*10*dt) > 1e-12 || r.Effort != 3 {
		t.Errorf("%+v", r)
	}
	if r := run(b, 10, 10, servo.Setpoint{Mode: servo.Effort, Effort: 1}); r.Velocity != 0 {
		t.Errorf("a load that is carried exactly moves with %g", r.Velocity)
	}
	if r := run(carry(Servo{}, 1), 0, 10, servo.Setpoint{Mode: servo.Effort}); math.Abs(r.Velocity+1/defaultDamping) > 1e-12 || r.Effort != 0 {
		t.Errorf("no effort: %+v", r)
	}
}

// TestImpedanceIsASpringWithDamper: it settles where the spring carries what
// feed-forward does not, with the time constant of its damping.
func TestImpedanceIsASpringWithDamper(t *testing.T) {
	p := servo.Setpoint{Mode: servo.Impedance, Position: 1, Kp: 20, Kd: 1, Effort: 0.5}
	c := Servo{Damping: 3}
	rest, T := 1-(2-0.5)/20, (1.0+3)/20
	r := run(carry(c, 2), 0, 20, p)
	if want := rest * (1 - math.Exp(-20*dt/T)); math.Abs(r.Position-want) > 1e-12 {
		t.Errorf("after one time constant at %g, want %g", r.Position, want)
	}
	r = run(carry(c, 2), 0, 2000, p)
	if math.Abs(r.Position-rest) > 1e-9 || math.Abs(r.Effort-2) > 1e-9 {
		t.Errorf("settles at %g, want %g, gives %g N·m", r.Position, rest, r.Effort)
	}
	p.Kp, p.Kd, p.Velocity = 0, 1, 2 // a damper alone: 2 + 0.5 − 2 N·m against 1 + 3
	if r := run(carry(c, 2), 0, 20, p); math.Abs(r.Velocity-0.5/4) > 1e-12 || math.Abs(r.Effort-(0.5+2-0.125)) > 1e-12 {
		t.Errorf("damper: %+v", r)
	}
}

// TestBrakeResists: it creeps where it gives way, and moves towards no goal.
func TestBrakeResists(t *testing.T) {
	p := servo.Setpoint{Mode: servo.Brake, Position: 3, Effort: 3, Kp: 3}
	if r := run(carry(Servo{Brake: 50}, 2), 0, 10, p); math.Abs(r.Velocity+2.0/50) > 1e-12 || math.Abs(r.Effort-2) > 1e-12 {
		t.Errorf("%+v", r)
	}
	b := carry(Servo{}, 2)
	if r := run(b, 0, 10, p); r.Position != 0 || r.Effort != 2 {
		t.Errorf("%+v", r)
	}
	if b.PoseByHand(0, 1) {
		t.Error("a braked joint was posed by hand")
	}
}

func TestFreeJointGivesNothing(t *testing.T) {
	b := carry(Servo{Stiffness: 5}, 2)
	run(b, 0, 5, goTo(1))
	at := b.Joint(0)
	if r := run(b, 5, 5, servo.Setpoint{Mode: servo.Off, Position: 3, Effort: 3}); r.Effort != 0 || r.Position != at || r.Velocity != 0 {
		t.Errorf("%+v, was at %g", r, at)
	}
}

// TestModesChangeWithoutAJump: whatever a servo did before, it goes on from where the
// joint is.
func TestModesChangeWithoutAJump(t *testing.T) {
	b := carry(Servo{Stiffness: 20, Damping: 2, Brake: 50, VMax: 3}, 0.5)
	all := []servo.Setpoint{goTo(1), {Mode: servo.Velocity, Velocity: -1}, {Mode: servo.Effort, Effort: 2}, {Mode: servo.Impedance, Position: -1, Kp: 30, Kd: 2},
		{Mode: servo.Brake}, {Mode: servo.Off}, {Mode: servo.Position, Position: 0.5, Effort: 0.5, Stiffness: 0.5, PlayTime: 0.2}}
	n, was := uint64(0), 0.0
	for _, from := range all {
		for _, to := range all {
			for _, p := range []servo.Setpoint{from, to} {
				for range 7 {
					r := run(b, n, 1, p)
					if math.Abs(r.Position-was) > 3*dt*(1+1e-12) || math.IsNaN(r.Position) || math.IsNaN(r.Effort) {
						t.Fatalf("%v: from %g to %g", p.Mode, was, r.Position)
					}
					n, was = n+1, r.Position
				}
			}
		}
	}
}

func TestModesDoNotAllocate(t *testing.T) {
	b := carry(Servo{Stiffness: 20, Lag: 0.01, Brake: 50}, 0.5)
	dst, src := servo.NewMeasurement(1, servo.Sensors{}), make([]servo.Setpoint, 1)
	n := uint64(0)
	if a := testing.AllocsPerRun(300, func() {
		src[0] = servo.Setpoint{Mode: servo.Mode(n / 7 % uint64(servo.NumModes)), Kp: 3, Kd: 1, Stiffness: 1, PlayTime: dt}
		b.Exchange(servo.Tick{N: n, Dt: dt}, dst, src)
		n++
	}); a != 0 {
		t.Errorf("%v allocations", a)
	}
}

// TestUnknownModeChangesNothing, and is reported.
func TestUnknownModeChangesNothing(t *testing.T) {
	b := carry(Servo{Stiffness: 20}, 0.5)
	was := run(b, 0, 5, goTo(1))
	for _, mode := range []servo.Mode{servo.NumModes, 255} {
		if r := run(b, 5, 5, servo.Setpoint{Mode: mode, Position: -1, Velocity: -1, Effort: -1}); r.Position != was.Position || r.Fault != servo.BadMode {
			t.Errorf("%+v, was %+v", r, was)
		}
	}
	if r := run(b, 10, 1, goTo(1)); r.Fault != 0 {
		t.Errorf("%+v", r)
	}
}
