package gait

import "math"

// Velocity is how the body is to move: m/s ahead and to the left, rad/s to the left, in its own axes.
type Velocity struct{ X, Y, Yaw float64 }

// absurd is a speed far beyond that of any robot, m/s or rad/s: a greater one means the same.
const absurd = 1e3

// Bounded returns a velocity in the same direction with which nothing overflows. Numbers that are not finite count as zero.
func (v Velocity) Bounded() Velocity {
	size := 0.0
	for _, x := range []*float64{&v.X, &v.Y, &v.Yaw} {
		if math.IsNaN(*x) || math.IsInf(*x, 0) {
			*x = 0
		}
		size = max(size, math.Abs(*x))
	}
	if size > absurd {
		v = Velocity{v.X / size * absurd, v.Y / size * absurd, v.Yaw / size * absurd}
	}
	return v
}

// scaled returns s·v.
func (v Velocity) scaled(s float64) Velocity { return Velocity{s * v.X, s * v.Y, s * v.Yaw} }

// size is the largest component, with a turn counted by the way of a foot at an arm.
func (v Velocity) size(arm float64) float64 {
	return max(math.Abs(v.X), math.Abs(v.Y), arm*math.Abs(v.Yaw))
}

// body is the nominal body: it goes where it is commanded to, with a limited and continuous
// acceleration. Feet and supports are planned around it.
type body struct {
	at   Point
	yaw  float64
	v, a Velocity // and its derivative, component by component
}

// Time constants of the velocity, s: of the way to what is commanded, and of the acceleration.
const (
	speedTime = 0.2
	accelTime = 0.05
)

// next returns the body a time h later, on its way to a velocity with some acceleration at most; it holds
// in between that the acceleration of each component changes linearly.
func (b body) next(to, most Velocity, h float64) body {
	toward := func(v, a, to, most float64) (nv, na float64) {
		want := min(max((to-v)/speedTime, -most), most)
		na = a + (want-a)*(h/accelTime)
		return v + h*(a+na)/2, na
	}
	n := b
	n.v.X, n.a.X = toward(b.v.X, b.a.X, to.X, most.X)
	n.v.Y, n.a.Y = toward(b.v.Y, b.a.Y, to.Y, most.Y)
	n.v.Yaw, n.a.Yaw = toward(b.v.Yaw, b.a.Yaw, to.Yaw, most.Yaw)
	jerk := (n.a.Yaw - b.a.Yaw) / h
	n.yaw = axis{b.yaw, b.v.Yaw, b.a.Yaw}.at(h, jerk).p
	sin, cos := math.Sincos((b.yaw + n.yaw) / 2)
	x, y := (b.v.X+n.v.X)/2, (b.v.Y+n.v.Y)/2
	n.at = Point{X: b.at.X + h*(cos*x-sin*y), Y: b.at.Y + h*(sin*x+cos*y)}
	return n
}

// apply returns where a place of the body is on the ground.
func (b *body) apply(p Point) Point {
	sin, cos := math.Sincos(b.yaw)
	return Point{X: b.at.X + cos*p.X - sin*p.Y, Y: b.at.Y + sin*p.X + cos*p.Y}
}

// later returns the body a time later if it goes on evenly.
func (b body) later(t float64) body {
	sin, cos := math.Sincos(b.yaw + b.v.Yaw*t/2)
	b.at = Point{X: b.at.X + t*(cos*b.v.X-sin*b.v.Y), Y: b.at.Y + t*(sin*b.v.X+cos*b.v.Y)}
	b.yaw += b.v.Yaw * t
	return b
}
