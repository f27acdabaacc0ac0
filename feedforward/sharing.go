package feedforward

import (
	"math"

	"poise/floatingbase"
	"poise/robot"
)

// Numbers of the sharing of loads.
const (
	sharesIn   = 0.5  // s in which what is uneven would be taken away, if nothing gave way to it
	sharesMost = 0.25 // share of the weight that a foot may press more, or less, for it
	even       = 0.02 // share of the weight by which loads may be uneven
	believed   = 3    // weights that a foot of a robot that stands may be felt to carry; more is no load to share
)

// sharing lets feet that stand share the weight evenly. Of the loads of more than three feet a part
// is free: it has neither a sum nor a moment, and says only how the feet stand against each other. On an
// uneven floor it is large, springs of servos keep it, and their friction does so even against the torques of
// even loads. Where sensors feel it, it is taken away by forces of the same pattern, which grow until it is gone.
type sharing struct {
	load  []float64 // [chains] that is felt, N; NaN where it is not
	extra []float64 // [chains] pressed with besides, N
	feet  []int     // chains that are said to stand
	part  []float64 // of each of them: loads, then what of them is free
	basis [3][]float64
	most  float64 // N
}

func newSharing(m *robot.Model) sharing {
	n := len(m.Chains())
	s := sharing{load: make([]float64, n), extra: make([]float64, n), feet: make([]int, 0, n), part: make([]float64, 0, n),
		most: sharesMost * m.Mass() * m.Gravity().Norm()}
	for i := range s.basis {
		s.basis[i] = make([]float64, 0, n)
	}
	for i := range s.load {
		s.load[i] = math.NaN()
	}
	return s
}

// update changes what feet press besides, in a tick by no more than it would fade; contacts has where
// they are. Loop-safe.
func (s *sharing) update(contacts []floatingbase.ContactWrench, said func(chain int) bool, dt float64) {
	by := s.most * dt / fadeTime
	if !s.free(contacts, said) {
		for i, x := range s.extra {
			s.extra[i] = x - max(-by, min(by, x))
		}
		return
	}
	uneven := 0.0
	for _, x := range s.part {
		uneven = max(uneven, math.Abs(x))
	}
	if uneven <= even/sharesMost*s.most {
		return
	}
	largest, rate := 0.0, min(dt/sharesIn, by/uneven)
	for k, chain := range s.feet {
		s.extra[chain] -= s.part[k] * rate
		largest = max(largest, math.Abs(s.extra[chain]))
	}
	if largest > s.most {
		for i := range s.extra {
			s.extra[i] *= s.most / largest
		}
	}
}

// free finds the part of the loads that has neither a sum nor a moment; false if there is no such part, or a
// foot is not felt or not said to stand with all it can.
func (s *sharing) free(contacts []floatingbase.ContactWrench, said func(chain int) bool) bool {
	s.feet, s.part = s.feet[:0], s.part[:0]
	for i := range s.basis {
		s.basis[i] = s.basis[i][:0]
	}
	for i := range contacts {
		c := &contacts[i]
		if f := s.load[c.Chain]; !said(int(c.Chain)) || !(f <= believed/sharesMost*s.most) {
			return false
		}
		s.feet, s.part = append(s.feet, int(c.Chain)), append(s.part, s.load[c.Chain])
		for k, x := range [3]float64{1, c.Point.X, c.Point.Y} {
			s.basis[k] = append(s.basis[k], x)
		}
	}
	if len(s.feet) < 4 {
		return false
	}
	for k, u := range s.basis { // Gram and Schmidt: the rows of sum and moments
		for _, w := range s.basis[:k] {
			subtract(u, w, product(u, w))
		}
		size := math.Sqrt(product(u, u))
		if size < 1e-3 { // feet in a line: m, or of the first row more than 1
			return false
		}
		for i := range u {
			u[i] /= size
		}
		subtract(s.part, u, product(s.part, u))
	}
	return true
}

func product(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// subtract takes k·b from a.
func subtract(a, b []float64, k float64) {
	for i, x := range b {
		a[i] -= k * x
	}
}
