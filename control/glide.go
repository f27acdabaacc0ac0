package control

import (
	"math"

	"poise/spatial"
)

// Glide is the bridge of a pose, of the base or of a limb's tip: it carries the
// commanded pose from where it is to where a new owner's reference is.
//
//	p = p_ref + d,   R = R_ref·exp(φ),   d and φ → 0
//
// d is in world axes, φ in those of the reference. Both decay critically damped,
// x″ = −2/T·x′ − x/T², from the difference in place and in speed: a pose has no
// limits of its own that could say how fast it may go, and the joints that follow
// it have their own bridge. When it ends the command is the reference bit for bit.
type Glide struct {
	active   bool
	began    float64 // s
	d, ḋ     spatial.Vec3
	φ, φRate spatial.Vec3
}

// glideTime is T, s: what is left after half a second is a twentieth.
const glideTime = 0.1

// Begin starts from the command's pose and twist to the reference's, both of time t
// (s). Loop-safe.
func (g *Glide) Begin(t float64, command, reference *BaseRef) {
	R_r, R_c := &reference.Pose.R, &command.Pose.R
	g.began = t
	g.d = command.Pose.P.Sub(reference.Pose.P)
	g.ḋ = R_c.MulVec(command.Twist.Linear).Sub(R_r.MulVec(reference.Twist.Linear))
	g.φ = R_r.Transpose().Mul(*R_c).Quat().Log()
	// ω = exp(−φ)·ω_ref + J(φ)·φ′, solved for φ′
	turn := spatial.ExpRotation(g.φ).Matrix()
	g.φRate = unright(g.φ, command.Twist.Angular.Sub(turn.TMulVec(reference.Twist.Angular)))
	// a pose that is none has no way to it
	g.active = g.d.Finite() && g.ḋ.Finite() && g.φ.Finite() && g.φRate.Finite()
}

// Rest brings a moving pose to rest, without a way back: it returns where that will
// be, and glides there. Loop-safe.
func (g *Glide) Rest(t float64, command *BaseRef) (rest spatial.Pose) {
	way := command.Twist.Scale(glideTime)
	X := command.Pose
	at := BaseRef{Pose: spatial.Pose{R: X.R.Mul(spatial.ExpRotation(way.Angular).Matrix()), P: X.P.Add(X.R.MulVec(way.Linear))}}
	g.Begin(t, command, &at)
	return at.Pose
}

// At returns where a pose is a time later (s) if it goes on as it does. Loop-safe.
func (x BaseRef) At(t float64) BaseRef {
	Q, p := spatial.ExpTwist(x.Twist.Scale(t))
	x.Pose = x.Pose.Mul(spatial.Pose{R: Q.Matrix(), P: p})
	return x
}

// Drop ends a glide at once.
func (g *Glide) Drop() { g.active = false }

// Active reports whether a pose is being handed over.
func (g *Glide) Active() bool { return g.active }

// Apply makes of the reference of time t (s) the command. Loop-safe.
func (g *Glide) Apply(t float64, x *BaseRef) {
	if !g.active {
		return
	}
	s := t - g.began
	if s >= expEnds*glideTime {
		g.active = false
		return
	}
	d, ḋ := fade(g.d, g.ḋ, s)
	φ, φRate := fade(g.φ, g.φRate, s)
	R_r := x.Pose.R
	turn := spatial.ExpRotation(φ).Matrix()
	v := R_r.MulVec(x.Twist.Linear).Add(ḋ) // in world axes
	x.Pose = spatial.Pose{R: R_r.Mul(turn), P: x.Pose.P.Add(d)}
	x.Twist.Linear = x.Pose.R.TMulVec(v)
	x.Twist.Angular = turn.TMulVec(x.Twist.Angular).Add(right(φ, φRate))
}

// fade is the critically damped decay: x(t) = (x₀ + (x₀′ + x₀/T)·t)·e^(−t/T).
func fade(x0, v0 spatial.Vec3, t float64) (x, v spatial.Vec3) {
	k := v0.Add(x0.Scale(1 / glideTime))
	e := math.Exp(-t / glideTime)
	x = x0.Add(k.Scale(t)).Scale(e)
	return x, k.Scale(e).Sub(x.Scale(1 / glideTime))
}

// small is the angle below which the Jacobians are their series, rad: what is left
// out is below rounding.
const small = 1e-4

// right multiplies by the right Jacobian of the exponential map (Solà et al., A micro
// Lie theory, eq. 143): the angular velocity, in turned axes, of exp(φ) when φ
// changes by x.
//
//	J = 1 − (1−cos θ)/θ²·[φ]ₓ + (θ−sin θ)/θ³·[φ]ₓ²
func right(φ, x spatial.Vec3) spatial.Vec3 {
	θ := φ.Norm()
	a, b := 0.5-θ*θ/24, 1.0/6-θ*θ/120
	if θ > small {
		a, b = (1-math.Cos(θ))/(θ*θ), (θ-math.Sin(θ))/(θ*θ*θ)
	}
	c := φ.Cross(x)
	return x.Sub(c.Scale(a)).Add(φ.Cross(c).Scale(b))
}

// unright is the inverse of right (eq. 144).
//
//	J⁻¹ = 1 + ½·[φ]ₓ + (1/θ² − (1+cos θ)/(2θ·sin θ))·[φ]ₓ²
func unright(φ, x spatial.Vec3) spatial.Vec3 {
	θ := φ.Norm()
	b := 1.0/12 + θ*θ/720
	if θ > small {
		// (1+cos θ)/sin θ = 1/tan(θ/2), which is tame at π
		b = 1/(θ*θ) - 1/(2*θ*math.Tan(θ/2))
	}
	c := φ.Cross(x)
	return x.Add(c.Scale(0.5)).Add(φ.Cross(c).Scale(b))
}
