package retime

import (
	"math"

	"poise/internal/phase"
)

const (
	defaultGrid = 256  // intervals of a path, if nobody says
	finePieces  = 512  // so many intervals are shared among the pieces at least,
	perPiece    = 16   // up to this many each: a short blend needs its own
	maxGrid     = 3e4  // where splitting ends
	corner      = 1e-6 // relative jump of a derivative that is not rounding
	unresolved  = 5e-4 // error of a derivative between places, of its largest value, that is not tolerated
)

// places are the equidistant places of an interval at which the path is known.
const places = 5

// Solver holds the memory of Solve, which grows when needed and is used again.
// The zero Solver is ready. Not safe for concurrent use.
type Solver struct {
	p        *Problem
	rows     int
	from, to float64 // the part of the path that is solved
	base     float64 // share of the acceleration limits to begin with

	// the grid: interval i lies between s[i] and s[i+1], on one piece
	s     []float64
	piece []int
	stop  []bool // pass this node at rest

	// what the path does, filled by load: (interval, row, place)
	rate []float64 // q′, turned to be positive,
	bend []float64 // and q″ turned likewise
	turn []bool    // (interval, row): q′ changes sign inside
	fast []float64 // (interval, place): the largest q′² of its squared limit

	// limits, and their inverses, 0 where there is none: (limit set, row)
	acc, dec                         []float64
	invVel2, invAcc, invDec, invJerk []float64
	weight                           []float64 // by which rows are compared
	cubic                            bool      // the path is one of cubic pieces
	jerky                            bool      // some row has a jerk limit

	// constraints, filled by load, tightened by repair
	interval []phase.Interval
	lines    []phase.Line // backing of interval,
	spare    []phase.Line // and of those that needed more
	fine     []bool       // interval i is constrained at all its places
	share    []float64    // of the acceleration limits that interval i may use,
	speed    []float64    // and of the squared velocity limits
	cap      []float64    // x on interval i may not exceed this
	ceiling  []float64    // of x at node i

	// solution
	reach   []float64 // the largest x at node i that can be survived
	x       []float64 // the x of the answer
	changed []bool    // interval i is not as it was in the last passes
	redo    []bool    // interval i was tightened
	moved   []bool    // node i got another x
	binding []binding // what holds interval i back,
	used    []float64 // and the share of the acceleration limits it uses: filled by excess

	split []bool // interval i is to be split

	// how well the places tell what lies between: filled by fold
	blur        []float64  // (interval; q′, q″): what they miss, weighed by the limits
	most        [2]float64 // the largest q′ and q″, weighed likewise
	q, dq, ddq  []float64  // one evaluation of the path
	left        []float64  // q′ and q″ left of a break
	rate5, acc5 []float64  // velocities and accelerations at five instants: (row, place)

	smooth smoother
	factor float64 // by which the whole motion was slowed
}

// prepare reads the limits, of whose accelerations a base share may be used, and
// lays the first grid over [from, to].
func (w *Solver) prepare(p *Problem, from, to, base float64) {
	w.p, w.rows, w.from, w.to, w.base, w.factor = p, p.rows(), from, to, base, 1
	w.q, w.dq, w.ddq = sized(w.q, w.rows), sized(w.dq, w.rows), sized(w.ddq, w.rows)
	w.left = sized(w.left, 2*w.rows)
	n := len(p.Limits) * w.rows
	w.acc, w.dec, w.weight = sized(w.acc, n), sized(w.dec, n), sized(w.weight, n)
	w.invVel2, w.invAcc, w.invDec, w.invJerk = sized(w.invVel2, n), sized(w.invAcc, n), sized(w.invDec, n), sized(w.invJerk, n)
	known, ok := p.Path.(interface{ cubic() bool })
	w.cubic = ok && known.cubic()
	w.jerky = false
	for k := range p.Limits {
		for r := range w.rows {
			_, _, vel, acc, dec, jerk := p.Limits[k].Of(r)
			i := k*w.rows + r
			w.acc[i], w.dec[i] = acc, dec
			w.weight[i] = max(1/vel, 1/acc, 1/dec)
			w.jerky = w.jerky || !math.IsInf(jerk, 1)
			w.invVel2[i], w.invAcc[i], w.invDec[i], w.invJerk[i] = 1/(vel*vel), 1/acc, 1/dec, 1/jerk
		}
	}

	grid := p.Grid
	if grid <= 0 {
		grid = defaultGrid
	}
	breaks := p.Path.Breaks()
	pieces := len(breaks) - 1
	least := min(perPiece, finePieces/pieces)
	w.s, w.piece = append(w.s[:0], from), w.piece[:0]
	w.fine, w.share, w.speed, w.cap = w.fine[:0], w.share[:0], w.speed[:0], w.cap[:0]
	for k := range pieces {
		a, b := math.Max(breaks[k], from), math.Min(breaks[k+1], to)
		if !(b > a) {
			continue
		}
		n := max(1, least, int(math.Ceil((b-a)/(to-from)*float64(grid)-1e-9)))
		for i := range n {
			w.piece, w.fine = append(w.piece, k), append(w.fine, false)
			w.share, w.speed, w.cap = append(w.share, base), append(w.speed, 1), append(w.cap, math.Inf(1))
			if i < n-1 {
				w.s = append(w.s, a+(b-a)*float64(i+1)/float64(n))
			}
		}
		w.s = append(w.s, b)
	}
}

// set returns where the limits of a piece stand in the arrays.
func (w *Solver) set(piece int) int {
	if len(w.p.Limits) == 1 {
		return 0
	}
	return piece * w.rows
}

// load evaluates the path on the grid and turns (1) into lines and ceilings.
func (w *Solver) load() error {
	n := len(w.piece)
	w.rate, w.bend = sized(w.rate, n*w.rows*places), sized(w.bend, n*w.rows*places)
	w.turn, w.fast = sized(w.turn, n*w.rows), sized(w.fast, n*places)
	w.interval, w.lines = sized(w.interval, n), sized(w.lines, n*4*w.rows)
	w.ceiling, w.stop = sized(w.ceiling, n+1), sized(w.stop, n+1)
	w.reach, w.x = sized(w.reach, n+1), sized(w.x, n+1)
	w.changed, w.redo = sized(w.changed, n), sized(w.redo, n)
	w.moved, w.split, w.binding = sized(w.moved, n+1), sized(w.split, n), sized(w.binding, n)
	w.used = sized(w.used, n)
	w.spare = w.spare[:0]
	w.blur, w.most = sized(w.blur, 2*n), [2]float64{}
	w.ceiling[0] = w.top()
	w.stop[0], w.stop[n] = false, false
	for i := range n {
		if err := w.evaluate(i); err != nil {
			return err
		}
		if err := w.constrain(i); err != nil {
			return err
		}
	}
	return nil
}

// resolve splits intervals until what the path does inside them can be told from
// their places.
func (w *Solver) resolve() error {
	for {
		coarse := false
		for i := range w.piece {
			w.split[i] = w.blur[2*i] > unresolved*w.most[0] || w.blur[2*i+1] > unresolved*w.most[1]
			coarse = coarse || w.split[i]
		}
		if !coarse {
			return nil
		}
		if fits, err := w.refine(); !fits || err != nil {
			return err
		}
	}
}

// restart forgets everything that was tightened, and may use another share of
// the acceleration limits.
func (w *Solver) restart(base float64) {
	w.base, w.factor = base, 1
	w.spare = w.spare[:0]
	w.ceiling[0] = w.top()
	for i := range w.piece {
		w.share[i], w.speed[i], w.cap[i], w.fine[i] = base, 1, math.Inf(1), false
		_ = w.constrain(i) // it did not fail before
	}
}

// top is the ceiling of x where nothing else is: the path within a nanosecond.
func (w *Solver) top() float64 { return (w.to - w.from) * 1e9 * (w.to - w.from) * 1e9 }

// evaluate fills the five places of interval i.
func (w *Solver) evaluate(i int) error {
	a, b := w.s[i], w.s[i+1]
	same := i > 0 && w.piece[i] == w.piece[i-1]
	for k := 0; k < places; k++ {
		s := a + (b-a)*float64(k)/(places-1)
		if k == places-1 {
			s = b
		}
		if k > 0 || !same { // else the right end of the interval before
			w.p.Path.StateTo(w.q, w.dq, w.ddq, w.piece[i], s)
		}
		if k == 0 && i > 0 {
			w.stop[i] = !same && w.jumps()
		}
		at := i*w.rows*places + k
		for r, d := range w.dq {
			dd := w.ddq[r]
			if !(d < huge && d > -huge && dd < huge && dd > -huge) {
				return w.bad(r, s)
			}
			w.rate[at], w.bend[at] = d, dd
			at += places
		}
		if w.cubic && k == 0 {
			k = places - 2 // the ends tell the rest
		}
	}
	copy(w.left[:w.rows], w.dq)
	copy(w.left[w.rows:], w.ddq)
	if w.cubic {
		w.interpolate(i)
	}
	return nil
}

// interpolate fills the inner places of interval i of a cubic path from its ends.
func (w *Solver) interpolate(i int) {
	h := w.s[i+1] - w.s[i]
	for r := range w.rows {
		at := (i*w.rows + r) * places
		d, b := (*[places]float64)(w.rate[at:]), (*[places]float64)(w.bend[at:])
		change := b[4] - b[0]
		b[1], b[2], b[3] = b[0]+change/4, b[0]+change/2, b[4]-change/4
		d[1] = d[0] + h*(b[0]/4+change/32)
		d[2] = d[0] + h*(b[0]/2+change/8)
		d[3] = d[0] + h*(b[0]*3/4+change*9/32)
	}
}

// huge is more than any derivative or limit may be, and its inverse less: their
// products then stay numbers.
const huge = 1e50

func (w *Solver) bad(row int, s float64) error {
	if math.Abs(w.dq[row]) < huge {
		return &PathError{What: "second derivative", Row: row, S: s, Value: w.ddq[row]}
	}
	return &PathError{What: "first derivative", Row: row, S: s, Value: w.dq[row]}
}

// jumps reports whether a derivative that must not jumps at the break between
// what is left and what was just evaluated: q′, and q″ if jerk is limited.
// Only joints can jump: a measure follows from them, and may begin or end to be
// measured at a break.
func (w *Solver) jumps() bool {
	n := w.p.Path.Joints()
	if jump(w.left[:n], w.dq[:n], 0) {
		return true
	}
	// where the path is straight q″ is all rounding: measured by what it would
	// make of q′ along the whole path
	size := 0.0
	for _, d := range w.dq[:n] {
		size = max(size, math.Abs(d))
	}
	return w.jerky && jump(w.left[w.rows:w.rows+n], w.ddq[:n], size/(w.to-w.from))
}

// jump reports whether two vectors differ by more than rounding, given how large
// they could be at least.
func jump(a, b []float64, size float64) bool {
	most := 0.0
	for r, x := range a {
		most = max(most, math.Abs(x-b[r]))
		size = max(size, math.Abs(x+b[r]))
	}
	return most > corner*(size+most)
}

// constrain turns (1) at both ends of interval i into lines, and velocity limits
// into ceilings.
func (w *Solver) constrain(i int) error {
	block := w.lines[i*4*w.rows : (i+1)*4*w.rows]
	half := len(block) / 2
	w.interval[i] = phase.Interval{Upper: block[:0:half], Lower: block[half:half], Most: w.top(), Length: w.s[i+1] - w.s[i]}
	if !w.fold(i) {
		return &FreeError{From: w.s[i], To: w.s[i+1]}
	}
	w.impose(i, 0)
	w.impose(i, places-1)
	if w.fine[i] {
		w.refineInside(i)
	}
	w.changed[i] = true

	fast := w.fast[i*places : (i+1)*places]
	left := min(w.speed[i]/fast[0], w.cap[i], w.ceiling[i])
	right := min(w.speed[i]/fast[places-1], w.cap[i], w.top())
	for k := 1; k < places-1; k++ {
		left, right = under(left, right, float64(k)*(1.0/(places-1)), w.speed[i]/fast[k])
	}
	w.ceiling[i], w.ceiling[i+1] = left, right
	if w.stop[i] {
		w.ceiling[i] = 0
	}
	return nil
}

// under lowers the ends of a straight line, the higher first, until it passes
// below a ceiling at a share of the way.
func under(left, right, share, ceiling float64) (float64, float64) {
	over := left*(1-share) + right*share - ceiling
	switch {
	case !(over > 0):
		return left, right
	case min(left, right) >= ceiling:
		return ceiling, ceiling
	case left > right:
		return (ceiling - right*share) / (1 - share), right
	}
	return left, (ceiling - left*(1-share)) / share
}

// fold turns each row that goes back so that it goes forth: its acceleration
// then counts along its motion. A row that turns on the way stays as it is, and
// is marked: both limits apply to it. It also finds the fastest row at each
// place, whether the path is curved and what hides between places, and reports
// whether any row with an acceleration limit moves.
func (w *Solver) fold(i int) (moves bool) {
	set := w.set(w.piece[i])
	h := w.s[i+1] - w.s[i]
	var fast [places]float64
	var blur [2]float64
	bends := false
	for r := range w.rows {
		at := (i*w.rows + r) * places
		d, b := (*[places]float64)(w.rate[at:]), (*[places]float64)(w.bend[at:])
		inv, weight := w.invVel2[set+r], w.weight[set+r]
		least, most := min(d[0], d[1], d[2], d[3], d[4]), max(d[0], d[1], d[2], d[3], d[4])
		forth, back := most > 0, least < 0
		bent := b[0] != 0 || b[1] != 0 || b[2] != 0 || b[3] != 0 || b[4] != 0
		for k := range places {
			fast[k] = max(fast[k], d[k]*d[k]*inv)
		}
		if back && !forth {
			for k := range places {
				d[k], b[k] = -d[k], -b[k]
			}
		}
		w.turn[i*w.rows+r] = forth && back
		moves = moves || (forth || back || bent) && w.invAcc[set+r]+w.invDec[set+r] > 0
		bends = bends || bent
		if !bent || w.cubic {
			continue
		}

		// q′ as its ends and q″ there foretell it, q″ as its neighbours do
		mid := (d[0]+d[4])/2 + h/8*(b[0]-b[4])
		between := (4*(b[1]+b[3]) - b[0] - b[4]) * (1.0 / 6)
		blur[0] = max(blur[0], math.Abs(d[2]-mid)*weight)
		blur[1] = max(blur[1], math.Abs(b[2]-between)*weight)
		w.most[0] = max(w.most[0], math.Abs(d[2])*weight)
		w.most[1] = max(w.most[1], math.Abs(b[2])*weight)
	}
	copy(w.fast[i*places:], fast[:])
	copy(w.blur[2*i:], blur[:])
	if bends {
		w.share[i], w.speed[i] = min(w.share[i], curved), min(w.speed[i], curved)
	}
	return moves
}

// refineInside imposes the limits at the places inside interval i as well; the
// lines move to where there is room for them.
func (w *Solver) refineInside(i int) {
	room := 2 * places * w.rows
	if len(w.spare)+room > cap(w.spare) {
		w.spare = make([]phase.Line, 0, 2*cap(w.spare)+16*room) // the old block stays with its intervals
	}
	block := w.spare[len(w.spare) : len(w.spare)+room]
	w.spare = w.spare[:len(w.spare)+room]
	v := &w.interval[i]
	v.Upper = append(block[:0:room/2], v.Upper...)
	v.Lower = append(block[room/2:room/2], v.Lower...)
	for k := 1; k < places-1; k++ {
		w.impose(i, k)
	}
}

// impose adds the acceleration limits of all rows at one place of interval i.
func (w *Solver) impose(i, place int) {
	v := &w.interval[i]
	set := w.set(w.piece[i])
	for r := range w.rows {
		at := (i*w.rows+r)*places + place
		rate, bend := w.rate[at], w.bend[at]
		acc, dec := w.acc[set+r], w.dec[set+r]
		if w.turn[i*w.rows+r] || rate == 0 {
			acc = min(acc, dec) // with and against the motion within a moment
			dec = acc
		}
		v.Within(float64(place)*(1.0/(places-1)), rate, bend, dec, acc)
	}
}

// curved is the share of the limits that an interval may use at first where the
// path is not straight: between its ends a limit is then exceeded by so little,
// on a reasonable grid, that certification has nothing to mend.
const curved = 1 - 2e-5

// refine splits the marked intervals and loads again; false if the grid is full.
func (w *Solver) refine() (bool, error) {
	count := 0
	for i := range w.piece {
		if w.split[i] {
			count++
		}
	}
	n := len(w.piece)
	if n+count > maxGrid {
		return false, nil
	}
	w.s, w.piece, w.fine = sized(w.s, n+count+1), sized(w.piece, n+count), sized(w.fine, n+count)
	w.share, w.speed, w.cap = sized(w.share, n+count), sized(w.speed, n+count), sized(w.cap, n+count)
	to := n + count
	w.s[to] = w.s[n]
	put := func(i int, s float64) {
		to--
		w.s[to], w.piece[to], w.fine[to] = s, w.piece[i], w.fine[i]
		w.share[to], w.speed[to], w.cap[to] = w.share[i], w.speed[i], w.cap[i]
	}
	for i := n - 1; i >= 0; i-- {
		if w.split[i] {
			w.fine[i], w.share[i], w.speed[i] = false, w.base, 1
			put(i, (w.s[i]+w.s[i+1])/2)
		}
		put(i, w.s[i])
	}
	return true, w.load()
}

// sized returns a slice of length n that keeps the memory, and the contents, of x.
func sized[T any](x []T, n int) []T {
	if cap(x) < n {
		grown := make([]T, n, n+n/4)
		copy(grown, x)
		return grown
	}
	return x[:n]
}
