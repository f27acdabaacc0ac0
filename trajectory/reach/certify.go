package reach

import "math"

// certify checks (1) between the ends of every interval that changed, and
// tightens the interval where it breaks. It reports whether nothing broke, and
// otherwise whether some interval is so coarse that it was marked for splitting.
func (g *Grid) certify() (ok, coarse bool) {
	ok = true
	clear(g.split)
	clear(g.redo)
	for i, changed := range g.changed {
		if !changed {
			continue
		}
		acc, vel2, ends := g.excess(i)
		if !(acc > 1+certified) && !(vel2 > 1+certified) {
			continue
		}
		ok = false
		g.redo[i] = true
		if vel2 > 1+certified {
			by := vel2 * (1 + certified)
			g.speed[i] /= by
			g.ceiling[i] /= by
			g.ceiling[i+1] /= by
			if i+1 < len(g.redo) {
				g.redo[i+1] = true
			}
		}
		switch {
		case vel2 > splitAbove || g.fine[i] && acc > splitAbove*ends:
			g.split[i], coarse = true, true
		case acc > 1+certified && !g.fine[i] && acc > fineAbove*ends:
			g.fine[i] = true
			g.refineInside(i)
		case acc > 1+certified:
			g.Share[i] = math.Min(g.Share[i], ends/acc) * (1 - certified)
		}
	}
	g.changed, g.redo = g.redo, g.changed
	return ok, coarse
}

// excess returns the largest acceleration inside interval i, as a multiple of
// its limit, and the largest squared velocity of the squared limit, with what
// may be between the places. It also returns how much of that acceleration limit
// is used where it is imposed, and notes what holds the interval back.
func (g *Grid) excess(i int) (acc, vel2, imposed float64) {
	x0, x1 := g.X[i], g.X[i+1]
	u := (x1 - x0) * (0.5 / g.interval[i].Length)
	step := (x1 - x0) * (1.0 / (Places - 1))
	x := [Places]float64{x0, x0 + step, x0 + 2*step, x0 + 3*step, x1}
	set := g.Set(g.Piece[i])
	most, held := Active, Binding{Row: -1}
	used := 0.0
	for r := range g.Rows {
		at := (i*g.Rows + r) * Places
		rate, bend := (*[Places]float64)(g.rate[at:]), (*[Places]float64)(g.bend[at:])
		invAcc, invDec := g.InvAcc[set+r], g.InvDec[set+r]
		if g.turn[i*g.Rows+r] {
			invAcc = max(invAcc, invDec)
			invDec = invAcc
		}
		var a [Places]float64
		for k := range Places {
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
			acc, imposed = g.raise(i, &a, invAcc, acc, imposed)
			if use > most {
				most, held = use, Binding{Acceleration, r}
			}
		}
		if use := -low * invDec; use > near {
			acc, imposed = g.raise(i, &a, -invDec, acc, imposed)
			if use > most {
				most, held = use, Binding{Deceleration, r}
			}
		}
	}
	fast := 0.0
	for k, f := range g.fast[i*Places : (i+1)*Places] {
		fast = max(fast, f*x[k])
	}
	if fast > near {
		vel2 = g.speeding(i, &x)
	}
	if fast > most*most {
		held = Binding{Velocity, -1}
	}
	g.held[i], g.Used[i] = held, used
	return acc, vel2, imposed
}

// speeding returns the largest squared velocity of any row on interval i, as a
// multiple of its squared limit.
func (g *Grid) speeding(i int, x *[Places]float64) (vel2 float64) {
	set := g.Set(g.Piece[i])
	for r := range g.Rows {
		at := (i*g.Rows + r) * Places
		rate := (*[Places]float64)(g.rate[at:])
		var y [Places]float64
		top := 0.0
		for k := range Places {
			y[k] = rate[k] * rate[k] * x[k] * g.InvVel2[set+r]
			if y[k] > top {
				top = y[k]
			}
		}
		if top > near {
			vel2 = max(vel2, Peak(&y))
		}
	}
	return vel2
}

// raise takes the peak of a·inv into account if it is higher than acc.
func (g *Grid) raise(i int, a *[Places]float64, inv, acc, imposed float64) (float64, float64) {
	var y [Places]float64
	for k := range Places {
		y[k] = a[k] * inv
	}
	p := Peak(&y)
	if p <= acc {
		return acc, imposed
	}
	imposed = math.Max(y[0], y[Places-1])
	if g.fine[i] {
		imposed = math.Max(imposed, math.Max(y[1], math.Max(y[2], y[3])))
	}
	return p, imposed
}

// Peak returns a bound on the largest value of a curve known at five equidistant
// places: the highest vertex of the parabolas through three of them, plus what
// the cubic and quartic terms can add between places, δ³y‴/(9√3) and 3δ⁴y⁗/128.
func Peak(y *[Places]float64) float64 {
	third, next := y[3]-y[0]-3*(y[2]-y[1]), y[4]-y[1]-3*(y[3]-y[2])
	most := max(math.Abs(third), math.Abs(next))
	top := max(y[0], y[4])
	turns := false
	for m := 1; m < Places-1; m++ {
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
	const cubic, quartic = 0.0642, 0.0235
	return top + cubic*most + quartic*math.Abs(next-third)
}
