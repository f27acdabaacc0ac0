package ik

import (
	"math"
	"math/rand/v2"

	"poise/linalg"
	"poise/robot"
	"poise/spatial"
)

// Constants of the iteration. They trade speed for robustness and were chosen by
// the solve rates and medians in docs/benchmarks.md; none of them changes what
// counts as solved.
const (
	spreadRestarts = 3 // restarts until coordinates are drawn from all of their range

	firstDamping = 0.5  // share of the squared error that damps a step
	lowDamping   = 1e-3 // damping never falls below this share
	floorDamping = 1e-12
	maxRaise     = 8     // how often damping is raised before an attempt is given up
	maxStep      = 0.8   // of one coordinate, rad (and this share of the length scale for sliders)
	goodShrink   = 1e-4  // of the squared error: the linearisation is used once more
	stallWindow  = 8     // iterations after which the squared error must have halved
	lever        = 3.0   // reach / lever is the length at which 1 m weighs as much as 1 rad
	farthest     = 1e100 // errors beyond this are counted as this, and their squares stay finite
	postureGain  = 0.3
	postureSteps = 60
	postureDone  = 1e-9 // squared relative progress at which the posture has settled
	goldenSeed1  = 0x9e3779b97f4a7c15
	goldenSeed2  = 0xd1b54a32d192ed03
)

// workspace is the memory of the numeric solver, sized once.
type workspace struct {
	x, try, best    []float64 // coordinates
	seed            []float64 // where the caller wants to stay near
	angle, sin, cos []float64 // of the nodes
	pose            []spatial.Pose
	tipPose         []spatial.Pose

	rows    int       // 6 for each tip
	jac     []float64 // columns of rows numbers each, weighted, zero where an axis is free
	err     []float64 // weighted error, zero where an axis is free or within tolerance
	fixed   []bool    // coordinate at a limit that the error pushes outwards
	product []float64 // J·Jᵀ + λ·1 or Jᵀ·J + λ·1
	normal  []float64 // its factor
	six     ldl6      // the same for one tip with enough joints, the case that must be fast
	rhs     []float64
	step    []float64
	null    []float64 // step towards the posture
	rng     rand.PCG
}

func (w *workspace) init(t *tree) {
	n, rows := len(t.joints), 6*len(t.tips)
	w.rows = rows
	w.x, w.try, w.best, w.seed = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	w.pose, w.tipPose = make([]spatial.Pose, len(t.nodes)), make([]spatial.Pose, len(t.tips))
	w.jac, w.err = make([]float64, rows*n), make([]float64, rows)
	w.fixed, w.step, w.null = make([]bool, n), make([]float64, n), make([]float64, n)
	k := max(rows, n)
	w.product, w.normal, w.rhs = make([]float64, k*k), make([]float64, k*k), make([]float64, k)
	w.angle, w.sin, w.cos = make([]float64, len(t.nodes)), make([]float64, len(t.nodes)), make([]float64, len(t.nodes))
}

// place computes the poses of all nodes and tips at coordinates x.
func (w *workspace) place(t *tree, x []float64) {
	for i := range t.nodes {
		if n := &t.nodes[i]; n.x >= 0 {
			w.angle[i] = n.ratio*x[n.x] + n.offset
		}
	}
	linalg.SincosTo(w.sin, w.cos, w.angle)
	for i := range t.nodes {
		n := &t.nodes[i]
		rest := &n.rest
		if n.x < 0 {
			rest = &n.held
		}
		X := &w.pose[i]
		if n.parent < 0 {
			*X = *rest
		} else {
			mulTo(X, &w.pose[n.parent], rest)
		}
		if n.x < 0 {
			continue
		}
		R := &X.R
		if n.slide {
			v := w.angle[i]
			X.P.X += R[2] * v
			X.P.Y += R[5] * v
			X.P.Z += R[8] * v
			continue
		}
		// turning about z mixes the first two columns only
		s, c := w.sin[i], w.cos[i]
		R[0], R[1] = c*R[0]+s*R[1], c*R[1]-s*R[0]
		R[3], R[4] = c*R[3]+s*R[4], c*R[4]-s*R[3]
		R[6], R[7] = c*R[6]+s*R[7], c*R[7]-s*R[6]
	}
	for i := range t.tips {
		tp := &t.tips[i]
		if tp.node < 0 {
			w.tipPose[i] = tp.place
			continue
		}
		mulTo(&w.tipPose[i], &w.pose[tp.node], &tp.place)
	}
}

// mulTo stores A·B in dst, which is neither of them.
func mulTo(dst, A, B *spatial.Pose) {
	a, b := &A.R, &B.R
	dst.R = spatial.Mat3{
		a[0]*b[0] + a[1]*b[3] + a[2]*b[6], a[0]*b[1] + a[1]*b[4] + a[2]*b[7], a[0]*b[2] + a[1]*b[5] + a[2]*b[8],
		a[3]*b[0] + a[4]*b[3] + a[5]*b[6], a[3]*b[1] + a[4]*b[4] + a[5]*b[7], a[3]*b[2] + a[4]*b[5] + a[5]*b[8],
		a[6]*b[0] + a[7]*b[3] + a[8]*b[6], a[6]*b[1] + a[7]*b[4] + a[8]*b[7], a[6]*b[2] + a[7]*b[5] + a[8]*b[8],
	}
	p := B.P
	dst.P.X = a[0]*p.X + a[1]*p.Y + a[2]*p.Z + A.P.X
	dst.P.Y = a[3]*p.X + a[4]*p.Y + a[5]*p.Z + A.P.Y
	dst.P.Z = a[6]*p.X + a[7]*p.Y + a[8]*p.Z + A.P.Z
}

// misfit is how far the tips are from their targets.
type misfit struct {
	squared            float64 // half the squared weighted error: what the steps make smaller
	position, rotation float64 // the largest of a tip, beyond its tolerance
}

// measure fills the weighted error at the poses of place. The error of a tip is
// in the axes of its target, so that tolerances are too:
//
//	e_p = R_Tᵀ·(p_T − p_F),   e_r = −Log(R_Tᵀ·R_F)
func (w *workspace) measure(t *tree, targets []Target) (m misfit) {
	weight := lever / t.reach
	for i := range targets {
		T, F := &targets[i].Pose, &w.tipPose[i]
		p := T.R.TMulVec(T.P.Sub(F.P))
		r := rotationError(&T.R, &F.R)
		raw := [6]float64{p.X, p.Y, p.Z, r.X, r.Y, r.Z}
		var position, rotation float64
		for k := range 6 {
			tol := targets[i].Tolerance[k]
			raw[k] = min(max(raw[k], -farthest), farthest)
			over := math.Abs(raw[k]) - tol
			e := 0.0
			if over > 0 {
				// aim a little inside the tolerance, so as not to rest on its edge
				e = math.Copysign(over+0.1*tol, raw[k])
				if k < 3 {
					position += over * over
				} else {
					rotation += over * over
				}
			}
			if k < 3 {
				e *= weight
			}
			w.err[6*i+k] = e
			m.squared += e * e / 2
		}
		m.position = max(m.position, math.Sqrt(position))
		m.rotation = max(m.rotation, math.Sqrt(rotation))
	}
	return m
}

// rotationError returns −Log(R_Tᵀ·R_F), in the axes of T.
func rotationError(T, F *spatial.Mat3) spatial.Vec3 {
	E := [9]float64{
		T[0]*F[0] + T[3]*F[3] + T[6]*F[6], T[0]*F[1] + T[3]*F[4] + T[6]*F[7], T[0]*F[2] + T[3]*F[5] + T[6]*F[8],
		T[1]*F[0] + T[4]*F[3] + T[7]*F[6], T[1]*F[1] + T[4]*F[4] + T[7]*F[7], T[1]*F[2] + T[4]*F[5] + T[7]*F[8],
		T[2]*F[0] + T[5]*F[3] + T[8]*F[6], T[2]*F[1] + T[5]*F[4] + T[8]*F[7], T[2]*F[2] + T[5]*F[5] + T[8]*F[8],
	}
	v := spatial.Vec3{X: E[5] - E[7], Y: E[6] - E[2], Z: E[1] - E[3]} // −2·sin θ·axis
	cos2 := E[0] + E[4] + E[8] - 1                                    // 2·cos θ
	sin2 := math.Sqrt(v.X*v.X + v.Y*v.Y + v.Z*v.Z)
	switch {
	case sin2 < 1e-6 && cos2 > 0:
		return v.Scale(0.5) // θ/sin θ = 1 + θ²/6 …, the second term is below 1e-13
	case sin2 < 1e-6:
		// half a turn: the sine tells no axis, the quaternion does
		return spatial.Mat3(E).Quat().Log().Neg()
	}
	return v.Scale(math.Atan2(sin2, cos2) / sin2)
}

// linearise fills the weighted Jacobian of the error at the poses of place, and
// finds the coordinates that stand at a limit and are pushed outwards.
func (w *workspace) linearise(t *tree, targets []Target, limited bool) {
	weight := lever / t.reach
	clear(w.jac)
	for i := range t.tips {
		tp := &t.tips[i]
		T := &targets[i].Pose.R
		P := w.tipPose[i].P
		for _, k := range tp.path {
			n := &t.nodes[k]
			X := &w.pose[k]
			z := spatial.Vec3{X: X.R[2], Y: X.R[5], Z: X.R[8]}
			var lin, ang spatial.Vec3
			if n.slide {
				lin = T.TMulVec(z)
			} else {
				d := P.Sub(X.P)
				lin = T.TMulVec(z.Cross(d))
				ang = T.TMulVec(z)
			}
			c := w.jac[n.x*w.rows+6*i : n.x*w.rows+6*i+6 : n.x*w.rows+6*i+6]
			// a follower adds to its leader's column
			f := n.ratio * weight
			c[0] += f * lin.X
			c[1] += f * lin.Y
			c[2] += f * lin.Z
			c[3] += n.ratio * ang.X
			c[4] += n.ratio * ang.Y
			c[5] += n.ratio * ang.Z
		}
	}
	w.dropSatisfied(targets)
	for i := range w.fixed {
		w.fixed[i] = limited && w.pushedOut(t, i)
	}
}

// dropSatisfied removes the rows of axes that are free or within tolerance.
func (w *workspace) dropSatisfied(targets []Target) {
	for i := range targets {
		if targets[i].Tolerance == ([6]float64{}) {
			continue
		}
		for k, tol := range targets[i].Tolerance {
			if r := 6*i + k; tol > 0 && w.err[r] == 0 {
				for c := r; c < len(w.jac); c += w.rows {
					w.jac[c] = 0
				}
			}
		}
	}
}

// pushedOut reports whether coordinate i stands at a limit and the error would
// be smaller beyond it.
func (w *workspace) pushedOut(t *tree, i int) bool {
	atLower, atUpper := w.x[i] <= t.lower[i], w.x[i] >= t.upper[i]
	if !atLower && !atUpper {
		return false
	}
	g := w.gradient(i)
	return (atLower && g < 0) || (atUpper && g > 0)
}

// gradient returns the slope at which moving coordinate i lowers the error.
func (w *workspace) gradient(i int) (g float64) {
	for r, e := range w.err {
		g += w.jac[i*w.rows+r] * e
	}
	return g
}

// advance puts x + step into try, no coordinate further than maxStep and none
// beyond its limits; it reports whether either cut the step short.
func (w *workspace) advance(t *tree, limited bool) (clipped bool) {
	scale := 1.0
	for i, d := range w.step {
		bound := maxStep
		if t.slides[i] {
			bound *= t.reach / lever
		}
		if a := math.Abs(d); a*scale > bound {
			scale = bound / a
		}
	}
	for i, d := range w.step {
		v := w.x[i] + scale*d
		if limited {
			v = min(max(v, t.lower[i]), t.upper[i])
		}
		clipped = clipped || v != w.x[i]+scale*d
		w.try[i] = v
	}
	return clipped || scale != 1
}

func (s *Solver) arrived(m misfit) bool {
	return m.position <= s.opt.PositionTolerance && m.rotation <= s.opt.RotationTolerance
}

// attempt iterates from w.x until it arrives or gives up; the last coordinates
// stay in w.x. It returns the misfit there.
//
// A step that shrank the error a hundredfold shows that the linearisation is good:
// the next one uses it again and saves the factorisation.
func (s *Solver) attempt(targets []Target, limited bool, r *Result) misfit {
	w, t := &s.work, &s.tree
	w.place(t, w.x)
	m := w.measure(t, targets)
	damping, mark, reuse := firstDamping, m.squared, false
	for it := 1; it <= s.opt.MaxIterations && !s.arrived(m); it++ {
		r.Iterations++
		if !reuse {
			w.linearise(t, targets, limited)
			w.factor(damping*m.squared + floorDamping)
		}
		better := false
		for raised := 0; ; {
			w.solveStep()
			clipped := w.advance(t, limited)
			w.place(t, w.try)
			next := w.measure(t, targets)
			if next.squared < m.squared {
				reuse = !clipped && next.squared < goodShrink*m.squared
				m, better = next, true
				w.x, w.try = w.try, w.x
				damping = max(damping/4, lowDamping)
				break
			}
			if raised == maxRaise {
				break
			}
			raised++
			w.place(t, w.x)
			w.measure(t, targets) // the error that the next step is solved for
			if reuse {
				reuse = false
				w.linearise(t, targets, limited)
			} else {
				damping *= 8
			}
			w.factor(damping*m.squared + floorDamping)
		}
		if !better {
			break
		}
		if it%stallWindow == 0 {
			if m.squared > mark/2 {
				break
			}
			mark = m.squared
		}
	}
	return m
}

// solveNumeric looks for a solution from the seed, then from other places.
func (s *Solver) solveNumeric(q []float64, targets []Target, restarts int) Result {
	w, t := &s.work, &s.tree
	r := Result{Joint: robot.NoJoint}
	for i, at := range t.index {
		w.seed[i] = q[at]
		w.x[i] = min(max(q[at], t.lower[i]), t.upper[i])
	}
	w.rng.Seed(goldenSeed1, goldenSeed2)
	copy(w.best, w.x)
	best := misfit{squared: math.Inf(1), position: math.Inf(1), rotation: math.Inf(1)}
	for {
		m := s.attempt(targets, true, &r)
		if m.squared < best.squared || s.arrived(m) {
			best = m
			copy(w.best, w.x)
		}
		if s.arrived(m) || r.Restarts == restarts || len(w.x) == 0 {
			break
		}
		r.Restarts++
		w.scatter(t, min(1, float64(r.Restarts)/spreadRestarts))
	}
	if s.arrived(best) {
		s.settle(targets, &r, &best)
		r.Status = Solved
	} else {
		s.explain(targets, &r)
	}
	r.PositionError, r.RotationError = best.position, best.rotation
	t.nearSeed(w.best, w.seed)
	s.store(q, w.best)
	return r
}

// scatter draws coordinates evenly within the limits, and to both sides of the
// seed where there are none; a spread below one keeps them nearer to the seed, so
// that a solution next to it is found before others.
func (w *workspace) scatter(t *tree, spread float64) {
	for i := range w.x {
		u := float64(w.rng.Uint64()>>11) / (1 << 53)
		lower, upper := t.lower[i], t.upper[i]
		if math.IsInf(lower, 0) || math.IsInf(upper, 0) {
			half := math.Pi
			switch {
			case t.slides[i]:
				half = t.reach
			case !t.turns[i]:
				half = 4 * math.Pi // followers tell whole turns of it apart
			}
			lower, upper = max(lower, w.seed[i]-half), min(upper, w.seed[i]+half)
		}
		from := min(max(w.seed[i], lower), upper)
		w.x[i] = from + spread*(lower+u*(upper-lower)-from)
	}
}

// nearSeed moves angles by whole turns as near to the seed as their limits allow.
func (t *tree) nearSeed(x, seed []float64) {
	for i := range x {
		if t.turns[i] {
			if v, ok := nearestTurn(x[i], seed[i], t.lower[i], t.upper[i]); ok {
				x[i] = v
			}
		}
	}
}

// explain finds out what stood in the way of w.best: if the pose is reached when
// limits are forgotten, the joint that then is furthest outside is the answer.
func (s *Solver) explain(targets []Target, r *Result) {
	w, t := &s.work, &s.tree
	r.Status = Unreachable
	copy(w.x, w.best)
	if m := s.attempt(targets, false, r); !s.arrived(m) {
		return
	}
	for i, v := range w.x {
		if t.turns[i] {
			v, _ = nearestTurn(v, w.seed[i], t.lower[i], t.upper[i])
		}
		if over := max(t.lower[i]-v, v-t.upper[i]); over > r.Excess {
			r.Status, r.Joint, r.Excess = AtLimits, t.joints[i], over
		}
	}
}

// settle moves a solution in w.best towards the posture as far as the task lets
// it, by steps in the null space of the Jacobian,
//
//	Δx = (1 − Jᵀ·(J·Jᵀ)⁻¹·J)·k·(x_posture − x),
//
// each followed by steps that bring the tips back.
func (s *Solver) settle(targets []Target, r *Result, best *misfit) {
	w, t := &s.work, &s.tree
	if s.opt.Posture == nil || w.rows > len(w.x) {
		return
	}
	gain := postureGain
	away := s.posture(w.best)
	for range postureSteps {
		copy(w.x, w.best)
		w.place(t, w.x)
		w.measure(t, targets)
		w.linearise(t, targets, true)
		s.nullStep(gain)
		w.advance(t, true)
		w.x, w.try = w.try, w.x
		m := s.attempt(targets, true, r)
		now := s.posture(w.x)
		if !s.arrived(m) || now >= away {
			if gain /= 4; gain < 1e-3 {
				return
			}
			continue
		}
		done := away-now < postureDone*away
		copy(w.best, w.x)
		*best, away = m, now
		if done {
			return
		}
	}
}

// posture returns the squared distance from the posture.
func (s *Solver) posture(x []float64) (d float64) {
	for i, at := range s.tree.index {
		d += (s.opt.Posture[at] - x[i]) * (s.opt.Posture[at] - x[i])
	}
	return d
}

// nullStep fills w.step with a step towards the posture that leaves the task be.
func (s *Solver) nullStep(gain float64) {
	w := &s.work
	for i, at := range s.tree.index {
		w.null[i] = 0
		if !w.fixed[i] {
			w.null[i] = gain * (s.opt.Posture[at] - w.x[i])
		}
	}
	m := w.rows
	for r := range m {
		w.rhs[r] = 0
		for i, z := range w.null {
			w.rhs[r] += w.jac[i*m+r] * z
		}
	}
	w.factorRows(floorDamping)
	linalg.CholeskySolve(w.rhs[:m], w.normal[:m*m], m)
	w.backTo(w.step, w.rhs[:m])
	for i, z := range w.null {
		w.step[i] = z - w.step[i]
	}
}
