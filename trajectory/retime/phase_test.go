package retime

import (
	"math"
	"math/rand/v2"
	"testing"
)

const phaseSeed = 6

// strip is a constraint as the test knows it.
type strip struct {
	alpha, beta, low, high float64
	exit                   bool
}

func random(r *rand.Rand) (v interval, strips []strip) {
	v = interval{Most: math.Exp(2 * r.NormFloat64()), Length: math.Exp(r.NormFloat64())}
	for range 1 + r.IntN(10) {
		s := strip{r.NormFloat64(), r.NormFloat64(), math.Exp(r.NormFloat64()), math.Exp(r.NormFloat64()), r.IntN(2) == 0}
		switch r.IntN(8) {
		case 0:
			s.alpha = 0
		case 1:
			s.low = math.Inf(1)
		case 2:
			s.high = math.Inf(1)
		}
		strips = append(strips, s)
		if s.exit {
			v.Within(1, s.alpha, s.beta, s.low, s.high)
		} else {
			v.Entry(s.alpha, s.beta, s.low, s.high)
		}
	}
	return v, strips
}

// allowed checks a pair (u, x) against the strips themselves.
func allowed(strips []strip, u, x, length, next, slack float64) bool {
	out := x + 2*length*u
	if out < -slack || out > next+slack {
		return false
	}
	for _, s := range strips {
		y := x
		if s.exit {
			y = out
		}
		if g := s.alpha*u + s.beta*y; g > s.high+slack || g < -s.low-slack {
			return false
		}
	}
	return true
}

// Limit is the largest x with some u: against a search over x and u that knows
// only the strips.
func TestLimitIsTheLargestFeasibleSpeed(t *testing.T) {
	r := rand.New(rand.NewPCG(phaseSeed, 1))
	n := 3000
	if testing.Short() {
		n = 300
	}
	for range n {
		v, strips := random(r)
		most, next := v.Most, math.Exp(r.NormFloat64())
		if r.IntN(4) == 0 {
			next = 0
		}
		x := v.Limit(most, next, 1)
		if x < 0 || x > most {
			t.Fatalf("seed %d: limit %g outside [0, %g]", phaseSeed, x, most)
		}
		low, high := v.Range(x, next, 1)
		u := (low + high) / 2
		if scale := 1e-9 * (1 + math.Abs(u) + x); low > high+scale || !allowed(strips, u, x, v.Length, next, 1e-6*(1+math.Abs(u)+x)) {
			t.Fatalf("seed %d: nothing allowed at the limit %g: u from %g to %g", phaseSeed, x, low, high)
		}
		// beyond the limit no u of a fine grid is allowed
		for _, more := range []float64{1.001, 1.1, 2} {
			y := x*more + 1e-6
			if y > v.Most {
				break
			}
			for k := -2000; k <= 2000; k++ {
				u := (next-y)/(2*v.Length) - float64(k)*(1+math.Abs(high))*0.005
				if allowed(strips, u, y, v.Length, next, 0) {
					t.Fatalf("seed %d: limit %g, but %g is feasible with u = %g", phaseSeed, x, y, u)
				}
			}
		}
	}
	t.Logf("%d intervals", n)
}

// Every u in the range is allowed, every u outside is not.
func TestRangeIsExactlyWhatTheStripsAllow(t *testing.T) {
	r := rand.New(rand.NewPCG(phaseSeed, 2))
	for range 20000 {
		v, strips := random(r)
		next := math.Exp(r.NormFloat64())
		x := r.Float64() * v.Limit(v.Most, next, 1)
		low, high := v.Range(x, next, 1)
		if low > high {
			t.Fatalf("seed %d: empty range at %g below the limit", phaseSeed, x)
		}
		slack := 1e-9 * (1 + math.Abs(low) + math.Abs(high))
		for _, f := range []float64{0, 0.5, 1} {
			if !allowed(strips, low+f*(high-low), x, v.Length, next, slack*100) {
				t.Fatalf("seed %d: u in the range is not allowed", phaseSeed)
			}
		}
		for _, u := range []float64{low - 1e-3 - slack, high + 1e-3 + slack} {
			if allowed(strips, u, x, v.Length, next, 0) {
				t.Fatalf("seed %d: u = %g outside [%g, %g] is allowed", phaseSeed, u, low, high)
			}
		}
	}
}

// A share of the limits is the same as smaller bounds.
func TestShareScalesTheBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(phaseSeed, 3))
	for range 2000 {
		v, strips := random(r)
		v.Most = math.Inf(1)
		small := interval{Most: math.Inf(1), Length: v.Length}
		full := interval{Most: math.Inf(1), Length: v.Length}
		const share = 0.8
		for _, s := range strips {
			at := 0.0 // of the way through
			if s.exit {
				at = 1
			}
			small.Within(at, s.alpha, s.beta, s.low*share, s.high*share)
			full.Within(at, s.alpha, s.beta, s.low, s.high)
		}
		a, b := small.Limit(50, 3, 1), full.Limit(50, 3, share)
		if math.Abs(a-b) > 1e-9*(1+a) {
			t.Fatalf("seed %d: limit %g with smaller bounds, %g with a share", phaseSeed, a, b)
		}
	}
}

func TestIntervalNoAlloc(t *testing.T) {
	v, _ := random(rand.New(rand.NewPCG(phaseSeed, 4)))
	if n := testing.AllocsPerRun(100, func() { v.Limit(1, 1, 1); v.Range(0.1, 1, 1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzLimitIsFinite(f *testing.F) {
	f.Add(1.0, -1.0, 0.0, 1.0, 1.0, 1.0, 2.0)
	f.Add(1e-300, 1e300, -1e300, 5e-324, 1e-9, 1e18, 0.0)
	f.Fuzz(func(t *testing.T, a, b, c, d, length, most, next float64) {
		for _, x := range []float64{a, b, c, d} {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return
			}
		}
		if !(length > 1e-100 && length < 1e100 && most >= 0 && most < 1e100 && next >= 0 && next < 1e100) {
			return
		}
		v := interval{Most: most, Length: length}
		v.Entry(a, b, 0.5, 1)
		v.Within(1, c, d, 2, 1)
		v.Within(0.5, a, d, math.Inf(1), 1)
		x := v.Limit(most, next, 1)
		if !(x >= 0 && x <= most) {
			t.Fatalf("limit %g", x)
		}
		low, high := v.Range(x, next, 1)
		if math.IsNaN(low) || math.IsNaN(high) {
			t.Fatalf("range %g to %g", low, high)
		}
	})
}
