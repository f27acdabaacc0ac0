package linalg

import "math"

// Dot returns the sum of aᵢ·bᵢ over the elements of a; b has at least as many. Four sums
// run beside each other, so that an addition need not wait for the one before.
func Dot(a, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(a); i += 4 {
		x, y := a[i:i+4:i+4], b[i:i+4:i+4]
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// Norm returns the Euclidean length.
func Norm(a []float64) float64 { return math.Sqrt(Dot(a, a)) }

// AddScaled adds k·b to a; b has at least as many elements.
func AddScaled(a []float64, k float64, b []float64) {
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		x, y := a[i:i+4:i+4], b[i:i+4:i+4]
		x[0] += k * y[0]
		x[1] += k * y[1]
		x[2] += k * y[2]
		x[3] += k * y[3]
	}
	for ; i < len(a); i++ {
		a[i] += k * b[i]
	}
}
