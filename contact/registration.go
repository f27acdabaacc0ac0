package contact

import (
	"math"

	"poise/spatial"
)

// Match is a point of the robot that stays at an anchor of the world.
type Match struct {
	P, V, A spatial.Vec3 // the point as the base sees it, its velocity and acceleration there
	Anchor  spatial.Vec3 // in the world
	Weight  float64      // how much it counts beside the others, ≥ 0
}

// Registration is how the base moves so that points stay at their anchors.
type Registration struct {
	Pose         spatial.Pose  // X_WB
	Twist        spatial.Twist // of the base's origin, in base axes
	Acceleration spatial.Twist // derivative of Twist, component by component
	Worst        float64       // largest distance of a point from its anchor, m
}

// Register returns the motion of the base that keeps weighted points nearest to
// their anchors, by least squares. What they leave open, such as the yaw on a
// single upright hoof, stays as in guess and does not move. Without weight at all
// the guess comes back, at rest. Loop-safe.
//
// With p a point seen from the base, a its anchor, both from their weighted means,
// and q = Rᵀ·a, the rotation R that makes tr(Rᵀ·Σ w·a·pᵀ) largest (Kabsch 1976) is
// where S = Σ w·q·pᵀ is symmetric. Differentiating that, with K = tr(S)·1 − S:
//
//	δ = K⁻¹·Σ w·p×q                          a step towards it
//	ω = K⁻¹·Σ w·ṗ×q                          as q̇ = −ω×q
//	α = K⁻¹·(Σ w·(p̈×q − ṗ×(ω×q)) − K̇·ω)
//
// These are the derivatives of the pose itself, also when points and anchors do not
// fit each other.
func Register(all []Match, guess spatial.Pose) (r Registration) {
	c, ok := centre(all)
	if !ok {
		return Registration{Pose: guess}
	}
	H, spread := c.correlation(all)
	R := guess.R
	if spread > 0 {
		R = rotation(H, guess.R, openness*spread)
	}
	r = c.motion(all, R, openness*spread)
	r.Worst = worst(all, r.Pose)
	return r
}

// RegisterNoisy is Register for points that are known to some m², the square of their noise: a
// turn about an axis that they are not spread from further than that, such as three points
// nearly in a line, stays as in guess, for noise alone would decide it. Loop-safe.
//
// In the principal axes of K, whose moments k are how firmly each turn is decided, steps from the
// guess, ω and α count by k⁸/(k⁸ + noise⁸): next to nothing at a third of the noise, next to all
// at thrice.
func RegisterNoisy(all []Match, guess spatial.Pose, noise float64) (r Registration) {
	c, ok := centre(all)
	if !ok {
		return Registration{Pose: guess}
	}
	H, spread := c.correlation(all)
	R := guess.R
	firm := decided(H, R, noise)
	if firm.wholly() {
		return Register(all, guess)
	}
	for range turnSteps {
		S := R.Transpose().Mul(H)
		δ := firm.towards(skewPart(&S))
		if R = R.Mul(spatial.ExpRotation(δ).Matrix()); δ.Norm() < lastTurn {
			break
		}
		firm = decided(H, R, noise)
	}
	R, _ = straighten(R)
	r = c.motion(all, R, openness*spread)
	r.Twist.Angular, r.Acceleration.Angular = firm.count(r.Twist.Angular), firm.count(r.Acceleration.Angular)
	r.place(&c)
	r.Worst = worst(all, r.Pose)
	return r
}

// turns is how firmly points decide turns: the principal axes and moments of K, and what of each
// counts.
type turns struct {
	axes     spatial.Mat3
	k, share [3]float64
}

func decided(H, R spatial.Mat3, noise float64) (t turns) {
	S := R.Transpose().Mul(H)
	t.k, t.axes = spatial.Principal(spatial.Identity3.Scale(S[0] + S[4] + S[8]).Add(S.Add(S.Transpose()).Scale(-0.5)))
	for i, k := range t.k {
		t.share[i] = 1 - 1/(1+math.Pow(math.Max(k, 0)/noise, 8))
	}
	return t
}

// wholly reports whether all turns are decided.
func (t *turns) wholly() bool {
	const nearly = 1e-9
	return min(t.share[0], t.share[1], t.share[2]) > 1-nearly
}

// count returns what of a turn counts.
func (t *turns) count(u spatial.Vec3) spatial.Vec3 {
	u = t.axes.TMulVec(u)
	return t.axes.MulVec(spatial.Vec3{X: t.share[0] * u.X, Y: t.share[1] * u.Y, Z: t.share[2] * u.Z})
}

// towards returns Newton's step K⁻¹·y as far as it counts.
func (t *turns) towards(y spatial.Vec3) spatial.Vec3 {
	y = t.axes.TMulVec(y)
	by := func(i int, y float64) float64 {
		if t.share[i] == 0 {
			return 0
		}
		return t.share[i] * y / t.k[i]
	}
	return t.axes.MulVec(spatial.Vec3{X: by(0, y.X), Y: by(1, y.Y), Z: by(2, y.Z)})
}

// RegisterTurned is Register for a base whose orientation and angular velocity are
// known, as an inertial unit knows them: only its place is found. Its angular
// acceleration counts as zero. Loop-safe.
func RegisterTurned(all []Match, guess spatial.Pose, ω spatial.Vec3) (r Registration) {
	r = Registration{Pose: guess, Twist: spatial.Twist{Angular: ω}}
	c, ok := centre(all)
	if !ok {
		return r
	}
	r.place(&c)
	r.Worst = worst(all, r.Pose)
	return r
}

// worst returns the largest distance of a point that counts from its anchor.
func worst(all []Match, X spatial.Pose) float64 {
	square := 0.0
	for i := range all {
		if all[i].Weight > 0 {
			d := X.Apply(all[i].P).Sub(all[i].Anchor)
			square = max(square, d.Dot(d))
		}
	}
	return math.Sqrt(square)
}

// openness is how weakly a rotation may be decided by points, as a share of their
// spread, and still count as decided.
const openness = 1e-6

// middle is the weighted mean of matches.
type middle struct {
	p, v, a, anchor spatial.Vec3
	share           float64 // of one unit of weight
}

func centre(all []Match) (c middle, ok bool) {
	total := 0.0
	for i := range all {
		total += all[i].Weight
	}
	if !(total > 0) {
		return c, false
	}
	c.share = 1 / total
	for i := range all {
		m, w := &all[i], all[i].Weight*c.share
		c.p, c.v, c.a = c.p.Add(m.P.Scale(w)), c.v.Add(m.V.Scale(w)), c.a.Add(m.A.Scale(w))
		c.anchor = c.anchor.Add(m.Anchor.Scale(w))
	}
	return c, true
}

// correlation is H = Σ w·a·pᵀ, and how far the points are spread, m².
func (c *middle) correlation(all []Match) (H spatial.Mat3, spread float64) {
	for i := range all {
		m, w := &all[i], all[i].Weight*c.share
		a, p := m.Anchor.Sub(c.anchor), m.P.Sub(c.p)
		H = H.Add(outer(a.Scale(w), p))
		spread += w * (a.Dot(a) + p.Dot(p)) / 2
	}
	return H, spread
}

// Newton's steps from a guess: how many at most; the size of one after which the next
// would be rounding, and of a first one that leaves too much to them, rad.
const (
	turnSteps = 12
	lastTurn  = 1e-8
	farTurn   = 0.5
)

// rotation returns R with the largest tr(Rᵀ·H), from a guess in few steps. floor is
// below what a direction is left as in the guess, m².
func rotation(H, guess spatial.Mat3, floor float64) spatial.Mat3 {
	R := guess
	for k := range turnSteps {
		S := R.Transpose().Mul(H)
		K := stiffness(&S, floor)
		δ, definite := K.solve(skewPart(&S))
		if n := δ.Norm(); k == 0 && (!definite || n > farTurn) {
			R = nearestRotation(H.Add(guess.Scale(floor)))
		} else {
			R = R.Mul(spatial.ExpRotation(δ).Matrix())
			if n < lastTurn {
				break
			}
		}
	}
	R, _ = straighten(R)
	return R
}

// skewPart returns x with [x]× = S − Sᵀ: of S = Σ w·q·pᵀ it is Σ w·p×q.
func skewPart(S *spatial.Mat3) spatial.Vec3 {
	return spatial.Vec3{X: S[7] - S[5], Y: S[2] - S[6], Z: S[3] - S[1]}
}

// motion completes a registration with the rotation R.
func (c *middle) motion(all []Match, R spatial.Mat3, floor float64) (r Registration) {
	var S, Ṡ spatial.Mat3
	var s spatial.Vec3
	for i := range all {
		m, w := &all[i], all[i].Weight*c.share
		q, p, v := R.TMulVec(m.Anchor.Sub(c.anchor)).Scale(w), m.P.Sub(c.p), m.V.Sub(c.v)
		S = S.Add(outer(q, p))
		Ṡ = Ṡ.Add(outer(q, v))
		s = s.Add(v.Cross(q))
	}
	K := stiffness(&S, floor)
	ω, _ := K.solve(s)
	r.Pose.R, r.Twist.Angular = R, ω
	// S loses what its first factor turns away
	Ṡ = Ṡ.Add(spatial.Skew(ω.Neg()).Mul(S))
	ṡ := Ṡ.MulVec(ω).Sub(ω.Scale(Ṡ[0] + Ṡ[4] + Ṡ[8]))
	for i := range all {
		m, w := &all[i], all[i].Weight*c.share
		q, v, a := R.TMulVec(m.Anchor.Sub(c.anchor)).Scale(w), m.V.Sub(c.v), m.A.Sub(c.a)
		ṡ = ṡ.Add(a.Cross(q)).Sub(v.Cross(ω.Cross(q)))
	}
	r.Acceleration.Angular, _ = K.solve(ṡ)
	r.place(c)
	return r
}

// place fills in how the origin of the base moves, given how the base turns: the mean
// of the points rests at the mean of the anchors.
//
//	v + ω×p̄ + p̄̇ = 0,   a + ω×v + α×p̄ + ω×(ω×p̄) + 2·ω×p̄̇ + p̄̈ = 0
func (r *Registration) place(c *middle) {
	ω, α := r.Twist.Angular, r.Acceleration.Angular
	r.Pose.P = c.anchor.Sub(r.Pose.R.MulVec(c.p))
	v := ω.Cross(c.p).Add(c.v).Neg()
	a := α.Cross(c.p).Add(ω.Cross(ω.Cross(c.p))).Add(ω.Cross(c.v).Scale(2)).Add(c.a).Add(ω.Cross(v)).Neg()
	r.Twist.Linear, r.Acceleration.Linear = v, a
}

// spd is a symmetric 3×3 matrix, factored (L·D·Lᵀ) with a floor added to its
// diagonal, and the floor.
type spd struct {
	l10, l20, l21, d0, d1, d2, floor float64
}

// stiffness returns tr(S)·1 − S, made symmetric.
func stiffness(S *spatial.Mat3, floor float64) (K spd) {
	K.floor = 2 * floor
	k00, k11, k22 := S[4]+S[8]+K.floor, S[0]+S[8]+K.floor, S[0]+S[4]+K.floor
	k01, k02, k12 := -(S[1]+S[3])/2, -(S[2]+S[6])/2, -(S[5]+S[7])/2
	K.d0 = k00
	K.l10, K.l20 = k01/k00, k02/k00
	K.d1 = k11 - K.l10*k01
	K.l21 = (k12 - K.l20*k01) / K.d1
	K.d2 = k22 - K.l20*k02 - K.l21*K.l21*K.d1
	return K
}

// solve returns x with K·x = y; directions that K has nothing in but its floor stay
// zero. The floor's share in the others is taken out again by repeating: each time
// divides it by how much larger they are.
func (K *spd) solve(y spatial.Vec3) (x spatial.Vec3, definite bool) {
	if !(K.d0 > 0 && K.d1 > 0 && K.d2 > 0) {
		return spatial.Vec3{}, false
	}
	const repetitions = 3
	for range repetitions {
		b := y.Add(x.Scale(K.floor))
		b.Y -= K.l10 * b.X
		b.Z -= K.l20*b.X + K.l21*b.Y
		z := b.Z / K.d2
		b.Y = b.Y/K.d1 - K.l21*z
		x = spatial.Vec3{X: b.X/K.d0 - K.l10*b.Y - K.l20*z, Y: b.Y, Z: z}
	}
	return x, true
}

func outer(u, v spatial.Vec3) spatial.Mat3 {
	return spatial.Mat3{u.X * v.X, u.X * v.Y, u.X * v.Z, u.Y * v.X, u.Y * v.Y, u.Y * v.Z, u.Z * v.X, u.Z * v.Y, u.Z * v.Z}
}

// nearestRotation returns the rotation R with the largest tr(Rᵀ·H). With the
// singular values H·vᵢ = σᵢ·uᵢ it is Σ uᵢ·vᵢᵀ, where u₃ = u₁×u₂ and v₃ = v₁×v₂
// keep it a rotation.
func nearestRotation(H spatial.Mat3) spatial.Mat3 {
	_, V := spatial.Principal(H.Transpose().Mul(H)) // rising
	v1, v2 := V.Col(2), V.Col(1)
	u1, ok := H.MulVec(v1).Unit()
	if !ok {
		return spatial.Identity3
	}
	u2 := H.MulVec(v2)
	u2, ok = u2.Sub(u1.Scale(u1.Dot(u2))).Unit()
	if !ok {
		return spatial.Identity3
	}
	R := outer(u1, v1).Add(outer(u2, v2)).Add(outer(u1.Cross(u2), v1.Cross(v2)))
	q, _ := R.Quat().Unit()
	return q.Matrix()
}
