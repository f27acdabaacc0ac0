package model

import (
	"math"
	"testing"
)

// TestMistakesOfTheOriginalAreNotMade: what was wrong in the components that this replaces.
func TestMistakesOfTheOriginalAreNotMade(t *testing.T) {
	m := Model{Kp: 100, Voltage: 12, Gear: 1.54, DeadZone: 0.02, A: [6]float64{1.3887, 52.0818, 7.0933, 212.2978}}
	w := Motion{Position: 0.2, Velocity: 0.8, Acceleration: -2, Effort: 0.3}

	// "target = q + dq·L + ½·ddq·L² + [a0·ddq·k + a1·dq·k + a2·sgn + a3·tau/k]/(kp·V·k)", which is right
	const k, L = 1.54, 0.0112
	m.Lead = L
	want := 0.2 + 0.8*L - 2*L*L/2 + (1.3887*-2*k+52.0818*0.8*k+7.0933+212.2978*0.3/k)/(100*12*k)
	if g := m.Invert(w, 12); math.Abs(g.Position-want) > 1e-12 {
		t.Errorf("goal %g, the original's formula gives %g", g.Position, want)
	}

	// the property lead was bound to the period: here it changes goals by itself, and as much as it is
	short, long := m, m
	short.Lead, long.Lead = 0, 0.056
	ahead := long.Invert(w, 12).Position - short.Invert(w, 12).Position
	if want := 0.8*0.056 - 0.056*0.056; math.Abs(ahead-want) > 1e-12 {
		t.Errorf("a lead of 56 ms is %g rad ahead, want %g", ahead, want)
	}

	// identification did not divide the gear out that inversion has: here both use one equation
	tau, _ := m.Torque(m.Invert(w, 12).Position, w.Position, w.Velocity, w.Acceleration, 12)
	if math.Abs(tau-w.Effort) > 1e-12 {
		t.Errorf("torque %g of a goal for %g", tau, w.Effort)
	}

	// friction of the measured velocity chatters at rest: the dead zone is continuous through zero
	still := m.Invert(Motion{Effort: 0.3}, 12).Correction
	for _, v := range []float64{1e-9, -1e-9} {
		if d := m.Invert(Motion{Velocity: v, Effort: 0.3}, 12).Correction - still; math.Abs(d) > 1e-8 {
			t.Errorf("at %g rad/s the goal steps by %g", v, d)
		}
	}
}
