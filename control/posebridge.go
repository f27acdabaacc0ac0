package control

import (
	"math"

	"poise/spatial"
)

// PoseBridge is the bridge of a pose, of the base or of a limb's tip: it carries the
// commanded pose from where it is to where a new owner's reference is.
//
//	p = p_ref + d,   R = R_ref·exp(φ),   d and φ → 0
//
// d is in world axes, φ in those of the reference. Both decay with a threefold
// time constant T from the difference in place, speed and acceleration, so that all
// three are continuous: a pose has no limits of its own that could say how fast it
// may go, and the joints that follow it have their own bridge. When it ends the
// command is the reference bit for bit.
type PoseBridge struct {
	active bool
	began  float64 // s
	d, φ   decay
}

// poseTime is T, s: what is left after half a second is a hundredth.
const poseTime = 0.06

// Begin starts from the command's pose and motion to the reference's, both of time t
// (s). If either is non-finite there is no bridge. Loop-safe.
func (b *PoseBridge) Begin(t float64, command, reference *BaseRef) {
	b.began = t
	R_r, R_c := &reference.Pose.R, &command.Pose.R
	b.d = decay{
		x: command.Pose.P.Sub(reference.Pose.P),
		v: R_c.MulVec(command.Twist.Linear).Sub(R_r.MulVec(reference.Twist.Linear)),
		a: command.worldAcceleration().Sub(reference.worldAcceleration()),
	}
	φ := R_r.Transpose().Mul(*R_c).Quat().Log()
	// ω = Eᵀ·ω_ref + J·φ′ and α = Eᵀ·α_ref − (J·φ′)×(Eᵀ·ω_ref) + J·φ″ + J̇·φ′
	// with E = exp(φ), solved for φ′ and φ″
	E := spatial.ExpRotation(φ).Matrix()
	ω_r := E.TMulVec(reference.Twist.Angular)
	ω := command.Twist.Angular.Sub(ω_r)
	rate := spatial.LogRate(φ, ω)
	_, bias := spatial.ExpRates(φ, rate, spatial.Vec3{})
	α := command.Acceleration.Angular.Sub(E.TMulVec(reference.Acceleration.Angular)).Add(ω.Cross(ω_r)).Sub(bias)
	b.φ = decay{x: φ, v: rate, a: spatial.LogRate(φ, α)}
	b.active = b.d.finite() && b.φ.finite()
}

// Rest brings a moving pose to rest without a way back: it returns where that will
// be, and bridges the way. Loop-safe.
func (b *PoseBridge) Rest(t float64, command *BaseRef) (rest spatial.Pose) {
	// the differences for which c₂ of the decay is zero
	const T = poseTime
	X := &command.Pose
	turn := command.Twist.Angular.Scale(2 * T).Add(command.Acceleration.Angular.Scale(T * T))
	way := X.R.MulVec(command.Twist.Linear).Scale(2 * T).Add(command.worldAcceleration().Scale(T * T))
	at := BaseRef{Pose: spatial.Pose{R: X.R.Mul(spatial.ExpRotation(turn).Matrix()), P: X.P.Add(way)}}
	b.Begin(t, command, &at)
	return at.Pose
}

// Drop ends the bridge at once.
func (b *PoseBridge) Drop() { b.active = false }

// Active reports whether a pose is being handed over.
func (b *PoseBridge) Active() bool { return b.active }

// Apply makes of the reference of time t (s) the command. Loop-safe.
func (b *PoseBridge) Apply(t float64, ref *BaseRef) {
	if !b.active {
		return
	}
	s := t - b.began
	if s >= expEnds*poseTime {
		b.active = false
		return
	}
	d, φ := b.d.at(s), b.φ.at(s)
	R_r := ref.Pose.R
	E := spatial.ExpRotation(φ.x).Matrix()
	v := R_r.MulVec(ref.Twist.Linear).Add(d.v) // in world axes
	a := ref.worldAcceleration().Add(d.a)
	ω_r := E.TMulVec(ref.Twist.Angular)
	ω, α := spatial.ExpRates(φ.x, φ.v, φ.a)
	ref.Pose = spatial.Pose{R: R_r.Mul(E), P: ref.Pose.P.Add(d.x)}
	ref.Twist = spatial.Twist{Angular: ω_r.Add(ω), Linear: ref.Pose.R.TMulVec(v)}
	ref.Acceleration = spatial.Twist{
		Angular: E.TMulVec(ref.Acceleration.Angular).Sub(ω.Cross(ω_r)).Add(α),
		Linear:  ref.Pose.R.TMulVec(a).Sub(ref.Twist.Angular.Cross(ref.Twist.Linear)),
	}
}

// At returns where a pose is a time later (s) if it goes on with its acceleration;
// exact to the third order of the time. Loop-safe.
func (x BaseRef) At(t float64) BaseRef {
	Q, p := spatial.ExpTwist(x.Twist.Scale(t).Add(x.Acceleration.Scale(t * t / 2)))
	x.Pose = x.Pose.Mul(spatial.Pose{R: Q.Matrix(), P: p})
	x.Twist = x.Twist.Add(x.Acceleration.Scale(t))
	return x
}

// CoordinatePose returns the pose of six coordinates with their first and second
// derivatives: the way from an origin, in world axes, and the rotation vector from
// it. Loop-safe.
//
//	p = p₀ + x[0:3],   R = R₀·exp(x[3:6])
func CoordinatePose(origin *spatial.Pose, x, v, a *[6]float64) BaseRef {
	vec := func(x []float64) spatial.Vec3 { return spatial.Vec3{X: x[0], Y: x[1], Z: x[2]} }
	r := vec(x[3:])
	y := BaseRef{Has: true, Pose: spatial.Pose{R: origin.R.Mul(spatial.ExpRotation(r).Matrix()), P: origin.P.Add(vec(x[:3]))}}
	y.Twist.Angular, y.Acceleration.Angular = spatial.ExpRates(r, vec(v[3:]), vec(a[3:]))
	y.Twist.Linear = y.Pose.R.TMulVec(vec(v[:3]))
	y.Acceleration.Linear = y.Pose.R.TMulVec(vec(a[:3])).Sub(y.Twist.Angular.Cross(y.Twist.Linear))
	return y
}

// worldAcceleration is the second derivative of the position of the frame's origin.
func (x *BaseRef) worldAcceleration() spatial.Vec3 {
	return x.Pose.R.MulVec(x.Acceleration.Linear.Add(x.Twist.Angular.Cross(x.Twist.Linear)))
}

// decay is a difference that fades with three equal time constants T:
//
//	x(t) = (x₀ + c₁·t + c₂·t²)·e^(−t/T),  c₁ = v₀ + x₀/T,  c₂ = (a₀ + 2·v₀/T + x₀/T²)/2
type decay struct{ x, v, a spatial.Vec3 }

// at returns what is left after a time, s.
func (d *decay) at(t float64) decay {
	const T = poseTime
	c1 := d.v.Add(d.x.Scale(1 / T))
	c2 := d.a.Add(d.v.Scale(2 / T)).Add(d.x.Scale(1 / (T * T))).Scale(0.5)
	e := math.Exp(-t / T)
	// derivatives of the polynomial
	p0, p1, p2 := d.x.Add(c1.Scale(t)).Add(c2.Scale(t*t)), c1.Add(c2.Scale(2*t)), c2.Scale(2)
	return decay{
		x: p0.Scale(e),
		v: p1.Sub(p0.Scale(1 / T)).Scale(e),
		a: p2.Sub(p1.Scale(2 / T)).Add(p0.Scale(1 / (T * T))).Scale(e),
	}
}

func (d *decay) finite() bool { return d.x.Finite() && d.v.Finite() && d.a.Finite() }
