package identify

import (
	"math"
	"slices"
)

// loss is what a residual costs.
//
// Of readings without steps it is Huber's. Readings in steps say only between which two positions the joint was: where
// goals have the same steps, and the joint sticks between them, what rounding takes away is the same time after time
// and no noise, and least squares would be off by it (a2 of a stiff servo by a quarter). The cost is then that of the
// likelihood of the step that was read (Gustafsson and Karlsson, "Statistical results for system identification based
// on quantized observations", Automatica 45, 2009), for positions that stray from the equation's by a normal
// deviation besides; far outside it grows as Huber's.
type loss struct {
	scale float64 // Huber's; in steps the deviation besides them, rad
	half  float64 // half a step, rad; 0 without steps
}

const (
	stray      = 2.5  // deviations outside of a step from which on the cost is linear
	leastStray = 0.08 // of a step: the least deviation
)

// at returns the cost of a residual, half its slope, and a curvature that a step of the fit may count on.
func (l *loss) at(r float64) (cost, slope, curvature float64) {
	if l.half == 0 {
		if a := math.Abs(r); a > huber*l.scale {
			return huber * l.scale * (2*a - huber*l.scale), math.Copysign(huber*l.scale, r), huber * l.scale / a
		}
		return r * r, r, 1
	}
	a := math.Abs(r)
	far := l.half + stray*l.scale
	cost, slope, curvature = l.step(min(a, far))
	if a > far {
		cost, curvature = cost+2*slope*(a-far), slope/a
	}
	return cost, math.Copysign(slope, r), curvature
}

// step is the cost of a residual that is not negative, −2·σ²·ln of its likelihood, with the slope and curvature.
func (l *loss) step(r float64) (cost, slope, curvature float64) {
	σ := l.scale
	a, b := (r+l.half)/σ, (r-l.half)/σ
	φ := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
	p := (math.Erfc(b/math.Sqrt2) - math.Erfc(a/math.Sqrt2)) / 2
	z := (φ(b) - φ(a)) / p
	return -2 * σ * σ * math.Log(p), σ * z, max((a*φ(a)-b*φ(b))/p+z*z, 0)
}

// mean is the mean cost, with what rounding alone costs.
func (l *loss) mean(rest []float64) float64 {
	sum := 0.0
	for _, r := range rest {
		c, _, _ := l.at(r)
		sum += c
	}
	return sum/math.Max(float64(len(rest)), 1) + l.half*l.half/3
}

// estimate finds the scale from residuals; in steps the most likely one.
func (l *loss) estimate(rest []float64, least float64) {
	sizes, sum := make([]float64, len(rest)), 0.0
	for i, r := range rest {
		sizes[i] = math.Abs(r)
		sum += r * r / float64(len(rest))
	}
	if l.half == 0 {
		l.scale = math.Max(1.4826*median(sizes), math.Max(least, 1e-12))
		return
	}
	unlikely := func(logScale float64) float64 {
		trial, sum := loss{scale: math.Exp(logScale), half: l.half}, 0.0
		for _, r := range sizes {
			cost, _, _ := trial.at(r)
			sum += cost
		}
		return sum / (trial.scale * trial.scale)
	}
	l.scale = math.Exp(golden(unlikely, math.Log(2*leastStray*l.half), math.Log(4*math.Sqrt(sum)+2*l.half), 14))
}

// golden is where a function that falls and then rises is least, by sections of the golden ratio.
func golden(f func(float64) float64, low, high float64, rounds int) float64 {
	const ratio = math.Phi - 1
	a, b := high-ratio*(high-low), low+ratio*(high-low)
	fa, fb := f(a), f(b)
	for range rounds {
		if fa < fb {
			high, b, fb = b, a, fa
			a = high - ratio*(high-low)
			fa = f(a)
		} else {
			low, a, fa = a, b, fb
			b = low + ratio*(high-low)
			fb = f(b)
		}
	}
	return (low + high) / 2
}

// scores are the slopes of residuals: their correlation is that of what the equation lacks, without that of rounding.
func (l *loss) scores(rest []float64) []float64 {
	out := make([]float64, len(rest))
	for i, r := range rest {
		_, out[i], _ = l.at(r)
	}
	return out
}

// Steps that readings may have.
const (
	leastStep = 1e-4 // rad: smaller ones do not matter
	mostStep  = 0.02 // rad
	offGrid   = 0.1  // of a step that a reading may be beside the grid: a log has few digits
)

// stepOf is the step of readings that are all on one grid; 0 if they are not.
func stepOf(readings []reading) float64 {
	all := make([]float64, len(readings))
	for i, r := range readings {
		all[i] = r.q
	}
	slices.Sort(all)
	all = slices.CompactFunc(all, func(a, b float64) bool { return math.Abs(b-a) < leastStep/2 })
	if len(all) < 6 {
		return 0
	}
	step := math.Inf(1)
	for i := 1; i < len(all); i++ {
		step = math.Min(step, all[i]-all[i-1])
	}
	if step < leastStep || step > mostStep {
		return 0
	}
	// numbers along the grid, and the line through them
	n, first := make([]float64, len(all)), all[0]
	for range 3 {
		for i := 1; i < len(all); i++ {
			n[i] = n[i-1] + math.Round((all[i]-all[i-1])/step)
		}
		var sn, sx, snn, snx float64
		for i, x := range all {
			sn, sx, snn, snx = sn+n[i], sx+x, snn+n[i]*n[i], snx+n[i]*x
		}
		k := float64(len(all))
		step = (k*snx - sn*sx) / (k*snn - sn*sn)
		first = (sx - step*sn) / k
	}
	for i, x := range all {
		if math.Abs(x-first-step*n[i]) > offGrid*step {
			return 0
		}
	}
	return step
}
