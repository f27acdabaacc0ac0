package spatial

import "math"

// Vec3 is a vector of three components: a position, a direction, a velocity.
type Vec3 struct{ X, Y, Z float64 }

// Add returns a + b.
func (a Vec3) Add(b Vec3) Vec3 { return Vec3{a.X + b.X, a.Y + b.Y, a.Z + b.Z} }

// Sub returns a − b.
func (a Vec3) Sub(b Vec3) Vec3 { return Vec3{a.X - b.X, a.Y - b.Y, a.Z - b.Z} }

// Scale returns s·a.
func (a Vec3) Scale(s float64) Vec3 { return Vec3{s * a.X, s * a.Y, s * a.Z} }

// Neg returns −a.
func (a Vec3) Neg() Vec3 { return Vec3{-a.X, -a.Y, -a.Z} }

// Dot returns the scalar product a·b.
func (a Vec3) Dot(b Vec3) float64 { return a.X*b.X + a.Y*b.Y + a.Z*b.Z }

// Cross returns the vector product a × b.
func (a Vec3) Cross(b Vec3) Vec3 {
	return Vec3{a.Y*b.Z - a.Z*b.Y, a.Z*b.X - a.X*b.Z, a.X*b.Y - a.Y*b.X}
}

// Norm returns the Euclidean length of a, without overflow for large components.
func (a Vec3) Norm() float64 { return math.Hypot(math.Hypot(a.X, a.Y), a.Z) }

// Unit returns a scaled to length one. The zero vector has no direction: ok is
// false, and then the vector comes back as it was.
func (a Vec3) Unit() (u Vec3, ok bool) {
	n := a.Norm()
	if n == 0 || math.IsInf(n, 0) || math.IsNaN(n) {
		return a, false
	}
	return a.Scale(1 / n), true
}

// Finite reports whether no component is NaN or infinite.
func (a Vec3) Finite() bool {
	s := a.X - a.X + (a.Y - a.Y) + (a.Z - a.Z)
	return s == 0
}
