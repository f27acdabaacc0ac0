package spline

import "math"

// Akima returns the cubic curve through keys whose velocities follow [Akima]'s
// idea: each is a weighted mean of the slopes left and right of the key, the
// flatter side weighing more. The curve is local (a key moves only its
// neighbourhood) and
//
//   - rests at the first and the last key;
//   - rests at both ends of a hold, a segment whose values differ by at most
//     hold (0: not at all), and stays there if they do not differ;
//   - never leaves the range of the two keys around it: velocities are held
//     inside the square of [FritschCarlson], which makes each segment monotone.
//
// Two keys give the smooth step 3x² − 2x³. Joints do not see each other: one may
// hold while another passes the same key.
func Akima(times []float64, keys [][]float64, hold float64) (*Spline, error) {
	n, err := check(times, 2, table{"position", keys})
	if err != nil {
		return nil, err
	}
	if !(hold >= 0) {
		var p problems
		p.add(KeyError{Kind: ErrNotFinite, Quantity: "hold", Key: -1, Joint: -1, Value: hold})
		return nil, p.err()
	}
	slope := rows(len(times), n)
	d := make([]float64, len(times)-1)
	for j := range n {
		for i := range d {
			d[i] = (keys[i+1][j] - keys[i][j]) / (times[i+1] - times[i])
		}
		for i := 1; i < len(d); i++ {
			still := math.Abs(keys[i][j]-keys[i-1][j]) <= hold || math.Abs(keys[i+1][j]-keys[i][j]) <= hold
			if !still {
				slope[i][j] = monotone(akima(d, i), d[i-1], d[i])
			}
		}
	}
	return assemble(times, keys, n, cubic, func(c []float64, i, j int, h float64) {
		hermite(c, keys[i][j], keys[i+1][j], slope[i][j], slope[i+1][j], h)
	})
}

// akima returns the velocity at key i between the mean slopes d[i−1] and d[i].
// The weight of a side is how much the slope changes on the other,
//
//	w₋ = |dᵢ₊₁ − dᵢ| + |dᵢ₊₁ + dᵢ|/2,   w₊ = |dᵢ₋₁ − dᵢ₋₂| + |dᵢ₋₁ + dᵢ₋₂|/2      (3)
//
// The second terms, which [Akima] does not have, make the answer a continuous
// function of the keys: without them a corner between two straight runs is 0/0,
// and a key dragged across it would make the curve jump. Slopes beyond the ends
// continue the last change.
func akima(d []float64, i int) float64 {
	at := func(k int) float64 {
		last := len(d) - 1
		switch {
		case k < 0:
			return 2*d[0] - d[min(1, last)]
		case k > last:
			return 2*d[last] - d[max(last-1, 0)]
		}
		return d[k]
	}
	far, right, left, near := at(i+1), d[i], d[i-1], at(i-2)
	before := math.Abs(far-right) + math.Abs(far+right)/2
	after := math.Abs(left-near) + math.Abs(left+near)/2
	sum := before + after
	if !(sum > 0) {
		return 0
	}
	return left*(before/sum) + right*(after/sum)
}

// monotone bends the velocity m at a key so that neither neighbouring segment,
// of mean slopes left and right, leaves the range of its keys: a cubic is
// monotone if its end velocities are between zero and three times its mean
// slope ([FritschCarlson], lemma 2 and the square inside their region).
func monotone(m, left, right float64) float64 {
	rising, falling := left > 0 && right > 0, left < 0 && right < 0
	if !rising && !falling {
		return 0 // the key is an extreme
	}
	bound := 3 * math.Min(math.Abs(left), math.Abs(right))
	return math.Max(-bound, math.Min(bound, m))
}
