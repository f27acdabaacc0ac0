package retime

import (
	"math"
	"slices"
)

const (
	maxNodes      = 4000  // of a law smoothed for jerk alone,
	nodesPerPiece = 64    // or of one of many pieces, on average,
	nodesQuickly  = 32    // and where that is to be quick
	perWindow     = 16    // its steps within the averaging window,
	fewer         = 10    // and of a very long motion
	manyPieces    = 32    // of a path, above which each round goes further
	maxRounds     = 60    // of checking and tightening a smoothed law
	maxWindows    = 6     // tries to find the window of a moving start
	maxPauses     = 4     // rounds of putting in pauses
	patience      = 12    // rounds after which tightening is meant to end
	lengthy       = 8     // windows that a long motion lasts at least
	slight        = 1.003 // a motion that is to be slowed by so little is slowed as a whole
	little        = 1.1   // ramps that need so many windows get no pause
	spare         = 1e-6  // by which a window is wider than needed: room for rounding
)

// smoother holds what smoothing needs: the window, the law that is smoothed, and
// what inspection found.
type smoother struct {
	step  float64 // h of (2)
	width int     // steps that the moving average takes
	sharp Law     // the law before smoothing
	slow  float64 // how many times slower it is smoothed
	style style

	rest    []float64 // how long node i is to keep its speed
	samples []float64 // s of the sharp law
	a, v, p []float64 // of the smoothed one at its nodes

	vel, acc, jerk []float64    // by how much limits are exceeded around interval i of the grid
	motion         Motion       // evaluates the smoothed law
	rate5, acc5    []float64    // velocities and accelerations at five instants: (row, place)
	next           int          // the segment that begins where the last of these is
	spare          []float64    // an evaluation that only its derivatives are taken of
	before         []float64    // jerks on one side of a break
	table          [3][]float64 // positions, velocities, accelerations of samples: (sample, row)

	quicker
}

// half is how far (2) looks to either side.
func (m *smoother) half() float64 { return float64(m.width+1) / 2 * m.step }

// style is how a law is brought to keep its jerk limits. What is tightened cannot
// be loosened again: who goes gently ends up faster, and takes more rounds.
type style struct {
	path    float64 // the share of a jerk limit that the path alone may take
	tighten float64 // the power of what is exceeded by which acceleration is lowered
	lower   float64 // and that for the square of speed
}

var (
	firm   = style{path: 0.7, tighten: 1, lower: 0.13}
	gentle = style{path: 1, tighten: 0.7, lower: 0.13}
	quick  = style{path: 0.7, tighten: 0.7, lower: 0.5} // what it lowers too much is loosened again
)

// solveSmooth finds a law whose acceleration does not jump. A patient problem is
// solved in both styles, and the faster law taken.
func (w *Solver) solveSmooth(dst *Law, p *Problem, from, to float64) error {
	w.smooth.style = firm
	if p.Quick {
		w.smooth.style = quick
	}
	err := w.smoothly(dst, p, from, to)
	if err != nil || !p.Patient || !w.grid.Jerky {
		return err
	}
	w.smooth.style = gentle
	if w.smoothly(&w.second, p, from, to) == nil && w.second.Duration() < dst.Duration() {
		*dst, w.second = w.second, *dst
	}
	return p.stopped()
}

// smoothly finds one in the style at hand.
func (w *Solver) smoothly(dst *Law, p *Problem, from, to float64) error {
	m := &w.smooth
	m.slow = 1
	if w.grid.Jerky || p.StartSpeed > 0 || p.EndSpeed > 0 {
		base, err := w.worthwhile(p, from, to)
		if err != nil {
			return err
		}
		if err := w.sharpen(p, from, to, base); err != nil {
			return err
		}
	} else {
		m.step, m.width = p.Period, 1 // the law at hand is the one to smooth
	}
	m.known = m.known[:0]
	enough, done := 1+certified, 1+certified
	if p.Quick {
		enough, done = 1+quickEnough, 1+QuickExcess-quickEnough
	}
	for round := 0; ; round++ {
		if m.loosens = p.Quick && round > 0 && round < quickLoosens; m.loosens {
			m.known = m.known[:0]
		}
		w.smoothTo(dst)
		worst, at, err := w.inspect(dst)
		if err == nil && m.partly && !(worst > enough) {
			m.known = m.known[:0] // all of it, to be sure
			worst, at, err = w.inspect(dst)
			done = min(done+quickEnough, 1+2*QuickExcess) // which has to end
		}
		if err != nil {
			return err
		}
		switch {
		case !(worst > done) && (!p.Quick || !m.partly):
			dst.factor = w.grid.Factor * m.slow
			return nil
		case math.Sqrt(worst) < slight && p.Period == 0 && w.long(&m.sharp) && p.StartSpeed == 0 && p.EndSpeed == 0:
			dst.factor = w.grid.Factor * m.slow
			dst.Slow(math.Sqrt(worst))
			return nil
		case round < maxRounds:
			if m.loosens {
				w.loosen()
			}
			w.relax(round > patience, w.further(round))
			if err := w.grid.Solve(); err != nil {
				return err
			}
			if err := w.pauses(); err != nil {
				return err
			}
		case p.StartSpeed > 0 || p.EndSpeed > 0:
			return &BrokenError{S: at, Ratio: worst}
		default:
			m.slow *= math.Sqrt(worst) * (1 + 1e-6)
		}
	}
}

// further is by how much more than needed what is exceeded is lowered: a little, so
// that it ends. On a path of many pieces every change moves the samples of all that
// follows, and there is always a place that exceeds a limit by little again: there,
// more of it every round.
func (w *Solver) further(round int) float64 {
	const little, step, most = 1e-7, 2e-3, 0.05
	if w.p.Quick {
		return min(0.02*float64(max(round-quickLoosens, 0)), most)
	}
	if w.grid.Pieces() <= manyPieces {
		return little
	}
	return min(little+step*float64(round), most)
}

// worthwhile returns the share of the acceleration limits that makes the
// smoothed law fastest: what is accelerated harder needs a wider window, and on
// a short way that costs more than it gains. Without a jerk limit it is all.
func (w *Solver) worthwhile(p *Problem, from, to float64) (share float64, err error) {
	if !w.grid.Jerky || p.Quick {
		return 1, nil
	}
	const finer = 0.8 // from one trial to the next
	best, fastest := 1.0, math.Inf(2)
	for share := 1.0; share > 1e-3; share *= finer {
		if err := w.sharpen(p, from, to, share); err != nil {
			if math.IsInf(fastest, 1) || p.stopped() != nil {
				return 1, err
			}
			break // too little is left to reach the end speed
		}
		w.lawTo(&w.smooth.sharp)
		took, window := w.smooth.sharp.Duration(), 2*w.smooth.half()
		if took > lengthy*window {
			break // and on a long way it never does
		}
		if total := took + window; total < fastest {
			best, fastest = share, total
		} else if share < best*finer*finer {
			break
		}
	}
	return best, nil
}

// sharpen solves for the fastest law that can be smoothed: it keeps its speed
// where the window begins and ends, and pauses between accelerations that the
// window cannot join.
func (w *Solver) sharpen(p *Problem, from, to, base float64) error {
	m := &w.smooth
	m.step, m.width = p.Period, 1
	moving := p.StartSpeed > 0 || p.EndSpeed > 0
	for try := range maxWindows {
		if err := p.stopped(); err != nil {
			return err
		}
		lead, trail := p.StartSpeed*m.half(), p.EndSpeed*m.half()
		if !(from+lead < to-trail) {
			return &SpeedError{End: trail > lead, Speed: max(p.StartSpeed, p.EndSpeed), Max: (to - from) / (2 * m.half())}
		}
		if w.grid.From == from+lead && w.grid.To == to-trail {
			w.grid.Restart(base) // the grid is there already
		} else {
			if err := w.grid.Prepare(p, from+lead, to-trail, base); err != nil {
				return err
			}
		}
		w.curb()
		solve := w.grid.SolveSharp
		if p.Quick {
			solve = w.grid.Solve // smoothing takes the edges off anyway
		}
		if err := solve(); err != nil {
			return err
		}
		// a moving start is prepared for the window that it turns out to need
		step, width := w.window()
		enough := float64(width)*step <= float64(m.width)*m.step || moving && try == maxWindows-1
		if !enough {
			m.step, m.width = step, width
		}
		if enough || !moving {
			break
		}
	}
	return w.pauses()
}

// curb caps the speed where the path alone would take too much of a jerk limit:
// q‴·ṡ³.
func (w *Solver) curb() {
	g := &w.grid
	for i := range g.Piece {
		set := g.Set(g.Piece[i])
		most := 0.0
		for r := range g.Rows {
			most = max(most, g.Third(i, r)*g.InvJerk[set+r])
		}
		if most > 0 {
			v := math.Cbrt(w.smooth.style.path / most)
			g.Lower(i, v*v)
		}
	}
}

// long reports whether a law is one of many windows.
func (w *Solver) long(l *Law) bool {
	return w.grid.Jerky && l.Duration() > 3*lengthy*float64(w.smooth.width)*w.smooth.step
}

// window returns step and width of the average that lets every acceleration of
// the law rise from zero within its jerk limits.
func (w *Solver) window() (step float64, width int) {
	need, time := 0.0, 0.0
	for i := range w.grid.Piece {
		need = max(need, w.ramp(i, math.Abs(w.grid.Accel(i))))
		time += w.grid.Time(i)
	}
	step = w.p.Period
	if step == 0 {
		steps := float64(perWindow)
		if time > 3*lengthy*need {
			steps = fewer
		}
		nodes := nodesPerPiece
		if w.p.Quick {
			nodes = nodesQuickly
		}
		step = max(need/steps*(1+spare), time/float64(max(maxNodes, nodes*w.grid.Pieces())))
	}
	return step, max(1, int(math.Ceil(need/step*(1+spare))))
}

// ramp returns how long a change of path acceleration by du takes within the
// jerk limits on interval i.
func (w *Solver) ramp(i int, du float64) (need float64) {
	g := &w.grid
	set := g.Set(g.Piece[i])
	for r := range g.Rows {
		need = max(need, g.Rate(i, r)*du*g.InvJerk[set+r])
	}
	return need
}

// pauses puts in what pauses are missing, and those that they bring about.
func (w *Solver) pauses() error {
	for range maxPauses {
		if !w.grid.Jerky || !w.pause() {
			return nil
		}
		if err := w.grid.Solve(); err != nil {
			return err
		}
	}
	return nil
}

// pause puts an interval of constant speed wherever the path acceleration, within
// a window, changes sign by more than that window can ramp: at such tops and
// bottoms of the speed. The interval lasts a whole window, since the average is as
// steep as what is a window apart; what misses little is left to relax. It reports
// whether there was such a place.
func (w *Solver) pause() (found bool) {
	m := &w.smooth
	window := float64(m.width) * m.step
	n := len(w.grid.Piece)
	w.lawTo(&m.sharp)
	nodes := m.sharp.nodes
	m.rest = sized(m.rest, n+1)
	clear(m.rest)
	for i, j := 0, 0; i < n; i++ {
		// the interval a window later than the middle of this one, or the next
		later := (nodes[i].t+nodes[i+1].t)/2 + window*(1-1e-3)
		for j < n && (j <= i || nodes[j+1].t <= later) {
			j++
		}
		if j == n {
			break
		}
		u, next := nodes[i].a, nodes[j].a
		if u*next >= 0 || w.ramp(i, math.Abs(next-u)) <= window*little {
			continue
		}
		turn := i + 1
		for k := turn; k <= j; k++ {
			if w.grid.X[k] > w.grid.X[turn] == (u > 0) && w.grid.X[k] != w.grid.X[turn] {
				turn = k
			}
		}
		if !w.grid.Stop[turn] {
			m.rest[turn] = window
		}
	}
	for i, time := range m.rest {
		if time > 0 {
			top := i == n || w.grid.X[i+1] < w.grid.X[i] || i > 0 && w.grid.X[i-1] < w.grid.X[i]
			found = w.level(i, time, top) || found
		}
	}
	return found
}

// level caps the speed around a node so that it stays constant for a time: a top
// is cut off, a bottom is filled up from both sides.
func (w *Solver) level(turn int, time float64, top bool) bool {
	l, r := turn, turn
	first, last := 0, len(w.grid.Piece)
	if w.grid.X[first] > 0 {
		first++ // a given speed is not lowered
	}
	if w.grid.X[last] > 0 {
		last--
	}
	x := w.grid.X[l]
	lasts := func() bool {
		from, to := l, r
		if w.grid.X[l] < x {
			from++ // the level is reached a node later
		}
		if w.grid.X[r] < x {
			to--
		}
		return w.grid.S[to]-w.grid.S[from] >= time*math.Sqrt(x)*(1-1e-3)
	}
	for !lasts() && (l > first || r < last) && !w.grid.Stop[l] && !w.grid.Stop[r] {
		if l > first && (r >= last || w.grid.X[l-1] >= w.grid.X[r+1] == top) {
			l--
		} else {
			r++
		}
		if top {
			x = max(w.grid.X[l], w.grid.X[r])
		}
	}
	lowered := false
	for i := l; i < r && x > 0; i++ {
		if max(w.grid.X[i], w.grid.X[i+1]) > x*(1+1e-6) {
			w.grid.Lower(i, x)
			lowered = true
		}
	}
	return lowered
}

// smoothTo applies (2) to the solution, section by section between stops.
func (w *Solver) smoothTo(dst *Law) {
	m := &w.smooth
	w.lawTo(&m.sharp)
	dst.nodes = dst.nodes[:0]
	nodes := m.sharp.nodes
	for first := 0; first < len(nodes)-1; {
		last := first + 1
		for last < len(nodes)-1 && !w.grid.Stop[last] {
			last++
		}
		m.section(dst, nodes[first:last+1])
		first = last
	}
	dst.length = dst.nodes[len(dst.nodes)-1].s - dst.nodes[0].s
}

// section appends one smoothed section to the law.
//
// The section's law is continued before its start and after its end at constant
// speed, and sampled at steps h. The moving averages of the samples are the
// control points c of (2), whose second differences are the accelerations at the
// nodes; velocities and positions follow by integration, so that all three agree
// to the last bit.
func (m *smoother) section(dst *Law, sharp []node) {
	start, end := &sharp[0], &sharp[len(sharp)-1]
	time := (end.t-start.t)*m.slow + 2*m.half()
	h := m.step
	count := int(math.Ceil(time/h - 1e-9))
	if end.v > 0 {
		h = time / float64(count) // it must arrive in time, not wait
	}
	m.sample(sharp, count, h)

	// accelerations at the nodes, integrated
	m.a, m.v, m.p = sized(m.a, count+1), sized(m.v, count+1), sized(m.p, count+1)
	s := m.samples
	for k := range m.a {
		m.a[k] = ((s[k+m.width+1] - s[k+m.width]) - (s[k+1] - s[k])) / (float64(m.width) * h * h)
	}
	m.a[0], m.a[count] = 0, 0
	m.v[0], m.p[0] = start.v/m.slow, start.s-start.v*m.half()/m.slow
	for k := range count {
		m.v[k+1] = m.v[k] + h*(m.a[k]+m.a[k+1])/2
	}
	spread(m.v, end.v/m.slow)
	for k := range count {
		m.p[k+1] = m.p[k] + h*(m.v[k]+h*(2*m.a[k]+m.a[k+1])/6)
	}
	spread(m.p, end.s+end.v*m.half()/m.slow)

	t := 0.0
	if n := len(dst.nodes); n > 0 {
		t = dst.nodes[n-1].t
		dst.nodes = dst.nodes[:n-1]
	}
	dst.nodes = slices.Grow(dst.nodes, len(m.p))
	for k := range m.p {
		n := node{t: t + float64(k)*h, s: m.p[k], v: max(m.v[k], 0), a: m.a[k]}
		if k < count {
			n.jerk = (m.a[k+1] - m.a[k]) / h
		}
		dst.nodes = append(dst.nodes, n)
	}
}

// sample takes s of a section's law at steps h. What node k averages begins with
// sample k and lies symmetrically around its time.
func (m *smoother) sample(sharp []node, count int, h float64) {
	start, end := &sharp[0], &sharp[len(sharp)-1]
	m.samples = sized(m.samples, count+m.width+2)
	i := 0
	for k := range m.samples {
		t := ((float64(k)-float64(m.width+1)/2)*h - m.half()) / m.slow
		switch {
		case t <= 0:
			m.samples[k] = start.s + start.v*t
		case t >= end.t-start.t:
			m.samples[k] = end.s + end.v*(t-(end.t-start.t))
		default:
			for sharp[i+1].t-start.t <= t {
				i++
			}
			x := t - (sharp[i].t - start.t)
			m.samples[k] = sharp[i].s + x*(sharp[i].v+x*sharp[i].a/2)
		}
	}
}

// spread makes the last value exact by spreading the rounding of a sum evenly.
func spread(x []float64, last float64) {
	n := float64(len(x) - 1)
	off := last - x[len(x)-1]
	for k := range x {
		x[k] += off * (float64(k) / n)
	}
	x[len(x)-1] = last
}
