package spatial

import "math"

// ExpRate returns the angular velocity of the rotation exp(r), in its own turned
// axes, while the rotation vector changes at the rate ṙ: the right Jacobian of
// the exponential map (Solà et al., A micro Lie theory, eq. 143).
//
//	J = 1 − (1−cosθ)/θ²·[r]× + (θ−sinθ)/θ³·[r]×²
func ExpRate(r, ṙ Vec3) (ω Vec3) {
	a, b, _, _ := rateCoefficients(r)
	c := r.Cross(ṙ)
	return ṙ.Sub(c.Scale(a)).Add(r.Cross(c).Scale(b))
}

// ExpRates returns the angular velocity of exp(r) and its derivative, both in the
// turned axes, while r changes at ṙ and ṙ at a_r: ω = J·ṙ and α = J·a_r + J̇·ṙ.
func ExpRates(r, ṙ, a_r Vec3) (ω, α Vec3) {
	a, b, ap, bp := rateCoefficients(r)
	c, d, s := r.Cross(ṙ), r.Cross(a_r), r.Dot(ṙ)
	ω = ṙ.Sub(c.Scale(a)).Add(r.Cross(c).Scale(b))
	α = a_r.Sub(d.Scale(a)).Add(r.Cross(d).Scale(b))
	// ȧ = a′/θ·(r·ṙ), and the same for b
	α = α.Sub(c.Scale(ap * s)).Add(r.Cross(c).Scale(bp * s)).Add(ṙ.Cross(c).Scale(b))
	return ω, α
}

// LogRate is the inverse of ExpRate: how the rotation vector r changes while
// exp(r) turns at ω, in its own axes (eq. 144). r is shorter than a full turn.
//
//	J⁻¹ = 1 + ½·[r]× + (1/θ² − (1+cosθ)/(2θ·sinθ))·[r]×²
func LogRate(r, ω Vec3) (ṙ Vec3) {
	θ2 := r.Dot(r)
	b := 1.0/12 + θ2*(1.0/720+θ2*(1.0/30240))
	if θ2 >= smallAngle*smallAngle {
		// (1+cosθ)/sinθ = 1/tan(θ/2), which is tame at π
		θ := math.Sqrt(θ2)
		b = 1/θ2 - 1/(2*θ*math.Tan(θ/2))
	}
	c := r.Cross(ω)
	return ω.Add(c.Scale(0.5)).Add(r.Cross(c).Scale(b))
}

// rateCoefficients returns a = (1−cosθ)/θ², b = (θ−sinθ)/θ³ and their derivatives
// by θ, divided by θ.
func rateCoefficients(r Vec3) (a, b, ap, bp float64) {
	θ2 := r.Dot(r)
	if θ2 < smallAngle*smallAngle {
		a = 1.0/2 - θ2*(1.0/24-θ2*(1.0/720))
		b = 1.0/6 - θ2*(1.0/120-θ2*(1.0/5040))
		ap = -1.0/12 + θ2*(1.0/180-θ2*(1.0/6720))
		bp = -1.0/60 + θ2*(1.0/1260-θ2*(1.0/60480))
		return a, b, ap, bp
	}
	θ := math.Sqrt(θ2)
	s, c := math.Sincos(θ)
	a, b = (1-c)/θ2, (θ-s)/(θ2*θ)
	ap, bp = (θ*s-2*(1-c))/(θ2*θ2), (3*s-2*θ-θ*c)/(θ2*θ2*θ)
	return a, b, ap, bp
}
