package move

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestQuadraticKnown: cases with known zeros, also those that a textbook formula
// loses to cancellation or overflow.
func TestQuadraticKnown(t *testing.T) {
	for _, c := range []struct {
		name    string
		a, b, c float64
		want    []float64
	}{
		{"two", 1, -3, 2, []float64{1, 2}},
		{"none", 1, 0, 1, nil},
		{"double", 1, -2, 1, []float64{1}},
		{"linear", 0, 2, -8, []float64{4}},
		{"constant", 0, 0, 3, nil},
		{"nothing", 0, 0, 0, nil},
		{"zero twice", 5, 0, 0, []float64{0}},
		{"zero and another", 1, -4, 0, []float64{0, 4}},
		{"cancellation", 1, -1e8, 1, []float64{1e-8, 1e8}},
		{"large", 1e300, -3e300, 2e300, []float64{1, 2}},
		{"small", 1e-300, -3e-300, 2e-300, []float64{1, 2}},
		{"one far away", 1e-320, 1, -1, []float64{1}},
		{"not finite", math.Inf(1), 1, 1, nil},
		{"not a number", 1, math.NaN(), 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			x1, x2, n := quadratic(c.a, c.b, c.c)
			got := []float64{x1, x2}[:n]
			if len(got) != len(c.want) {
				t.Fatalf("Quadratic(%g, %g, %g) = %v, want %v", c.a, c.b, c.c, got, c.want)
			}
			for i := range got {
				if math.Abs(got[i]-c.want[i]) > 4e-16*math.Abs(c.want[i]) {
					t.Errorf("Quadratic(%g, %g, %g) = %v, want %v", c.a, c.b, c.c, got, c.want)
				}
			}
		})
	}
}

// TestQuadraticFindsItsZeros: coefficients made from zeros give them back, to the
// accuracy that their distance allows.
func TestQuadraticFindsItsZeros(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		scale := func() float64 { return r.NormFloat64() * math.Exp(20*r.Float64()-10) }
		a, p, q := scale(), scale(), scale()
		if p > q {
			p, q = q, p
		}
		x1, x2, n := quadratic(a, -a*(p+q), a*p*q)
		if n == 0 {
			continue // so close to each other that rounding parts them from the axis
		}
		if n == 1 {
			x2 = x1
		}
		// an error of ε in the coefficients moves a zero by ε·(its size)²/distance
		size := max(math.Abs(p), math.Abs(q))
		tol := min(1e-15*size*size/(q-p), 1e-7*size)
		if math.Abs(x1-p) > tol+1e-15*size || math.Abs(x2-q) > tol+1e-15*size {
			t.Fatalf("zeros %g %g of a = %g come back as %g %g", p, q, a, x1, x2)
		}
	}
}

// TestRising: every kind of rising function is solved to the last digits.
func TestRising(t *testing.T) {
	calls := 0
	for _, c := range []struct {
		name      string
		f         func(x float64) (y, slope float64)
		lo, hi    float64
		want, tol float64
		most      int // calls
	}{
		{"line", func(x float64) (float64, float64) { return 3*x - 6, 3 }, 0, 10, 2, 1e-15, 3},
		{"cube", func(x float64) (float64, float64) { return x*x*x - 8, 3 * x * x }, 0, 1e6, 2, 1e-15, 50},
		{"root", func(x float64) (float64, float64) { return math.Sqrt(x) - 3, 0.5 / math.Sqrt(x) }, 0, 100, 9, 1e-14, 60},
		{"step", func(x float64) (float64, float64) { return math.Copysign(1, x-0.3), 0 }, 0, 1, 0.3, 1e-15, 60},
		{"slope of the wrong sign", func(x float64) (float64, float64) { return x - 0.7, -1 }, 0, 1, 0.7, 1e-15, 70},
		{"flat at the zero", func(x float64) (float64, float64) { return math.Pow(x-1, 5), 5 * math.Pow(x-1, 4) }, 0, 3, 1, 1e-3, 100},
		{"slope not a number", func(x float64) (float64, float64) { return x - 5, math.NaN() }, 0, 8, 5, 1e-14, 70},
		{"positive everywhere", func(x float64) (float64, float64) { return x + 1, 1 }, 0, 8, 0, 0, 3},
		{"negative everywhere", func(x float64) (float64, float64) { return x - 9, 1 }, 0, 8, 8, 0, 3},
		{"zero at the end", func(x float64) (float64, float64) { return x - 8, 1 }, 0, 8, 8, 0, 3},
		{"wide", func(x float64) (float64, float64) { return math.Atan(x - 1), 1 / (1 + (x-1)*(x-1)) }, -1e300, 1e300, 1, 1e-14, 1200},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, guess := range []float64{c.lo, c.hi, (c.lo + c.hi) / 2, math.NaN()} {
				calls = 0
				var asked float64
				got := rising(func(x float64) (float64, float64) {
					calls++
					asked = x
					if !(x >= c.lo && x <= c.hi) {
						t.Fatalf("asked for f(%g) outside [%g, %g]", x, c.lo, c.hi)
					}
					return c.f(x)
				}, c.lo, c.hi, guess)
				if math.Abs(got-c.want) > c.tol*(1+math.Abs(c.want)) {
					t.Errorf("from %g: %.17g, want %.17g", guess, got, c.want)
				}
				if asked != got {
					t.Errorf("from %g: asked last for f(%g), returned %g", guess, asked, got)
				}
				if calls > c.most {
					t.Errorf("from %g: %d calls, more than %d", guess, calls, c.most)
				}
			}
		})
	}
}

// TestRisingEndsOnNaN: a function that is not a number ends the search.
func TestRisingEndsOnNaN(t *testing.T) {
	got := rising(func(x float64) (float64, float64) { return math.NaN(), math.NaN() }, 0, 1, 0.5)
	if got != 0.5 {
		t.Errorf("Rising = %g", got)
	}
}

func BenchmarkRising(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		rising(func(x float64) (float64, float64) { return x*x*x - 8, 3 * x * x }, 0, 10, 3)
	}
}
