package retime

import "math"

// Whatever a joint may do at one place of the path is a strip
// −low ≤ α·u + β·x ≤ high of the phase plane [Verscheure], and on an interval of path
// of length Δ at constant u
//
//	x(exit) = x(entry) + 2Δ·u                                            (3)
//
// so the strips at the exit are strips at the entry too. An interval collects them
// for one interval as lines of u over x and answers two questions: which u are
// allowed at x, and from how large an x can the next interval still be entered at or
// below a given speed? Going backwards with the second question and forwards with
// the first is reachability analysis [Pham].

// line bounds u over x by P − M·x.
type line struct{ P, M float64 }

// interval holds the bounds on one interval of path.
type interval struct {
	Upper, Lower []line  // u ≤ each, u ≥ each
	Most         float64 // x at the entry may not exceed this
	Length       float64 // Δ > 0
}

// steep is where a line counts as vertical: beyond it the bound on u is no bound,
// and the products below would come near overflow.
const steep = 1e100

// Entry adds −low ≤ α·u + β·x ≤ high at the entry; low and high are positive,
// and infinite if there is no such bound.
func (v *interval) Entry(alpha, beta, low, high float64) {
	inverse := 1 / alpha
	slope := beta * inverse
	if !(math.Abs(inverse) < steep && math.Abs(slope) < steep) { // α is zero, or as good as
		if beta > 0 {
			v.Most = min(v.Most, high/beta)
		} else if beta < 0 {
			v.Most = min(v.Most, -low/beta)
		}
		return
	}
	up, down := high*inverse, -low*inverse
	if alpha < 0 {
		up, down = down, up
	}
	if up < steep {
		v.Upper = append(v.Upper, line{up, slope})
	}
	if down > -steep {
		v.Lower = append(v.Lower, line{down, slope})
	}
}

// Within adds −low ≤ α·u + β·x ≤ high at a share of the way through, where (3) gives
// x. What is left of α when its terms cancel there is rounding, and nothing.
func (v *interval) Within(share, alpha, beta, low, high float64) {
	change := 2 * share * v.Length * beta
	sum := alpha + change
	if math.Abs(sum) < 1e-12*math.Abs(change) {
		sum = 0
	}
	v.Entry(sum, beta, low, high)
}

// Range returns the bounds of u at x that keep all lines, with the P of the
// lines scaled: at share 0.9 every limit is used to nine tenths. The exit is
// entered at or below next, and not backwards. Loop-safe.
func (v *interval) Range(x, next, share float64) (low, high float64) {
	half := 0.5 / v.Length
	low, high = -x*half, (next-x)*half
	for _, l := range v.Upper {
		if u := share*l.P - l.M*x; u < high {
			high = u
		}
	}
	for _, l := range v.Lower {
		if u := share*l.P - l.M*x; u > low {
			low = u
		}
	}
	return low, high
}

// Limit returns the largest x ≤ most from which some u leads to next or below.
//
// The gap between the highest lower line and the lowest upper line is a concave
// function of x that is not negative at x = 0, where u = 0 is allowed. From the
// right, the crossing of the two lines that are binding at x is never left of
// the root: Newton's method, and it ends after finitely many lines.
func (v *interval) Limit(most, next, share float64) float64 {
	half := 0.5 / v.Length
	x := math.Min(most, v.Most*share)
	for range 2*len(v.Upper) + 2*len(v.Lower) + 4 {
		up, down := line{next * half, half}, line{0, half}
		high, low := up.P-up.M*x, down.P-down.M*x
		for _, l := range v.Upper {
			if u := share*l.P - l.M*x; u < high {
				high, up = u, line{share * l.P, l.M}
			}
		}
		for _, l := range v.Lower {
			if u := share*l.P - l.M*x; u > low {
				low, down = u, line{share * l.P, l.M}
			}
		}
		if low <= high {
			return x
		}
		cross := (up.P - down.P) / (up.M - down.M)
		if !(cross < x) {
			return x // the crossing is x itself, up to rounding
		}
		x = math.Max(cross, 0)
	}
	return x
}
