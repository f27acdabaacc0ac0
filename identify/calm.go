package identify

import "math"

// A gear with play chatters: its torque jumps within a period, so the sampled torque is noisy. Noise in a regressor draws
// its parameter to zero (errors in variables: Söderström, "Errors-in-variables methods in system
// identification", Automatica 43, 2007). The torque of the load itself follows from the motion and has no such noise.
const (
	noisy       = 0.05 // roughness from which on a torque is noisy
	calmRounds  = 3    // each with the motion of the fit before
	calmHalf    = 0.4  // s, half the width over which what motion does not explain is smoothed
	calmLeast   = 40   // knots
	calmUnknown = 5    // coefficients of the load
)

// calm replaces the torque of a gear that chatters by an instrumental variable: the part that the motion explains by
// angle, velocity and acceleration, and the smooth part of the rest (other joints move the load, too). Then it
// fits again.
func (f *fitter) calm() {
	s := f.s
	if len(s.inertia.knots) > 0 || len(s.torque.knots) < calmLeast || s.roughness() < noisy {
		return
	}
	raw := s.torque.knots
	s.raw = s.torque
	for range calmRounds {
		k := f.calmed(raw)
		if k == nil {
			return
		}
		s.torque = newCubic(k)
		s.rest = s.torque
		s.smooth()
		f.whole = s.span(s.begin, s.end)
		f.opt = newOptimiser(f.whole, f.st)
		f.best = f.opt.fit(f.best.p, f.free, 10)
	}
}

// calmed is the instrumental variable of a torque.
func (f *fitter) calmed(raw []knot) []knot {
	row := f.bases(raw)
	const n = calmUnknown
	A, b := make([]float64, n*n), make([]float64, n)
	for i, p := range raw {
		for a := range n {
			b[a] += row[i][a] * p.x
			for c := range n {
				A[a*n+c] += row[i][a] * row[i][c]
			}
		}
	}
	if !solve(A, b, n) {
		return nil
	}
	load, rest := make([]knot, len(raw)), make([]knot, len(raw))
	for i, p := range raw {
		for a := range n {
			load[i].x += b[a] * row[i][a]
		}
		load[i].t, rest[i] = p.t, knot{p.t, p.x - load[i].x}
	}
	half := math.Max(calmHalf, 4.5*f.s.period)
	first, last := 0, 0
	for i, p := range rest {
		for p.t-rest[first].t > half {
			first++
		}
		for last < len(rest) && rest[last].t-p.t <= half {
			last++
		}
		if c, ok := localCubic(rest[first:last], p.t, half); ok {
			load[i].x += c[0]
		}
	}
	return load
}

// bases are 1, the joint's sine and cosine, velocity and acceleration at each knot, by the equation.
func (f *fitter) bases(raw []knot) [][calmUnknown]float64 {
	var q, v, a []knot
	begin := raw[0].t
	f.whole.follow(&f.best.p, f.st, begin, func(t, x, y, z float64) {
		q, v, a = append(q, knot{t, x}), append(v, knot{t, y}), append(a, knot{t, z})
	})
	rows := make([][calmUnknown]float64, len(raw))
	if len(q) < calmLeast {
		return rows
	}
	lq, lv, la := line{knots: q}, line{knots: v}, line{knots: a}
	for i, p := range raw {
		angle, _ := lq.at(p.t)
		speed, _ := lv.at(p.t)
		rate, _ := la.at(p.t)
		sin, cos := math.Sincos(angle)
		rows[i] = [calmUnknown]float64{1, sin, cos, speed, rate}
	}
	return rows
}
