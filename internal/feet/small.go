package feet

import "math"

// inverse is that of a leg's 3×3 Jacobian over its joints, by cofactors. It reports whether the
// leg is not straight.
func inverse(l *Leg, nv int) (P [9]float64, ok bool) {
	i, j, k := l.Joints[0], l.Joints[1], l.Joints[2]
	a, b, c := l.J[i], l.J[j], l.J[k]
	d, e, f := l.J[nv+i], l.J[nv+j], l.J[nv+k]
	g, h, m := l.J[2*nv+i], l.J[2*nv+j], l.J[2*nv+k]
	A, B, C := e*m-f*h, f*g-d*m, d*h-e*g
	det := a*A + b*B + c*C
	size := math.Sqrt((a*a + d*d + g*g) * (b*b + e*e + h*h) * (c*c + f*f + m*m))
	if !(math.Abs(det) > straight*size) {
		return P, false
	}
	P = [9]float64{A, c*h - b*m, b*f - c*e, B, a*m - c*g, c*d - a*f, C, b*g - a*h, a*e - b*d}
	for n := range P {
		P[n] /= det
	}
	return P, true
}

// solve6 replaces the rows of K, each `width` long, by S⁻¹·K, by elimination with pivots. It
// reports whether S has an inverse.
func solve6(S *[36]float64, K []float64, width int) bool {
	for c := range 6 {
		best := c
		for r := c + 1; r < 6; r++ {
			if math.Abs(S[6*r+c]) > math.Abs(S[6*best+c]) {
				best = r
			}
		}
		size := 0.0
		for _, x := range S[6*best : 6*best+6] {
			size = max(size, math.Abs(x))
		}
		if !(math.Abs(S[6*best+c]) > 1e-12*size) {
			return false
		}
		if best != c {
			for i := range 6 {
				S[6*c+i], S[6*best+i] = S[6*best+i], S[6*c+i]
			}
			a, b := K[c*width:(c+1)*width], K[best*width:(best+1)*width]
			for i := range a {
				a[i], b[i] = b[i], a[i]
			}
		}
		scale := 1 / S[6*c+c]
		pivot := K[c*width : (c+1)*width]
		for i := range pivot {
			pivot[i] *= scale
		}
		for i := c; i < 6; i++ {
			S[6*c+i] *= scale
		}
		for r := range 6 {
			k := S[6*r+c]
			if r == c || k == 0 {
				continue
			}
			for i := c; i < 6; i++ {
				S[6*r+i] -= k * S[6*c+i]
			}
			row := K[r*width : (r+1)*width]
			for i, x := range pivot {
				row[i] -= k * x
			}
		}
	}
	return true
}
