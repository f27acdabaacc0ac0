package ik

import (
	"math"

	"poise/robot"
	"poise/spatial"
)

// closedForm solves a chain of six revolute axes of which the last three meet in
// a point W, after Pieper's observation that W then depends on the first three
// alone. With the axes h_i through o_i, all at zero, W comes to the wanted place
// c = o1 + d when
//
//	R1·v = d,   v = p12 + R2·g,   g = p23 + R3·p3w                        (1)
//
// A turn about h1 changes neither the length of v nor its part along h1:
//
//	p12·y + |g|²/2 = (|d|² − |p12|²)/2,   h1·y = h1·(d − p12),   y = R2·g  (2)
//
// The part of y along h2 is that of g, so (2) is linear in its other two parts,
// with right-hand sides linear in cos θ3 and sin θ3. If the 2×2 matrix of (2) is
// regular, y follows, and |y| = |g| is an equation of second degree in cos θ3 and
// sin θ3 (four solutions). If it is singular (axes 1 and 2 meet or are parallel,
// as on many arms), eliminating y leaves an equation of first degree (two
// solutions), and y has two each. The last three angles follow from the rotation
// that is left.
//
// A chain of five axes of which the last two meet is solved as six, with a made-up
// sixth axis across them that must stay at zero.
type closedForm struct {
	n       int             // 5 or 6 axes
	first   int             // node of the first axis; those before it are held
	h       [6]spatial.Vec3 // axes at zero, in the frame before the first axis
	p12     spatial.Vec3    // o2 − o1
	o1, w   spatial.Vec3    // first axis' point; meeting point of the last three
	tip0    spatial.Pose    // tip at zero
	scale   float64         // length scale of the chain, m
	e1, e2  spatial.Vec3    // across h2, right-handed with it
	row     [2][2]float64   // rows h1 and p12 of (2), in e1 and e2
	det     float64         // of row, as a sine of the angle between them
	g       trig3           // g(θ3)
	gg, gh2 trig            // |g|² and h2·g

	lower, upper [6]float64 // limits; those of a made-up axis are zero
}

// trig is a function k + c·cos θ + s·sin θ; trig3 one with vectors.
type trig struct{ k, c, s float64 }
type trig3 struct{ k, c, s spatial.Vec3 }

func (f trig) at(s, c float64) float64 { return f.k + f.c*c + f.s*s }
func (f trig3) at(s, c float64) spatial.Vec3 {
	return f.k.Add(f.c.Scale(c)).Add(f.s.Scale(s))
}

// Tolerances of the geometry: what a description with rounded numbers still
// means to be a meeting of axes, and what is as good as parallel.
const (
	meetTolerance     = 1e-9 // share of the reach
	parallelTolerance = 1e-6 // sine of an angle
	boundarySlack     = 1e-7 // how far beyond ±1 a cosine may be from rounding at the edge of reach
	doubtTolerance    = 1e-6 // share of the reach below which a lever leaves its angle in doubt
	maxCandidates     = 16
)

// findClosedForm returns the closed form of a tree, nil if it has none.
func findClosedForm(t *tree) *closedForm {
	n := len(t.joints)
	if len(t.tips) != 1 || (n != 6 && n != 5) || len(t.tips[0].path) != n {
		return nil
	}
	f := &closedForm{n: n, first: t.tips[0].path[0], scale: t.reach}
	X := spatial.IdentityPose
	var o [6]spatial.Vec3
	for i := range n {
		at := f.first + i
		if at >= len(t.nodes) || t.tips[0].path[i] != at {
			return nil // something held between the axes
		}
		nd := &t.nodes[at]
		if nd.slide || nd.ratio != 1 || nd.offset != 0 || nd.x != i {
			return nil
		}
		if i > 0 {
			X = X.Mul(nd.rest)
		} else {
			X = spatial.IdentityPose // the first joint's rest belongs to what comes before
		}
		f.h[i], o[i] = X.R.Col(2), X.P
		f.lower[i], f.upper[i] = t.lower[i], t.upper[i]
	}
	f.tip0 = X.Mul(t.tips[0].place)
	var ok bool
	if f.w, ok = meet(o[3], f.h[3], o[4], f.h[4], f.scale); !ok {
		return nil
	}
	if n == 5 {
		f.h[5], _ = f.h[3].Cross(f.h[4]).Unit()
	} else if offLine(f.w, o[5], f.h[5]) > meetTolerance*f.scale || f.h[4].Cross(f.h[5]).Norm() < parallelTolerance {
		return nil
	}
	return f.prepare(o)
}

// meet returns the point where two lines meet, if they do and are not parallel.
func meet(a, u, b, v spatial.Vec3, scale float64) (spatial.Vec3, bool) {
	c := u.Cross(v)
	cc := c.Dot(c)
	if cc < parallelTolerance*parallelTolerance {
		return spatial.Vec3{}, false
	}
	w := a.Add(u.Scale(b.Sub(a).Cross(v).Dot(c) / cc))
	return w, offLine(w, b, v) <= meetTolerance*scale
}

// offLine returns the distance of a point from the line through a along u.
func offLine(p, a, u spatial.Vec3) float64 { return p.Sub(a).Cross(u).Norm() }

// prepare computes what does not depend on the target; nil if the first three
// axes leave an angle undetermined everywhere.
func (f *closedForm) prepare(o [6]spatial.Vec3) *closedForm {
	f.o1 = o[0]
	f.p12 = o[1].Sub(o[0])
	p23, p3w := o[2].Sub(o[1]), f.w.Sub(o[2])
	h1, h2, h3 := f.h[0], f.h[1], f.h[2]

	// g = p23 + R3·p3w, by Rodrigues' formula
	along := h3.Scale(h3.Dot(p3w))
	f.g = trig3{k: p23.Add(along), c: p3w.Sub(along), s: h3.Cross(p3w)}
	k, c, s := f.g.k, f.g.c, f.g.s
	f.gg = trig{k.Dot(k) + c.Dot(c), 2 * k.Dot(c), 2 * k.Dot(s)}
	f.gh2 = trig{h2.Dot(k), h2.Dot(c), h2.Dot(s)}

	f.e1, f.e2 = across(h2)
	f.row[0] = [2]float64{h1.Dot(f.e1), h1.Dot(f.e2)}
	f.row[1] = [2]float64{f.p12.Dot(f.e1) / f.scale, f.p12.Dot(f.e2) / f.scale}
	f.det = f.row[0][0]*f.row[1][1] - f.row[0][1]*f.row[1][0]
	if math.Hypot(f.row[0][0], f.row[0][1]) < parallelTolerance && math.Hypot(f.row[1][0], f.row[1][1]) < meetTolerance {
		return nil // axes 1 and 2 are one line
	}
	return f
}

// across returns two unit vectors that make a right-handed frame with the unit
// vector h as third.
func across(h spatial.Vec3) (e1, e2 spatial.Vec3) {
	pick := spatial.Vec3{X: 1}
	if math.Abs(h.X) > 0.7 {
		pick = spatial.Vec3{Y: 1}
	}
	e1, _ = pick.Sub(h.Scale(h.Dot(pick))).Unit()
	return e1, h.Cross(e1)
}

// candidates holds branches before they are checked.
type candidates struct {
	n     int
	x     [maxCandidates][6]float64
	doubt bool // the pose is singular or next to it: each branch stands for a family of them
}

func (c *candidates) add(x [6]float64) {
	if c.n < maxCandidates {
		c.x[c.n] = x
		c.n++
	}
}

// solve collects the branches that bring the tip to T, given in the frame before
// the first axis. Where an angle does not matter the seed's is taken.
func (f *closedForm) solve(out *candidates, T spatial.Pose, seed *[6]float64) {
	out.n, out.doubt = 0, false
	R := T.R.Mul(f.tip0.R.Transpose())
	c := T.Apply(f.tip0.Inverse().Apply(f.w))
	d := c.Sub(f.o1)
	h1, h2 := f.h[0], f.h[1]

	// right-hand sides of (2), the part of y along h2 taken over; row p12 in units of scale
	r1 := trig{k: h1.Dot(d.Sub(f.p12))}.minus(f.gh2.times(h1.Dot(h2)))
	r2 := trig{k: (d.Dot(d) - f.p12.Dot(f.p12)) / 2}.minus(f.gg.times(0.5)).minus(f.gh2.times(f.p12.Dot(h2))).times(1 / f.scale)

	if math.Abs(f.det) > parallelTolerance {
		// y = row⁻¹·r, then |y|² + (h2·g)² − |g|² = 0
		y1 := r1.times(f.row[1][1]).minus(r2.times(f.row[0][1])).times(1 / f.det)
		y2 := r2.times(f.row[0][0]).minus(r1.times(f.row[1][0])).times(1 / f.det)
		var θ [4]float64
		for _, θ3 := range θ[:secondDegree(&θ, y1, y2, f.gh2, f.gg)] {
			s, c := math.Sincos(θ3)
			f.arm(out, θ3, y1.at(s, c), y2.at(s, c), d, R, seed)
		}
		return
	}
	m, r, other, ro := f.row[0], r1, f.row[1], r2
	if math.Hypot(other[0], other[1]) > math.Hypot(m[0], m[1]) {
		m, r, other, ro = other, ro, m, r
	}
	mm := m[0]*m[0] + m[1]*m[1]
	λ := (other[0]*m[0] + other[1]*m[1]) / mm
	var θ [2]float64
	for _, θ3 := range θ[:firstDegree(&θ, ro.minus(r.times(λ)), seed[2])] {
		s, c := math.Sincos(θ3)
		ρρ := f.gg.at(s, c) - f.gh2.at(s, c)*f.gh2.at(s, c)
		u := r.at(s, c) / mm // part of y along m, in units of m
		rest := ρρ - u*u*mm
		if rest < -boundarySlack*f.scale*f.scale {
			continue
		}
		v := math.Sqrt(max(rest, 0) / mm)
		f.arm(out, θ3, u*m[0]-v*m[1], u*m[1]+v*m[0], d, R, seed)
		if v > 0 {
			f.arm(out, θ3, u*m[0]+v*m[1], u*m[1]-v*m[0], d, R, seed)
		}
	}
}

func (f trig) minus(b trig) trig    { return trig{f.k - b.k, f.c - b.c, f.s - b.s} }
func (f trig) times(a float64) trig { return trig{a * f.k, a * f.c, a * f.s} }

// arm finds the first two angles for a θ3 and the parts y1, y2 of y across h2,
// then the wrist.
func (f *closedForm) arm(out *candidates, θ3, y1, y2 float64, d spatial.Vec3, R spatial.Mat3, seed *[6]float64) {
	s, c := math.Sincos(θ3)
	g := f.g.at(s, c)
	g1, g2 := g.Dot(f.e1), g.Dot(f.e2)
	θ2 := seed[1]
	if math.Hypot(g1, g2) > meetTolerance*f.scale {
		θ2 = math.Atan2(y2, y1) - math.Atan2(g2, g1)
	}
	R2 := spatial.AxisAngle(f.h[1], θ2)
	v := f.p12.Add(R2.MulVec(g))
	θ1 := seed[0]
	a, lever := angleAbout(f.h[0], v, d)
	if lever > meetTolerance*f.scale {
		θ1 = a
	}
	out.doubt = out.doubt || lever < doubtTolerance*f.scale
	R123 := spatial.AxisAngle(f.h[0], θ1).Mul(R2).Mul(spatial.AxisAngle(f.h[2], θ3))
	f.wrist(out, [3]float64{θ1, θ2, θ3}, R123.Transpose().Mul(R), seed)
}

// wrist finds the last three angles: R4·R5·R6 = Q.
func (f *closedForm) wrist(out *candidates, arm [3]float64, Q spatial.Mat3, seed *[6]float64) {
	h4, h5, h6 := f.h[3], f.h[4], f.h[5]
	// h4·R5·h6 = h4·Q·h6
	z := Q.MulVec(h6)
	k := h4.Dot(h5) * h5.Dot(h6)
	var θ [2]float64
	for _, θ5 := range θ[:firstDegree(&θ, trig{k - h4.Dot(z), h4.Dot(h6) - k, h4.Dot(h5.Cross(h6))}, seed[4])] {
		R5 := spatial.AxisAngle(h5, θ5)
		θ4, lever := angleAbout(h4, R5.MulVec(h6), z)
		inLine := lever < meetTolerance
		if inLine {
			θ4 = 0
		}
		R6 := spatial.AxisAngle(h4, θ4).Mul(R5).Transpose().Mul(Q)
		u, _ := across(h6)
		θ6, _ := angleAbout(h6, u, R6.MulVec(u))
		if inLine {
			θ4, θ6 = f.share(θ6, math.Copysign(1, h4.Dot(z)), seed)
		}
		out.doubt = out.doubt || lever < doubtTolerance
		out.add([6]float64{arm[0], arm[1], arm[2], θ4, θ5, θ6})
	}
}

// share splits a turn between axes 4 and 6 that are in line, where only
// θ6 + sign·θ4 = sum is known, within the limits and nearest to the seed. The sum
// of distances is linear between the seed and the limits of either joint, so the
// best split has one of the two at its seed or at a limit.
func (f *closedForm) share(sum, sign float64, seed *[6]float64) (θ4, θ6 float64) {
	leastOver, nearest := math.Inf(1), math.Inf(1)
	try := func(a, b float64) {
		over := max(0, f.lower[3]-a, a-f.upper[3]) + max(0, f.lower[5]-b, b-f.upper[5])
		if over < limitSlack {
			over = 0
		}
		distance := math.Abs(a-seed[3]) + math.Abs(b-seed[5])
		if over < leastOver || over == leastOver && distance < nearest {
			leastOver, nearest, θ4, θ6 = over, distance, a, b
		}
	}
	for _, a := range [3]float64{seed[3], f.lower[3], f.upper[3]} {
		if !math.IsInf(a, 0) {
			b, _ := nearestTurn(sum-sign*a, seed[5], f.lower[5], f.upper[5])
			try(a, b)
		}
	}
	for _, b := range [3]float64{seed[5], f.lower[5], f.upper[5]} {
		if !math.IsInf(b, 0) {
			a, _ := nearestTurn(sign*(sum-b), seed[3], f.lower[3], f.upper[3])
			try(a, b)
		}
	}
	return θ4, θ6
}

// angleAbout returns the turn about h that brings the part of a across h to that
// of b, and the shorter of the two parts: near zero it tells nothing.
func angleAbout(h, a, b spatial.Vec3) (angle, lever float64) {
	a = a.Sub(h.Scale(h.Dot(a)))
	b = b.Sub(h.Scale(h.Dot(b)))
	return math.Atan2(h.Dot(a.Cross(b)), a.Dot(b)), min(a.Norm(), b.Norm())
}

// firstDegree solves k + c·cos θ + s·sin θ = 0 and returns how many solutions it
// stored. If the equation holds for every angle, the seed's is taken.
func firstDegree(θ *[2]float64, f trig, seed float64) int {
	amplitude := math.Hypot(f.c, f.s)
	if amplitude < meetTolerance {
		if math.Abs(f.k) > meetTolerance {
			return 0
		}
		θ[0] = seed
		return 1
	}
	ratio := -f.k / amplitude
	if math.Abs(ratio) > 1+boundarySlack {
		return 0
	}
	φ, α := math.Atan2(f.s, f.c), math.Acos(min(max(ratio, -1), 1))
	θ[0], θ[1] = φ+α, φ-α
	if α == 0 || α == math.Pi {
		return 1
	}
	return 2
}

// secondDegree solves y1² + y2² + z² − gg = 0, all functions of cos θ and sin θ,
// and returns how many solutions it stored. With t = tan(θ/2) it is a quartic.
func secondDegree(θ *[4]float64, y1, y2, z, gg trig) int {
	var A, B, C, D, E, F float64 // A + B·c + C·s + D·c² + E·c·s + F·s²
	for _, f := range [3]trig{y1, y2, z} {
		A += f.k * f.k
		B += 2 * f.k * f.c
		C += 2 * f.k * f.s
		D += f.c * f.c
		E += 2 * f.c * f.s
		F += f.s * f.s
	}
	A, B, C = A-gg.k, B-gg.c, C-gg.s
	quartic := [5]float64{A + B + D, 2 * (C + E), 2*A - 2*D + 4*F, 2 * (C - E), A - B + D}
	return quarticAngles(θ, quartic)
}

// quarticAngles returns the angles 2·atan(t) of the real roots t of a quartic
// with coefficients by rising power, by simultaneous iteration (Aberth). A root at
// infinity is the angle π. Roots that are real but for rounding count: a false
// branch is found out when it is checked.
func quarticAngles(θ *[4]float64, a [5]float64) (n int) {
	largest := 0.0
	for _, v := range a {
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 {
		return 0
	}
	degree := 4
	for degree > 0 && math.Abs(a[degree]) < 1e-13*largest {
		degree--
	}
	if degree < 4 {
		θ[0] = math.Pi
		n = 1
	}
	var roots [4]complex128
	aberth(&roots, a, degree)
	for _, t := range roots[:degree] {
		if math.Abs(imag(t)) < 1e-5*(1+real(t)*real(t)) && n < 4 {
			θ[n] = 2 * math.Atan(real(t))
			n++
		}
	}
	return n
}

func aberth(roots *[4]complex128, a [5]float64, degree int) {
	// start on a circle that the roots' geometric mean suggests, off every symmetry
	radius := 1.0
	if degree > 0 && a[0] != 0 {
		radius = math.Pow(math.Abs(a[0]/a[degree]), 1/float64(degree))
	}
	for i := range degree {
		s, c := math.Sincos(0.4 + 2*math.Pi*float64(i)/float64(max(degree, 1)))
		roots[i] = complex(radius*c, radius*s)
	}
	for range 60 {
		moved := 0.0
		for i := range degree {
			t := roots[i]
			p, dp := complex(a[degree], 0), complex128(0)
			for k := degree - 1; k >= 0; k-- {
				dp = dp*t + p
				p = p*t + complex(a[k], 0)
			}
			if p == 0 {
				continue
			}
			ratio := dp / p
			for j := range degree {
				if j != i && roots[j] != t {
					ratio -= 1 / (t - roots[j])
				}
			}
			if ratio == 0 {
				continue
			}
			step := 1 / ratio
			roots[i] = t - step
			moved = max(moved, math.Hypot(real(step), imag(step))/(1+math.Hypot(real(t), imag(t))))
		}
		if moved < 1e-15 {
			return
		}
	}
}

// Who follows a path asks for poses next to the last: a step or two from the seed
// then is all it takes, and no branch has to be looked at.
const (
	nearbyPosition   = 0.05 // how far the seed's tip may be, share of the reach
	nearbyRotation   = 0.1  // rad
	nearbyMove       = 0.05 // sum of joint distances that the answer may be away, rad
	nearbyIterations = 4
	refined          = 1e-22 // half the squared weighted error at which nothing is left to refine
	nearbyPivot      = 1e-4  // smallest pivot of J·Jᵀ: below, branches may be close together
)

// solveNearby tries a pose next to the seed's. The answer is the nearest branch:
// another one as near as this would have to be within twice its distance, and
// where the Jacobian is regular there is none. done is false if any of that is in
// doubt.
func (s *Solver) solveNearby(q []float64, targets []Target) (r Result, done bool) {
	w, t := &s.work, &s.tree
	if len(w.x) != 6 {
		return r, false
	}
	for i, at := range t.index {
		if q[at] < t.lower[i] || q[at] > t.upper[i] {
			return r, false
		}
		w.x[i], w.seed[i] = q[at], q[at]
	}
	w.place(t, w.x)
	if m := w.measure(t, targets); m.position > nearbyPosition*t.reach || m.rotation > nearbyRotation {
		return r, false
	}
	most := s.opt.MaxIterations
	s.opt.MaxIterations = nearbyIterations
	m := s.attempt(targets, true, &r)
	s.opt.MaxIterations = most
	for n := 0; n < 3 && s.arrived(m) && r.Iterations > 0 && m.squared > refined; n++ {
		m = s.refine(targets, m)
	}
	moved := 0.0
	for i := range w.x {
		moved += math.Abs(w.x[i] - w.seed[i])
	}
	if !s.arrived(m) || moved > nearbyMove || (r.Iterations > 0 && !w.regular()) {
		return Result{}, false
	}
	r.Joint, r.PositionError, r.RotationError = robot.NoJoint, m.position, m.rotation
	s.store(q, w.x)
	return r, true
}

// refine takes one more step with the last factorisation, to the last digits: an
// answer from nearby is then as exact as one in closed form.
func (s *Solver) refine(targets []Target, m misfit) misfit {
	w, t := &s.work, &s.tree
	w.place(t, w.x)
	w.measure(t, targets)
	w.solveStep()
	w.advance(t, true)
	w.place(t, w.try)
	next := w.measure(t, targets)
	if next.squared < m.squared {
		w.x, w.try = w.try, w.x
		return next
	}
	return m
}

// regular reports whether the last factored J·Jᵀ is far from singular, and no
// joint was held at a limit.
func (w *workspace) regular() bool {
	for i, inverse := range w.six.d {
		if inverse > 1/nearbyPivot || w.fixed[i] {
			return false
		}
	}
	return true
}

// solveClosed takes the branch within the limits that is nearest to the seed in
// q. done is false where the closed form cannot tell: it knows no branch at all, or
// none within the limits and the pose is singular.
func (s *Solver) solveClosed(q []float64, target *Target) (r Result, done bool) {
	w, t, f := &s.work, &s.tree, s.closed
	r.Joint = robot.NoJoint
	for i, at := range t.index {
		w.seed[i] = q[at]
	}
	var branches candidates
	s.branches(&branches, target)
	nearest, leastExcess := math.Inf(1), math.Inf(1)
	outside := [6]float64{}
	for b := range branches.n {
		x := branches.x[b][:f.n]
		distance, excess, joint := t.fit(x, w.seed)
		switch {
		case excess == 0:
			r.Branches++
			if distance < nearest {
				nearest = distance
				copy(w.best, x)
			}
		case excess < leastExcess && r.Branches == 0:
			leastExcess = excess
			outside = branches.x[b]
			r.Joint, r.Excess = joint, excess
		}
	}
	if branches.n == 0 {
		return r, false
	}
	one := target.one()
	if r.Branches > 0 {
		r.Joint, r.Excess = robot.NoJoint, 0
		copy(w.x, w.best)
	} else {
		// every branch is out of bounds: go as near as the limits let the best one
		r.Status = AtLimits
		for i := range w.x {
			w.x[i] = min(max(outside[i], t.lower[i]), t.upper[i])
		}
		switch m := s.attempt(one[:], true, &r); {
		case s.arrived(m):
			r = Result{Joint: robot.NoJoint, Iterations: r.Iterations}
		case branches.doubt:
			return r, false // another member of the family may be within
		}
	}
	w.place(t, w.x)
	m := w.measure(t, one[:])
	r.PositionError, r.RotationError = m.position, m.rotation
	s.store(q, w.x)
	return r, true
}

// one returns the target as the list that the numeric kernel takes.
func (t *Target) one() [1]Target { return [1]Target{*t} }

// branches collects the branches of the target that really lead there, to the
// last digits: rounding at the edges of reach is polished away by Newton steps.
func (s *Solver) branches(out *candidates, target *Target) {
	w, t, f := &s.work, &s.tree, s.closed
	var seed [6]float64
	for i, v := range w.seed {
		seed[i] = min(max(v, t.lower[i]), t.upper[i])
	}
	base := t.nodes[f.first].rest
	for k := t.nodes[f.first].parent; k >= 0; k = t.nodes[k].parent {
		base = t.nodes[k].held.Mul(base)
	}
	var raw candidates
	f.solve(&raw, base.Inverse().Mul(target.Pose), &seed)
	one := target.one()
	out.n, out.doubt = 0, raw.doubt
	var r Result
	for b := range raw.n {
		x := raw.x[b]
		if f.n == 5 && math.Abs(math.Remainder(x[5], 2*math.Pi)) > 1e-4 {
			continue
		}
		copy(w.x, x[:f.n])
		if m := s.attempt(one[:], false, &r); !s.arrived(m) {
			continue
		}
		copy(x[:], w.x)
		if !out.has(x[:f.n]) {
			out.add(x)
		}
	}
}

// has reports whether a branch is there already, up to whole turns: double roots
// come twice.
func (c *candidates) has(x []float64) bool {
	for b := range c.n {
		far := 0.0
		for i, v := range x {
			far = max(far, math.Abs(math.Remainder(v-c.x[b][i], 2*math.Pi)))
		}
		if far < 1e-7 {
			return true
		}
	}
	return false
}

// fit moves the angles x by whole turns into the limits, next to the seed. It
// returns the sum of distances from the seed, and by how much which joint is
// furthest outside its limits (0 and NoJoint if none is).
func (t *tree) fit(x, seed []float64) (distance, excess float64, joint robot.JointID) {
	joint = robot.NoJoint
	for i := range x {
		v, _ := nearestTurn(x[i], seed[i], t.lower[i], t.upper[i])
		if over := max(t.lower[i]-v, v-t.upper[i]); over > excess {
			excess, joint = over, t.joints[i]
		}
		x[i] = v
		distance += math.Abs(v - seed[i])
	}
	return distance, excess, joint
}

// BranchesTo stores every solution of one exact pose within the limits, one
// configuration after the other, nearest to the seed first, and returns how many
// fit into dst. It is for solvers with a closed form; others return none.
// Loop-safe.
func (s *Solver) BranchesTo(dst []float64, pose spatial.Pose, seed []float64) (n int) {
	if s.closed == nil {
		return 0
	}
	t, w := &s.tree, &s.work
	t.freeze(seed)
	for i, at := range t.index {
		w.seed[i] = seed[at]
	}
	var all candidates
	s.branches(&all, &Target{Pose: pose})
	var far [maxCandidates]float64
	kept := 0
	for b := range all.n {
		distance, excess, _ := t.fit(all.x[b][:s.closed.n], w.seed)
		if excess > 0 {
			continue
		}
		// keep them sorted as they come
		x := all.x[b]
		k := kept
		for ; k > 0 && far[k-1] > distance; k-- {
			far[k], all.x[k] = far[k-1], all.x[k-1]
		}
		far[k], all.x[k] = distance, x
		kept++
	}
	nq := s.m.NumQ()
	for ; n < kept && (n+1)*nq <= len(dst); n++ {
		row := dst[n*nq : (n+1)*nq]
		copy(row, seed)
		s.store(row, all.x[n][:s.closed.n])
	}
	return n
}
