package retime

import (
	"math"
)

// constrain turns (1) at both ends of interval i into lines, and velocity limits
// into ceilings.
func (g *grid) constrain(i int) error {
	block := g.lines[i*4*g.Rows : (i+1)*4*g.Rows]
	half := len(block) / 2
	g.intervals[i] = interval{Upper: block[:0:half], Lower: block[half:half], Most: g.top(), Length: g.S[i+1] - g.S[i]}
	if !g.fold(i) {
		return &FreeError{From: g.S[i], To: g.S[i+1]}
	}
	g.impose(i, 0)
	g.impose(i, places-1)
	if g.fine[i] {
		g.refineInside(i)
	}
	g.changed[i] = true

	fast := g.fast[i*places : (i+1)*places]
	left := min(g.speed[i]/fast[0], g.limit[i], g.ceiling[i])
	right := min(g.speed[i]/fast[places-1], g.limit[i], g.top())
	for k := 1; k < places-1; k++ {
		left, right = under(left, right, float64(k)*(1.0/(places-1)), g.speed[i]/fast[k])
	}
	g.ceiling[i], g.ceiling[i+1] = left, right
	if g.Stop[i] {
		g.ceiling[i] = 0
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
func (g *grid) fold(i int) (moves bool) {
	set := g.Set(g.Piece[i])
	h := g.S[i+1] - g.S[i]
	var fast [places]float64
	var blur [2]float64
	bends := false
	for r := range g.Rows {
		at := (i*g.Rows + r) * places
		d, b := (*[places]float64)(g.rate[at:]), (*[places]float64)(g.bend[at:])
		inv, weight := g.InvVel2[set+r], g.weight[set+r]
		least, most := min(d[0], d[1], d[2], d[3], d[4]), max(d[0], d[1], d[2], d[3], d[4])
		tiny := atRest * max(most, -least)
		forth, back := most > tiny, least < -tiny
		bent := b[0] != 0 || b[1] != 0 || b[2] != 0 || b[3] != 0 || b[4] != 0
		for k := range places {
			fast[k] = max(fast[k], d[k]*d[k]*inv)
		}
		if back && !forth {
			for k := range places {
				d[k], b[k] = -d[k], -b[k]
			}
		}
		g.turn[i*g.Rows+r] = forth && back
		moves = moves || (forth || back || bent) && g.InvAcc[set+r]+g.InvDec[set+r] > 0
		bends = bends || bent
		if !bent || g.cubic {
			continue
		}

		// q′ as its ends and q″ there foretell it, q″ as its neighbours do
		mid := (d[0]+d[4])/2 + h/8*(b[0]-b[4])
		between := (4*(b[1]+b[3]) - b[0] - b[4]) * (1.0 / 6)
		blur[0] = max(blur[0], math.Abs(d[2]-mid)*weight)
		blur[1] = max(blur[1], math.Abs(b[2]-between)*weight)
		g.most[0] = max(g.most[0], math.Abs(d[2])*weight)
		g.most[1] = max(g.most[1], math.Abs(b[2])*weight)
	}
	copy(g.fast[i*places:], fast[:])
	copy(g.blur[2*i:], blur[:])
	if bends {
		g.Share[i], g.speed[i] = min(g.Share[i], curved), min(g.speed[i], curved)
	}
	return moves
}

// atRest is the share of a row's largest rate on an interval below which it is
// taken for the rounding of none.
const atRest = 1e-12

// refineInside imposes the limits at the places inside interval i as well; the
// lines move to where there is room for them.
func (g *grid) refineInside(i int) {
	room := 2 * places * g.Rows
	if len(g.spare)+room > cap(g.spare) {
		g.spare = make([]line, 0, 2*cap(g.spare)+16*room) // the old block stays with its intervals
	}
	block := g.spare[len(g.spare) : len(g.spare)+room]
	g.spare = g.spare[:len(g.spare)+room]
	v := &g.intervals[i]
	v.Upper = append(block[:0:room/2], v.Upper...)
	v.Lower = append(block[room/2:room/2], v.Lower...)
	for k := 1; k < places-1; k++ {
		g.impose(i, k)
	}
}

// impose adds the acceleration limits of all rows at one place of interval i.
func (g *grid) impose(i, place int) {
	v := &g.intervals[i]
	set := g.Set(g.Piece[i])
	for r := range g.Rows {
		at := (i*g.Rows+r)*places + place
		rate, bend := g.rate[at], g.bend[at]
		acc, dec := g.Acc[set+r], g.Dec[set+r]
		if g.turn[i*g.Rows+r] || rate == 0 {
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
