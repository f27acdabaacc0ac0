package move

import "math"

// maxSteps bounds the search. Halving alone closes any bracket of float64 within
// about 2,100 steps; Newton's steps make it a handful.
const maxSteps = 2200

// rising returns where f passes from negative to positive in [lo, hi]. f must not
// fall there; it returns its value and its slope, and where the slope is zero,
// infinite, too small or not known (NaN) that costs steps but not the answer. If f
// is positive everywhere lo is returned, if it is negative hi. The last call of f
// is for the place that is returned. Newton's method inside a shrinking bracket.
func rising(f func(x float64) (y, slope float64), lo, hi, guess float64) float64 {
	x := guess
	if !(x >= lo) {
		x = lo
	}
	x = min(x, hi)
	triedLo, triedHi := false, false
	last := math.Inf(1) // size of the step before
	for range maxSteps {
		y, slope := f(x)
		switch {
		case y < 0:
			lo, triedLo = x, true
		case y > 0:
			hi, triedHi = x, true
		default:
			return x
		}
		if lo == hi {
			return x
		}
		next := x - y/slope
		step := math.Abs(next - x)
		if step <= lastUnit*math.Abs(x) && !math.IsInf(slope, 0) {
			return x
		}
		switch {
		// towards an end that was not tried yet: try it
		case next >= hi && !triedHi:
			next = hi
		case next <= lo && !triedLo:
			next = lo
		// outside the bracket, or no faster than halving: halve
		case !(next > lo && next < hi) || step > last/2:
			next = lo + (hi-lo)/2
			step = hi - lo
			if next == lo || next == hi {
				return x
			}
		}
		x, last = next, step
	}
	f(x)
	return x
}

// lastUnit is the size of a step, relative to the place, that is not worth taking:
// one unit in the last place.
const lastUnit = 1.0 / (1 << 52)
