package onfeet

import (
	"math"
	"testing"

	"poise/dynamics"
	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
)

// Springs is a robot at rest whose joints are springs about where they are, loaded so that it is in
// balance there, and whose feet are held by springs that hardly give.
type Springs struct {
	Model     *robot.Model
	Q         []float64 // NumQ
	Stiffness []float64 // [joints], N·m/rad
}

// Deflection returns by how far it gives way to a force, N in world axes, at a point of its base, as
// a velocity for one second: Newton's method on the balance of forces, in which the weight stays.
func (s *Springs) Deflection(t testing.TB, point, force spatial.Vec3) []float64 {
	t.Helper()
	n := s.Model.NumV()
	k, d, space := kinematics.NewData(s.Model), dynamics.NewData(s.Model), kinematics.NewSpace(s.Model)
	q, J, zero := make([]float64, s.Model.NumQ()), make([]float64, 6*n), make([]float64, n)
	var feet []kinematics.Place
	var at []spatial.Pose
	k.UpdatePosition(s.Q)
	for _, c := range s.Model.Chains() {
		if c.Contact != robot.NoContact {
			feet, at = append(feet, k.At(c.Tip)), append(at, k.Pose(k.At(c.Tip)))
		}
	}
	held := make([]float64, n) // by feet and joints at the start: it goes on to be
	d.InverseTo(held, s.Q, zero, zero, dynamics.Load{})
	missing := func(dst, u []float64) {
		space.IntegrateTo(q, s.Q, u, 1)
		k.UpdatePosition(q)
		d.InverseTo(dst, q, zero, zero, dynamics.Load{})
		f := spatial.Quat{X: q[3], Y: q[4], Z: q[5], W: q[6]}.Matrix().TMulVec(force)
		for i, x := range [6]float64{f.X, f.Y, f.Z, point.Cross(f).X, point.Cross(f).Y, point.Cross(f).Z} {
			dst[i] -= x
		}
		for i, j := range s.Model.Joints() {
			dst[j.V] += s.Stiffness[i] * u[j.V]
		}
		const hard = 1e6 // N/m and N·m/rad
		for f, place := range feet {
			k.JacobianTo(J, place)
			Y := k.Pose(place)
			off, turned := Y.P.Sub(at[f].P), Y.R.Mul(at[f].R.Transpose()).Quat().Log()
			for row, e := range []float64{off.X, off.Y, off.Z, turned.X, turned.Y, turned.Z} {
				for i := range dst {
					dst[i] += hard * e * J[row*n+i]
				}
			}
		}
		for i := range dst {
			dst[i] -= held[i]
		}
	}
	u, r, r2, A := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n*n)
	for range 20 {
		missing(r, u)
		const h = 1e-6
		for i := range n {
			u[i] += h
			missing(r2, u)
			u[i] -= h
			for row := range n {
				A[row*n+i] = (r2[row] - r[row]) / h
			}
		}
		solve(A, r, n)
		for i := range u {
			u[i] -= r[i]
		}
	}
	missing(r, u)
	for i, x := range r {
		if math.Abs(x) > 1e-4 {
			t.Fatalf("row %d is out of balance by %g", i, x)
		}
	}
	return u
}

// solve replaces b by the solution of A·x = b: Gauss's elimination with pivots.
func solve(A, b []float64, n int) {
	for c := range n {
		p := c
		for r := c + 1; r < n; r++ {
			if math.Abs(A[r*n+c]) > math.Abs(A[p*n+c]) {
				p = r
			}
		}
		for i := range n {
			A[c*n+i], A[p*n+i] = A[p*n+i], A[c*n+i]
		}
		b[c], b[p] = b[p], b[c]
		for r := c + 1; r < n; r++ {
			f := A[r*n+c] / A[c*n+c]
			for i := c; i < n; i++ {
				A[r*n+i] -= f * A[c*n+i]
			}
			b[r] -= f * b[c]
		}
	}
	for c := n - 1; c >= 0; c-- {
		for i := c + 1; i < n; i++ {
			b[c] -= A[c*n+i] * b[i]
		}
		b[c] /= A[c*n+c]
	}
}
