package spatial

import "math"

// TurnZ returns the rotation by angle about z, TurnX that about x.
func TurnZ(angle float64) Mat3 {
	s, c := math.Sincos(angle)
	return Mat3{c, -s, 0, s, c, 0, 0, 0, 1}
}

// TurnX returns the rotation by angle about x.
func TurnX(angle float64) Mat3 {
	s, c := math.Sincos(angle)
	return Mat3{1, 0, 0, 0, c, -s, 0, s, c}
}

// EulerZXZ returns angles with R = TurnZ(first)·TurnX(tilt)·TurnZ(last) and tilt
// in [0, π]. Where only the sum or difference of first and last is determined,
// first is zero.
func (R Mat3) EulerZXZ() (first, tilt, last float64) {
	tilt = math.Atan2(math.Hypot(R[2], R[5]), R[8])
	if math.Sin(tilt) > 1e-15 {
		first = math.Atan2(R[2], -R[5])
	}

	// last from what is left, so that the product is R even where a small tilt
	// leaves first poorly determined
	left := TurnZ(first).Mul(TurnX(tilt)).Transpose().Mul(R)
	return first, tilt, math.Atan2(left[3], left[0])
}
