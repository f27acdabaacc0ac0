package feedforward

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestClaimsThatAgreeAreKept: an acceleration that the command moves by passes bit for bit, at
// slow periods too.
func TestClaimsThatAgreeAreKept(t *testing.T) {
	for _, dt := range []float64{0.001, 0.0112, 0.0224} {
		a := NewAccelerations([]float64{0})
		for k := range 2000 {
			sin := math.Sin(3 * float64(k) * dt)
			if a.Update(0, 0.4*sin, -3.6*sin, true, dt); a.A[0] != -3.6*sin {
				t.Fatalf("period %g, tick %d: %g, claimed %g", dt, k, a.A[0], -3.6*sin)
			}
		}
	}
}

// TestWithoutAClaimTheDifferenceCounts: of a reference that claims no acceleration the filtered
// difference of its velocity is taken, two periods and a half old; it begins with nothing, and is
// never more than the motion has.
func TestWithoutAClaimTheDifferenceCounts(t *testing.T) {
	const dt = 0.005
	a := NewAccelerations([]float64{0})
	most := 0.0
	for k := range 2000 {
		at := float64(k) * dt
		a.Update(0, 0.4*math.Sin(3*at), 0, true, dt)
		most = max(most, math.Abs(a.A[0]))
		if k <= window && a.A[0] != 0 {
			t.Fatalf("tick %d: %g before anything is known", k, a.A[0])
		}
		if want := -3.6 * math.Sin(3*(at-2.5*dt)); k > 400 && a.joint[0].share == 1 && math.Abs(a.A[0]-want) > 0.01 {
			t.Fatalf("tick %d: %g, the motion had %g", k, a.A[0], want)
		}
	}
	if a.joint[0].share != 1 || most > 3.7 || most < 3 {
		t.Errorf("share %g, up to %g", a.joint[0].share, most)
	}
}

// TestAccelerationsStayBounded: starts in motion, steps of position and of claims, noise, and what is not
// finite stay within the limit of the joint; a joint without torque is at rest; nothing comes of a
// start that moves at once.
func TestAccelerationsStayBounded(t *testing.T) {
	const dt, limit = 0.001, 20.0
	rng := rand.New(rand.NewPCG(21, 32))
	a := NewAccelerations([]float64{limit, math.Inf(1)})
	q := 0.0
	for k := range 20000 {
		claim := 0.0
		switch rng.IntN(20) {
		case 0:
			q += rng.NormFloat64()
		case 1:
			claim = 1e6 * rng.NormFloat64()
		case 2:
			claim = math.NaN()
		default:
			q += 0.01 * rng.NormFloat64()
		}
		moves := rng.IntN(50) > 0
		for j := range 2 {
			a.Update(j, q, claim, moves, dt)
			if x := a.A[j]; math.IsNaN(x) || math.Abs(x) > []float64{limit, steepest}[j] || !moves && x != 0 {
				t.Fatalf("tick %d: joint %d accelerates by %g", k, j, x)
			}
		}
	}
	// the original took a velocity of zero before its first cycle: 2 rad/s was 2000 rad/s²
	a = NewAccelerations([]float64{0})
	for k := range 50 {
		if a.Update(0, 2*float64(k)*dt, 0, true, dt); a.A[0] != 0 {
			t.Fatalf("tick %d of an even motion: %g", k, a.A[0])
		}
	}
}

// TestDoubtIsGradual: from a claim that stops being true to the difference, and back, there are
// no steps beyond a fifth of what lies between them.
func TestDoubtIsGradual(t *testing.T) {
	const dt = 0.002
	a := NewAccelerations([]float64{0})
	last, worst := 0.0, 0.0
	for k := range 4000 {
		at := float64(k) * dt
		truth := -10 * math.Sin(5*at)
		claim := truth
		if k > 1000 && k < 2500 {
			claim = 0
		}
		a.Update(0, 0.4*math.Sin(5*at), claim, true, dt)
		if k > 1 && k != 1001 { // where the claim itself steps
			worst = max(worst, math.Abs(a.A[0]-last))
		}
		last = a.A[0]
	}
	if worst > 10.0/window+0.2 {
		t.Errorf("it steps by %g rad/s²", worst)
	}
}
