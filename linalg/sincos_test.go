package linalg

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// maxSincosError is what SincosTo promises, in units of 2⁻⁵³.
const maxSincosError = 1.2

func TestSincosAgainstLongSeries(t *testing.T) {
	t.Parallel()
	const seed = 3
	rng := rand.New(rand.NewPCG(seed, 0))
	n := 40_000
	if testing.Short() {
		n = 4_000
	}
	x := make([]float64, n)
	for i := range x {
		switch rng.IntN(4) {
		case 0:
			x[i] = (rng.Float64()*2 - 1) * math.Pi
		case 1:
			x[i] = (rng.Float64()*2 - 1) * 100
		case 2: // close to the cuts and half-way between them
			x[i] = float64(rng.IntN(1001)-500)*arc/2 + rng.NormFloat64()*math.Pow(10, -16*rng.Float64())
		default:
			x[i] = (rng.Float64()*2 - 1) * maxReduced
		}
	}
	s, c := make([]float64, n), make([]float64, n)
	SincosTo(s, c, x)
	worst, at := 0.0, 0.0
	for i := range x {
		wantS, wantC := longSincos(x[i])
		if e := math.Max(offBy(s[i], wantS), offBy(c[i], wantC)); !(e <= worst) {
			worst, at = e, x[i]
		}
	}
	if !(worst <= maxSincosError) {
		t.Errorf("SincosTo(%v) is off by %.3f·2⁻⁵³, promised %v (seed %d)", at, worst, maxSincosError, seed)
	}
	t.Logf("worst error %.3f·2⁻⁵³ at %v", worst, at)
}

func TestSinesAreCorrectlyRounded(t *testing.T) {
	for k, s := range sines {
		x := new(big.Float).SetPrec(300).Mul(longPi, long(float64(k)*2/arcs))
		want, _ := longSeries(x)
		if w, _ := want.Float64(); s != w {
			t.Errorf("sines[%d] = %v, want %v", k, s, w)
		}
	}
}

func TestSincosOutsideReduction(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e7, -1e300, math.MaxFloat64} {
		var s, c [1]float64
		SincosTo(s[:], c[:], []float64{x})
		ws, wc := math.Sincos(x)
		if math.Float64bits(s[0]) != math.Float64bits(ws) || math.Float64bits(c[0]) != math.Float64bits(wc) {
			t.Errorf("SincosTo(%v) = %v, %v, want %v, %v", x, s[0], c[0], ws, wc)
		}
	}
}

func TestSincosExactPoints(t *testing.T) {
	var s, c [1]float64
	SincosTo(s[:], c[:], []float64{0})
	if s[0] != 0 || c[0] != 1 {
		t.Errorf("SincosTo(0) = %v, %v, want 0, 1", s[0], c[0])
	}
	SincosTo(s[:], c[:], []float64{5e-324})
	if s[0] != 5e-324 || c[0] != 1 {
		t.Errorf("SincosTo(5e-324) = %v, %v, want 5e-324, 1", s[0], c[0])
	}
}

func TestSincosInPlace(t *testing.T) {
	x := []float64{0.3, -2, 7}
	y := append([]float64(nil), x...)
	s, c := make([]float64, 3), make([]float64, 3)
	SincosTo(s, c, x)
	SincosTo(y, make([]float64, 3), y)
	for i := range y {
		if y[i] != s[i] {
			t.Errorf("in place: sin[%d] = %v, want %v", i, y[i], s[i])
		}
	}
}

func TestSincosNoAlloc(t *testing.T) {
	x, s, c := make([]float64, 12), make([]float64, 12), make([]float64, 12)
	if n := testing.AllocsPerRun(100, func() { SincosTo(s, c, x) }); n != 0 {
		t.Errorf("SincosTo allocates %v times", n)
	}
}

// offBy returns |got − want| in units of 2⁻⁵³.
func offBy(got float64, want *big.Float) float64 {
	d := new(big.Float).SetPrec(300).SetFloat64(got)
	e, _ := d.Sub(d, want).Float64()
	return math.Abs(e) * (1 << 53)
}

// longSincos reduces by a π of 100 digits and sums the series with 300 bits; it
// shares nothing with the code under test.
func longSincos(x float64) (sin, cos *big.Float) {
	y := long(x)
	turns := math.Round(x / (2 * math.Pi))
	return longSeries(y.Sub(y, new(big.Float).SetPrec(300).Mul(long(2*turns), longPi)))
}

// longSeries sums the Taylor series.
func longSeries(y *big.Float) (sin, cos *big.Float) {
	sin, cos = long(0), long(0)
	term := long(1)
	for k := 0; k < 60; k++ {
		sum := cos
		if k%2 == 1 {
			sum = sin
		}
		if k%4 >= 2 {
			sum.Sub(sum, term)
		} else {
			sum.Add(sum, term)
		}
		term.Mul(term, y)
		term.Quo(term, long(float64(k+1)))
	}
	return sin, cos
}

func long(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }

var longPi, _, _ = big.ParseFloat(
	"3.1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170680",
	10, 300, big.ToNearestEven)

// BenchmarkSincos12 is the yardstick of all figures: twelve calls of math.Sincos.
func BenchmarkSincos12(b *testing.B) {
	x := angles()
	var s float64
	for b.Loop() {
		for _, xi := range x {
			a, c := math.Sincos(xi)
			s += a + c
		}
	}
	sink = s
}

// BenchmarkSincosTo12 is the same work by SincosTo.
func BenchmarkSincosTo12(b *testing.B) {
	x := angles()
	s, c := make([]float64, 12), make([]float64, 12)
	for b.Loop() {
		SincosTo(s, c, x)
	}
	sink = s[3]
}

var sink float64

func angles() []float64 {
	rng := rand.New(rand.NewPCG(1, 1))
	x := make([]float64, 12)
	for i := range x {
		x[i] = (rng.Float64()*2 - 1) * 1.5
	}
	return x
}
