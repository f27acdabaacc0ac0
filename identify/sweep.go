package identify

import (
	"math"
	"slices"
)

// Windows of constant velocity, from which alone the Stribeck curve is found: in faster motion the
// joint sticks and slips through the speeds that tell of it.
const (
	sweepSettle = 0.3  // s until friction of a constant velocity shows alone
	sweepWindow = 0.5  // s that are averaged
	sweepStray  = 0.01 // by which the goal may leave a straight line, as a share of its way
	sweepSlow   = 0.02 // rad/s
	sweepFast   = 1.5
	sweepUneven = 0.5 // standard deviation of the velocity over its mean, above which it sticks and slips
)

// window is the mean of an interval of constant velocity.
type window struct{ v, y, tau float64 }

// sweeps averages the intervals of constant velocity.
func (s *series) sweeps(delay float64) (found []window) {
	supply := line{knots: s.voltage}
	ramp := line{knots: s.ramp}
	all := s.readings
	for i := 0; i < len(all); {
		begin := all[i].t
		settled, end := begin+sweepSettle, begin+sweepSettle+sweepWindow
		if end > s.end {
			break
		}
		slope, straight := s.straight(begin-delay, end-delay)
		if speed := math.Abs(slope); !straight || speed < sweepSlow || speed > sweepFast {
			i++
			continue
		}
		var v, y, tau, square, n float64
		for ; i < len(all) && all[i].t <= end; i++ {
			r := all[i]
			if r.t < settled {
				continue
			}
			goal, _ := ramp.at(r.t - delay)
			u, _ := supply.at(r.t)
			v, y, tau, square, n = v+r.v, y+s.kp*u*(goal-r.q), tau+r.torque, square+r.v*r.v, n+1
		}
		if n < 5 {
			continue
		}
		v, y, tau = v/n, y/n, tau/n
		if math.Sqrt(math.Max(square/n-v*v, 0)) < sweepUneven*math.Abs(v) {
			found = append(found, window{v, y, tau})
		}
	}
	return found
}

// straight fits a line to the goals between two times.
func (s *series) straight(begin, end float64) (slope float64, ok bool) {
	i, _ := slices.BinarySearchFunc(s.ramp, begin, func(k knot, t float64) int {
		if k.t < t {
			return -1
		}
		return 1
	})
	var n, t, x, tt, tx float64
	first := i
	for ; i < len(s.ramp) && s.ramp[i].t <= end; i++ {
		dt := s.ramp[i].t - begin
		n, t, x, tt, tx = n+1, t+dt, x+s.ramp[i].x, tt+dt*dt, tx+dt*s.ramp[i].x
	}
	if d := n*tt - t*t; n < 6 || d <= 0 {
		return 0, false
	} else {
		slope = (n*tx - t*x) / d
	}
	offset := (x - slope*t) / n
	worst := 0.0
	for _, k := range s.ramp[first:i] {
		worst = math.Max(worst, math.Abs(k.x-offset-slope*(k.t-begin)))
	}
	// goals are computed for even times and sent at uneven ones
	return slope, worst < sweepStray*math.Abs(slope)*(end-begin)+0.3*s.period*math.Abs(slope)
}

// stribeckCurve finds a4 and vs by separable least squares: vs on a grid, the rest linear. ok is
// false if the sweeps do not tell enough, or show no such curve.
func stribeckCurve(w []window) (stribeck, bool) {
	if !tellsCurve(w) {
		return stribeck{}, false
	}
	without, _ := curveCost(w, math.Inf(1))
	best, least := stribeck{}, math.Inf(1)
	for vs := 0.03; vs < 0.5; vs *= 1.1 {
		if c, a4 := curveCost(w, vs); c < least {
			best, least = stribeck{a4, vs}, c
		}
	}
	n := float64(len(w))
	// an F test of two more parameters, at about 1 in 1000
	if f := (without - least) / 2 / (least / (n - 6)); best.a4 <= 0 || f < 8 {
		return stribeck{}, false
	}
	return best, true
}

// tellsCurve: enough windows, slow and fast ones, to both sides.
func tellsCurve(w []window) bool {
	slow, fast, up, down := 0, 0, 0, 0
	for _, x := range w {
		switch a := math.Abs(x.v); {
		case a < 0.25:
			slow++
		case a > 0.5:
			fast++
		}
		if x.v > 0 {
			up++
		} else {
			down++
		}
	}
	return len(w) >= 12 && slow >= 4 && fast >= 3 && up >= 4 && down >= 4
}

// curveCost fits y = a1·v + (a2 + a4·e)·sg + a3·τ + a5 with e = exp(−|v|/vs), and returns the sum of
// squares and a4.
func curveCost(w []window, vs float64) (cost, a4 float64) {
	n := 5
	if math.IsInf(vs, 1) {
		n = 4
	}
	row := func(x window) [5]float64 {
		sign := math.Copysign(1, x.v)
		return [5]float64{x.v, sign, x.tau, 1, sign * math.Exp(-math.Abs(x.v)/vs)}
	}
	A, b := make([]float64, n*n), make([]float64, n)
	for _, x := range w {
		r := row(x)
		for i := range n {
			b[i] += r[i] * x.y
			for j := range n {
				A[i*n+j] += r[i] * r[j]
			}
		}
	}
	if !solve(A, b, n) {
		return math.Inf(1), 0
	}
	for _, x := range w {
		r, rest := row(x), x.y
		for i := range n {
			rest -= r[i] * b[i]
		}
		cost += rest * rest
	}
	if n == 5 {
		a4 = b[4]
	}
	return cost, a4
}
