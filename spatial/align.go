package spatial

// ZTo returns the smallest rotation that takes the z axis to the direction of
// axis; for −z it is half a turn about x. The zero vector has no direction and
// gives the identity.
//
// With unit axis a = (x, y, c) it turns about z × a, and Rodrigues' formula
// becomes
//
//	    ⎡ 1 − f·x²   −f·x·y    x ⎤
//	R = ⎢  −f·x·y   1 − f·y²   y ⎥,  f = 1/(1+c) = (1−c)/(x²+y²)
//	    ⎣    −x        −y      c ⎦
//
// where the second form of f keeps its digits for c < 0.
func ZTo(axis Vec3) Mat3 {
	a, ok := axis.Unit()
	if !ok {
		return Identity3
	}
	x, y, c := a.X, a.Y, a.Z
	var f float64
	switch s2 := x*x + y*y; {
	case c >= 0:
		f = 1 / (1 + c)
	case s2 > 0:
		f = (1 - c) / s2
	default:
		return Mat3{1, 0, 0, 0, -1, 0, 0, 0, -1}
	}
	return Mat3{
		1 - f*x*x, -f * x * y, x,
		-f * x * y, 1 - f*y*y, y,
		-x, -y, c,
	}
}
