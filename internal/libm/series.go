package libm

import (
	"math"
	"math/big"
	"sync"
)

// work is the precision of intermediate results: 53 bits of the result, some 64
// lost where terms cancel, and enough left over that a wrong rounding is not
// met in practice.
const work = 256

// piBits covers the largest exponent of a float64, so that any argument can be
// reduced modulo π/2 without losing a bit.
const piBits = 1024 + 3*work

func number(prec uint) *big.Float { return new(big.Float).SetPrec(prec) }

func exact(x float64) *big.Float { return number(work).SetFloat64(x) }

func small(n int64) *big.Float { return number(64).SetInt64(n) }

// nearest rounds once; a result too large becomes an infinity.
func nearest(x *big.Float) float64 {
	f, _ := x.Float64()
	return f
}

// inverseTangent is atan(1/n), or its hyperbolic sister, scaled by 2^bits.
func inverseTangent(n int64, bits uint, hyperbolic bool) *big.Int {
	term := new(big.Int).Lsh(big.NewInt(1), bits)
	term.Quo(term, big.NewInt(n))
	sum := new(big.Int).Set(term)
	square := big.NewInt(n * n)
	for k := int64(3); term.Sign() != 0; k += 2 {
		term.Quo(term, square)
		part := new(big.Int).Quo(term, big.NewInt(k))
		if !hyperbolic && k%4 == 3 {
			part.Neg(part)
		}
		sum.Add(sum, part)
	}
	return sum
}

// machin sums coefficient·atan(1/n) over pairs of numbers.
func machin(bits uint, hyperbolic bool, pairs ...int64) *big.Float {
	guarded := bits + 32
	sum := new(big.Int)
	for i := 0; i < len(pairs); i += 2 {
		part := inverseTangent(pairs[i+1], guarded, hyperbolic)
		sum.Add(sum, part.Mul(part, big.NewInt(pairs[i])))
	}
	x := number(bits).SetInt(sum)
	return x.SetMantExp(x, -int(guarded))
}

var (
	// Machin: π = 16·atan(1/5) − 4·atan(1/239)
	pi = sync.OnceValue(func() *big.Float { return machin(piBits, false, 16, 5, -4, 239) })
	// ln 2 = 2·artanh(1/3)
	ln2 = sync.OnceValue(func() *big.Float { return machin(2*work, true, 2, 3) })
	// ln 10 = 3·ln 2 + ln(5/4), ln(5/4) = 2·artanh(1/9)
	ln10 = sync.OnceValue(func() *big.Float { return machin(2*work, true, 6, 3, 2, 9) })
)

// taylor sums first·(1 + r/(a·b) + r²/(a·b·c·d) + …), where the divisors are
// consecutive from n, step of them per term. Fixed-point numbers do it, with
// bits enough for first to keep its precision however small it is.
func taylor(first, r *big.Float, n int64, step int) *big.Float {
	prec := r.Prec()
	bits := prec + 16
	if e := first.MantExp(nil); e < 0 {
		bits += uint(-e)
	}
	sum := fixed(first, bits)
	term, factor := new(big.Int).Abs(sum), fixed(r, bits)
	minus := sum.Sign() < 0
	flip := factor.Sign() < 0
	factor.Abs(factor)
	divisor := new(big.Int)
	for term.Sign() != 0 {
		term.Rsh(term.Mul(term, factor), bits)
		product := int64(1)
		for range step {
			product *= n
			n++
		}
		term.Quo(term, divisor.SetInt64(product))
		if minus = minus != flip; minus {
			sum.Sub(sum, term)
		} else {
			sum.Add(sum, term)
		}
	}
	x := number(prec).SetInt(sum)
	return x.SetMantExp(x, -int(bits))
}

// fixed is x·2^bits, cut off.
func fixed(x *big.Float, bits uint) *big.Int {
	n, _ := new(big.Float).SetMantExp(x, int(bits)).Int(nil)
	return n
}

// sinCos is for any finite x.
func sinCos(x *big.Float) (sin, cos *big.Float) {
	// x = k·π/2 + r with |r| ≤ π/4, at a precision that survives the cancelling
	prec := uint(work)
	if e := x.MantExp(nil); e > 0 {
		prec += uint(e)
	}
	prec += work
	half := number(prec).SetMantExp(number(prec).Set(pi()), -1)
	quotient := number(prec).Quo(x, half)
	k, _ := quotient.Add(quotient, copySign(0.5, quotient)).Int(nil)
	r := number(prec).SetInt(k)
	r.Sub(number(prec).Set(x), r.Mul(r, half))
	r.SetPrec(work)

	// both series in −r²
	r2 := number(work).Mul(r, r)
	r2.Neg(r2)
	s := taylor(r, r2, 2, 2)
	c := taylor(small(1), r2, 1, 2)

	// turn by k quarters
	switch new(big.Int).And(k, big.NewInt(3)).Int64() {
	case 0:
		return s, c
	case 1:
		return c, s.Neg(s)
	case 2:
		return s.Neg(s), c.Neg(c)
	}
	return c.Neg(c), s
}

func copySign(x float64, sign *big.Float) *big.Float {
	if sign.Signbit() {
		x = -x
	}
	return exact(x)
}

// exp is for |x| below some thousands, which covers all that a float64 can hold.
func exp(x *big.Float) *big.Float {
	const halvings = 8
	prec := x.Prec()

	// x = k·ln 2 + r with |r| ≤ ln 2 / 2
	l := number(prec + 64).Set(ln2())
	f, _ := number(prec).Quo(x, l).Float64()
	k := math.Round(f)
	r := number(prec + 64).SetFloat64(k)
	r.Sub(number(prec+64).Set(x), r.Mul(r, l))

	// exp r = (exp r/2⁸)^2⁸
	r.SetMantExp(r, -halvings)
	sum := taylor(small(1), r, 1, 1)
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum.SetMantExp(sum, int(k))
}

// logarithm corrects y0 ≈ ln x by (1).
func logarithm(x *big.Float, y0 float64) *big.Float {
	e := exp(exact(y0))
	up := number(work).Sub(x, e)
	down := number(work).Add(x, e)
	up.Quo(up.Mul(up, small(2)), down)
	return up.Add(up, exact(y0))
}

// angle corrects y0 ≈ the angle of (x, y) by (2); atan d = d to our precision.
func angle(x, y *big.Float, y0 float64) *big.Float {
	s, c := sinCos(exact(y0))
	up := number(work).Mul(y, c)
	up.Sub(up, number(work).Mul(x, s))
	down := number(work).Mul(x, c)
	down.Add(down, number(work).Mul(y, s))
	up.Quo(up, down)
	return up.Add(up, exact(y0))
}
