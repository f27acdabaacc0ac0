package hierarchy

import (
	"math"
	"slices"

	"poise/linalg"
	"poise/qp"
)

// project stores c·Z of a vector.
func (s *Solver) project(v int) {
	n, m := s.n, s.m
	p := s.P[v*n : v*n+m]
	if s.whole {
		copy(p, s.c[v*n:(v+1)*n])
		return
	}
	clear(p)
	from, to := s.from[v], s.to[v]
	if m > 0 {
		linalg.AddRows(p, s.c[v*n+from:v*n+to], s.Z[from*n:], n)
	}
	if norm(p) <= s.tolRank*s.size[v] {
		clear(p) // rounding: the levels above have decided
	}
}

func (s *Solver) projected(v int) []float64 { return s.P[v*s.n : v*s.n+s.m] }

// serve finds x for a level and leaves to those below what it does not need.
func (s *Solver) serve(k int) {
	l := &s.levels[k]
	for attempt, tol := range tolRanks {
		s.tolRank = tol
		if l.Status = s.attempt(k); l.Status == qp.Optimal && attempt > 0 {
			l.Status = qp.Inaccurate // as good as it gets, but not what was asked
			return
		}
		if l.Status == qp.Optimal {
			return
		}
		if l.Status == qp.Limit {
			break
		}
	}
	s.keep(k)
}

func (s *Solver) attempt(k int) qp.Status {
	sp := &s.spans[k]
	for i := range s.equations[sp.equations[0]:sp.equations[1]] {
		q := &s.equations[sp.equations[0]+i]
		s.project(q.vector)
		s.e[i] = q.b - s.atX[q.vector]
	}
	if sp.whole && s.least(k) || s.reach(k) {
		return qp.Optimal
	}
	return s.compromise(k)
}

// keep lets the rows of a level that was not finished have the values that they have.
func (s *Solver) keep(k int) {
	sp := &s.spans[k]
	for i := range s.rows[sp.rows[0]:sp.rows[1]] {
		r := &s.rows[sp.rows[0]+i]
		r.bound = min(r.bound, r.bound+s.excess(r))
	}
}

// reach goes to the least-squares optimum of a level's equations by the shortest way that
// keeps all inequalities, its own included. It reports whether there is one.
func (s *Solver) reach(k int) bool {
	sp, m := &s.spans[k], s.m
	s.lq.Reset(m)
	equations := s.equations[sp.equations[0]:sp.equations[1]]
	for _, q := range equations {
		copy(s.lq.Row(s.size[q.vector]), s.projected(q.vector))
	}
	rank := s.lq.Decompose(s.tolRank)
	s.lq.Solve(s.u[:m], s.e[:len(equations)])
	s.advance()
	if !s.kept(k, sp.rows[1]) && !s.avoid(k, rank) {
		return false
	}
	s.commit(sp.rows[1])
	s.narrow(rank)
	s.levels[k].Status = qp.Optimal
	return true
}

// advance stores x + Z·u in next, and the values of rows there.
func (s *Solver) advance() {
	n, m := s.n, s.m
	if s.whole {
		for i := range n {
			s.next[i] = s.x[i] + s.u[i]
		}
		s.evaluate()
		return
	}
	linalg.MulRows(s.next[:n], s.Z, s.u[:m], n)
	for i, x := range s.x[:n] {
		s.next[i] += x
	}
	s.evaluate()
}

// kept reports whether next keeps the first so many inequalities and the equations above a
// level as x does.
func (s *Solver) kept(k, rows int) bool {
	length := norm(s.next[:s.n])
	for i := range s.rows[:rows] {
		r := &s.rows[i]
		if !(s.excessNext(r) >= -s.tolerance(r, length)) {
			return false
		}
	}
	for _, q := range s.equations[:s.spans[k].equations[0]] {
		if !(math.Abs(s.atNext[q.vector]-s.atX[q.vector]) <= s.rounding(q.vector, q.b, length)) {
			return false
		}
	}
	return true
}

// avoid adds to u, in the null space of the equations, the shortest vector that keeps the
// inequalities. Rows come into the quadratic program when a point breaks them: most never do.
func (s *Solver) avoid(k, rank int) bool {
	l, m := &s.levels[k], s.m
	if rank == m {
		return false
	}
	clear(s.z[:m])
	copy(s.uEqual[:m], s.u[:m])
	s.dual.ResetNearest(s.z[rank:m])
	s.dual.Within(s.most - s.iterations)
	s.forgetRows(k)
	status := s.cut(k, rank)
	for status == more {
		solved := s.dual.Solve()
		if solved != qp.Optimal {
			status = impossible
			break
		}
		copy(s.z[rank:m], s.dual.X())
		clear(s.z[:rank])
		s.lq.TurnBack(s.z[:m])
		for i := range m {
			s.u[i] = s.uEqual[i] + s.z[i]
		}
		s.advance()
		status = s.cut(k, rank)
	}
	s.count(l, s.dual.Iterations())
	return s.settle(k, status)
}

// verdict of cut.
type verdict uint8

const (
	none       verdict = iota // all rows are kept
	more                      // the program has more rows than before
	impossible                // a row that nothing can change is broken
)

// settle remembers the active rows of a level that was served, and reports whether it was.
func (s *Solver) settle(k int, status verdict) bool {
	s.last[k] = s.last[k][:0]
	if status != none || !s.kept(k, s.spans[k].rows[1]) {
		return false
	}
	s.last[k] = s.dual.Active(s.last[k])
	return true
}

// forgetRows says that no row is in the program yet, but for those that were active in the
// problem before, which come in at once.
func (s *Solver) forgetRows(k int) {
	for i := range s.rows {
		s.rows[i].posed = false
	}
	s.fresh = true
}

// cut adds the rows that next breaks to the program, the first time also those that were active
// in the problem before. lq has the equations of the level, of the given rank; none if that is
// 0 and the program is in all unknowns.
func (s *Solver) cut(k, rank int) verdict {
	rows, length, added := s.spans[k].rows[1], norm(s.next[:s.n]), false
	for i := range s.rows[:rows] {
		r := &s.rows[i]
		if r.constant || r.posed {
			continue
		}
		have := s.excessNext(r)
		broken := have < -tolCut*s.tolerance(r, length)
		if !broken && !(s.fresh && slices.Contains(s.last[k], r.id)) {
			continue
		}
		s.project(r.vector)
		t := s.turned[:s.m]
		for j, x := range s.projected(r.vector) {
			t[j] = r.sign * x
		}
		if rank > 0 {
			s.lq.Turn(t)
		}
		if t = t[rank:]; norm(t) <= s.tolRank*s.size[r.vector] {
			if have < -s.tolerance(r, length) {
				return impossible
			}
			continue
		}
		for j, x := range s.dual.X() { // the bound beside the program's own unknowns
			have -= t[j] * x
		}
		s.dual.AtLeast(t, -have)
		s.dual.Label(r.id)
		r.posed, added = true, added || broken
	}
	if s.fresh {
		s.fresh = false
		s.dual.Start(s.last[k])
	}
	if added {
		return more
	}
	return none
}

func (s *Solver) count(l *Level, steps int) {
	l.Iterations += steps
	s.iterations += steps
}

// commit takes next over; what rounding broke of the first so many rows is their bound from
// now on, so that staying is always feasible.
func (s *Solver) commit(rows int) {
	copy(s.x[:s.n], s.next[:s.n])
	copy(s.atX[:s.vectors], s.atNext[:s.vectors])
	for i := range s.rows[:rows] {
		r := &s.rows[i]
		if excess := s.excess(r); excess < 0 {
			r.bound += excess
		}
	}
}

// narrow leaves of Z the null space of the first `rank` rows that lq was given.
func (s *Solver) narrow(rank int) {
	if rank == 0 {
		return
	}
	n, m := s.n, s.m
	if s.whole {
		for i := range n {
			row := s.Z[i*n : (i+1)*n]
			clear(row)
			row[i] = 1
		}
	}
	s.lq.TurnRows(s.Z, n, n)
	for i := range n {
		row := s.Z[i*n : i*n+m]
		copy(row, row[rank:])
	}
	s.m, s.whole = m-rank, false
}

// least minimises the equations of a level that leave nothing free.
func (s *Solver) least(k int) bool {
	sp, l, m := &s.spans[k], &s.levels[k], s.m
	H, g := s.H[:m*m], s.g[:m]
	clear(H)
	clear(g)
	for i, q := range s.equations[sp.equations[0]:sp.equations[1]] {
		p := s.projected(q.vector)
		linalg.AddScaled(g, -s.e[i], p)
		linalg.AddOuter(H, p, p, m)
	}
	s.dual.Reset(H, g)
	s.dual.Within(s.most - s.iterations)
	s.forgetRows(k)
	status := more
	for status == more {
		if s.dual.Solve() != qp.Optimal {
			status = impossible
			break
		}
		copy(s.u[:m], s.dual.X())
		s.advance()
		status = s.cut(k, 0)
	}
	s.count(l, s.dual.Iterations())
	if !s.settle(k, status) {
		return false
	}
	s.commit(sp.rows[1])
	s.m, l.Status = 0, qp.Optimal
	return true
}

// compromise finds the least-squares optimum of a level whose rows cannot all be kept.
func (s *Solver) compromise(k int) qp.Status {
	sp, l, m, p := &s.spans[k], &s.levels[k], s.m, s.primal
	p.Reset(m)
	equations := s.equations[sp.equations[0]:sp.equations[1]]
	for i, q := range equations {
		p.Target(s.projected(q.vector), s.e[i])
	}
	for i := range s.rows[:sp.rows[1]] {
		r := &s.rows[i]
		if r.constant {
			continue
		}
		s.project(r.vector)
		t := s.turned[:m]
		for j, x := range s.projected(r.vector) {
			t[j] = r.sign * x
		}
		switch {
		case i >= sp.rows[0]:
			p.Soft(t, -s.excess(r))
		case norm(t) == 0:
			r.constant = true
		default:
			p.Hard(t, -max(s.excess(r), 0))
		}
	}
	clear(s.z[:m])
	status := p.Solve(s.z[:m], s.most-s.iterations)
	s.count(l, p.Iterations())
	if status != qp.Optimal && status != qp.Limit {
		return status
	}
	copy(s.u[:m], p.X())
	s.advance()
	if !finite(s.next[:s.n]) || !s.kept(k, sp.rows[0]) {
		return qp.Inaccurate
	}
	s.fix(k, status == qp.Optimal)
	return status
}

// fix takes the compromise over. The level's equations, the rows it breaks and the rows that
// hold it back are equations from now on.
func (s *Solver) fix(k int, optimal bool) {
	sp, m := &s.spans[k], s.m
	s.lq.Reset(m)
	scale := s.primal.Scale()
	for _, q := range s.equations[sp.equations[0]:sp.equations[1]] {
		copy(s.lq.Row(s.size[q.vector]), s.projected(q.vector))
	}
	length, u, at := norm(s.next[:s.n]), s.primal.Multipliers(), 0
	for i := range s.rows[:sp.rows[1]] {
		r := &s.rows[i]
		if r.constant {
			continue
		}
		holds := u[at] > tolBroken*(math.Abs(r.bound)+s.size[r.vector]*length)
		if i < sp.rows[0] {
			holds = u[at]*norm(s.projected(r.vector)) > tolHolds*scale
		}
		at++
		if optimal && holds {
			copy(s.lq.Row(s.size[r.vector]), s.projected(r.vector))
			r.constant = true
		}
	}
	s.commit(sp.rows[1])
	s.narrow(s.lq.Decompose(s.tolRank))
}
