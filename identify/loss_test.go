package identify

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestStepsOfReadings: readings on a grid are recognised, also by a log of few digits; others are not.
func TestStepsOfReadings(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	of := func(f func(x float64) float64) float64 {
		all := make([]reading, 1500)
		for i := range all {
			all[i] = reading{t: float64(i) * 0.02, q: f(0.5 * math.Sin(0.13*float64(i)))}
		}
		return stepOf(all)
	}
	const step = 0.325 * math.Pi / 180
	round := func(x float64) float64 { return step*math.Round(x/step) + 0.0011 }
	if got := of(round); math.Abs(got/step-1) > 1e-6 {
		t.Errorf("step %g, want %g", got, step)
	}
	if got := of(func(x float64) float64 { return math.Round(1e4*round(x)) / 1e4 }); math.Abs(got/step-1) > 1e-3 {
		t.Errorf("in a log of four digits: step %g, want %g", got, step)
	}
	if got := of(func(x float64) float64 { return x + 1e-3*r.NormFloat64() }); got != 0 {
		t.Errorf("without steps: %g", got)
	}
	if got := of(func(x float64) float64 { return round(x) + 2e-3*r.NormFloat64() }); got != 0 {
		t.Errorf("with noise after the steps: %g", got)
	}
}

// TestCostOfSteps: slope and curvature are the derivatives of the cost, it is even, convex and flat within a step that is
// much wider than what strays, and least squares where steps are small.
func TestCostOfSteps(t *testing.T) {
	for _, l := range []loss{{scale: 0.3, half: 1}, {scale: 0.16, half: 1}, {scale: 3, half: 1}, {scale: 1}} {
		for r := -8.0; r <= 8; r += 0.37 {
			const h = 1e-5
			c, s, k := l.at(r)
			up, su, _ := l.at(r + h)
			down, sd, _ := l.at(r - h)
			if d := (up - down) / (4 * h); math.Abs(d-s) > 1e-6*(1+math.Abs(s)) {
				t.Errorf("%+v at %g: slope %g, by differences %g", l, r, s, d)
			}
			if d := (su - sd) / (2 * h); math.Abs(r) < l.half+huber*l.scale && math.Abs(d-k) > 1e-5 {
				t.Errorf("%+v at %g: curvature %g, by differences %g", l, r, k, d)
			}
			if other, _, _ := l.at(-r); other != c || !(k >= 0 && k <= 1+1e-12) || !(c >= 0) {
				t.Errorf("%+v at %g: cost %g and %g, curvature %g", l, r, c, other, k)
			}
		}
	}
	narrow := loss{scale: 0.1, half: 1}
	if c, _, _ := narrow.at(0.6); c > 1e-4 {
		t.Errorf("within a step: %g", c)
	}
}

// TestTheScaleOfSteps: what positions stray by besides rounding is found.
func TestTheScaleOfSteps(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, stray := range []float64{0.25, 0.5, 2} {
		rest := make([]float64, 4000)
		for i := range rest {
			model := 10 * r.Float64()
			rest[i] = math.Round(model+stray*r.NormFloat64()) - model
		}
		l := loss{half: 0.5}
		l.estimate(rest, 0)
		if math.Abs(l.scale/stray-1) > 0.15 {
			t.Errorf("strays by %g, found %g", stray, l.scale)
		}
	}
}
