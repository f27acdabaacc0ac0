package retime

import "math"

const (
	certified  = 1e-9  // relative excess over a limit that certification lets pass
	splitAbove = 1.05  // a limit exceeded inside an interval by so much more than at its ends: the grid is too coarse
	fineAbove  = 1.001 // or by so much: it is to be imposed inside as well
	near       = 0.9   // of a limit: from here on the peak between places is estimated
	blunt      = 2e-3  // share of the duration that an interval with a switch in it may last
	maxSharper = 8     // rounds of splitting those
	maxRepairs = 40    // rounds of certification before the whole motion is slowed
)

// Solve finds the largest x on the grid and certifies it.
func (g *grid) Solve() error {
	start, end := g.p.StartSpeed, g.p.EndSpeed
	if err := g.unstick(); err != nil {
		return err
	}
	for round := 0; ; round++ {
		if err := g.p.stopped(); err != nil {
			return err
		}
		if err := g.passes(start*start, end*end); err != nil {
			return err
		}
		ok, coarse := g.certify()
		switch {
		case ok:
			return nil
		case round >= maxRepairs:
			return g.slow(start, end)
		case coarse:
			fits, err := g.refine()
			if err != nil {
				return err
			}
			if !fits {
				return g.slow(start, end)
			}
		}
	}
}

// SolveSharp solves, and splits the intervals in which the law switches from one
// limit to another until they do not last long: inside an interval it cannot.
func (g *grid) SolveSharp() error {
	for range maxSharper {
		if err := g.Solve(); err != nil {
			return err
		}
		if !g.blunt() {
			return nil
		}
		if fits, err := g.refine(); !fits || err != nil {
			return err
		}
	}
	return g.Solve()
}

// blunt marks intervals that last long and use no limit to the full from end to
// end, and reports whether there are any.
func (g *grid) blunt() (found bool) {
	total := 0.0
	for i := range g.Piece {
		total += g.Time(i)
	}
	// of many pieces, each is looked at as if it were one of a few
	total *= min(1, fewPieces/float64(g.Pieces()))
	for i := range g.Piece {
		fast := g.fast[i*places : (i+1)*places]
		full := g.Used[i] > active*g.Share[i] || min(fast[0]*g.X[i], fast[places-1]*g.X[i+1]) > active
		g.split[i] = !full && g.Time(i) > blunt*total
		found = found || g.split[i]
	}
	return found
}

// passes goes backwards for what can be survived and forwards for what is
// fastest, over all intervals that changed since the last time.
func (g *grid) passes(first, last float64) error {
	n := len(g.Piece)

	// backwards
	if last > g.ceiling[n] {
		return &SpeedError{End: true, Speed: math.Sqrt(last), Max: math.Sqrt(g.ceiling[n])}
	}
	g.moved[n] = g.reach[n] != last
	g.reach[n] = last
	for i := n - 1; i >= 0; i-- {
		g.moved[i] = false
		if !g.changed[i] && !g.moved[i+1] {
			continue
		}
		most := g.intervals[i].Limit(g.ceiling[i], g.reach[i+1], g.Share[i])
		g.moved[i] = most != g.reach[i]
		g.reach[i] = most
		g.changed[i] = true
	}

	// forwards
	if first > g.reach[0] {
		return &SpeedError{Speed: math.Sqrt(first), Max: math.Sqrt(g.reach[0])}
	}
	moved := g.X[0] != first
	g.X[0] = first
	for i := range n {
		if !g.changed[i] && !moved && !g.moved[i+1] {
			continue
		}
		_, u := g.intervals[i].Range(g.X[i], g.reach[i+1], g.Share[i])
		x := math.Max(0, math.Min(g.X[i]+2*g.intervals[i].Length*u, g.reach[i+1]))
		moved = x != g.X[i+1]
		g.X[i+1] = x
		g.changed[i] = true
		if moved && i+1 < n {
			g.changed[i+1] = true
		}
	}
	if g.X[n] < last*(1-certified) {
		return &SpeedError{End: true, Speed: math.Sqrt(last), Max: math.Sqrt(g.X[n])}
	}
	return nil
}

// unstick splits intervals that would begin and end at rest.
func (g *grid) unstick() error {
	n := len(g.Piece)
	rest := func(i int) bool {
		return g.Stop[i] || i == 0 && g.p.StartSpeed == 0 || i == n && g.p.EndSpeed == 0
	}
	any := false
	for i := range n {
		g.split[i] = rest(i) && rest(i+1)
		any = any || g.split[i]
	}
	if !any {
		return nil
	}
	_, err := g.refine()
	return err
}

// slow is the last resort: the whole motion takes longer by one factor.
func (g *grid) slow(start, end float64) error {
	worst, at := 1.0, 0
	for i := range g.Piece {
		if e := g.excess(i); max(e.acc, e.vel2) > worst {
			worst, at = max(e.acc, e.vel2), i
		}
	}
	if start > 0 || end > 0 {
		return &BrokenError{S: g.S[at], Ratio: worst}
	}
	for i := range g.X {
		g.X[i] /= worst * (1 + certified)
	}
	g.Factor *= math.Sqrt(worst * (1 + certified))
	return nil
}
