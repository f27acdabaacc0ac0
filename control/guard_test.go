package control

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/servo"
)

func setpoint(x float64) servo.Setpoint {
	return servo.Setpoint{Position: x, PlayTime: 0.01, Stiffness: 1, Mode: servo.Position}
}

var guardBounds = GuardBounds{Lower: -1, Upper: 1, Rate: 5, Distance: 0.5}

func TestGuardRules(t *testing.T) {
	here := servo.Reading{Position: 0.2}
	for _, tc := range []struct {
		name string
		in   servo.Setpoint
		at   servo.Reading
		want float64
		trip Trip
	}{
		{"sane", setpoint(0.3), here, 0.3, 0},
		{"non-finite", setpoint(math.NaN()), here, 0.2, TripFinite},
		{"infinite", setpoint(math.Inf(1)), here, 0.2, TripFinite},
		{"beyond the range", setpoint(1.2), servo.Reading{Position: 0.9}, 1, TripRange},
		{"far from where it is", setpoint(0.9), here, 0.7, TripDistance},
		{"never read", setpoint(0.9), servo.Reading{Age: servo.Never}, 0.9, 0},
		{"non-finite and never read", setpoint(math.NaN()), servo.Reading{Age: servo.Never}, 0, TripFinite},
		{"play time of zero", servo.Setpoint{Position: 0.3, Stiffness: 1, Mode: servo.Position}, here, 0.2, TripFinite},
	} {
		g := NewGuard([]GuardBounds{guardBounds})
		s := tc.in
		trip := g.Apply(0, &s, &tc.at, 0.01)
		if math.Abs(s.Position-tc.want) > 1e-15 || trip != tc.trip || !(s.PlayTime > 0) {
			t.Errorf("%s: target %g, trip %b, play time %g; want %g, %b", tc.name, s.Position, trip, s.PlayTime, tc.want, tc.trip)
		}
	}
}

func TestGuardBoundsTheRate(t *testing.T) {
	g := NewGuard([]GuardBounds{guardBounds})
	at := servo.Reading{}
	s := setpoint(0)
	g.Apply(0, &s, &at, 0.01)
	s = setpoint(0.4)
	if trip := g.Apply(0, &s, &at, 0.01); trip != TripRate || math.Abs(s.Position-0.05) > 1e-15 {
		t.Errorf("target %g, trip %b", s.Position, trip)
	}
	g.Reset(0)
	s = setpoint(0.4)
	if trip := g.Apply(0, &s, &at, 0.01); trip != 0 || s.Position != 0.4 {
		t.Errorf("after torque-on: target %g, trip %b", s.Position, trip)
	}
}

func TestJointWithoutTorquePasses(t *testing.T) {
	g := NewGuard([]GuardBounds{guardBounds})
	s := servo.Setpoint{Mode: servo.Off, Position: math.NaN()}
	if trip := g.Apply(0, &s, &servo.Reading{}, 0.01); trip != 0 || s.Mode != servo.Off {
		t.Errorf("%+v, trip %b", s, trip)
	}
}

// TestNoInvalidSetpointReachesAServo feeds extreme and non-finite values at random.
func TestNoInvalidSetpointReachesAServo(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	g := NewGuard([]GuardBounds{guardBounds})
	extreme := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -1e300, 0, 0.3, -0.7}
	pick := func() float64 { return extreme[rng.IntN(len(extreme))] }
	for range 20000 {
		s := servo.Setpoint{Position: pick(), PlayTime: pick(), Stiffness: pick(), Correction: pick(), Gain: pick(), Mode: servo.Mode(rng.IntN(int(servo.NumModes)))}
		r := servo.Reading{Position: pick(), Age: []uint32{0, 3, servo.Never}[rng.IntN(3)]}
		g.Apply(0, &s, &r, 0.01)
		if !s.Finite() || s.Mode == servo.Position && (s.Position < -1 || s.Position > 1 || !(s.PlayTime > 0)) {
			t.Fatalf("out came %+v", s)
		}
	}
}

// TestGuardKeepsTheRangeWithoutPositions: a servo that is told a velocity or an effort
// does not leave its range either, and may always come back into it.
func TestGuardKeepsTheRangeWithoutPositions(t *testing.T) {
	const dt = 0.01
	guard := NewGuard([]GuardBounds{{Lower: -1, Upper: 1, Rate: 10, Distance: 1, Effort: 5}})
	for _, tc := range []struct {
		name     string
		at       float64
		age      uint32
		in, want servo.Setpoint
		trip     Trip
	}{
		{"inside", 0, 0, servo.Setpoint{Mode: servo.Velocity, Velocity: 3}, servo.Setpoint{Mode: servo.Velocity, Velocity: 3}, 0},
		{"as far as the end", 0.99, 0, servo.Setpoint{Mode: servo.Velocity, Velocity: 3}, servo.Setpoint{Mode: servo.Velocity, Velocity: 1}, TripRange},
		{"at the end", 1, 0, servo.Setpoint{Mode: servo.Velocity, Velocity: 3}, servo.Setpoint{Mode: servo.Velocity}, TripRange},
		{"beyond, outwards", -1.2, 0, servo.Setpoint{Mode: servo.Velocity, Velocity: -3}, servo.Setpoint{Mode: servo.Velocity}, TripRange},
		{"beyond, back", -1.2, 0, servo.Setpoint{Mode: servo.Velocity, Velocity: 3}, servo.Setpoint{Mode: servo.Velocity, Velocity: 3}, 0},
		{"never read", 0, servo.Never, servo.Setpoint{Mode: servo.Velocity, Velocity: 3}, servo.Setpoint{Mode: servo.Velocity}, TripRange},
		{"effort inside", 0.5, 0, servo.Setpoint{Mode: servo.Effort, Effort: 2}, servo.Setpoint{Mode: servo.Effort, Effort: 2}, 0},
		{"effort at the end, outwards", 1, 0, servo.Setpoint{Mode: servo.Effort, Effort: 2}, servo.Setpoint{Mode: servo.Effort}, TripRange},
		{"effort at the end, back", 1, 0, servo.Setpoint{Mode: servo.Effort, Effort: -2}, servo.Setpoint{Mode: servo.Effort, Effort: -2}, 0},
		{"effort beyond the other end", -1.1, 0, servo.Setpoint{Mode: servo.Effort, Effort: -2}, servo.Setpoint{Mode: servo.Effort}, TripRange},
	} {
		s := tc.in
		trip := guard.Apply(0, &s, &servo.Reading{Position: tc.at, Age: tc.age}, dt)
		if trip != tc.trip || s.Mode != tc.want.Mode || math.Abs(s.Velocity-tc.want.Velocity) > 1e-9 || s.Effort != tc.want.Effort {
			t.Errorf("%s: %+v, %b, want %+v, %b", tc.name, s, trip, tc.want, tc.trip)
		}
	}
}

// TestGoalsMayPassJointLimitsWithinTheServosRange: a model's correction leads beyond the limits of the
// joint and far from where it is, but never out of the servo's own range, nor without bound.
func TestGoalsMayPassJointLimitsWithinTheServosRange(t *testing.T) {
	given := []GuardBounds{{Lower: -1, Upper: 1, Rate: 1e9, Distance: 1, Effort: math.Inf(1)}}
	at := servo.Reading{Position: 0.9}
	goal := func(g *Guard, position float64) float64 {
		s := servo.Setpoint{Mode: servo.Position, Position: position, Stiffness: 1, PlayTime: 0.01}
		g.Apply(0, &s, &at, 0.01)
		return s.Position
	}
	for _, c := range []struct{ reach, low, high, ask, want float64 }{
		{0.4, math.Inf(-1), math.Inf(1), 1.3, 1.3},
		{0.4, math.Inf(-1), math.Inf(1), 9, 1.4},
		{0.4, -1.2, 1.2, 9, 1.2},
		{0.4, -0.5, 0.5, 9, 1}, // a range that is narrower than the limits was told of elsewhere
		{2, math.Inf(-1), math.Inf(1), 2.6, 2.6},
		{math.Inf(1), math.Inf(-1), math.Inf(1), 99, 4},
	} {
		g := NewGuard(given)
		g.Reach(0, c.reach, c.low, c.high)
		if got := goal(g, c.ask); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v: told %g", c, got)
		}
	}
	if got := goal(NewGuard(given), 1.3); got != 1 {
		t.Errorf("without a model: told %g", got)
	}
}
