package retime

import "math"

// certify checks (1) between the ends of every interval that changed, and
// tightens the interval where it breaks. It reports whether nothing broke, and
// otherwise whether some interval is so coarse that it was marked for splitting.
func (g *grid) certify() (ok, coarse bool) {
	ok = true
	clear(g.split)
	clear(g.redo)
	for i, changed := range g.changed {
		if !changed {
			continue
		}
		e := g.excess(i)
		if !(e.acc > 1+certified) && !(e.vel2 > 1+certified) && !e.blurred {
			continue
		}
		ok = false
		g.redo[i] = true
		if e.blurred {
			g.split[i], coarse = true, true
			continue
		}
		if e.vel2 > 1+certified {
			by := e.vel2 * (1 + certified)
			g.speed[i] /= by
			g.ceiling[i] /= by
			g.ceiling[i+1] /= by
			if i+1 < len(g.redo) {
				g.redo[i+1] = true
			}
		}
		switch {
		case e.vel2 > splitAbove || g.fine[i] && e.acc > splitAbove*e.imposed:
			g.split[i], coarse = true, true
		case e.acc > 1+certified && !g.fine[i] && e.acc > fineAbove*e.imposed:
			g.fine[i] = true
			g.refineInside(i)
		case e.acc > 1+certified:
			g.Share[i] = min(g.Share[i], e.imposed/e.acc) * (1 - certified)
		}
	}
	g.changed, g.redo = g.redo, g.changed
	return ok, coarse
}

// excess is what an interval takes of its limits, with what may be between the
// places.
type excess struct {
	acc     float64 // the largest acceleration, as a multiple of its limit,
	imposed float64 // and how much of that limit is used where it is imposed
	vel2    float64 // the largest squared velocity, of the squared limit
	blurred bool    // the places do not tell well enough what is between them
}

// excess returns what interval i takes, and notes what holds it back.
func (g *grid) excess(i int) (e excess) {
	x0, x1 := g.X[i], g.X[i+1]
	u := (x1 - x0) * (0.5 / g.intervals[i].Length)
	step := (x1 - x0) * (1.0 / (places - 1))
	x := [places]float64{x0, x0 + step, x0 + 2*step, x0 + 3*step, x1}
	set := g.Set(g.Piece[i])
	most, held := active, binding{Row: -1}
	used := 0.0
	for r := range g.Rows {
		at := (i*g.Rows + r) * places
		rate, bend := (*[places]float64)(g.rate[at:]), (*[places]float64)(g.bend[at:])
		invAcc, invDec := g.InvAcc[set+r], g.InvDec[set+r]
		if g.turn[i*g.Rows+r] {
			invAcc = max(invAcc, invDec)
			invDec = invAcc
		}
		var a [places]float64
		for k := range places {
			a[k] = rate[k]*u + bend[k]*x[k]
		}
		high, low := max(a[0], a[1], a[2], a[3], a[4]), min(a[0], a[1], a[2], a[3], a[4])
		// what is far from its limit at all places is not looked at closer
		if use := high * invAcc; use > used {
			used = use
		}
		if use := -low * invDec; use > used {
			used = use
		}
		if use := high * invAcc; use > near {
			g.raise(&e, i, &a, invAcc)
			if use > most {
				most, held = use, binding{Acceleration, r}
			}
		}
		if use := -low * invDec; use > near {
			g.raise(&e, i, &a, -invDec)
			if use > most {
				most, held = use, binding{Deceleration, r}
			}
		}
	}
	fast := 0.0
	for k, f := range g.fast[i*places : (i+1)*places] {
		fast = max(fast, f*x[k])
	}
	if fast > near {
		g.speeding(&e, i, &x)
	}
	if fast > most*most {
		held = binding{Velocity, -1}
	}
	g.held[i], g.Used[i] = held, used
	return e
}

// speeding finds the largest squared velocity of any row on interval i.
func (g *grid) speeding(e *excess, i int, x *[places]float64) {
	set := g.Set(g.Piece[i])
	for r := range g.Rows {
		at := (i*g.Rows + r) * places
		rate := (*[places]float64)(g.rate[at:])
		var y [places]float64
		for k := range places {
			y[k] = rate[k] * rate[k] * x[k] * g.InvVel2[set+r]
		}
		if max(y[0], y[1], y[2], y[3], y[4]) > near {
			e.vel2 = max(e.vel2, peak(&y))
			e.blurred = e.blurred || blurred(&y)
		}
	}
}

// raise takes the peak of a·inv into account if it is higher than any before.
func (g *grid) raise(e *excess, i int, a *[places]float64, inv float64) {
	var y [places]float64
	for k := range places {
		y[k] = a[k] * inv
	}
	e.blurred = e.blurred || blurred(&y)
	p := peak(&y)
	if p <= e.acc {
		return
	}
	e.acc, e.imposed = p, max(y[0], y[places-1])
	if g.fine[i] {
		e.imposed = max(e.imposed, y[1], y[2], y[3])
	}
}

// blurred reports whether the quartic term of a curve near its limit, which is 1,
// is so large that Peak may miss what comes after it.
func blurred(y *[places]float64) bool {
	return math.Abs(y[0]+y[4]-4*(y[1]+y[3])+6*y[2]) > unresolved
}

// Peak returns a bound on the largest value of a curve known at five equidistant
// places: the highest vertex of the parabolas through three of them, plus what
// the cubic term can add between places, 0.0642·δ³y‴, and the quartic one,
// 0.042·δ⁴y⁗ at most and taken half as much again for what follows.
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
	const cubic, quartic = 0.0642, 0.063
	return top + cubic*most + quartic*math.Abs(next-third)
}
