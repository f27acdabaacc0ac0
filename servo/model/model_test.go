package model

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// random is a servo with parameters of every size that small servos have, some with a gear,
// a Stribeck curve, an offset, a lead.
func random(rng *rand.Rand) Model {
	between := func(low, high float64) float64 { return low * math.Pow(high/low, rng.Float64()) }
	m := Model{Kp: between(1, 500), Voltage: between(5, 24), Gear: 1, DeadZone: between(0.001, 0.05)}
	m.A = [6]float64{between(0.1, 5), between(5, 100), between(1, 20), between(20, 400), 0, 0}
	if rng.IntN(2) == 0 {
		m.Gear = between(0.3, 4)
	}
	if rng.IntN(2) == 0 {
		m.A[4], m.Speed = m.A[2]*(2*rng.Float64()-1), between(0.02, 0.3)
	}
	if rng.IntN(2) == 0 {
		m.A[5] = 5 * (2*rng.Float64() - 1)
	}
	if rng.IntN(2) == 0 {
		m.Lead = between(0.001, 0.1)
	}
	switch rng.IntN(3) {
	case 0:
		m.Saturation = between(5, 60)
	case 1:
		m.Effort = between(0.2, 5)
	}
	return m
}

func motion(rng *rand.Rand) Motion {
	n := func(x float64) float64 { return x * (2*rng.Float64() - 1) }
	return Motion{n(3), n(4), n(40), n(2)}
}

// TestTorqueUndoesInvert: what a goal makes of a servo is what the goal was made for, unless the
// servo cannot; then it is less, and said.
func TestTorqueUndoesInvert(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	saturated := 0
	for range 20000 {
		m, w := random(rng), motion(rng)
		if wrong := m.Check(); wrong != nil {
			t.Fatalf("%+v: %v", m, errors.Join(wrong...))
		}
		u := m.Voltage * (0.8 + 0.4*rng.Float64())
		g := m.Invert(w, u)
		tau, band := m.Torque(g.Position, w.Position, w.Velocity, w.Acceleration, u)
		j := m.AtJoint()
		if inside := math.Abs(w.Velocity) < j.DeadZone; inside != (band > 0) {
			t.Fatalf("at %g rad/s with a dead zone of %g the band is %g", w.Velocity, j.DeadZone, band)
		}
		// rounding of the goal, as torque
		slack := 1e-12 * (1 + m.FullStiffness(u)*(math.Abs(g.Position)+math.Abs(w.Position)) + math.Abs(w.Effort))
		if g.Saturated {
			saturated++
			if y := j.Kp * u * g.Correction; math.Abs(math.Abs(y)-m.Limit(u)) > 1e-9*m.Limit(u) {
				t.Fatalf("saturated at y = %g, the limit is %g", y, m.Limit(u))
			}
			continue
		}
		if off := math.Abs(tau - w.Effort); off > slack {
			t.Fatalf("%+v at %+v: torque %g, asked for %g", m, w, tau, w.Effort)
		}
	}
	if saturated < 500 || saturated > 15000 {
		t.Errorf("%d of 20000 saturate: the test does not see both", saturated)
	}
}

// TestGearIsAServoBehindAGear: a servo with a gear is the bare one at k times the angle and
// 1/k of the torque; a2 counts by 1/k and a3 by 1/k².
func TestGearIsAServoBehindAGear(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for range 5000 {
		m, w := random(rng), motion(rng)
		bare, k := m, m.Gear
		bare.Gear = 1
		at := Motion{k * w.Position, k * w.Velocity, k * w.Acceleration, w.Effort / k}
		got, want := m.Invert(w, m.Voltage), bare.Invert(at, m.Voltage)
		if math.Abs(k*got.Position-want.Position) > 1e-9*(1+math.Abs(want.Position)) || got.Saturated != want.Saturated {
			t.Fatalf("gear %g: %+v, the servo alone %+v", k, got, want)
		}
	}
	m := Model{Kp: 100, Voltage: 12, Gear: 1.54, A: [6]float64{1.3887, 52.0818, 7.0933, 212.2978}}
	j := m.AtJoint()
	if want := ([6]float64{1.3887, 52.0818, 7.0933 / 1.54, 212.2978 / (1.54 * 1.54)}); j.A != want {
		t.Errorf("at the joint %v, want %v", j.A, want)
	}
}

// TestSignsAndSizes: figures by hand, for kp 100 at 12 V. A torque, a velocity and an acceleration
// all need a goal ahead: the comment of the original message has − a3·τ, which its code has not.
func TestSignsAndSizes(t *testing.T) {
	m := Model{Kp: 100, Voltage: 12, A: [6]float64{2.1095, 53.9546, 12.5499, 234.9008}, DeadZone: 0.02}
	for _, c := range []struct {
		name string
		w    Motion
		want float64
	}{
		{"torque", Motion{Effort: 1}, 234.9008 / 1200},
		{"speed", Motion{Velocity: 1}, (53.9546 + 12.5499) / 1200},
		{"backwards", Motion{Velocity: -1}, -(53.9546 + 12.5499) / 1200},
		{"within the dead zone", Motion{Velocity: 0.01}, (0.539546 + 12.5499/2) / 1200},
		{"rest", Motion{}, 0},
		{"acceleration", Motion{Acceleration: 10}, 21.095 / 1200},
	} {
		if g := m.Invert(c.w, 12); math.Abs(g.Correction-c.want) > 1e-12 || g.Saturated {
			t.Errorf("%s: correction %g, want %g", c.name, g.Correction, c.want)
		}
	}
	if k := m.FullStiffness(12); math.Abs(k-1200/234.9008) > 1e-12 {
		t.Errorf("stiffness %g N·m/rad", k)
	}
	if s := m.Share(2.5, 12); math.Abs(s*m.FullStiffness(12)-2.5) > 1e-12 || m.Share(99, 12) != 1 {
		t.Errorf("share %g", s)
	}
	if _, band := m.Torque(0, 0, 0, 0, 12); math.Abs(band-12.5499/234.9008) > 1e-12 {
		t.Errorf("at rest the band is %g N·m, want a2/a3", band)
	}
	if _, band := m.Torque(0, 0, 0.021, 0, 12); band != 0 {
		t.Errorf("outside the dead zone the band is %g", band)
	}
}

// TestCorrectionIsClippedBySaturationAlone: not by an angle, such as the 0.35 rad of the original.
func TestCorrectionIsClippedBySaturationAlone(t *testing.T) {
	m := Model{Kp: 30, Voltage: 12, Saturation: 37, A: [6]float64{0, 50, 0, 200}}
	if g := m.Invert(Motion{Effort: 1.8}, 12); g.Saturated || math.Abs(g.Correction-1) > 1e-12 {
		t.Errorf("%+v, want 1 rad", g)
	}
	if g := m.Invert(Motion{Effort: 9}, 12); !g.Saturated || math.Abs(g.Correction-37.0/30) > 1e-12 {
		t.Errorf("%+v, want ks/kp", g)
	}
	if tau, _ := m.Torque(50, 0, 0, 0, 12); math.Abs(tau-37*12.0/200) > 1e-12 {
		t.Errorf("a goal far away makes %g N·m, want ks·U/a3", tau)
	}
	// at half the voltage half of it
	if tau, _ := m.Torque(50, 0, 0, 0, 6); math.Abs(tau-37*6.0/200) > 1e-12 {
		t.Errorf("at 6 V %g N·m", tau)
	}
}

// TestRotorCountsOnce: a0·q̈ is all that the model takes for the rotor.
func TestRotorCountsOnce(t *testing.T) {
	m := Model{Kp: 100, Voltage: 12, A: [6]float64{2, 0, 0, 200}}
	still, moved := m.Invert(Motion{Effort: 0.5}, 12), m.Invert(Motion{Effort: 0.5, Acceleration: 30}, 12)
	if got := (moved.Correction - still.Correction) * 1200 / 200; math.Abs(got-2.0/200*30) > 1e-12 {
		t.Errorf("30 rad/s² take %g N·m more, want a0/a3·30", got)
	}
}

func TestAbsurdModelsAreNamed(t *testing.T) {
	good := Model{Kp: 100, Voltage: 12, Gear: 1, A: [6]float64{2, 50, 10, 200}}
	for _, c := range []struct {
		change func(m *Model)
		want   string
	}{
		{func(m *Model) { m.Kp = 0 }, "kp is 0, must be above 0"},
		{func(m *Model) { m.Kp = math.NaN() }, "kp is NaN, not a finite number"},
		{func(m *Model) { m.A[3] = math.Inf(1) }, "parameters.a3 is +Inf"},
		{func(m *Model) { m.A[3] = -5 }, "parameters.a3 is -5, must be above 0"},
		{func(m *Model) { m.A[1] = -1 }, "parameters.a1 is -1, must not be negative"},
		{func(m *Model) { m.A[2] = -11 }, "friction at 0 rad/s is -0.055 N·m, must not drive"},
		{func(m *Model) { m.A[2], m.A[4], m.Speed = -9, 10, 0.01 }, "must not drive"},
		{func(m *Model) { m.A[1], m.A[2], m.A[4], m.Speed = 0, -1, 10, 0.01 }, "must not drive"},
		{func(m *Model) { m.A[4] = 3 }, "parameters.a4 is 3 and needs vs"},
		{func(m *Model) { m.Lead = 56 }, "lead is 56, at most 1"},
		{func(m *Model) { m.DeadZone = 3 }, "dead_zone is 3, at most 1"},
		{func(m *Model) { m.Gear = -2 }, "gear is -2, must not be negative"},
		{func(m *Model) { m.Gear = 1e-3 }, "gear is 0.001, at least 0.01"},
		{func(m *Model) { m.A[3] = 2e-7 }, "want"},
		{func(m *Model) { m.A[0] = 1e9 }, "rotor, a0/a3, is 5e+06 kg·m², want 0 … 100"},
		{func(m *Model) { m.Voltage = 12000 }, "voltage is 12000, at most 1000"},
		{func(m *Model) { m.Voltage, m.Kp = 0, 1e-6 }, "stiffness of a volt, kp/a3, is 5e-09 N·m/(rad·V), want 1e-06 … 1e+06"},
		{func(m *Model) { *m = Model{Kp: 1e-300, A: [6]float64{3: 1e-300}} }, "kp is 1e-300, want 1e-12 … 1e+12"},
		{func(m *Model) { *m = Model{Kp: 1, A: [6]float64{3: 1e20}} }, "parameters.a3 is 1e+20, want 1e-12 … 1e+12"},
	} {
		m := good
		c.change(&m)
		if err := errors.Join(m.Check()...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", m, err, c.want)
		}
	}
	if wrong := good.Check(); wrong != nil {
		t.Error(wrong)
	}
}

func TestNothingAllocates(t *testing.T) {
	m := Model{Kp: 100, Voltage: 12, Gear: 1.5, Saturation: 37, A: [6]float64{2, 50, 10, 200, 3, 1}, Speed: 0.1, DeadZone: 0.02}
	w := Motion{0.1, 0.2, 0.3, 0.4}
	if n := testing.AllocsPerRun(100, func() {
		g := m.Invert(w, 12)
		m.Torque(g.Position, 0.1, 0.2, 0.3, 12)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
