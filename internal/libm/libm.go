package libm

import (
	"math"
	"math/big"
)

// tiny: below it x stands for sin x, atan x and all their kin.
const tiny = 1.0 / (1 << 60)

// plain tells whether x needs no series: it is zero, tiny, infinite or not a number.
func plain(x float64) bool {
	return math.IsNaN(x) || math.IsInf(x, 0) || math.Abs(x) < tiny
}

// Sin returns the sine of x.
func Sin(x float64) float64 {
	if plain(x) {
		return math.Sin(x)
	}
	s, _ := sinCos(exact(x))
	return nearest(s)
}

// Cos returns the cosine of x.
func Cos(x float64) float64 {
	if plain(x) {
		return math.Cos(x)
	}
	_, c := sinCos(exact(x))
	return nearest(c)
}

// Tan returns the tangent of x.
func Tan(x float64) float64 {
	if plain(x) {
		return math.Tan(x)
	}
	s, c := sinCos(exact(x))
	return nearest(s.Quo(s, c))
}

// Atan2 returns the angle of (x, y).
func Atan2(y, x float64) float64 {
	y0 := math.Atan2(y, x)
	if s := x * y; s == 0 && (x == 0 || y == 0) || math.IsNaN(s) || math.IsInf(x, 0) || math.IsInf(y, 0) {
		return y0
	}
	return nearest(angle(exact(x), exact(y), y0))
}

// Atan returns the arctangent of x.
func Atan(x float64) float64 {
	if plain(x) {
		return math.Atan(x)
	}
	return nearest(angle(small(1), exact(x), math.Atan(x)))
}

// Asin returns the arcsine of x.
func Asin(x float64) float64 {
	if plain(x) || !(math.Abs(x) <= 1) {
		return math.Asin(x)
	}
	return nearest(angle(leg(x), exact(x), math.Asin(x)))
}

// Acos returns the arccosine of x.
func Acos(x float64) float64 {
	if plain(x) || !(math.Abs(x) < 1) {
		return math.Acos(x)
	}
	return nearest(angle(exact(x), leg(x), math.Acos(x)))
}

// leg is √(1−x²), the other side of a right triangle.
func leg(x float64) *big.Float {
	y := exact(x)
	y.Mul(y, y)
	return y.Sqrt(y.Sub(small(1).SetPrec(work), y))
}

// largest exponent whose exp does not overflow, with room to round.
const expRange = 800

// Exp returns eˣ.
func Exp(x float64) float64 {
	if plain(x) || math.Abs(x) > expRange {
		return math.Exp(x)
	}
	return nearest(exp(exact(x)))
}

// Exp2 returns 2ˣ.
func Exp2(x float64) float64 {
	if plain(x) || math.Abs(x) > 2*expRange || x == math.Trunc(x) {
		return math.Exp2(x)
	}
	y := exact(x)
	return nearest(exp(y.Mul(y, ln2())))
}

// Log returns the natural logarithm of x.
func Log(x float64) float64 {
	if !logarithmic(x) {
		return math.Log(x)
	}
	return nearest(logarithm(exact(x), firstLog(x)))
}

// Log2 returns the logarithm of x to the base 2.
func Log2(x float64) float64 {
	if !logarithmic(x) {
		return math.Log2(x)
	}
	y := logarithm(exact(x), firstLog(x))
	return nearest(y.Quo(y, ln2()))
}

// Log10 returns the logarithm of x to the base 10.
func Log10(x float64) float64 {
	if !logarithmic(x) {
		return math.Log10(x)
	}
	y := logarithm(exact(x), firstLog(x))
	return nearest(y.Quo(y, ln10()))
}

// firstLog is math.Log, whose assembly is wrong for denormals.
func firstLog(x float64) float64 {
	if x < 0x1p-1022 {
		return math.Log(x*0x1p52) - 52*math.Ln2
	}
	return math.Log(x)
}

func logarithmic(x float64) bool { return x > 0 && !math.IsInf(x, 0) && x != 1 }

// Pow returns xʸ.
func Pow(x, y float64) float64 {
	direct := math.Pow(x, y)
	switch {
	case math.IsNaN(direct) || math.IsInf(x, 0) || math.IsInf(y, 0) || x == 0 || y == 0 || math.Abs(x) == 1:
		return direct
	case y == math.Trunc(y) && math.Abs(y) <= 64:
		return nearest(power(x, int(y)))
	}
	b := exact(math.Abs(x))
	exponent := logarithm(b, firstLog(math.Abs(x)))
	exponent.Mul(exponent, exact(y))
	if e, _ := exponent.Float64(); math.Abs(e) > expRange {
		return direct
	}
	return math.Copysign(nearest(exp(exponent)), direct)
}

// power multiplies without any rounding, so that ties are seen as ties.
func power(x float64, n int) *big.Float {
	result := number(53 * 64).SetInt64(1)
	factor := number(53 * 64).SetFloat64(x)
	for range max(n, -n) {
		result.Mul(result, factor)
	}
	if n < 0 {
		result.Quo(small(1), result)
	}
	return result
}

// Hypot returns the length of a vector.
func Hypot(v ...float64) float64 {
	const prec = 5 * 1024 // every sum of squares of float64s is exact
	sum := number(prec)
	nan := false
	for _, x := range v {
		if math.IsInf(x, 0) {
			return math.Inf(1)
		}
		if math.IsNaN(x) {
			nan = true
			continue
		}
		square := number(prec).SetFloat64(x)
		sum.Add(sum, square.Mul(square, square))
	}
	if nan {
		return math.NaN()
	}
	return nearest(sum.Sqrt(sum.SetPrec(2 * work)))
}

// Sum returns the sum of finite numbers, rounded once.
func Sum(v []float64) float64 {
	sum := number(3 * 1024) // holds every float64 and 10⁹⁰⁰ of them
	for _, x := range v {
		sum.Add(sum, new(big.Float).SetFloat64(x))
	}
	return nearest(sum)
}
