package move

// phase is a time of constant jerk without its place: how long it lasts and
// the acceleration it begins with.
type phase struct{ dt, a, j float64 }

// phases is a motion after braking, written out in time.
type phases struct {
	list [7]phase
	n    int
}

func (p *phases) add(dt, a, j float64) {
	if dt > 0 {
		p.list[p.n] = phase{dt, a, j}
		p.n++
	}
}

// write makes p a member of a hill: ramp up, hold, ramp down, cruise, ramp down,
// hold, ramp up.
func (p *phases) write(h *hill, m *member) {
	first, last := &h.near, &h.far
	x, y, holdX, holdY := m.x, m.y, m.holdX, m.holdY
	if h.swapped {
		first, last = last, first
		x, y, holdX, holdY = y, x, holdY, holdX
	}
	s, j := h.sign, h.sign*h.j
	p.n = 0
	p.add((x-first.a)*h.rj, s*first.a, j)
	p.add(holdX, s*x, 0)
	if m.cruise > 0 {
		p.add(x*h.rj, s*x, -j)
		p.add(m.cruise, 0, 0)
		p.add(y*h.rj, 0, -j)
	} else {
		p.add((x+y)*h.rj, s*x, -j) // one ramp, also where x or y is negative
	}
	p.add(holdY, -s*y, 0)
	p.add((y-last.a)*h.rj, -s*y, j)
}

// mix appends the motion (1 − w)·a + w·b of two motions that last the same time.
// The limits are convex, so it keeps them if a and b do.
func (c *chain) mix(a, b *phases, w float64) {
	ia, ib := 0, 0
	ta, tb := 0.0, 0.0 // time spent in the present phase of each
	for ia < a.n && ib < b.n {
		pa, pb := &a.list[ia], &b.list[ib]
		left, right := pa.dt-ta, pb.dt-tb
		c.add(min(left, right),
			(1-w)*(pa.a+ta*pa.j)+w*(pb.a+tb*pb.j),
			(1-w)*pa.j+w*pb.j)
		switch {
		case left < right:
			ia, ta, tb = ia+1, 0, tb+left
		case right < left:
			ib, tb, ta = ib+1, 0, ta+right
		default:
			ia, ib, ta, tb = ia+1, ib+1, 0, 0
		}
	}
}
