package retime

import (
	"math"

	"poise/trajectory"
)

const (
	certified  = 1e-9  // relative excess over a limit that certification lets pass
	splitAbove = 1.05  // a limit exceeded inside an interval by so much more than at its ends: the grid is too coarse
	fineAbove  = 1.001 // or by so much: it is to be imposed inside as well
	near       = 0.9   // of a limit: from here on the peak between places is estimated
	maxSamples = 2e7   // of a law made for a period: more is a mistake
	blunt      = 2e-3  // share of the duration that an interval with a switch in it may last
	maxSharper = 8     // rounds of splitting those
	maxRepairs = 40    // rounds of certification before the whole motion is slowed
)

// Solve finds the fastest law for a problem and stores it in dst. Once the
// solver's memory has grown to the problem it does not allocate, unless a jerk
// limit or a period asks for smoothing.
func (w *Solver) Solve(dst *Law, p *Problem) error {
	if err := p.check(); err != nil {
		return err
	}
	breaks := p.Path.Breaks()
	from, to := breaks[0], breaks[len(breaks)-1]
	if from == to {
		return dst.still(from, p)
	}
	w.prepare(p, from, to, 1)
	if err := w.load(); err != nil {
		return err
	}
	if err := w.resolve(); err != nil {
		return err
	}
	if err := w.solveSharp(); err != nil {
		return err
	}
	w.lawTo(dst)
	if p.Period > 0 && !(dst.Duration()/p.Period < maxSamples) {
		return &trajectory.PeriodError{Period: p.Period, Duration: dst.Duration()}
	}
	if w.jerky || p.Period > 0 && !w.samplesHold(dst) {
		return w.solveSmooth(dst, p, from, to)
	}
	w.reportTo(dst)
	return nil
}

// still is the law of a path that has no length.
func (l *Law) still(s float64, p *Problem) error {
	if v := math.Max(p.StartSpeed, p.EndSpeed); v > 0 {
		return &SpeedError{End: p.StartSpeed == 0, Speed: v, Max: 0}
	}
	l.nodes = append(l.nodes[:0], node{s: s})
	l.stretches, l.factor, l.length = l.stretches[:0], 1, 0
	return nil
}

// solve finds x on the grid and certifies it.
func (w *Solver) solve(start, end float64) error {
	w.unstick()
	for round := 0; ; round++ {
		if err := w.passes(start*start, end*end); err != nil {
			return err
		}
		ok, coarse := w.certify()
		switch {
		case ok:
			return nil
		case round >= maxRepairs:
			return w.slow(start, end)
		case coarse:
			fits, err := w.refine()
			if err != nil {
				return err
			}
			if !fits {
				return w.slow(start, end)
			}
		}
	}
}

// solveSharp solves, and splits the intervals in which the law switches from one
// limit to another until they do not last long: inside an interval it cannot.
func (w *Solver) solveSharp() error {
	for range maxSharper {
		if err := w.solve(w.p.StartSpeed, w.p.EndSpeed); err != nil {
			return err
		}
		if !w.blunt() {
			return nil
		}
		if fits, err := w.refine(); !fits || err != nil {
			return err
		}
	}
	return w.solve(w.p.StartSpeed, w.p.EndSpeed)
}

// blunt marks intervals that last long and use no limit to the full from end to
// end, and reports whether there are any.
func (w *Solver) blunt() (found bool) {
	w.lawTo(&w.smooth.sharp)
	nodes := w.smooth.sharp.nodes
	long := blunt * w.smooth.sharp.Duration()
	for i := range w.piece {
		fast := w.fast[i*places : (i+1)*places]
		full := w.used[i] > active*w.share[i] || min(fast[0]*w.x[i], fast[places-1]*w.x[i+1]) > active
		w.split[i] = !full && nodes[i+1].t-nodes[i].t > long
		found = found || w.split[i]
	}
	return found
}

// passes goes backwards for what can be survived and forwards for what is
// fastest, over all intervals that changed since the last time.
func (w *Solver) passes(first, last float64) error {
	n := len(w.piece)

	// backwards
	if last > w.ceiling[n] {
		return &SpeedError{End: true, Speed: math.Sqrt(last), Max: math.Sqrt(w.ceiling[n])}
	}
	w.moved[n] = w.reach[n] != last
	w.reach[n] = last
	for i := n - 1; i >= 0; i-- {
		w.moved[i] = false
		if !w.changed[i] && !w.moved[i+1] {
			continue
		}
		most := w.interval[i].Limit(w.ceiling[i], w.reach[i+1], w.share[i])
		w.moved[i] = most != w.reach[i]
		w.reach[i] = most
		w.changed[i] = true
	}

	// forwards
	if first > w.reach[0] {
		return &SpeedError{Speed: math.Sqrt(first), Max: math.Sqrt(w.reach[0])}
	}
	moved := w.x[0] != first
	w.x[0] = first
	for i := range n {
		if !w.changed[i] && !moved && !w.moved[i+1] {
			continue
		}
		_, u := w.interval[i].Range(w.x[i], w.reach[i+1], w.share[i])
		x := math.Max(0, math.Min(w.x[i]+2*w.interval[i].Length*u, w.reach[i+1]))
		moved = x != w.x[i+1]
		w.x[i+1] = x
		w.changed[i] = true
		if moved && i+1 < n {
			w.changed[i+1] = true
		}
	}
	if w.x[n] < last*(1-certified) {
		return &SpeedError{End: true, Speed: math.Sqrt(last), Max: math.Sqrt(w.x[n])}
	}
	return nil
}

// certify checks (1) between the ends of every interval that changed, and
// tightens the interval where it breaks. It reports whether nothing broke, and
// otherwise whether some interval is so coarse that it was marked for splitting.
func (w *Solver) certify() (ok, coarse bool) {
	ok = true
	clear(w.split)
	clear(w.redo)
	for i, changed := range w.changed {
		if !changed {
			continue
		}
		acc, vel2, ends := w.excess(i)
		if !(acc > 1+certified) && !(vel2 > 1+certified) {
			continue
		}
		ok = false
		w.redo[i] = true
		if vel2 > 1+certified {
			by := vel2 * (1 + certified)
			w.speed[i] /= by
			w.ceiling[i] /= by
			w.ceiling[i+1] /= by
			if i+1 < len(w.redo) {
				w.redo[i+1] = true
			}
		}
		switch {
		case vel2 > splitAbove || w.fine[i] && acc > splitAbove*ends:
			w.split[i], coarse = true, true
		case acc > 1+certified && !w.fine[i] && acc > fineAbove*ends:
			w.fine[i] = true
			w.refineInside(i)
		case acc > 1+certified:
			w.share[i] = math.Min(w.share[i], ends/acc) * (1 - certified)
		}
	}
	w.changed, w.redo = w.redo, w.changed
	return ok, coarse
}

// excess returns the largest acceleration inside interval i, as a multiple of
// its limit, and the largest squared velocity of the squared limit, with what
// may be between the places. It also returns how much of that acceleration limit
// is used where it is imposed, and notes what holds the interval back.
func (w *Solver) excess(i int) (acc, vel2, imposed float64) {
	x0, x1 := w.x[i], w.x[i+1]
	u := (x1 - x0) * (0.5 / w.interval[i].Length)
	step := (x1 - x0) * (1.0 / (places - 1))
	x := [places]float64{x0, x0 + step, x0 + 2*step, x0 + 3*step, x1}
	set := w.set(w.piece[i])
	most, held := active, binding{row: -1}
	used := 0.0
	for r := range w.rows {
		at := (i*w.rows + r) * places
		rate, bend := (*[places]float64)(w.rate[at:]), (*[places]float64)(w.bend[at:])
		invAcc, invDec := w.invAcc[set+r], w.invDec[set+r]
		if w.turn[i*w.rows+r] {
			invAcc = max(invAcc, invDec)
			invDec = invAcc
		}
		var g [places]float64
		for k := range places {
			g[k] = rate[k]*u + bend[k]*x[k]
		}
		high, low := max(g[0], g[1], g[2], g[3], g[4]), min(g[0], g[1], g[2], g[3], g[4])
		// what is far from its limit at all places is not looked at closer
		if use := high * invAcc; use > used {
			used = use
		}
		if use := -low * invDec; use > used {
			used = use
		}
		if use := high * invAcc; use > near {
			acc, imposed = w.raise(i, &g, invAcc, acc, imposed)
			if use > most {
				most, held = use, binding{limit: Acceleration, row: r}
			}
		}
		if use := -low * invDec; use > near {
			acc, imposed = w.raise(i, &g, -invDec, acc, imposed)
			if use > most {
				most, held = use, binding{limit: Deceleration, row: r}
			}
		}
	}
	fast := 0.0
	for k, f := range w.fast[i*places : (i+1)*places] {
		fast = max(fast, f*x[k])
	}
	if fast > near {
		vel2 = w.speeding(i, &x)
	}
	if fast > most*most {
		held = binding{limit: Velocity}
	}
	w.binding[i], w.used[i] = held, used
	return acc, vel2, imposed
}

// speeding returns the largest squared velocity of any row on interval i, as a
// multiple of its squared limit.
func (w *Solver) speeding(i int, x *[places]float64) (vel2 float64) {
	set := w.set(w.piece[i])
	for r := range w.rows {
		at := (i*w.rows + r) * places
		rate := (*[places]float64)(w.rate[at:])
		var y [places]float64
		top := 0.0
		for k := range places {
			y[k] = rate[k] * rate[k] * x[k] * w.invVel2[set+r]
			if y[k] > top {
				top = y[k]
			}
		}
		if top > near {
			vel2 = max(vel2, peak(&y))
		}
	}
	return vel2
}

// raise takes the peak of g·inv into account if it is higher than acc.
func (w *Solver) raise(i int, g *[places]float64, inv, acc, imposed float64) (float64, float64) {
	var y [places]float64
	for k := range places {
		y[k] = g[k] * inv
	}
	p := peak(&y)
	if p <= acc {
		return acc, imposed
	}
	imposed = math.Max(y[0], y[places-1])
	if w.fine[i] {
		imposed = math.Max(imposed, math.Max(y[1], math.Max(y[2], y[3])))
	}
	return p, imposed
}

// peak returns a bound on the largest value of a curve known at five equidistant
// places: the highest vertex of the parabolas through three of them, plus what
// the cubic and quartic terms can add between places, δ³y‴/(9√3) and 3δ⁴y⁗/128.
func peak(y *[places]float64) float64 {
	third, next := y[3]-y[0]-3*(y[2]-y[1]), y[4]-y[1]-3*(y[3]-y[2])
	most := max(math.Abs(third), math.Abs(next))
	top := max(y[0], y[4])
	turns := false
	for m := 1; m < places-1; m++ {
		top = max(top, y[m])
		bent := y[m+1] - 2*y[m] + y[m-1]
		slope := math.Abs(y[m+1]-y[m-1]) / 2
		if bent < 0 && slope <= -bent {
			top = max(top, y[m]-slope*slope/(2*bent))
		}
		turns = turns || slope <= math.Abs(bent)+most
	}
	if !turns {
		return top // it runs up to an end
	}
	const cubic, quartic = 0.0642, 0.0235
	return top + cubic*most + quartic*math.Abs(next-third)
}

// unstick splits intervals that would begin and end at rest.
func (w *Solver) unstick() {
	n := len(w.piece)
	rest := func(i int) bool {
		return w.stop[i] || i == 0 && w.p.StartSpeed == 0 || i == n && w.p.EndSpeed == 0
	}
	any := false
	for i := range n {
		w.split[i] = rest(i) && rest(i+1)
		any = any || w.split[i]
	}
	if any {
		_, _ = w.refine() // the path was evaluated before: no new error
	}
}

// slow is the last resort: the whole motion takes longer by one factor.
func (w *Solver) slow(start, end float64) error {
	worst, at := 1.0, 0
	for i := range w.piece {
		acc, vel2, _ := w.excess(i)
		if e := math.Max(acc, vel2); e > worst {
			worst, at = e, i
		}
	}
	if start > 0 || end > 0 {
		return &BrokenError{S: w.s[at], Ratio: worst}
	}
	for i := range w.x {
		w.x[i] /= worst * (1 + certified)
	}
	w.factor *= math.Sqrt(worst * (1 + certified))
	return nil
}

// lawTo writes the solution as a law of constant accelerations.
func (w *Solver) lawTo(l *Law) {
	l.nodes = l.nodes[:0]
	l.length = w.to - w.from
	l.factor = w.factor
	t, v := 0.0, math.Sqrt(w.x[0])
	for i := range w.piece {
		next := math.Sqrt(w.x[i+1])
		dt := 2 * w.interval[i].Length / (v + next)
		l.nodes = append(l.nodes, node{t: t, s: w.s[i], v: v, a: (next - v) / dt})
		t, v = t+dt, next
	}
	last := l.nodes[len(l.nodes)-1]
	l.nodes = append(l.nodes, node{t: t, s: w.s[len(w.piece)], v: v, a: last.a})
}
