package contact

import (
	"math"
	"slices"

	"poise/spatial"
)

// prior is how much the guess of a rotation counts beside the points that decide
// it, relative to how far they are spread; it settles what they leave open. Each
// repetition divides what it spoils by as much.
const (
	prior       = 1e-6
	repetitions = 3
)

// Fit returns the pose of the base that brings the contact points of the feet to
// where they are to be: anchors, in the order of PointsTo. What they leave open,
// as the yaw on one hoof, stays as in guess. Worst is the largest distance that
// is left, m: feet that slipped, or legs that fight each other. Without feet the
// guess comes back. Loop-safe.
func (g *Ground) Fit(joints []float64, feet []Foot, anchors []spatial.Vec3, guess spatial.Pose) (X_WB spatial.Pose, worst float64) {
	g.pose(joints)
	g.points, g.soles = g.points[:0], g.soles[:0]
	for _, f := range feet {
		g.pointsOf(f)
	}
	if len(anchors) != len(g.points) {
		panic("contact: one anchor for each contact point")
	}
	if len(anchors) == 0 {
		return guess, 0
	}
	return fit(g.points, anchors, guess)
}

// fit is the rigid displacement nearest to taking each p to its a (Kabsch 1976):
// middle goes to middle, and R is the rotation that makes tr(Rᵀ·H) largest, with
// H = Σ (a−ā)·(p−p̄)ᵀ. A little of the guess in H decides what points in a line
// leave open.
func fit(p, a []spatial.Vec3, guess spatial.Pose) (X spatial.Pose, worst float64) {
	n := 1 / float64(len(p))
	var p0, a0 spatial.Vec3
	for i := range p {
		p0, a0 = p0.Add(p[i].Scale(n)), a0.Add(a[i].Scale(n))
	}
	var H spatial.Mat3
	spread := 0.0
	for i := range p {
		u, v := a[i].Sub(a0), p[i].Sub(p0)
		H = H.Add(outer(u, v))
		spread += u.Norm() * v.Norm()
	}
	X.R = guess.R
	if spread > 0 {
		for range repetitions {
			X.R = nearestRotation(H.Add(X.R.Scale(prior * spread)))
		}
	}
	X.P = a0.Sub(X.R.MulVec(p0))
	for i := range p {
		worst = max(worst, X.Apply(p[i]).Sub(a[i]).Norm())
	}
	return X, worst
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

// Odometer follows the base of a robot whose feet stay where they touch: each foot
// keeps its place from the moment it stands until it is lifted.
type Odometer struct {
	g       *Ground
	pose    spatial.Pose
	feet    []Foot
	anchors []spatial.Vec3
	slip    float64
	begun   bool
	scratch []spatial.Vec3
	was     []float64 // joints of the last Update
}

// NewOdometer returns the odometer of a robot; its first Update settles it.
func NewOdometer(g *Ground) *Odometer {
	return &Odometer{g: g, pose: spatial.IdentityPose, was: make([]float64, len(g.m.Joints()))}
}

// Reset puts the base somewhere; the feet stand from the next Update on where they
// then are. Loop-safe.
func (o *Odometer) Reset(X_WB spatial.Pose) { o.pose, o.begun, o.feet = X_WB, true, o.feet[:0] }

// Pose returns where the base is.
func (o *Odometer) Pose() spatial.Pose { return o.pose }

// Slip returns the largest distance of a foot from where it stood, m, at the last
// Update.
func (o *Odometer) Slip() float64 { return o.slip }

// Update returns the pose of the base for these joints and the feet that stand
// now. While no foot stands the base stays where it was. Loop-safe.
func (o *Odometer) Update(joints []float64, feet []Foot) spatial.Pose {
	if !o.begun {
		if X, ok := o.g.Settle(joints, feet); ok {
			o.pose, o.begun = X, true
		}
	}
	if len(feet) > 0 && slices.Equal(o.feet, feet) && o.still(joints) {
		return o.pose
	}
	copy(o.was, joints)
	o.keep(feet)
	if len(o.feet) > 0 {
		o.pose, o.slip = o.g.Fit(joints, o.feet, o.anchors, o.pose)
	}
	if !slices.Equal(o.feet, feet) {
		o.land(joints, feet)
	}
	return o.pose
}

// still reports whether no leg that stands has moved since the last Update.
func (o *Odometer) still(joints []float64) bool {
	for _, f := range o.feet {
		for _, j := range o.g.m.Chains()[f.Chain].Joints {
			if joints[j] != o.was[j] {
				return false
			}
		}
	}
	return true
}

// keep forgets feet that were lifted, with their anchors.
func (o *Odometer) keep(feet []Foot) {
	k, from, to := 0, 0, 0
	for _, f := range o.feet {
		n := len(o.g.m.Contacts()[f.Contact].Points)
		if slices.Contains(feet, f) {
			o.feet[k] = f
			copy(o.anchors[to:], o.anchors[from:from+n])
			k, to = k+1, to+n
		}
		from += n
	}
	o.feet, o.anchors = o.feet[:k], o.anchors[:to]
}

// land gives feet that touch now their places; those that stood keep theirs.
func (o *Odometer) land(joints []float64, feet []Foot) {
	o.scratch = o.g.PointsTo(o.scratch[:0], joints, feet, o.pose)
	from, kept := 0, 0
	for _, f := range feet {
		n := len(o.g.m.Contacts()[f.Contact].Points)
		if at := slices.Index(o.feet, f); at >= 0 {
			kept = 0
			for _, before := range o.feet[:at] {
				kept += len(o.g.m.Contacts()[before.Contact].Points)
			}
			copy(o.scratch[from:from+n], o.anchors[kept:kept+n])
		}
		from += n
	}
	o.feet = append(o.feet[:0], feet...)
	o.anchors, o.scratch = o.scratch, o.anchors
}

// Level turns a pose upright: the same place and heading, without roll and pitch.
func Level(X spatial.Pose) spatial.Pose {
	x := X.R.Col(0)
	return spatial.Pose{R: spatial.TurnZ(math.Atan2(x.Y, x.X)), P: X.P}
}
