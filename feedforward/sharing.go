package feedforward

import (
	"math"

	"poise/floatingbase"
	"poise/robot"
)

// Numbers of the sharing of loads.
const (
	sharesIn   = 0.5  // s, time constant with which uneven loads are compensated on rigid legs
	sharesMost = 0.25 // share of the weight that this adds to a foot at most
	even       = 0.02 // share of the weight by which loads may be uneven
	believed   = 3    // greatest plausible load of a foot, in weights of the robot
)

// sharing lets feet that stand share the weight evenly. The loads of more than three feet have a part without sum
// and moment (internal forces). It is large on an uneven floor: springs of servos keep it, and their friction
// does even against the torques of even loads. Where sensors measure it, forces of the same pattern grow until it
// is gone.
type sharing struct {
	load  []float64 // [chains] measured, N; NaN where it is not
	extra []float64 // [chains] added to the load, N
	feet  []int     // chains that are commanded to stand
	part  []float64 // of each of them: loads, then their internal forces
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

// update changes the added loads, by no more a tick than they would fade; contacts has the places of the feet. Loop-safe.
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

// free finds the part of the loads without sum and moment; false if there is none, or a foot has no measured load or
// is not commanded to stand with full weight.
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
