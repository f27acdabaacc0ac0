package path

import (
	"math"

	"poise/spatial"
)

// Part is a part of a path, measured from where it begins.
type Part struct {
	of           Path
	from, length float64
}

// Cut returns the part of a path between two lengths.
func Cut(p Path, from, to float64) Path {
	if from == 0 && to == p.Length() {
		return p
	}
	if inner, ok := p.(*Part); ok {
		return &Part{inner.of, inner.from + from, to - from}
	}
	return &Part{p, from, to - from}
}

// Length returns the length of the part.
func (p *Part) Length() float64 { return p.length }

// At returns the state at length s of the part.
func (p *Part) At(s float64) State { return p.of.At(p.from + s) }

// Spiral is an arc whose radius goes over smoothly from one value to another, so
// that an arc about a centre meets a goal that is not quite as far from it as the
// start. It is measured by the arc of the first radius.
type Spiral struct {
	arc   Arc
	more  float64 // by which the last radius is larger than the first
	angle float64
}

// NewSpiral returns the curve that begins like NewArc and ends at a distance of
// last from the centre. There is no lever: rotation follows the angle.
func NewSpiral(start, centre, normal spatial.Vec3, angle, last float64, t Turn) *Spiral {
	a := NewArc(start, centre, normal, angle, t, Coupling{})
	return &Spiral{arc: *a, more: last - a.radius, angle: math.Abs(angle)}
}

// Length returns the length of the arc of the first radius.
func (p *Spiral) Length() float64 { return p.arc.length }

// At returns the state at length s.
func (p *Spiral) At(s float64) State {
	a := &p.arc
	θ := s / a.radius
	sin, cos := math.Sincos(θ)
	out := a.x.Scale(cos).Add(a.y.Scale(sin))
	along := a.y.Scale(cos).Sub(a.x.Scale(sin))

	// r(θ) = r₀ + Δ·(10u³ − 15u⁴ + 6u⁵), u = θ/α: no jump of the second derivative at the ends
	u, k := θ/p.angle, p.more/p.angle
	r := a.radius + p.more*u*u*u*(u*(6*u-15)+10)
	r1 := k * 30 * u * u * (1 - u) * (1 - u)
	r2 := k / p.angle * 60 * u * (1 - u) * (1 - 2*u)

	// p = c + r·out, ∂p/∂θ = r′·out + r·along, ∂²p/∂θ² = (r″ − r)·out + 2r′·along
	per := 1 / a.radius
	return State{
		Pose: spatial.Pose{R: a.turn.at(s * a.rot), P: a.centre.Add(out.Scale(r))},
		D1:   spatial.Twist{Linear: out.Scale(r1).Add(along.Scale(r)).Scale(per), Angular: a.turn.Axis.Scale(a.rot)},
		D2:   spatial.Twist{Linear: out.Scale(r2 - r).Add(along.Scale(2 * r1)).Scale(per * per)},
	}
}

// Bend leads from one state to another with their first and second derivatives:
// position is a polynomial of fifth degree, and so is the quaternion of the
// rotation before it is made a unit one. A Bend that joins two paths is smooth
// where it meets them: tangent, curvature and rotation are continuous.
type Bend struct {
	length float64
	p      [6]spatial.Vec3
	q      [6]spatial.Quat
}

// NewBend returns the curve from a to b of a given length, which its derivatives
// are measured by.
func NewBend(a, b State, length float64) *Bend {
	c := &Bend{length: length}
	c.p = quintic(a.Pose.P, a.D1.Linear, a.D2.Linear, b.Pose.P, b.D1.Linear, b.D2.Linear, length)
	qa, qa1, qa2 := spin(&a)
	qb, qb1, qb2 := spin(&b)
	if qa.W*qb.W+qa.X*qb.X+qa.Y*qb.Y+qa.Z*qb.Z < 0 { // the same rotation, the short way
		for _, q := range []*spatial.Quat{&qb, &qb1, &qb2} {
			*q = spatial.Quat{W: -q.W, X: -q.X, Y: -q.Y, Z: -q.Z}
		}
	}
	// scalar and vector part are polynomials alike
	vec := func(q spatial.Quat) spatial.Vec3 { return spatial.Vec3{X: q.X, Y: q.Y, Z: q.Z} }
	re := func(q spatial.Quat) spatial.Vec3 { return spatial.Vec3{X: q.W} }
	v := quintic(vec(qa), vec(qa1), vec(qa2), vec(qb), vec(qb1), vec(qb2), length)
	w := quintic(re(qa), re(qa1), re(qa2), re(qb), re(qb1), re(qb2), length)
	for i := range c.q {
		c.q[i] = spatial.Quat{W: w[i].X, X: v[i].X, Y: v[i].Y, Z: v[i].Z}
	}
	return c
}

// spin returns the quaternion of a rotation and its derivatives:
// q′ = ½ω·q, q″ = ½ω′·q + ½ω·q′.
func spin(s *State) (q, q1, q2 spatial.Quat) {
	half := func(v spatial.Vec3, q spatial.Quat) spatial.Quat {
		return spatial.Quat{X: v.X / 2, Y: v.Y / 2, Z: v.Z / 2}.Mul(q)
	}
	q = s.Pose.R.Quat()
	q1 = half(s.D1.Angular, q)
	a, b := half(s.D2.Angular, q), half(s.D1.Angular, q1)
	q2 = spatial.Quat{W: a.W + b.W, X: a.X + b.X, Y: a.Y + b.Y, Z: a.Z + b.Z}
	return q, q1, q2
}

// quintic returns the coefficients of the polynomial of s/h that has the given
// values and derivatives by s at 0 and h.
func quintic(p0, v0, a0, p1, v1, a1 spatial.Vec3, h float64) [6]spatial.Vec3 {
	v0, v1 = v0.Scale(h), v1.Scale(h)
	a0, a1 = a0.Scale(h*h), a1.Scale(h*h)
	d := p1.Sub(p0)
	return [6]spatial.Vec3{p0, v0, a0.Scale(0.5),
		d.Scale(10).Sub(v0.Scale(6)).Sub(v1.Scale(4)).Sub(a0.Scale(1.5)).Add(a1.Scale(0.5)),
		d.Scale(-15).Add(v0.Scale(8)).Add(v1.Scale(7)).Add(a0.Scale(1.5)).Sub(a1),
		d.Scale(6).Sub(v0.Scale(3)).Sub(v1.Scale(3)).Sub(a0.Scale(0.5)).Add(a1.Scale(0.5)),
	}
}

// Length returns the length that the curve is measured by.
func (c *Bend) Length() float64 { return c.length }

// At returns the state at length s.
func (c *Bend) At(s float64) State {
	u, per := s/c.length, 1/c.length
	var state State
	state.Pose.P = horner(&c.p, u)
	state.D1.Linear = slope(&c.p, u).Scale(per)
	state.D2.Linear = bend(&c.p, u).Scale(per * per)

	// ω = 2·vec(Q′·Q̄)/|Q|², ω′ = 2·vec(Q″·Q̄)/|Q|² − ω·2(Q·Q′)/|Q|²
	var v, w [6]spatial.Vec3
	for i, q := range c.q {
		v[i], w[i] = spatial.Vec3{X: q.X, Y: q.Y, Z: q.Z}, spatial.Vec3{X: q.W}
	}
	join := func(w, v spatial.Vec3) spatial.Quat { return spatial.Quat{W: w.X, X: v.X, Y: v.Y, Z: v.Z} }
	Q := join(horner(&w, u), horner(&v, u))
	Q1 := join(slope(&w, u).Scale(per), slope(&v, u).Scale(per))
	Q2 := join(bend(&w, u).Scale(per*per), bend(&v, u).Scale(per*per))
	nn := Q.W*Q.W + Q.X*Q.X + Q.Y*Q.Y + Q.Z*Q.Z
	unit, _ := Q.Unit()
	state.Pose.R = unit.Matrix()
	conj := Q.Conj()
	a, b := Q1.Mul(conj), Q2.Mul(conj)
	state.D1.Angular = spatial.Vec3{X: a.X, Y: a.Y, Z: a.Z}.Scale(2 / nn)
	state.D2.Angular = spatial.Vec3{X: b.X, Y: b.Y, Z: b.Z}.Scale(2 / nn).Sub(state.D1.Angular.Scale(2 * a.W / nn))
	return state
}

func horner(c *[6]spatial.Vec3, u float64) spatial.Vec3 {
	x := c[5]
	for i := 4; i >= 0; i-- {
		x = x.Scale(u).Add(c[i])
	}
	return x
}

func slope(c *[6]spatial.Vec3, u float64) spatial.Vec3 {
	x := c[5].Scale(5)
	for i := 4; i >= 1; i-- {
		x = x.Scale(u).Add(c[i].Scale(float64(i)))
	}
	return x
}

func bend(c *[6]spatial.Vec3, u float64) spatial.Vec3 {
	x := c[5].Scale(20)
	for i := 4; i >= 2; i-- {
		x = x.Scale(u).Add(c[i].Scale(float64(i * (i - 1))))
	}
	return x
}
