package sim

import (
	"math"
	"testing"

	"poise/servo"
)

const dt = 0.01

// run sends one setpoint for some ticks and returns the last reading.
func run(b *Bus, from, ticks uint64, p servo.Setpoint) (r servo.Reading) {
	dst, src := servo.NewMeasurement(len(b.servos), servo.Sensors{}), make([]servo.Setpoint, len(b.servos))
	for i := range src {
		src[i] = p
	}
	for n := from; n < from+ticks; n++ {
		b.Exchange(servo.Tick{N: n, Time: int64(n) * 1e7, Dt: dt}, dst, src)
	}
	return dst.Joints[0]
}

func goTo(x float64) servo.Setpoint {
	return servo.Setpoint{Position: x, PlayTime: dt, Stiffness: 1, Mode: servo.Position}
}

func TestIdealServoIsWhereItWasTold(t *testing.T) {
	b := New(Config{Servos: make([]Servo, 1)})
	if r := run(b, 0, 1, goTo(0.3)); r.Position != 0.3 || math.Abs(r.Velocity-30) > 1e-12 || r.Age != 0 {
		t.Errorf("%+v", r)
	}
}

func TestPlayTimeIsARamp(t *testing.T) {
	b := New(Config{Servos: make([]Servo, 1)})
	p := goTo(1)
	p.PlayTime = 10 * dt
	if r := run(b, 0, 1, p); math.Abs(r.Position-0.1) > 1e-12 {
		t.Errorf("after a tenth of the time at %g", r.Position)
	}
}

func TestLaggingServoFollowsExponentially(t *testing.T) {
	b := New(Config{Servos: []Servo{{Lag: 0.05}}})
	r := run(b, 0, 5, goTo(1))
	if want := 1 - math.Exp(-1); math.Abs(r.Position-want) > 1e-12 {
		t.Errorf("after one time constant at %g, want %g", r.Position, want)
	}
}

func TestDelayCountsTicks(t *testing.T) {
	b := New(Config{Servos: []Servo{{Delay: 3}}})
	if r := run(b, 0, 3, goTo(1)); r.Position != 0 {
		t.Errorf("moved before the delay: %g", r.Position)
	}
	if r := run(b, 3, 1, goTo(1)); r.Position != 1 {
		t.Errorf("not moved after the delay: %g", r.Position)
	}
}

func TestQuantisedReadings(t *testing.T) {
	b := New(Config{Servos: []Servo{{Quantum: 0.01}}})
	if r := run(b, 0, 1, goTo(0.1234)); math.Abs(r.Position-0.12) > 1e-15 || b.Joint(0) != 0.1234 {
		t.Errorf("reads %g, is at %g", r.Position, b.Joint(0))
	}
}

func TestSagIsLoadOverStiffness(t *testing.T) {
	b := New(Config{Servos: []Servo{{Stiffness: 5}}, Load: func(dst, q []float64) { dst[0] = 0.5 }})
	if r := run(b, 0, 2, goTo(1)); math.Abs(r.Position-0.9) > 1e-12 || math.Abs(r.Effort-0.5) > 1e-12 {
		t.Errorf("%+v", r)
	}
	soft := goTo(1)
	soft.Stiffness = 0.5
	if r := run(b, 2, 2, soft); math.Abs(r.Position-0.8) > 1e-12 {
		t.Errorf("at half the stiffness %g", r.Position)
	}
}

func TestSpeedIsBounded(t *testing.T) {
	b := New(Config{Servos: []Servo{{VMax: 2}}})
	if r := run(b, 0, 10, goTo(1)); math.Abs(r.Position-0.2) > 1e-12 {
		t.Errorf("%+v", r)
	}
}

func TestTorqueOffStaysAndIsPosedByHand(t *testing.T) {
	b := New(Config{Servos: make([]Servo, 1), Position: []float64{0.5}})
	if r := run(b, 0, 5, servo.Setpoint{Mode: servo.Off, Position: 3}); r.Position != 0.5 {
		t.Errorf("moved without torque to %g", r.Position)
	}
	if !b.PoseByHand(0, 0.7) {
		t.Error("a free joint could not be posed")
	}
	if r := run(b, 5, 1, servo.Setpoint{Mode: servo.Off, Position: 3}); r.Position != 0.7 || b.Joint(0) != 0.7 {
		t.Errorf("posed at 0.7, reads %g, is at %g", r.Position, b.Joint(0))
	}
	b.PoseByHand(0, 0.9) // too late: torque comes in the same tick
	run(b, 6, 1, goTo(0.7))
	if b.Joint(0) != 0.7 {
		t.Errorf("joint at %g", b.Joint(0))
	}
	if b.PoseByHand(0, 1) {
		t.Error("a joint under torque was posed by hand")
	}
}

func TestTorqueOnBeginsWhereItIs(t *testing.T) {
	b := New(Config{Servos: make([]Servo, 1), Position: []float64{0.5}})
	run(b, 0, 1, servo.Setpoint{Mode: servo.Off})
	p := goTo(1.5)
	p.PlayTime = 10 * dt
	if r := run(b, 1, 1, p); math.Abs(r.Position-0.6) > 1e-12 {
		t.Errorf("jumped to %g", r.Position)
	}
}

func TestLostPacketsAgeTheReading(t *testing.T) {
	b := New(Config{Servos: []Servo{{Loss: 0.3}}, Seed: 1})
	dst, src := servo.NewMeasurement(1, servo.Sensors{}), []servo.Setpoint{goTo(0)}
	late, n := 0, 20000
	for k := range n {
		b.Exchange(servo.Tick{N: uint64(k), Dt: dt}, dst, src)
		if dst.Joints[0].Fault&servo.NoAnswer != 0 {
			late++
			if dst.Joints[0].Age == 0 {
				t.Fatal("no answer, and a fresh reading")
			}
		}
	}
	if share := float64(late) / float64(n); math.Abs(share-0.3) > 0.02 {
		t.Errorf("%.3f of the answers are lost, want 0.3", share)
	}
}

func TestUnreadableServoWasNeverRead(t *testing.T) {
	b := New(Config{Servos: []Servo{{Unreadable: true}}})
	if r := run(b, 0, 5, goTo(1)); r.Age != servo.Never || r.Fault&servo.NoAnswer == 0 {
		t.Errorf("%+v", r)
	}
}

func TestTroubleComesAndGoes(t *testing.T) {
	b := New(Config{Servos: make([]Servo, 1)})
	b.Plan(Trouble{From: 2, Until: 4, Frozen: true, Temperature: 85, Voltage: 6, Fault: servo.Overload})
	for n, want := range []bool{false, false, true, true, false} {
		x := float64(n) / 10
		r := run(b, uint64(n), 1, goTo(x))
		if ill := r.Fault&servo.Overload != 0; ill != want || (r.Temperature == 85) != want || (r.Voltage == 6) != want {
			t.Errorf("tick %d: %+v", n, r)
		}
		if moved := r.Position == x; moved == want {
			t.Errorf("tick %d at %g", n, r.Position)
		}
	}
	b.Plan(Trouble{From: 6, Silent: true})
	if r := run(b, 6, 3, goTo(1)); r.Age != 3 {
		t.Errorf("silent for three ticks, age %d", r.Age)
	}
}

func TestBusDownIsSilenceOfAll(t *testing.T) {
	b := New(Config{Servos: make([]Servo, 2)})
	b.Down(func(n uint64) bool { return n >= 3 })
	run(b, 0, 3, goTo(0.2))
	dst, src := servo.NewMeasurement(2, servo.Sensors{}), []servo.Setpoint{goTo(1), goTo(1)}
	if f := b.Exchange(servo.Tick{N: 3, Dt: dt}, dst, src); f != servo.BusDown || dst.Joints[1].Age != 1 || dst.Joints[1].Position != 0.2 {
		t.Errorf("%v %+v", f, dst.Joints[1])
	}
}

func TestSameSeedSameReadings(t *testing.T) {
	c := Config{Servos: []Servo{{Loss: 0.2, Noise: 0.01, Lag: 0.02}}, Seed: 7}
	a, b := New(c), New(c)
	for n := range uint64(500) {
		if ra, rb := run(a, n, 1, goTo(1)), run(b, n, 1, goTo(1)); ra != rb {
			t.Fatalf("tick %d: %+v and %+v", n, ra, rb)
		}
	}
}

func TestExchangeDoesNotAllocate(t *testing.T) {
	b := New(Config{Servos: []Servo{{Lag: 0.1, Delay: 2, Loss: 0.1, Noise: 1e-3, Quantum: 1e-3, Stiffness: 5}}, Load: func(dst, q []float64) { dst[0] = q[0] }})
	b.Plan(Trouble{Fault: servo.Overload})
	dst, src := servo.NewMeasurement(1, servo.Sensors{}), []servo.Setpoint{goTo(1)}
	n := uint64(0)
	if a := testing.AllocsPerRun(200, func() { b.Exchange(servo.Tick{N: n, Dt: dt}, dst, src); n++ }); a != 0 {
		t.Errorf("%v allocations", a)
	}
}

func TestPushedServoGivesWay(t *testing.T) {
	b := New(Config{Servos: []Servo{{Stiffness: 20}, {}}})
	dst, src := servo.NewMeasurement(2, servo.Sensors{}), []servo.Setpoint{{PlayTime: 0.01, Stiffness: 1, Mode: servo.Position}, {PlayTime: 0.01, Stiffness: 1, Mode: servo.Position}}
	b.Push(0, 4)
	b.Push(1, 4)
	for n := range 10 {
		b.Exchange(servo.Tick{N: uint64(n), Dt: 0.01}, dst, src)
	}
	if got := b.Joint(0); math.Abs(got+0.2) > 1e-12 || b.Joint(1) != 0 {
		t.Errorf("joints at %g and %g, want −0.2 and 0", got, b.Joint(1))
	}
	b.Push(0, 0)
	b.Exchange(servo.Tick{N: 10, Dt: 0.01}, dst, src)
	if b.Joint(0) != 0 {
		t.Errorf("joint at %g after the push", b.Joint(0))
	}
}

func TestNonFiniteReadings(t *testing.T) {
	b := New(Config{Servos: make([]Servo, 1)})
	b.Plan(Trouble{From: 3, NonFinite: true})
	dst, src := servo.NewMeasurement(1, servo.Sensors{}), make([]servo.Setpoint, 1)
	for n := range 5 {
		b.Exchange(servo.Tick{N: uint64(n), Dt: 0.01}, dst, src)
		if math.IsNaN(dst.Joints[0].Position) != (n >= 3) {
			t.Errorf("tick %d: %g", n, dst.Joints[0].Position)
		}
	}
}

// TestPosedByHandConcurrently moves a limp joint from another goroutine, for the race
// detector, until torque comes: from then on it is refused.
func TestPosedByHandConcurrently(t *testing.T) {
	b := New(Config{Servos: make([]Servo, 2)})
	free := servo.Setpoint{Mode: servo.Off}
	run(b, 0, 1, free)
	done := make(chan bool)
	go func() {
		for k := 0; b.PoseByHand(1, float64(k%100)/100); k++ {
			if k%100 == 99 {
				for b.moves.Len() > 0 { // do not outrun the ticks
					if !b.limp[1].Load() {
						break
					}
				}
			}
		}
		done <- true
	}()
	n := uint64(1)
	for b.Joint(1) == 0 {
		run(b, n, 1, free)
		n++
	}
	run(b, n, 1, goTo(0.5))
	<-done
	run(b, n+1, 1, goTo(0.5))
	if b.Joint(1) != 0.5 {
		t.Errorf("a joint under torque was moved to %g", b.Joint(1))
	}
}

// TestPlacedJointsStay: a joint that is placed is there in the next reading, and
// no setpoint that was under way, or answer that was lost, leads it back.
func TestPlacedJointsStay(t *testing.T) {
	for name, kind := range map[string]Servo{"ideal": {}, "delayed": {Delay: 4}, "lagging": {Lag: 0.1}, "lossy": {Loss: 0.5}} {
		t.Run(name, func(t *testing.T) {
			b := New(Config{Servos: []Servo{kind, kind}, Seed: 3})
			run(b, 0, 50, goTo(0.2))
			b.Place([]int{1}, []float64{1.5})
			dst, src := servo.NewMeasurement(2, servo.Sensors{}), []servo.Setpoint{goTo(0.2), goTo(1.5)}
			for n := uint64(50); n < 80; n++ {
				b.Exchange(servo.Tick{N: n, Dt: dt}, dst, src)
				if dst.Joints[1].Position != 1.5 || dst.Joints[1].Velocity != 0 {
					t.Fatalf("tick %d: %+v", n, dst.Joints[1])
				}
			}
		})
	}
}

// TestNoiseHasItsDeviation and no offset.
func TestNoiseHasItsDeviation(t *testing.T) {
	const σ, n = 0.01, 20000
	b := New(Config{Servos: []Servo{{Noise: σ}}, Seed: 5})
	sum, square := 0.0, 0.0
	for k := range uint64(n) {
		x := run(b, k, 1, goTo(0)).Position
		sum, square = sum+x, square+x*x
	}
	// 5 standard deviations of the mean, and of the deviation
	if mean, dev := sum/n, math.Sqrt(square/n); math.Abs(mean) > 5*σ/math.Sqrt(n) || math.Abs(dev-σ) > 5*σ/math.Sqrt(2*n) {
		t.Errorf("mean %g, deviation %g", mean, dev)
	}
}

// TestStaticSagOfAPendulum: a servo that holds a pendulum settles where its
// stiffness carries g(q).
func TestStaticSagOfAPendulum(t *testing.T) {
	const torque, stiffness = 2.0, 10.0 // N·m, N·m/rad
	b := New(Config{Servos: []Servo{{Stiffness: stiffness, Lag: 0.03}},
		Load: func(dst, q []float64) { dst[0] = torque * math.Cos(q[0]) }})
	r := run(b, 0, 400, goTo(0.4))
	if got, want := stiffness*(0.4-r.Position), torque*math.Cos(r.Position); math.Abs(got-want) > 1e-9 {
		t.Errorf("the servo gives %g N·m, the pendulum asks for %g", got, want)
	}
}

func TestPosingAndPlacingDoNotAllocate(t *testing.T) {
	b := New(Config{Servos: []Servo{{Lag: 0.01, Noise: 1e-3, Loss: 0.1, Delay: 2, Stiffness: 5}, {}}})
	dst, src := servo.NewMeasurement(2, servo.Sensors{}), []servo.Setpoint{goTo(0.2), {Mode: servo.Off}}
	joints, where := []int{0}, []float64{0.1}
	n := uint64(0)
	if a := testing.AllocsPerRun(500, func() {
		b.PoseByHand(1, float64(n))
		b.Place(joints, where)
		b.Exchange(servo.Tick{N: n, Dt: dt}, dst, src)
		n++
	}); a != 0 {
		t.Errorf("%v allocations", a)
	}
}
