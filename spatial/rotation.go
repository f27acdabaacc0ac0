package spatial

import "math"

// Mat3 is a 3×3 matrix, row-major; as a rotation R_AB its columns are the axes
// of B seen from A.
type Mat3 [9]float64

// Identity3 is the unit matrix.
var Identity3 = Mat3{1, 0, 0, 0, 1, 0, 0, 0, 1}

// Mul returns the product A·B.
func (A Mat3) Mul(B Mat3) Mat3 {
	return Mat3{
		A[0]*B[0] + A[1]*B[3] + A[2]*B[6], A[0]*B[1] + A[1]*B[4] + A[2]*B[7], A[0]*B[2] + A[1]*B[5] + A[2]*B[8],
		A[3]*B[0] + A[4]*B[3] + A[5]*B[6], A[3]*B[1] + A[4]*B[4] + A[5]*B[7], A[3]*B[2] + A[4]*B[5] + A[5]*B[8],
		A[6]*B[0] + A[7]*B[3] + A[8]*B[6], A[6]*B[1] + A[7]*B[4] + A[8]*B[7], A[6]*B[2] + A[7]*B[5] + A[8]*B[8],
	}
}

// MulVec returns A·v.
func (A Mat3) MulVec(v Vec3) Vec3 {
	return Vec3{
		A[0]*v.X + A[1]*v.Y + A[2]*v.Z,
		A[3]*v.X + A[4]*v.Y + A[5]*v.Z,
		A[6]*v.X + A[7]*v.Y + A[8]*v.Z,
	}
}

// TMulVec returns Aᵀ·v; for a rotation this is the inverse.
func (A Mat3) TMulVec(v Vec3) Vec3 {
	return Vec3{
		A[0]*v.X + A[3]*v.Y + A[6]*v.Z,
		A[1]*v.X + A[4]*v.Y + A[7]*v.Z,
		A[2]*v.X + A[5]*v.Y + A[8]*v.Z,
	}
}

// Transpose returns Aᵀ.
func (A Mat3) Transpose() Mat3 {
	return Mat3{A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8]}
}

// Add returns A + B.
func (A Mat3) Add(B Mat3) Mat3 {
	for i := range A {
		A[i] += B[i]
	}
	return A
}

// Scale returns s·A.
func (A Mat3) Scale(s float64) Mat3 {
	for i := range A {
		A[i] *= s
	}
	return A
}

// Col returns column i (0, 1 or 2): for a rotation R_AB the axis of B seen from A.
func (A Mat3) Col(i int) Vec3 { return Vec3{A[i], A[3+i], A[6+i]} }

// Skew returns the matrix [v]× for which [v]×·u = v × u.
func Skew(v Vec3) Mat3 {
	return Mat3{0, -v.Z, v.Y, v.Z, 0, -v.X, -v.Y, v.X, 0}
}

// FromRPY returns the rotation of URDF's roll, pitch, yaw: about the fixed axes
// x, y, z in this order, R = Rz(yaw)·Ry(pitch)·Rx(roll).
func FromRPY(roll, pitch, yaw float64) Mat3 {
	sr, cr := math.Sincos(roll)
	sp, cp := math.Sincos(pitch)
	sy, cy := math.Sincos(yaw)
	return Mat3{
		cy * cp, cy*sp*sr - sy*cr, cy*sp*cr + sy*sr,
		sy * cp, sy*sp*sr + cy*cr, sy*sp*cr - cy*sr,
		-sp, cp * sr, cp * cr,
	}
}

// AxisAngle returns the rotation by angle about the unit vector axis (Rodrigues).
func AxisAngle(axis Vec3, angle float64) Mat3 {
	s, c := math.Sincos(angle)
	t := 1 - c
	x, y, z := axis.X, axis.Y, axis.Z
	return Mat3{
		t*x*x + c, t*x*y - s*z, t*x*z + s*y,
		t*x*y + s*z, t*y*y + c, t*y*z - s*x,
		t*x*z - s*y, t*y*z + s*x, t*z*z + c,
	}
}

// Quat is a unit quaternion (Hamilton, active). Its sign is not determined:
// q and −q are one rotation.
type Quat struct{ W, X, Y, Z float64 }

// IdentityQuat is the rotation by nothing.
var IdentityQuat = Quat{W: 1}

// Unit returns q scaled to length one. The zero quaternion has no direction:
// ok is false, and then q comes back as it was.
func (q Quat) Unit() (u Quat, ok bool) {
	n := math.Hypot(math.Hypot(q.W, q.X), math.Hypot(q.Y, q.Z))
	if n == 0 || math.IsInf(n, 0) || math.IsNaN(n) {
		return q, false
	}
	return Quat{q.W / n, q.X / n, q.Y / n, q.Z / n}, true
}

// Mul returns the Hamilton product a·b, the rotation b followed by a.
func (a Quat) Mul(b Quat) Quat {
	return Quat{
		W: a.W*b.W - a.X*b.X - a.Y*b.Y - a.Z*b.Z,
		X: a.W*b.X + a.X*b.W + a.Y*b.Z - a.Z*b.Y,
		Y: a.W*b.Y - a.X*b.Z + a.Y*b.W + a.Z*b.X,
		Z: a.W*b.Z + a.X*b.Y - a.Y*b.X + a.Z*b.W,
	}
}

// Conj returns the conjugate, for a unit quaternion the inverse rotation.
func (q Quat) Conj() Quat { return Quat{q.W, -q.X, -q.Y, -q.Z} }

// Matrix returns the rotation matrix of the unit quaternion q.
func (q Quat) Matrix() Mat3 {
	x2, y2, z2 := q.X+q.X, q.Y+q.Y, q.Z+q.Z
	xx, yy, zz := q.X*x2, q.Y*y2, q.Z*z2
	xy, xz, yz := q.X*y2, q.X*z2, q.Y*z2
	wx, wy, wz := q.W*x2, q.W*y2, q.W*z2
	return Mat3{
		1 - yy - zz, xy - wz, xz + wy,
		xy + wz, 1 - xx - zz, yz - wx,
		xz - wy, yz + wx, 1 - xx - yy,
	}
}

// Quat returns the unit quaternion of the rotation matrix R, with W ≥ 0.
//
// It takes the square root of the largest of the four possible pivots, so it
// loses no digits near half turns (Shepperd 1978).
func (R Mat3) Quat() Quat {
	t := R[0] + R[4] + R[8]
	var q Quat
	switch {
	case t >= R[0] && t >= R[4] && t >= R[8]:
		s := math.Sqrt(1 + t)
		q.W = s / 2
		s = 0.5 / s
		q.X, q.Y, q.Z = (R[7]-R[5])*s, (R[2]-R[6])*s, (R[3]-R[1])*s
	case R[0] >= R[4] && R[0] >= R[8]:
		s := math.Sqrt(1 + R[0] - R[4] - R[8])
		q.X = s / 2
		s = 0.5 / s
		q.W, q.Y, q.Z = (R[7]-R[5])*s, (R[1]+R[3])*s, (R[2]+R[6])*s
	case R[4] >= R[8]:
		s := math.Sqrt(1 - R[0] + R[4] - R[8])
		q.Y = s / 2
		s = 0.5 / s
		q.W, q.X, q.Z = (R[2]-R[6])*s, (R[1]+R[3])*s, (R[5]+R[7])*s
	default:
		s := math.Sqrt(1 - R[0] - R[4] + R[8])
		q.Z = s / 2
		s = 0.5 / s
		q.W, q.X, q.Y = (R[3]-R[1])*s, (R[2]+R[6])*s, (R[5]+R[7])*s
	}
	if q.W < 0 {
		q = Quat{-q.W, -q.X, -q.Y, -q.Z}
	}
	return q
}

// ExpRotation returns the rotation by |r| radians about the direction of r.
func ExpRotation(r Vec3) Quat {
	θ := r.Norm()
	if θ < 1e-8 {
		// sin(θ/2)/θ = 1/2 − θ²/48 …, the second term is below one ulp here
		q, _ := Quat{1, r.X / 2, r.Y / 2, r.Z / 2}.Unit()
		return q
	}
	s, c := math.Sincos(θ / 2)
	s /= θ
	return Quat{c, s * r.X, s * r.Y, s * r.Z}
}

// Log returns the rotation vector of the unit quaternion q: direction of the
// axis, length the angle in [0, π].
func (q Quat) Log() Vec3 {
	if q.W < 0 {
		q = Quat{-q.W, -q.X, -q.Y, -q.Z}
	}
	v := Vec3{q.X, q.Y, q.Z}
	s := v.Norm()
	if s < 1e-9 {
		return v.Scale(2 / q.W)
	}
	return v.Scale(2 * math.Atan2(s, q.W) / s)
}
