package retime

import (
	"math"
)

const (
	defaultGrid = 256  // intervals of a path, unless given
	finePieces  = 512  // so many intervals are shared among the knots of a curve at least,
	perPiece    = 16   // up to this many each; a piece of its own has them, short as it may be
	perQuick    = 8    // and these where that is to be quick
	fewPieces   = 32   // that a path has whose motion is looked at as a whole
	maxGrid     = 3e4  // where splitting ends,
	maxPerPiece = 48   // or, on a path of many pieces, with so many on average
	corner      = 1e-6 // relative jump of a derivative that is not rounding
	unresolved  = 5e-4 // error of a derivative between places, of its largest value, that is not tolerated
)

// places is at how many equidistant places of an interval the path is known.
const places = 5

// grid is a path cut into intervals, with the largest speeds on it. Interval i
// lies between S[i] and S[i+1], on one piece. The zero grid is ready; its memory
// grows when needed and is used again. Not safe for concurrent use.
type grid struct {
	bounds
	From, To float64 // the part of the path that is solved

	S     []float64 // the nodes
	Piece []int     // of interval i
	Stop  []bool    // node i is passed at rest

	// the answer, filled by Solve
	X      []float64 // ṡ² at node i
	Used   []float64 // the share of the acceleration limits that interval i uses
	Factor float64   // by which the whole motion had to be slowed: 1 if it had not

	// what may be used, tightened by certification and from outside
	Share   []float64 // of the acceleration limits on interval i,
	speed   []float64 // and of the squared velocity limits
	limit   []float64 // x on interval i may not exceed this
	ceiling []float64 // nor this at node i
	fine    []bool    // interval i is constrained at all its places
	base    float64   // the share to begin with

	// what the path does, filled by load: (interval, row, place)
	rate []float64 // q′, turned to be positive,
	bend []float64 // and q″ turned likewise
	turn []bool    // (interval, row): q′ changes sign inside
	fast []float64 // (interval, place): the largest q′² of its squared limit

	// how well the places tell what lies between, filled by fold
	blur []float64  // (interval; q′, q″): what they miss, weighed by the limits
	most [2]float64 // the largest q′ and q″, weighed likewise

	// constraints, filled by load
	intervals []interval
	lines     []line // backing of intervals,
	spare     []line // and of those that needed more

	// the passes
	reach   []float64 // the largest x at node i that can be survived
	changed []bool    // interval i is not as it was in the last passes
	redo    []bool    // interval i was tightened
	moved   []bool    // node i got another x
	held    []binding // what holds interval i back
	split   []bool    // interval i is to be split

	p          *Problem
	cubic      bool      // the path is one of cubic pieces
	q, dq, ddq []float64 // one evaluation of the path
	left       []float64 // q′ and q″ left of a break
}

// Prepare lays a grid over the part of a path between two places, of whose
// acceleration limits a base share may be used, and evaluates the path on it.
func (g *grid) Prepare(p *Problem, from, to, base float64) error {
	g.p, g.From, g.To, g.base, g.Factor = p, from, to, base, 1
	g.read(p.Limits, p.rows())
	g.q, g.dq, g.ddq = sized(g.q, g.Rows), sized(g.dq, g.Rows), sized(g.ddq, g.Rows)
	g.left = sized(g.left, 2*g.Rows)
	known, ok := p.Path.(interface{ cubic() bool })
	g.cubic = ok && known.cubic()
	g.lay()
	if err := g.load(); err != nil {
		return err
	}
	return g.resolve()
}

// lay cuts the pieces into intervals.
func (g *grid) lay() {
	count := g.p.Grid
	if count <= 0 {
		count = defaultGrid
	}
	breaks := g.p.Path.Breaks()
	pieces := len(breaks) - 1
	least := perPiece
	if g.p.Quick {
		least = perQuick
	}
	if g.Pieces() == 1 {
		least = max(1, min(perPiece, finePieces/pieces))
	}
	g.S, g.Piece = append(g.S[:0], g.From), g.Piece[:0]
	g.fine, g.Share, g.speed, g.limit = g.fine[:0], g.Share[:0], g.speed[:0], g.limit[:0]
	for k := range pieces {
		a, b := max(breaks[k], g.From), min(breaks[k+1], g.To)
		if !(b > a) {
			continue
		}
		n := max(least, int(math.Ceil((b-a)/(g.To-g.From)*float64(count)-1e-9)))
		for i := range n {
			g.Piece, g.fine = append(g.Piece, k), append(g.fine, false)
			g.Share, g.speed, g.limit = append(g.Share, g.base), append(g.speed, 1), append(g.limit, math.Inf(1))
			if i < n-1 {
				g.S = append(g.S, a+(b-a)*float64(i+1)/float64(n))
			}
		}
		g.S = append(g.S, b)
	}
}

// load evaluates the path on the grid and turns (1) into lines and ceilings.
func (g *grid) load() error {
	n := len(g.Piece)
	g.rate, g.bend = sized(g.rate, n*g.Rows*places), sized(g.bend, n*g.Rows*places)
	g.turn, g.fast = sized(g.turn, n*g.Rows), sized(g.fast, n*places)
	g.intervals, g.lines = sized(g.intervals, n), sized(g.lines, n*4*g.Rows)
	g.ceiling, g.Stop = sized(g.ceiling, n+1), sized(g.Stop, n+1)
	g.reach, g.X = sized(g.reach, n+1), sized(g.X, n+1)
	g.changed, g.redo = sized(g.changed, n), sized(g.redo, n)
	g.moved, g.split, g.held = sized(g.moved, n+1), sized(g.split, n), sized(g.held, n)
	g.Used = sized(g.Used, n)
	g.spare = g.spare[:0]
	g.blur, g.most = sized(g.blur, 2*n), [2]float64{}
	g.ceiling[0] = g.top()
	g.Stop[0], g.Stop[n] = false, false
	for i := range n {
		if i%stopEvery == 0 {
			if err := g.p.stopped(); err != nil {
				return err
			}
		}
		if err := g.evaluate(i); err != nil {
			return err
		}
		if err := g.constrain(i); err != nil {
			return err
		}
	}
	return nil
}

// resolve splits intervals until what the path does inside them can be told from
// their places.
func (g *grid) resolve() error {
	for {
		coarse := false
		for i := range g.Piece {
			g.split[i] = g.blur[2*i] > unresolved*g.most[0] || g.blur[2*i+1] > unresolved*g.most[1]
			coarse = coarse || g.split[i]
		}
		if !coarse {
			return nil
		}
		if fits, err := g.refine(); !fits || err != nil {
			return err
		}
	}
}

// Restart forgets everything that was tightened, and may use another share of
// the acceleration limits.
func (g *grid) Restart(base float64) {
	g.base, g.Factor = base, 1
	for i := range g.Piece {
		g.Share[i], g.speed[i], g.limit[i], g.fine[i] = base, 1, math.Inf(1), false
	}
	g.recap()
}

// recap imposes the limits again after what may be used was raised.
func (g *grid) recap() {
	g.spare = g.spare[:0]
	g.ceiling[0] = g.top()
	for i := range g.Piece {
		_ = g.constrain(i) // it did not fail before
	}
}

// top is the ceiling of x where nothing else is: the path within a nanosecond.
func (g *grid) top() float64 { return (g.To - g.From) * 1e9 * (g.To - g.From) * 1e9 }

// refine splits the marked intervals and loads again; false if the grid is full.
func (g *grid) refine() (bool, error) {
	count := 0
	for i := range g.Piece {
		if g.split[i] {
			count++
		}
	}
	n := len(g.Piece)
	if n+count > max(maxGrid, maxPerPiece*g.Pieces()) {
		return false, nil
	}
	g.S, g.Piece, g.fine = sized(g.S, n+count+1), sized(g.Piece, n+count), sized(g.fine, n+count)
	g.Share, g.speed, g.limit = sized(g.Share, n+count), sized(g.speed, n+count), sized(g.limit, n+count)
	to := n + count
	g.S[to] = g.S[n]
	put := func(i int, s float64) {
		to--
		g.S[to], g.Piece[to], g.fine[to] = s, g.Piece[i], g.fine[i]
		g.Share[to], g.speed[to], g.limit[to] = g.Share[i], g.speed[i], g.limit[i]
	}
	for i := n - 1; i >= 0; i-- {
		if g.split[i] {
			g.fine[i], g.Share[i], g.speed[i] = false, g.base, 1
			put(i, (g.S[i]+g.S[i+1])/2)
		}
		put(i, g.S[i])
	}
	return true, g.load()
}

// Pieces returns how many pieces of its own the path has. Those of a spline are only
// the knots of one curve.
func (g *grid) Pieces() int {
	if _, curve := g.p.Path.(splinePath); curve {
		return 1
	}
	return len(g.p.Path.Breaks()) - 1
}

// Length returns that of interval i.
func (g *grid) Length(i int) float64 { return g.intervals[i].Length }

// Time returns how long interval i takes.
func (g *grid) Time(i int) float64 {
	return 2 * g.intervals[i].Length / (math.Sqrt(g.X[i]) + math.Sqrt(g.X[i+1]))
}

// Accel returns the path acceleration on interval i.
func (g *grid) Accel(i int) float64 {
	return (g.X[i+1] - g.X[i]) * (0.5 / g.intervals[i].Length)
}

// Rate returns the magnitude of a row's q′ in the middle of interval i.
func (g *grid) Rate(i, row int) float64 {
	return math.Abs(g.rate[(i*g.Rows+row)*places+places/2])
}

// Third returns the magnitude of a row's mean q‴ on interval i.
func (g *grid) Third(i, row int) float64 {
	b := g.bend[(i*g.Rows+row)*places:]
	return math.Abs(b[places-1]-b[0]) / g.intervals[i].Length
}

// Tighten lets interval i use at most a share of its acceleration limits from
// now on.
func (g *grid) Tighten(i int, share float64) {
	g.Share[i] = min(g.Share[i], share)
	g.changed[i] = true
}

// Lower caps x on interval i from now on.
func (g *grid) Lower(i int, x float64) {
	g.limit[i] = min(g.limit[i], x)
	g.ceiling[i], g.ceiling[i+1] = min(g.ceiling[i], x), min(g.ceiling[i+1], x)
	g.changed[i] = true
	if i+1 < len(g.changed) {
		g.changed[i+1] = true
	}
}
