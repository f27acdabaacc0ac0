package sim

import "math"

// row is a bound on the motion of one joint: a limit of its position, or dry friction.
type row struct {
	joint  int
	limit  bool
	sign   float64 // of the velocity that counts
	path   []int32
	y      []float64 // J·L⁻¹
	w, inv float64   // y·y, and its inverse
	lo, hi float64   // of the impulse
	close  float64   // sign·v ≥ −close, of a limit
	λ      float64
	beyond float64 // how far a limit is passed, rad
	out    float64 // impulse that only moves positions
}

// Moving apart what is inside each other: the share of the depth that a step takes, the
// depth that is left alone, and the largest speed.
const (
	apartShare = 0.2
	slop       = 1e-5 // m or rad
	apartSpeed = 0.5  // m/s or rad/s
	apartRuns  = 10
)

// prepare fills in what the sweeps need of blocks and rows, and begins with the impulses
// of the last step.
func (d *Data) prepare() {
	m, h := d.m, d.m.h
	for i := range d.blocks {
		b := &d.blocks[i]
		m.carryPath(b.y, 6, b.path, d.a)
		var Λ [6][6]float64
		for a := range b.path {
			y := b.y[6*a : 6*a+6]
			for r := range 6 {
				yr := y[r]
				for c := 0; c <= r; c++ {
					Λ[r][c] += yr * y[c]
				}
			}
		}
		for r := range 6 {
			for c := r + 1; c < 6; c++ {
				Λ[r][c] = Λ[c][r]
			}
		}
		var F [6]float64
		for k := b.first; k < b.last; k++ {
			t := &d.touches[k]
			t.prepare(b, &Λ, h)
			for j := range 3 {
				for c := range F {
					F[c] += t.w[j][c] * t.λ[j]
				}
			}
		}
		b.apply(d.z, &F)
	}
	for i := range d.rows {
		r := &d.rows[i]
		m.carryPath(r.y, 1, r.path, d.a)
		for _, y := range r.y {
			r.w += y * y
		}
		if r.inv = 0; r.w > 0 {
			r.inv = 1 / r.w
		}
		r.λ = math.Max(r.lo, math.Min(r.hi, r.λ))
		r.apply(d.z, r.λ)
	}
}

// prepare computes what an impulse of the contact does.
func (t *touch) prepare(b *block, Λ *[6][6]float64, h float64) {
	r := t.at.Sub(b.at)
	for j, u := range [...]*[3]float64{{t.n.X, t.n.Y, t.n.Z}, {t.t.X, t.t.Y, t.t.Z}, {t.s.X, t.s.Y, t.s.Z}} {
		w := &t.w[j]
		w[0], w[1], w[2] = u[0], u[1], u[2]
		w[3], w[4], w[5] = r.Y*u[2]-r.Z*u[1], r.Z*u[0]-r.X*u[2], r.X*u[1]-r.Y*u[0]
		g := &t.g[j]
		for c := range 6 {
			l := &Λ[c]
			g[c] = l[0]*w[0] + l[1]*w[1] + l[2]*w[2] + l[3]*w[3] + l[4]*w[4] + l[5]*w[5]
		}
	}
	for j := range 3 {
		for k := range 3 {
			t.W[j][k] = dot6(&t.w[j], &t.g[k])
		}
	}
	t.close, t.out = math.Max(t.gap, 0)/h, 0
	if t.W[0][0] <= 0 {
		return
	}
	// divisions are made here, once a step, and not in every sweep
	t.normal = 1 / t.W[0][0]
	a, c, s := t.W[1][1], t.W[1][2], t.W[2][2]
	if det := a*s - c*c; det > 1e-12*a*s {
		t.stick = [3]float64{s / det, -c / det, a / det}
	} else {
		k := 1 / (a + s)
		t.stick = [3]float64{k, 0, k}
	}
	t.slide = 2 / (a + s + math.Sqrt((a-s)*(a-s)+4*c*c))
}

func dot6(a, b *[6]float64) float64 {
	return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] + a[3]*b[3] + a[4]*b[4] + a[5]*b[5]
}

// twist reads how the block moves.
func (b *block) twist(z []float64) (u [6]float64) {
	for a, r := range b.path {
		x := z[r]
		y := b.y[6*a : 6*a+6]
		u[0] += y[0] * x
		u[1] += y[1] * x
		u[2] += y[2] * x
		u[3] += y[3] * x
		u[4] += y[4] * x
		u[5] += y[5] * x
	}
	return u
}

// apply lets the impulse F act.
func (b *block) apply(z []float64, F *[6]float64) {
	for a, r := range b.path {
		y := b.y[6*a : 6*a+6]
		z[r] += y[0]*F[0] + y[1]*F[1] + y[2]*F[2] + y[3]*F[3] + y[4]*F[4] + y[5]*F[5]
	}
}

func (r *row) velocity(z []float64) (v float64) {
	for a, i := range r.path {
		v += r.y[a] * z[i]
	}
	return v
}

func (r *row) apply(z []float64, λ float64) {
	for a, i := range r.path {
		z[i] += r.y[a] * λ
	}
}

// sweep lets every contact and every row correct its impulse once: projected Gauss–Seidel,
// with friction as [JAJ] have it.
func (d *Data) sweep(μ float64) {
	z := d.z
	for i := range d.blocks {
		b := &d.blocks[i]
		u := b.twist(z)
		var F [6]float64
		for k := b.first; k < b.last; k++ {
			d.touches[k].correct(&u, &F, μ)
		}
		b.apply(z, &F)
	}
	for i := range d.rows {
		r := &d.rows[i]
		if r.inv == 0 {
			continue
		}
		λ := r.λ - (r.velocity(z)+r.close)*r.inv
		if λ < r.lo {
			λ = r.lo
		} else if λ > r.hi {
			λ = r.hi
		}
		r.apply(z, λ-r.λ)
		r.λ = λ
	}
}

// correct changes the impulse of a contact so that its own motion is right: the normal
// first, then the tangents within the cone. u is the twist of the block, F what its
// contacts have changed so far.
func (t *touch) correct(u, F *[6]float64, μ float64) {
	if t.W[0][0] <= 0 {
		return
	}
	n := t.λ[0] - (dot6(&t.w[0], u)+t.close)*t.normal
	if n < 0 {
		n = 0
	}
	dn := n - t.λ[0]
	x, y := t.λ[1], t.λ[2]
	if most := μ * n; most == 0 {
		x, y = 0, 0
	} else {
		vt, vs := dot6(&t.w[1], u)+t.W[0][1]*dn, dot6(&t.w[2], u)+t.W[0][2]*dn
		// stick, if the cone allows it
		x, y = x-(t.stick[0]*vt+t.stick[1]*vs), y-(t.stick[1]*vt+t.stick[2]*vs)
		if x*x+y*y > most*most {
			// slide against the motion: a step of the right size, then back onto the cone
			x, y = t.λ[1]-t.slide*vt, t.λ[2]-t.slide*vs
			if l := math.Sqrt(x*x + y*y); l > most {
				x, y = x*most/l, y*most/l
			}
		}
	}
	dx, dy := x-t.λ[1], y-t.λ[2]
	t.λ[0], t.λ[1], t.λ[2] = n, x, y
	g0, g1, g2 := &t.g[0], &t.g[1], &t.g[2]
	w0, w1, w2 := &t.w[0], &t.w[1], &t.w[2]
	u[0] += g0[0]*dn + g1[0]*dx + g2[0]*dy
	u[1] += g0[1]*dn + g1[1]*dx + g2[1]*dy
	u[2] += g0[2]*dn + g1[2]*dx + g2[2]*dy
	u[3] += g0[3]*dn + g1[3]*dx + g2[3]*dy
	u[4] += g0[4]*dn + g1[4]*dx + g2[4]*dy
	u[5] += g0[5]*dn + g1[5]*dx + g2[5]*dy
	F[0] += w0[0]*dn + w1[0]*dx + w2[0]*dy
	F[1] += w0[1]*dn + w1[1]*dx + w2[1]*dy
	F[2] += w0[2]*dn + w1[2]*dx + w2[2]*dy
	F[3] += w0[3]*dn + w1[3]*dx + w2[3]*dy
	F[4] += w0[4]*dn + w1[4]*dx + w2[4]*dy
	F[5] += w0[5]*dn + w1[5]*dx + w2[5]*dy
}

// change lets an impulse along direction j act on the block.
func (t *touch) change(u, F *[6]float64, j int, by float64) {
	g, w := &t.g[j], &t.w[j]
	u[0] += g[0] * by
	u[1] += g[1] * by
	u[2] += g[2] * by
	u[3] += g[3] * by
	u[4] += g[4] * by
	u[5] += g[5] * by
	F[0] += w[0] * by
	F[1] += w[1] * by
	F[2] += w[2] * by
	F[3] += w[3] * by
	F[4] += w[4] * by
	F[5] += w[5] * by
}

// moveApart finds the motion that takes bodies out of each other and joints back into
// their limits, a share of the depth each step. It reports false if there is nothing to
// do. Only positions move: no velocity comes of it.
func (d *Data) moveApart() bool {
	deep := false
	for i := range d.touches {
		deep = deep || d.touches[i].gap < -slop
	}
	for i := range d.rows {
		deep = deep || d.rows[i].beyond > slop
	}
	if !deep {
		return false
	}
	speed := func(depth float64) float64 {
		return math.Min(apartSpeed, apartShare*math.Max(0, depth-slop)/d.m.h)
	}
	z := d.shift
	clear(z)
	for range apartRuns {
		for i := range d.blocks {
			b := &d.blocks[i]
			u := b.twist(z)
			var F [6]float64
			for k := b.first; k < b.last; k++ {
				t := &d.touches[k]
				if t.gap > 0 || t.W[0][0] <= 0 {
					continue
				}
				out := math.Max(0, t.out-(dot6(&t.w[0], &u)-speed(-t.gap))/t.W[0][0])
				t.change(&u, &F, 0, out-t.out)
				t.out = out
			}
			b.apply(z, &F)
		}
		for i := range d.rows {
			r := &d.rows[i]
			if !r.limit || r.beyond < 0 || r.w == 0 {
				continue
			}
			out := math.Max(0, r.out-(r.velocity(z)-speed(r.beyond))/r.w)
			r.apply(z, out-r.out)
			r.out = out
		}
	}
	return true
}
