package wholebody

import (
	"poise/dynamics"
	"poise/linalg"
)

// Numbers of Project.
const (
	heavy      = 1e3   // kg·m² or kg that joints have which no servo moves: they do not take part
	projectTol = 1e-15 // of a pivot of the contacts' matrix
	soften     = 1e-12 // of its largest diagonal element: contacts may determine a leg more than once
)

// Project takes from velocities what points that stand have against the ground, as an inelastic
// impact does: v ← v − M⁻¹·Jᵀ·(J·M⁻¹·Jᵀ)⁻¹·J·v. Feet that stand on one point do not tilt, in legs that have
// the joints for it. It reports whether it did; otherwise v is as it was. Loop-safe.
func (s *Solver) Project(v, q []float64, r *Request) bool {
	if len(v) != s.nv || len(q) != s.m.NumQ() || s.checkSupports(r) != nil {
		return false
	}
	n := s.nv
	s.kin.UpdatePosition(q)
	clear(s.armature)
	copy(s.armature[6:], r.Armature)
	for _, j := range r.Fixed {
		s.armature[j.V] += heavy
	}
	s.dyn.MassMatrixTo(s.M, q, dynamics.Load{Armature: s.armature})
	s.stand(r)
	m := s.contactRows()
	if m == 0 || linalg.CholeskyTo(s.M, s.M, n, 1e-12) < n {
		return false
	}
	J, B, W := s.impact.J[:m*n], s.impact.B[:m*n], s.impact.W[:m*m]
	copy(B, J)
	largest := 0.0
	for i := range m { // B = (M⁻¹·Jᵀ)ᵀ
		linalg.CholeskySolve(B[i*n:(i+1)*n], s.M, n)
		for k := range i + 1 {
			W[i*m+k] = linalg.Dot(J[k*n:(k+1)*n], B[i*n:(i+1)*n])
		}
		largest = max(largest, W[i*m+i])
	}
	λ := s.impact.λ[:m]
	for i := range m {
		W[i*m+i] += soften * largest
		λ[i] = linalg.Dot(J[i*n:(i+1)*n], v)
	}
	if linalg.CholeskyTo(W, W, m, projectTol) < m {
		return false
	}
	linalg.CholeskySolve(λ, W, m)
	for i, x := range λ {
		if !finite(x) {
			return false
		}
		for k, b := range B[i*n : (i+1)*n] {
			s.impact.v[k] -= b * x
		}
	}
	for k, d := range s.impact.v {
		v[k] += d
	}
	clear(s.impact.v)
	return true
}

// contactRows fills in the rows of all points that stand, and of soles that do not tilt.
func (s *Solver) contactRows() (m int) {
	n := s.nv
	for i := range s.feet {
		f := &s.feet[i]
		for k := range f.model.Rows() {
			f.model.RowTo(s.impact.J[m*n:(m+1)*n], k, f.R, f.J, n)
			m++
		}
		if f.model.Rows() > 3 || len(s.ways[f.chain]) < 5 {
			continue
		}
		for c := range 2 {
			copy(s.impact.J[m*n:(m+1)*n], f.J[(3+c)*n:(4+c)*n])
			m++
		}
	}
	return m
}

// impact is the working memory of Project.
type impact struct{ J, B, W, λ, v []float64 }

func newImpact(nv, chains int) impact {
	m := 6 * chains
	f := func(k int) []float64 { return make([]float64, k) }
	return impact{f(m * nv), f(m * nv), f(m * m), f(m), f(nv)}
}

// LoadsTo stores the inertia of each velocity while the others rest, with its rotor, and the force that it needs without any
// acceleration. Loop-safe.
func (s *Solver) LoadsTo(inertia, bias, q, v []float64, r *Request) {
	clear(s.armature)
	copy(s.armature[6:], r.Armature)
	s.dyn.MassMatrixTo(s.M, q, dynamics.Load{Armature: s.armature})
	s.dyn.BiasTo(bias, q, v, dynamics.Load{})
	for i := range inertia {
		inertia[i] = s.M[i*s.nv+i]
	}
}
