package retime

import (
	"math"

	"poise/trajectory"
)

const (
	maxSamples = 2e7 // of a law made for a period: more is a mistake
)

// Solver holds the memory of Solve, which grows when needed and is used again.
// The zero Solver is ready. Not safe for concurrent use.
type Solver struct {
	p      *Problem
	grid   grid // the largest speeds along its path
	smooth smoother
	second Law // of a patient problem
}

// Forget drops what a solver knows of its last problem, and keeps its memory.
func (w *Solver) Forget() { w.p, w.grid.p, w.smooth.motion = nil, nil, Motion{} }

// Solve finds the fastest law for a problem and stores it in dst. Once the
// solver's memory has grown to the problem it does not allocate.
func (w *Solver) Solve(dst *Law, p *Problem) error {
	if err := p.check(); err != nil {
		return err
	}
	w.p = p
	breaks := p.Path.Breaks()
	from, to := breaks[0], breaks[len(breaks)-1]
	if from == to {
		return dst.still(from, p)
	}
	if err := w.grid.Prepare(p, from, to, 1); err != nil {
		return err
	}
	if w.grid.Jerky && p.Period == 0 {
		return w.solveSmooth(dst, p, from, to)
	}
	if err := w.grid.SolveSharp(); err != nil {
		return err
	}
	w.lawTo(dst)
	if p.Period > 0 && !(dst.Duration()/p.Period < maxSamples) {
		return &trajectory.PeriodError{Period: p.Period, Duration: dst.Duration()}
	}
	if w.grid.Jerky || p.Period > 0 && !w.samplesHold(dst) {
		return w.solveSmooth(dst, p, from, to)
	}
	w.reportTo(dst)
	return nil
}

// still is the law of a path that has no length.
func (l *Law) still(s float64, p *Problem) error {
	if v := max(p.StartSpeed, p.EndSpeed); v > 0 {
		return &SpeedError{End: p.StartSpeed == 0, Speed: v, Max: 0}
	}
	l.nodes = append(l.nodes[:0], node{s: s})
	l.spans, l.factor, l.length = l.spans[:0], 1, 0
	return nil
}

// lawTo writes the largest speeds as a law of constant accelerations.
func (w *Solver) lawTo(l *Law) {
	g := &w.grid
	l.nodes = l.nodes[:0]
	l.length = g.To - g.From
	l.factor = g.Factor
	t, v := 0.0, math.Sqrt(g.X[0])
	for i := range g.Piece {
		next := math.Sqrt(g.X[i+1])
		dt := 2 * g.Length(i) / (v + next)
		l.nodes = append(l.nodes, node{t: t, s: g.S[i], v: v, a: (next - v) / dt})
		t, v = t+dt, next
	}
	last := l.nodes[len(l.nodes)-1]
	l.nodes = append(l.nodes, node{t: t, s: g.S[len(g.Piece)], v: v, a: last.a})
}

// reportTo lists the limits that are used most on each interval.
func (w *Solver) reportTo(l *Law) {
	g := &w.grid
	l.spans = l.spans[:0]
	for i := range g.Piece {
		l.add(g.S[i], g.S[i+1], g.Held(i), math.Sqrt(g.X[i]), math.Sqrt(g.X[i+1]))
	}
}
