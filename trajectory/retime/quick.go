package retime

import "math"

// QuickExcess is by which share the law of a quick problem may exceed its limits.
const QuickExcess = 0.03

const (
	// while only what changed is looked at less is let pass: what comes a little later
	// than before is sampled at other instants
	quickEnough  = QuickExcess / 3
	quickLoosens = 4 // rounds in which intervals are loosened, too
)

// quicker is what solves a quick problem in few rounds: they look at what changed only,
// and loosen what was lowered too much.
type quicker struct {
	loosens bool        // use is noted everywhere, not only where it is too much
	known   []nodeSpeed // when the law was inspected last
	changes []int       // how many intervals before node i are others since
	partly  bool        // the last inspection looked at no more than those
}

// nodeSpeed is a node of the grid and ṡ² there.
type nodeSpeed struct{ s, x float64 }

// compare finds out which intervals of the grid are others than when the law was
// inspected last, or have other speeds.
func (w *Solver) compare() {
	m, g := &w.smooth, &w.grid
	n := len(g.Piece)
	m.partly = w.p.Quick && len(m.known) > 0
	m.changes = sized(m.changes, n+1)
	m.changes[0] = 0
	k := 0
	for i := range n {
		m.changes[i+1] = m.changes[i]
		if !m.partly {
			continue
		}
		for k < len(m.known)-2 && m.known[k].s < g.S[i] {
			k++
		}
		if m.known[k] != (nodeSpeed{g.S[i], g.X[i]}) || m.known[k+1] != (nodeSpeed{g.S[i+1], g.X[i+1]}) {
			m.changes[i+1]++
		}
	}
	m.known = m.known[:0]
	for i := range n + 1 {
		m.known = append(m.known, nodeSpeed{g.S[i], g.X[i]})
	}
}

// seen returns between which nodes of the grid lies what segment k of a law is an
// average of, given those of the segment before.
func (w *Solver) seen(l *Law, k, from, to int) (int, int) {
	reach := w.smooth.reach()
	first, last := l.nodes[max(0, k-reach)].s, l.nodes[min(len(l.nodes)-1, k+1+reach)].s
	n := len(w.grid.Piece)
	for from < n-1 && w.grid.S[from+1] < first {
		from++
	}
	for to < n && w.grid.S[to] <= last {
		to++
	}
	return from, to
}

// loosen raises what may be used around intervals that use less than they could now
// that others are lowered: what the first rounds lower is by far too much.
func (w *Solver) loosen() {
	const (
		full   = 0.98 // of the limits: no need to loosen
		most   = 1.5  // in one round
		speeds = 0.6  // the power of it for the square of speed
	)
	g, m := &w.grid, &w.smooth
	for i := range g.Piece {
		use := max(m.acc[i], m.vel[i]*m.vel[i], m.jerk[i])
		if use > full || use == 0 {
			continue
		}
		by := min(full/use, most)
		g.Share[i] = min(g.Share[i]*by, g.base)
		g.limit[i] *= math.Pow(by, speeds)
	}
	g.recap()
}
