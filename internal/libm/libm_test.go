package libm

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"poise/internal/golden"
)

const seed = 1

// tolSeries is what the series may be wrong by, relative to one: far below the
// 2⁻⁵⁴ that rounding looks at.
const tolSeries = 200 // bits

func closeTo(a, b *big.Float) bool {
	d := number(work).Sub(a, b)
	return d.Sign() == 0 || d.MantExp(nil)-max(a.MantExp(nil), 0) < -tolSeries
}

// TestSeriesObeyTheirIdentities ties the series to each other at full working
// precision, where nothing is rounded yet.
func TestSeriesObeyTheirIdentities(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for i := range 300 {
		x := rng.NormFloat64() * math.Exp(rng.Float64()*12-6)
		y := rng.NormFloat64()
		s, c := sinCos(exact(x))

		// sin² + cos² = 1
		one := number(work).Mul(s, s)
		one.Add(one, number(work).Mul(c, c))
		if !closeTo(one, small(1)) {
			t.Fatalf("seed %d, %d: sin² + cos² of %g is not 1", seed, i, x)
		}
		// sin(x+y) = sin x cos y + cos x sin y
		s2, c2 := sinCos(exact(y))
		sum, _ := sinCos(number(work).Add(exact(x), exact(y)))
		want := number(work).Mul(s, c2)
		want.Add(want, number(work).Mul(c, s2))
		if !closeTo(sum, want) {
			t.Fatalf("seed %d, %d: addition theorem fails at %g, %g", seed, i, x, y)
		}
		// e^(x+y) = eˣ·eʸ
		x = math.Mod(x, 9)
		if got, want := exp(number(work).Add(exact(x), exact(y))), number(work).Mul(exp(exact(x)), exp(exact(y))); !closeTo(number(work).Quo(got, want), small(1)) {
			t.Fatalf("seed %d, %d: exp(%g + %g) is not the product", seed, i, x, y)
		}
	}
}

// tolInverse: one Newton step leaves the cube of math's error, and math's error
// is at most some units of 2⁻⁵².
const tolInverse = 140 // bits

func TestInversesInvert(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range 300 {
		y := rng.NormFloat64() * 3
		ey := exp(exact(y))
		f, _ := ey.Float64()
		d := number(work).Sub(logarithm(ey, math.Log(f)), exact(y))
		if d.Sign() != 0 && d.MantExp(nil) > -tolInverse {
			t.Errorf("seed %d, %d: ln(exp %g) is off by 2^%d", seed, i, y, d.MantExp(nil))
		}
		y = math.Remainder(y, 2*math.Pi)
		s, c := sinCos(exact(y))
		d.Sub(angle(c, s, math.Atan2(nearest(s), nearest(c))), exact(y))
		if d.Sign() != 0 && d.MantExp(nil) > -tolInverse {
			t.Errorf("seed %d, %d: the angle of (cos, sin) of %g is off by 2^%d", seed, i, y, d.MantExp(nil))
		}
	}
}

// TestHardRoundings are places where a careless reduction or a double rounding
// shows: huge arguments, arguments next to a zero, exact results, exact ties.
func TestHardRoundings(t *testing.T) {
	for _, tc := range []struct {
		name      string
		got, want float64
	}{
		{"sin of a huge number", Sin(1e22), -0.8522008497671888},
		{"cos of a huge number", Cos(1e22), 0.523214785395139},
		{"sin of the largest number", Sin(math.MaxFloat64), 0.004961954789184062},
		{"sin next to π", Sin(math.Pi), 1.2246467991473532e-16},
		{"cos next to π/2", Cos(math.Pi / 2), 6.123233995736766e-17},
		{"tan next to its pole", Tan(math.Pi / 2), 1.633123935319537e16},
		{"sine of a denormal", Sin(5e-324), 5e-324},
		{"e", Exp(1), math.E},
		{"exp to a denormal", Exp(-744), 1e-323},
		{"exp overflows", Exp(710), math.Inf(1)},
		{"ln next to one", Log(1 + 0x1p-52), 0x1.fffffffffffffp-53},
		{"ln of a denormal", Log(5e-324), -744.4400719213812},
		{"log10 is exact", Log10(1e15), 15},
		{"log2 is exact", Log2(8), 3},
		{"2**x is exact", Exp2(-1074), 5e-324},
		{"exact tie goes to even", Pow(3, 34), 16677181699666568},
		{"negative base", Pow(-8, 3), -512},
		{"negative exponent", Pow(10, -5), 1e-5},
		{"odd root", Pow(2, 0.5), math.Sqrt2},
		{"overflowing power", Pow(10, 400), math.Inf(1)},
		{"quarter turn", Atan2(1, 1), math.Pi / 4},
		{"behind", Atan2(math.Copysign(0, -1), -1), -math.Pi},
		{"asin of one", Asin(1), math.Pi / 2},
		{"acos of minus one", Acos(-1), math.Pi},
		{"hypotenuse without overflow", Hypot(3e300, 4e300), 5e300},
		{"hypotenuse of nothing", Hypot(), 0},
		{"infinity beats nan", Hypot(math.NaN(), math.Inf(-1)), math.Inf(1)},
		{"sum rounded once", Sum([]float64{1e16, 1, -1e16}), 1},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, tc.got, tc.want)
		}
	}
	if !math.IsNaN(Asin(2)) || !math.IsNaN(Log(-1)) || !math.IsNaN(Pow(-1, 0.5)) || !math.IsNaN(Sin(math.Inf(1))) {
		t.Error("a value outside of the domain is not NaN")
	}
}

var functions = []struct {
	name      string
	from, to  float64
	ours, gos func(float64) float64
}{
	{"sin", -10, 10, Sin, math.Sin}, {"cos", -10, 10, Cos, math.Cos}, {"tan", -10, 10, Tan, math.Tan},
	{"asin", -1, 1, Asin, math.Asin}, {"acos", -1, 1, Acos, math.Acos}, {"atan", -20, 20, Atan, math.Atan},
	{"exp", -20, 20, Exp, math.Exp}, {"exp2", -20, 20, Exp2, math.Exp2},
	{"log", 0.01, 50, Log, math.Log}, {"log2", 0.01, 50, Log2, math.Log2}, {"log10", 0.01, 50, Log10, math.Log10},
}

// tolGo is what Go's math may be off by, units in the last place: tan and the
// logarithms to other bases lose the most.
const tolGo = 3

func TestAgreesWithGo(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed, 2))
	for _, f := range functions {
		for range 500 {
			x := f.from + (f.to-f.from)*rng.Float64()
			got, want := f.ours(x), f.gos(x)
			ulp := math.Nextafter(math.Abs(want), math.Inf(1)) - math.Abs(want)
			// an argument of magnitude ten is itself known to 2⁻⁴⁹ only where math reduces it
			if d := math.Abs(got - want); d > tolGo*ulp && d > 0x1p-49 {
				t.Errorf("seed %d: %s(%v) = %v, math has %v", seed, f.name, x, got, want)
			}
		}
	}
}

// leastAgreement is the share of results that must equal those of Python's
// math, bit for bit. Its C library rounds wrongly some times in a thousand, its
// log10 some times in a hundred.
const leastAgreement = 0.97

func TestAgreesWithPython(t *testing.T) {
	python := golden.Python(t)
	rng := rand.New(rand.NewPCG(seed, 3))
	var script bytes.Buffer
	script.WriteString("import math\n")
	var results []float64
	var names []string
	for _, f := range functions {
		n := 300
		if f.name == "log10" {
			n = 30
		}
		for range n {
			x := f.from + (f.to-f.from)*rng.Float64()
			fmt.Fprintf(&script, "print(math.%s(%s).hex())\n", f.name, strconv.FormatFloat(x, 'g', -1, 64))
			results, names = append(results, f.ours(x)), append(names, fmt.Sprintf("%s(%v)", f.name, x))
		}
	}
	cmd := exec.Command(python, "-")
	cmd.Stdin = &script
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("POISE_PYTHON=%s does not run: %v", python, err)
	}
	differ, i := 0, 0
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); i++ {
		want, err := strconv.ParseFloat(strings.TrimSpace(lines.Text()), 64)
		if err != nil {
			t.Fatal(err)
		}
		if results[i] != want {
			differ++
			t.Logf("%s = %v, Python has %v", names[i], results[i], want)
		}
	}
	if i != len(results) || float64(differ) > (1-leastAgreement)*float64(i) {
		t.Errorf("%d of %d results differ from Python's", differ, i)
	}
}

func BenchmarkSin(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Sin(1.2345)
	}
}
