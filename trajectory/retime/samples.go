package retime

import (
	"math"
)

// tabulate stores the rows of the followed law at its nodes.
func (w *Solver) tabulate(l *Law) {
	w.reserve(len(l.nodes))
	for k := range l.nodes {
		n := &l.nodes[k]
		w.enter(k, n.s, n.v, n.a)
	}
}

// reserve makes room for some samples.
func (w *Solver) reserve(count int) {
	m := &w.smooth
	for d := range m.table {
		m.table[d] = sized(m.table[d], count*w.grid.Rows)
	}
}

// enter stores sample k.
func (w *Solver) enter(k int, s, v, a float64) {
	m := &w.smooth
	w.p.Path.StateTo(w.smooth.motion.q, w.smooth.motion.dq, w.smooth.motion.ddq, m.motion.pieceAt(s), s)
	at := k * w.grid.Rows
	for r := range w.grid.Rows {
		m.table[0][at+r] = w.smooth.motion.q[r]
		m.table[1][at+r] = w.smooth.motion.dq[r] * v
		m.table[2][at+r] = w.smooth.motion.ddq[r]*v*v + w.smooth.motion.dq[r]*a
	}
}

// between returns what is used between the samples at nodes k and k+1: joints by
// the quintic through them, measures by the motion itself.
func (w *Solver) between(l *Law, k int) (u use, b mostUsed) {
	m := &w.smooth
	now, next := &l.nodes[k], &l.nodes[k+1]
	first, last := m.motion.pieceAt(now.s), m.motion.pieceAt(next.s)
	joints := w.p.Path.Joints()
	b = mostUsed{binding: binding{Row: -1}}
	var mid [2]float64
	if joints < w.grid.Rows {
		s, v, a := l.at(k, (now.t+next.t)/2)
		w.p.Path.StateTo(w.smooth.motion.q, w.smooth.motion.dq, w.smooth.motion.ddq, m.motion.pieceAt(s), s)
		mid = [2]float64{v, a}
		m.motion.pieceAt(next.s)
	}
	for piece := first; piece <= last; piece++ {
		set := w.grid.Set(piece)
		for r := range w.grid.Rows {
			var x use
			if r < joints {
				x = w.quintic(k, r, set+r, next.t-now.t)
			} else {
				x = w.measure(k, r, set+r, next.t-now.t, w.smooth.motion.dq[r]*mid[0], w.smooth.motion.ddq[r]*mid[0]*mid[0]+w.smooth.motion.dq[r]*mid[1])
			}
			at := k*w.grid.Rows + r
			b.raise(x, r, m.table[1][at]*m.table[2][at] < 0)
			u = u.or(x)
		}
		if len(w.p.Limits) == 1 {
			break
		}
	}
	for piece := first; piece < last; piece++ {
		u = u.or(w.seam(l, k, piece, joints))
	}
	return u, b
}

// measure returns what a row uses between samples k and k+1, given its velocity
// and acceleration halfway.
func (w *Solver) measure(k, row, limits int, h, v, a float64) use {
	m := &w.smooth
	i, j := k*w.grid.Rows+row, (k+1)*w.grid.Rows+row
	three := func(x []float64, mid float64) *[places]float64 {
		// the parabola through three
		y := [places]float64{0: x[i], 2: mid, 4: x[j]}
		y[1] = (3*y[0] + 6*y[2] - y[4]) / 8
		y[3] = (3*y[4] + 6*y[2] - y[0]) / 8
		return &y
	}
	return w.row(three(m.table[1], v), three(m.table[2], a), limits, h)
}

// samplesHold reports whether the quintics through even samples of a law obey
// the limits of the joints.
func (w *Solver) samplesHold(l *Law) bool {
	count := int(math.Ceil(l.Duration()/w.p.Period - 1e-9))
	step := l.Duration() / float64(count)
	w.follow(l)
	m := &w.smooth.motion
	w.reserve(count + 1)
	before := 0
	for k := range count + 1 {
		t := float64(k) * step
		s, v, a := l.at(m.seek(t), t)
		w.enter(k, s, v, a)
		for piece := before; k > 0 && piece <= m.piece; piece++ {
			for r := range w.p.Path.Joints() {
				if u := w.quintic(k-1, r, w.grid.Set(piece)+r, step); max(u.vel, u.acc, u.jerk) > 1+certified {
					return false
				}
			}
		}
		before = m.piece
	}
	return true
}

// maxNoise bounds what is left to rounding: with periods so short that it would
// be more, limits mean less than rounding does.
const maxNoise = 1e-4

// quintic returns what a joint uses on the quintic between samples k and k+1, h
// apart. In Bernstein form its velocities and accelerations have the control
// points
//
//	v₀, v₀ + h·a₀/4, 5Δq/h − 2(v₀+v₁) − h(a₀−a₁)/4, v₁ − h·a₁/4, v₁
//
// and four times the differences of these by h. Where control points are within
// limits so is the curve; where not, its extremes decide.
func (w *Solver) quintic(k, row, limits int, h float64) (u use) {
	m := &w.smooth
	i, j := k*w.grid.Rows+row, (k+1)*w.grid.Rows+row
	dq := m.table[0][j] - m.table[0][i]
	v0, v1, a0, a1 := m.table[1][i], m.table[1][j], m.table[2][i], m.table[2][j]
	mid := 5*dq/h - 2*(v0+v1) - h*(a0-a1)/4
	vel := [5]float64{v0, v0 + h*a0/4, mid, v1 - h*a1/4, v1}
	acc := [4]float64{a0, 4 * (mid - vel[1]) / h, 4 * (vel[3] - mid) / h, a1}

	slow, fast := min(vel[0], vel[1], vel[2], vel[3], vel[4]), max(vel[0], vel[1], vel[2], vel[3], vel[4])
	low, high := min(acc[0], acc[1], acc[2], acc[3]), max(acc[0], acc[1], acc[2], acc[3])
	up, down := braking(slow, fast, w.grid.InvAcc[limits], w.grid.InvDec[limits])

	inv := w.grid.InvVel[limits]
	if u.vel = max(fast, -slow) * inv; u.vel > 1 {
		u.vel = inv * fastest(&vel, &acc)
	}
	if u.acc = max(high*up, -low*down); u.acc > 1 {
		low, high = extremes(&acc)
		u.acc = max(high*up, -low*down)
	}
	if u.acc > 0.9 {
		// what rounding of positions and times makes of a second difference
		last := float64(k+1) * h
		u.acc += min(maxNoise, 24*0x1p-52*(math.Abs(m.table[0][i])+math.Abs(v0)*last)/(h*h)*max(up, down))
	}
	if inv := w.grid.InvJerk[limits]; inv > 0 {
		c := [3]float64{3 * (acc[1] - acc[0]) / h, 3 * (acc[2] - acc[1]) / h, 3 * (acc[3] - acc[2]) / h}
		u.jerk = max(math.Abs(c[0]), math.Abs(c[2]), math.Abs(parabola(&c))) * inv
	}
	return u
}

// extremes returns the range on [0, 1] of a cubic in Bernstein form.
func extremes(b *[4]float64) (low, high float64) {
	low, high = min(b[0], b[3]), max(b[0], b[3])
	for _, x := range turns(b) {
		if x > 0 && x < 1 {
			y := cubic(b, x)
			low, high = min(low, y), max(high, y)
		}
	}
	return low, high
}

// turns returns where a cubic's derivative vanishes, NaN if nowhere.
func turns(b *[4]float64) [2]float64 {
	c0, c1, c2 := b[1]-b[0], b[2]-b[1], b[3]-b[2]
	p, q := c0-2*c1+c2, c1-c0 // p·x² + 2q·x + c0
	root := -(q + math.Copysign(math.Sqrt(q*q-p*c0), q))
	return [2]float64{root / p, c0 / root}
}

// parabola returns the value of a quadratic in Bernstein form where it turns, or
// an end if that is outside [0, 1].
func parabola(c *[3]float64) float64 {
	x := (c[0] - c[1]) / (c[0] - 2*c[1] + c[2])
	if !(x > 0 && x < 1) {
		return c[0]
	}
	y := 1 - x
	return y*y*c[0] + 2*x*y*c[1] + x*x*c[2]
}

// cubic evaluates a cubic in Bernstein form.
func cubic(b *[4]float64, x float64) float64 {
	y := 1 - x
	return y*y*(y*b[0]+3*x*b[1]) + x*x*(3*y*b[2]+x*b[3])
}

// fastest returns the largest magnitude on [0, 1] of the quartic velocity whose
// derivative is the cubic acc: at its ends and where acc changes sign.
func fastest(vel *[5]float64, acc *[4]float64) float64 {
	most := max(math.Abs(vel[0]), math.Abs(vel[4]))
	ends := [4]float64{0, 0, 0, 1}
	n := 1
	cut := turns(acc)
	if cut[0] > cut[1] {
		cut[0], cut[1] = cut[1], cut[0]
	}
	for _, x := range cut {
		if x > 0 && x < 1 {
			ends[n] = x
			n++
		}
	}
	ends[n] = 1
	for k := range n {
		left, right := ends[k], ends[k+1]
		below := cubic(acc, left) < 0
		if below == (cubic(acc, right) < 0) {
			continue
		}
		for range 50 { // acc is monotone here
			if mid := (left + right) / 2; cubic(acc, mid) < 0 == below {
				left = mid
			} else {
				right = mid
			}
		}
		most = max(most, math.Abs(quartic(vel, left)))
	}
	return most
}

// quartic evaluates a quartic in Bernstein form.
func quartic(b *[5]float64, x float64) float64 {
	y := 1 - x
	return y*y*(y*y*b[0]+4*x*y*b[1]+6*x*x*b[2]) + x*x*x*(4*y*b[3]+x*b[4])
}
