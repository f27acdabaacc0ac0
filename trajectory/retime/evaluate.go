package retime

import "math"

// evaluate fills the five places of interval i.
func (g *grid) evaluate(i int) error {
	a, b := g.S[i], g.S[i+1]
	same := i > 0 && g.Piece[i] == g.Piece[i-1]
	for k := 0; k < places; k++ {
		s := a + (b-a)*float64(k)/(places-1)
		if k == places-1 {
			s = b
		}
		if k > 0 || !same { // else the right end of the interval before
			g.p.Path.StateTo(g.q, g.dq, g.ddq, g.Piece[i], s)
		}
		if k == 0 && i > 0 {
			g.Stop[i] = !same && g.jumps()
		}
		at := i*g.Rows*places + k
		for r, d := range g.dq {
			dd := g.ddq[r]
			if !(d < huge && d > -huge && dd < huge && dd > -huge) {
				return g.bad(r, s)
			}
			g.rate[at], g.bend[at] = d, dd
			at += places
		}
		if g.cubic && k == 0 {
			k = places - 2 // the ends tell the rest
		}
	}
	copy(g.left[:g.Rows], g.dq)
	copy(g.left[g.Rows:], g.ddq)
	if g.cubic {
		g.interpolate(i)
	}
	return nil
}

// interpolate fills the inner places of interval i of a cubic path from its ends.
func (g *grid) interpolate(i int) {
	h := g.S[i+1] - g.S[i]
	for r := range g.Rows {
		at := (i*g.Rows + r) * places
		d, b := (*[places]float64)(g.rate[at:]), (*[places]float64)(g.bend[at:])
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

func (g *grid) bad(row int, s float64) error {
	if math.Abs(g.dq[row]) < huge {
		return &PathError{What: "second derivative", Row: row, S: s, Value: g.ddq[row]}
	}
	return &PathError{What: "first derivative", Row: row, S: s, Value: g.dq[row]}
}

// jumps reports whether a derivative that must not jumps at the break between
// what is left and what was just evaluated: q′, and q″ if jerk is limited.
// Only joints can jump: a measure follows from them, and may begin or end to be
// measured at a break.
func (g *grid) jumps() bool {
	n := g.p.Path.Joints()
	if jump(g.left[:n], g.dq[:n], 0) {
		return true
	}
	// where the path is straight q″ is all rounding: measured by what it would
	// make of q′ along the whole path
	size := 0.0
	for _, d := range g.dq[:n] {
		size = max(size, math.Abs(d))
	}
	return g.Jerky && jump(g.left[g.Rows:g.Rows+n], g.ddq[:n], size/(g.To-g.From))
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
