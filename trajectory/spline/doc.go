// Package spline draws smooth curves through key points with times.
//
// A Spline is a piecewise polynomial of several joints. Between two knots, with
// τ = t − tᵢ the time since the first of them, each joint is
//
//	q(τ) = c₀ + c₁τ + c₂τ² + c₃τ³ (+ c₄τ⁴ + c₅τ⁵)                    (1)
//
// and the coefficients of all joints of a segment lie side by side, so that one
// evaluation walks through memory once. How the curve passes its keys is the
// choice of the constructor:
//
//	Akima             keys only: local, never beyond its neighbouring keys, rests at ends and holds
//	Natural, Clamped  keys only: continuous acceleration, may swing beyond the keys
//	Hermite           keys and velocities: cubic
//	Quintic           keys, velocities and accelerations
//
// Steps is for tracks that jump, such as supports: the value of the latest key.
//
// Before its first knot and after its last a curve rests at the end position;
// the last key is met bit for bit. Extremes of position, velocity, acceleration
// and jerk come from the roots of (1)'s derivatives: no sample is taken, so no
// peak is missed. A Spline never changes after it is made and is safe for
// concurrent use; a Cursor remembers the segment for times that run forward.
//
//	s, err := spline.Akima([]float64{0, 1, 2}, [][]float64{{0}, {1}, {0}}, 0)
//	s.PositionTo(q, 0.5)
//	worst := s.Peak(0, spline.Velocity, s.Start(), s.End())
//
// # References
//
//   - [Akima] H. Akima, A new method of interpolation and smooth curve fitting
//     based on local procedures, Journal of the ACM 17 (1970) 589–602.
//   - [FritschCarlson] F. Fritsch and R. Carlson, Monotone piecewise cubic
//     interpolation, SIAM Journal on Numerical Analysis 17 (1980) 238–246.
package spline
