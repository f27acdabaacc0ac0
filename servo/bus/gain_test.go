package bus_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"poise/servo"
	"poise/servo/bus"
	"poise/servo/families"
)

// softKinds are servos with the gain that robot.yaml declares.
var softKinds = []struct {
	name, register string
	zero           float64
	baud           int
	full           int64
}{
	{"drs-0201", "position_kp", 512, 115200, 400},
	{"xm430-w350", "position_p", 2048, 1_000_000, 640},
	{"mx-28", "position_p", 2048, 1_000_000, 40},
	{"sts3215", "position_p", 2048, 1_000_000, 30},
	{"scs0009", "position_p", 512, 1_000_000, 20},
}

// holds reads a register of the first servo, while no driver has its line.
func (b *bed) holds(name string, baud int) int64 {
	b.t.Helper()
	port, err := b.driver.Dial("memory", baud)
	if err != nil {
		b.t.Fatal(err)
	}
	defer port.Close()
	s := b.servos.Servos()[0]
	f, _, _ := bus.ModelNamed(families.All, s.Model.Name)
	line := bus.NewLine(port, baud, f)
	line.Patience = 10 * time.Millisecond
	r, _ := s.Model.Register(name)
	v, err := f.Talk(line).Read(s.ID, s.Model, r)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// TestStiffnessIsTheGainOfAServo: it comes in steps, lasts as long as the setpoint says, survives a start of the servo and
// begins again with its torque; a servo that holds softly keeps its gain until it is told where to be. Nothing is saved.
func TestStiffnessIsTheGainOfAServo(t *testing.T) {
	for i, k := range softKinds {
		if testing.Short() && i > 1 {
			break
		}
		t.Run(k.name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				line := func(int) string {
					return fmt.Sprintf("type: %s, zero: %g, registers: {%s: %d}", k.name, k.zero, k.register, k.full)
				}
				b := newBed(t, turntableOf(t, 2, line), k.baud, 0.02, false)
				if !b.driver.Capabilities().Stiffness || newBed(t, turntable(t, 2, k.name, k.zero), k.baud, 0.02, false).driver.Capabilities().Stiffness {
					t.Error("the stiffness of setpoints counts just where a gain is declared")
				}
				tell := func(r *rig, stiffness, seconds float64) {
					for range int(seconds / r.period) {
						for j := range r.src {
							r.src[j] = servo.Setpoint{Mode: servo.Position, Stiffness: stiffness, PlayTime: r.period}
						}
						r.tick()
					}
				}
				open := func() *rig {
					if err := b.driver.Open(t.Context()); err != nil {
						t.Fatal(err)
					}
					return &rig{bed: b, period: 0.02, dst: servo.NewMeasurement(2, servo.Sensors{}), src: make([]servo.Setpoint, 2)}
				}
				closed := func(what string, low, high float64) {
					t.Helper()
					if err := b.driver.Close(); err != nil {
						t.Fatal(err)
					}
					if got := float64(b.holds(k.register, k.baud)) / float64(k.full); got < low || got > high {
						t.Errorf("%s: its gain is %g of the declared one, must be %g … %g", what, got, low, high)
					}
				}
				r := open()
				tell(r, 1, 1)
				closed("stiff", 1, 1)
				r = open()
				tell(r, 1, 1)
				tell(r, 0.3, 0.1)
				closed("after 0.1 s", 0.6, 0.95)
				r = open()
				tell(r, 1, 1)
				tell(r, 0.3, 2)
				r.servos.With(func() { r.servos.Servos()[0].Reset() })
				tell(r, 0.3, 4)
				closed("soft", 0.25, 0.35)
				r = open()
				for range 50 {
					r.tick() // it holds
				}
				closed("found soft and holding", 0.25, 0.35)
				r = open()
				tell(r, 1, 3)
				closed("stiff again", 1, 1)
				r = open()
				tell(r, 0, 3)
				clear(r.src)
				for range 100 {
					r.tick()
				}
				closed("off", 1, 1)
				if v := b.violations(); len(v) > 0 {
					t.Errorf("%+v", v[0])
				}
			})
		})
	}
}

// TestCorrectionsSuitTheGainThatAServoHas: while the gain of a servo is on its way to a lesser stiffness, in steps, and when
// it is there, as coarse as its register is, gain times correction is what the setpoint wants.
func TestCorrectionsSuitTheGainThatAServoHas(t *testing.T) {
	for i, k := range softKinds {
		if testing.Short() && i > 1 {
			break
		}
		t.Run(k.name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				line := func(int) string {
					return fmt.Sprintf("type: %s, zero: %g, registers: {%s: %d}", k.name, k.zero, k.register, k.full)
				}
				b := newBed(t, turntableOf(t, 2, line), k.baud, 0.02, false)
				if err := b.driver.Open(t.Context()); err != nil {
					t.Fatal(err)
				}
				defer b.driver.Close()
				r := &rig{bed: b, period: 0.02, dst: servo.NewMeasurement(2, servo.Sensors{}), src: make([]servo.Setpoint, 2)}
				const share, stiff = 0.33, 0.06 // rad at full gain
				var goals []float64
				tell := func(gain, seconds float64) {
					for range int(seconds / r.period) {
						for j := range r.src {
							r.src[j] = servo.Setpoint{Mode: servo.Position, Position: stiff / gain, Correction: stiff / gain, Gain: gain, Stiffness: gain, PlayTime: r.period}
						}
						r.tick()
						r.servos.With(func() { goals = append(goals, r.servos.Servos()[0].Now().Goal) })
					}
				}
				tell(1, 3)
				before := goals[len(goals)-1]
				goals = goals[:0]
				tell(share, 4)
				// the gains that it may have on the way: five steps, and the one that it is asked for
				var may []float64
				for g, n := k.full, int64(share*float64(k.full)+0.5); ; g = max(n, g-max(1, k.full/5)) {
					may = append(may, stiff*float64(k.full)/float64(g))
					if g == n {
						break
					}
				}
				const tolerance = 0.006 // rad: a step of the coarsest
				if math.Abs(before-stiff) > tolerance || math.Abs(goals[len(goals)-1]-may[len(may)-1]) > tolerance {
					t.Errorf("the goal was %g, want %g; it is %g, want %g", before, stiff, goals[len(goals)-1], may[len(may)-1])
				}
				seen := map[int]bool{}
				for i, g := range goals {
					at := -1
					for n, want := range may {
						if math.Abs(g-want) < tolerance {
							at = n
						}
					}
					if seen[at] = true; at < 0 || i > 0 && g < goals[i-1]-tolerance {
						t.Fatalf("tick %d: the goal is %g after %g, and gains on the way want %v", i, g, goals[max(i-1, 0)], may)
					}
				}
				if len(seen) < 3 {
					t.Errorf("%d of the goals %v were seen", len(seen), may)
				}
			})
		})
	}
}
