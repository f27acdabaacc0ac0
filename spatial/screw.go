package spatial

import "math"

// Add returns the sum of two twists about one point, in the same axes.
func (v Twist) Add(w Twist) Twist {
	return Twist{Angular: v.Angular.Add(w.Angular), Linear: v.Linear.Add(w.Linear)}
}

// Scale returns s·v.
func (v Twist) Scale(s float64) Twist {
	return Twist{Angular: v.Angular.Scale(s), Linear: v.Linear.Scale(s)}
}

// At returns the twist of the same body with the linear velocity of the point
// that lies at r from the old one.
func (v Twist) At(r Vec3) Twist {
	return Twist{Angular: v.Angular, Linear: v.Linear.Add(v.Angular.Cross(r))}
}

// In returns the twist in the axes of frame A, given it in the axes of B.
func (v Twist) In(R_AB Mat3) Twist {
	return Twist{Angular: R_AB.MulVec(v.Angular), Linear: R_AB.MulVec(v.Linear)}
}

// Add returns the sum of two wrenches about one point, in the same axes.
func (w Wrench) Add(u Wrench) Wrench {
	return Wrench{Torque: w.Torque.Add(u.Torque), Force: w.Force.Add(u.Force)}
}

// At returns the same wrench with the torque about the point that lies at r
// from the old one.
func (w Wrench) At(r Vec3) Wrench {
	return Wrench{Torque: w.Torque.Sub(r.Cross(w.Force)), Force: w.Force}
}

// In returns the wrench in the axes of frame A, given it in the axes of B.
func (w Wrench) In(R_AB Mat3) Wrench {
	return Wrench{Torque: R_AB.MulVec(w.Torque), Force: R_AB.MulVec(w.Force)}
}

// Momentum is the momentum of moving bodies: linear, and angular about the
// point named where it is used.
type Momentum struct{ Angular, Linear Vec3 }

// smallAngle is where the closed forms below give way to series: at this angle
// the first term left out, of order θ⁶/5040, is below one part in 2⁵³.
const smallAngle = 0.02 // rad

// ExpTwist returns the pose reached by moving with the constant body-fixed twist
// ξ (of the frame's origin, in the moving frame's axes) for one unit of time.
//
// With θ = |ω|, the translation is V·v, where
//
//	V = 1 + (1−cosθ)/θ²·[ω]× + (θ−sinθ)/θ³·[ω]×²
func ExpTwist(ξ Twist) (Q Quat, p Vec3) {
	ω, v := ξ.Angular, ξ.Linear
	θ2 := ω.Dot(ω)
	var a, b float64 // (1−cosθ)/θ², (θ−sinθ)/θ³
	if θ2 < smallAngle*smallAngle {
		a = 1.0/2 - θ2*(1.0/24-θ2*(1.0/720))
		b = 1.0/6 - θ2*(1.0/120-θ2*(1.0/5040))
	} else {
		θ := math.Sqrt(θ2)
		s, c := math.Sincos(θ / 2)
		a = 2 * s * s / θ2
		b = (θ - 2*s*c) / (θ2 * θ)
	}
	ωv := ω.Cross(v)
	p = v.Add(ωv.Scale(a)).Add(ω.Cross(ωv).Scale(b))
	return ExpRotation(ω), p
}

// LogTwist is the inverse of ExpTwist, for rotations by less than half a turn:
// the body-fixed twist that leads from rest to the rotation Q and the position p
// in one unit of time.
func LogTwist(Q Quat, p Vec3) Twist {
	ω := Q.Log()
	θ2 := ω.Dot(ω)

	// V⁻¹ = 1 − ½[ω]× + e·[ω]×², e = (1 − (θ/2)·cot(θ/2))/θ²
	var e float64
	if θ2 < smallAngle*smallAngle {
		e = 1.0/12 + θ2*(1.0/720+θ2*(1.0/30240))
	} else {
		half := math.Sqrt(θ2) / 2
		s, c := math.Sincos(half)
		e = (1 - half*c/s) / θ2
	}
	ωp := ω.Cross(p)
	return Twist{Angular: ω, Linear: p.Sub(ωp.Scale(0.5)).Add(ω.Cross(ωp).Scale(e))}
}
