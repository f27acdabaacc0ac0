package retime

import (
	"math"
	"sort"
)

// nearby is the share of a limit from which on the peak between places is
// estimated: nothing doubles between them.
const nearby = 0.5

// stopEvery is after how many nodes or intervals Stop is asked: some milliseconds.
const stopEvery = 1024

// use says how much of the limits a segment of a law takes, as multiples of them.
type use struct{ vel, acc, jerk float64 }

// inspect checks a smoothed law at every instant: the motion itself at five
// places between its nodes or, if it is made for samples, the quintic through
// them. It writes the report, notes for every interval of the grid by how much
// limits are exceeded around it, and returns the worst and where it is, or why it
// was told to stop.
func (w *Solver) inspect(l *Law) (worst, at float64, err error) {
	m := &w.smooth
	n := len(w.grid.Piece)
	m.vel, m.acc, m.jerk = sized(m.vel, n), sized(m.acc, n), sized(m.jerk, n)
	clear(m.vel)
	clear(m.acc)
	clear(m.jerk)
	l.spans = l.spans[:0]
	w.follow(l)
	if w.p.Period > 0 {
		w.tabulate(l)
	}
	m.motion.piece, m.next = 0, -1
	w.compare()
	from, to := 0, 0 // intervals of the grid that the average sees from segment k
	for k := range len(l.nodes) - 1 {
		if k%stopEvery == 0 {
			if err := w.p.stopped(); err != nil {
				return 0, 0, err
			}
		}
		if m.partly {
			from, to = w.seen(l, k, from, to)
			if m.changes[from] == m.changes[to] {
				continue
			}
		}
		var u use
		var b mostUsed
		if w.p.Period > 0 {
			u, b = w.between(l, k)
		} else {
			u, b = w.instants(l, k)
		}
		now, next := &l.nodes[k], &l.nodes[k+1]
		l.add(now.s, next.s, b.binding, now.v, next.v)
		x := max(u.vel*u.vel, u.acc, u.jerk)
		if x > 1+certified || m.loosens {
			w.blame(l, k, u)
		}
		if x > 1+certified && x > worst {
			worst, at = x, now.s
		}
	}
	return worst, at, nil
}

// reach is how many segments away the average still sees.
func (m *smoother) reach() int { return (m.width+2)/2 + 1 }

// follow makes the solver's motion that of a law.
func (w *Solver) follow(l *Law) {
	m := &w.smooth.motion
	if m.path != w.p.Path || len(m.q) != w.grid.Rows {
		*m = *NewMotion(w.p.Path, l)
	}
	m.law, m.i, m.piece = l, 0, 0
}

func (u use) or(o use) use {
	return use{max(u.vel, o.vel), max(u.acc, o.acc), max(u.jerk, o.jerk)}
}

// instants checks segment k of a law at five places, with what may be between
// them, and returns which limit it uses most.
func (w *Solver) instants(l *Law, k int) (u use, b mostUsed) {
	m, rows := &w.smooth.motion, w.grid.Rows
	w.smooth.rate5, w.smooth.acc5 = sized(w.smooth.rate5, rows*places), sized(w.smooth.acc5, rows*places)
	rates, accs := w.smooth.rate5[:rows*places], w.smooth.acc5[:rows*places]
	dq, ddq := m.dq[:rows], m.ddq[:rows]
	h := l.nodes[k+1].t - l.nodes[k].t
	first := m.pieceAt(l.nodes[k].s)
	for i := range places {
		if i == 0 && w.smooth.next == k {
			for at := 0; at < len(rates); at += places { // where the segment before ends
				rates[at], accs[at] = rates[at+places-1], accs[at+places-1]
			}
			continue
		}
		s, v, a := l.at(k, l.nodes[k].t+h*float64(i)/(places-1))
		w.p.Path.StateTo(m.q, dq, ddq, m.pieceAt(s), s)
		at := i
		for r, d := range dq {
			rates[at] = d * v
			accs[at] = ddq[r]*v*v + d*a
			at += places
		}
	}
	w.smooth.next = k + 1
	b = mostUsed{binding: binding{Row: -1}}
	for piece := first; piece <= m.piece; piece++ {
		set := w.grid.Set(piece)
		for r := range w.grid.Rows {
			if w.grid.Free(set + r) {
				continue
			}
			v, a := (*[places]float64)(rates[r*places:]), (*[places]float64)(accs[r*places:])
			x := w.row(v, a, set+r, h)
			b.raise(x, r, v[2]*a[2] < 0)
			u = u.or(x)
		}
	}
	for piece := first; piece < m.piece; piece++ {
		u = u.or(w.seam(l, k, piece, 0))
	}
	return u, b
}

// seam checks both sides of the break after a piece, which segment k of a law
// passes, for rows from some on: there accelerations may jump or have a corner
// that lies between all places.
func (w *Solver) seam(l *Law, k, piece, from int) (u use) {
	if from == w.grid.Rows {
		return u
	}
	w.smooth.spare = sized(w.smooth.spare, w.grid.Rows)
	breaks := w.p.Path.Breaks()
	s := breaks[piece+1]
	_, v, a := l.at(k, l.when(k, s))
	m := &w.smooth.motion
	w.smooth.before = sized(w.smooth.before, w.grid.Rows)
	for side := range 2 {
		// q‴ by a difference towards the inside of the piece
		step := (breaks[piece+side+1] - breaks[piece+side]) * 1e-4 * float64(2*side-1)
		w.p.Path.StateTo(m.q, m.dq, m.ddq, piece+side, s+step)
		copy(m.q, m.ddq)
		w.p.Path.StateTo(w.smooth.spare, m.dq, m.ddq, piece+side, s)
		for r := from; r < w.grid.Rows; r++ {
			third := (m.q[r] - m.ddq[r]) / step
			rate, g := m.dq[r]*v, m.ddq[r]*v*v+m.dq[r]*a
			jerk := third*v*v*v + 3*m.ddq[r]*v*a + m.dq[r]*l.nodes[k].jerk
			i := w.grid.Set(piece+side) + r
			up, down := braking(min(rate, 0), max(rate, 0), w.grid.InvAcc[i], w.grid.InvDec[i])
			if w.p.Quick && side == 1 {
				over := overshoot * (jerk - w.smooth.before[r])
				jerk = max(math.Abs(jerk+over), math.Abs(w.smooth.before[r]-over))
			}
			w.smooth.before[r] = jerk
			u = u.or(use{vel: math.Abs(rate) * w.grid.InvVel[i], acc: max(g*up, -g*down), jerk: math.Abs(jerk) * w.grid.InvJerk[i]})
		}
	}
	return u
}

// overshoot is how far beyond both sides of a jump of a third derivative the quintic
// goes that has value, slope and second derivative in common with the curve on either
// side of it, of the jump: at most, wherever the jump is between these places.
const overshoot = 0.375

// braking returns the inverse limits of positive and negative acceleration of a
// row whose velocities lie between two: the stricter for both where it turns. A
// row that comes to rest does not turn, up to rounding.
func braking(slow, fast, acc, dec float64) (up, down float64) {
	tiny := 1e-12 * max(fast, -slow)
	switch {
	case slow < -tiny && fast > tiny:
		strict := max(acc, dec)
		return strict, strict
	case slow < -tiny:
		return dec, acc
	}
	return acc, dec
}

// row returns what a row uses, given its velocity and acceleration at five
// places within h.
func (w *Solver) row(v, a *[places]float64, limits int, h float64) (u use) {
	slow, fast := min(v[0], v[1], v[2], v[3], v[4]), max(v[0], v[1], v[2], v[3], v[4])
	low, high := min(a[0], a[1], a[2], a[3], a[4]), max(a[0], a[1], a[2], a[3], a[4])
	up, down := braking(slow, fast, w.grid.InvAcc[limits], w.grid.InvDec[limits])
	if u.acc = max(high*up, -low*down); u.acc > nearby {
		u.acc = max(up*peak(a), down*peak(negative(a)))
	}
	inv := w.grid.InvVel[limits]
	if u.vel = inv * max(fast, -slow); u.vel > nearby {
		u.vel = inv * max(peak(v), peak(negative(v)))
	}
	if inv := w.grid.InvJerk[limits]; inv > 0 {
		// mean jerks between the places, and what it may vary within them
		per := (places - 1) / h * inv
		q := [...]float64{(a[1] - a[0]) * per, (a[2] - a[1]) * per, (a[3] - a[2]) * per, (a[4] - a[3]) * per}
		vary := [...]float64{math.Abs(q[1]-q[0]) / 2, math.Abs(q[2]-q[1]) / 2, math.Abs(q[3]-q[2]) / 2}
		u.jerk = max(math.Abs(q[0])+vary[0], math.Abs(q[1])+max(vary[0], vary[1]), math.Abs(q[2])+max(vary[1], vary[2]), math.Abs(q[3])+vary[2])
	}
	return u
}

func negative(x *[places]float64) *[places]float64 {
	return &[places]float64{-x[0], -x[1], -x[2], -x[3], -x[4]}
}

// blame notes on the grid what segment k of a law takes, be it too much: everything
// that the average saw there.
func (w *Solver) blame(l *Law, k int, u use) {
	m := &w.smooth
	reach := m.reach()
	from := l.nodes[max(0, k-reach)].s
	to := l.nodes[min(len(l.nodes)-1, k+1+reach)].s
	first := max(0, sort.SearchFloat64s(w.grid.S, from)-1)
	for i := first; i < len(w.grid.Piece) && w.grid.S[i] <= to; i++ {
		m.vel[i], m.acc[i], m.jerk[i] = max(m.vel[i], u.vel), max(m.acc[i], u.acc), max(m.jerk[i], u.jerk)
	}
}

// relax lowers what the blamed intervals may use, further than needed by a share; at
// last, below what they do use.
func (w *Solver) relax(last bool, further float64) {
	m := &w.smooth
	more := 1 + further
	for i := range w.grid.Piece {
		if x := m.acc[i]; x > 1+certified {
			w.grid.Tighten(i, min(w.grid.Share[i], max(w.grid.Used[i], 0.01))/(x*more))
		}
		if x := m.vel[i]; x > 1+certified {
			w.grid.Lower(i, max(w.grid.X[i], w.grid.X[i+1])/(x*x*more))
		}
		if x := m.jerk[i]; x > 1+certified {
			// most of it is the ramp of path acceleration, the rest goes with speed
			share := w.grid.Share[i]
			if last {
				share = min(share, max(w.grid.Used[i], 0.01))
			}
			w.grid.Tighten(i, share/(math.Pow(x, m.style.tighten)*more))
			w.grid.Lower(i, max(w.grid.X[i], w.grid.X[i+1])/math.Pow(x*more, m.style.lower))
		}
	}
}
