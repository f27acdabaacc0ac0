package qp

import "math"

// tolStart is how much of a row must lie outside the others that a Solve starts with.
const tolStart = 1e-6

// Label gives the row that was added last an identity, 0 or more, by which Start and Active
// know it in another problem. Rows without one are −1.
func (s *Solver) Label(id int) {
	if s.broken != TooManyRows {
		s.label[s.rows-1] = id
	}
}

// Active appends the identities of the rows that hold the minimum.
func (s *Solver) Active(ids []int) []int {
	for _, row := range s.active {
		if s.label[row] >= 0 {
			ids = append(ids, s.label[row])
		}
	}
	return ids
}

// Start begins with the rows of these identities active, as far as the problem has them,
// they are independent and their multipliers have the right sign: the minimum under those.
// A problem that resembles another is solved in few steps so. The answer is the same.
func (s *Solver) Start(ids []int) {
	if s.broken != Optimal || len(ids) == 0 {
		return
	}
	if len(s.active) > 0 {
		s.begin()
	}
	for _, id := range ids {
		for row := range s.rows {
			if s.label[row] == id && id >= 0 && !s.isActive[row] {
				s.hold(row)
			}
		}
	}
	for len(s.active) > 0 {
		s.onActive()
		least, at := 0.0, -1
		for k, row := range s.active {
			if u := s.u[row]; !s.equal[row] && u*s.size[row] < least {
				least, at = u*s.size[row], k
			}
		}
		if at < 0 {
			break
		}
		if s.iterations >= s.limit() { // none left to let rows go: without a guess
			s.begin()
			return
		}
		s.iterations++
		s.deactivate(at)
	}
	// x = x₀ + J₁·y
	for i := range s.n {
		s.x[i] += dot(s.J[i*s.n:i*s.n+len(s.active)], s.y[:len(s.active)])
	}
	s.warm = len(s.active) > 0
}

// hold makes a row active without a step, if it is independent of those that are.
func (s *Solver) hold(row int) {
	n, q := s.n, len(s.active)
	if q == n {
		return
	}
	copy(s.normal, s.c[row*n:(row+1)*n])
	s.directions()
	free, all := dot(s.d[q:n], s.d[q:n]), dot(s.d[:n], s.d[:n])
	if free > tolStart*tolStart*all {
		s.activate(row, 1, 0)
	}
}

// onActive computes the multipliers of the minimum on the active rows, from the one without
// rows, x₀: Rᵀ·y = b − C·x₀, R·u = y.
func (s *Solver) onActive() {
	n, q := s.n, len(s.active)
	for i, row := range s.active {
		t := s.b[row] - dot(s.c[row*n:(row+1)*n], s.x[:n])
		for k := range i {
			t -= s.R[k*n+i] * s.y[k]
		}
		s.y[i] = t / s.R[i*n+i]
	}
	for i := q - 1; i >= 0; i-- {
		t := s.y[i]
		for k := i + 1; k < q; k++ {
			t -= s.R[i*n+k] * s.u[s.active[k]]
		}
		s.u[s.active[i]] = t / s.R[i*n+i]
	}
}

// ResetNearest begins a problem without rows: the point nearest to x₀.
func (s *Solver) ResetNearest(x0 []float64) {
	n := len(x0)
	s.reset(n)
	clear(s.H[:n*n])
	clear(s.J[:n*n])
	sum := 0.0
	for i, x := range x0 {
		s.H[i*n+i], s.J[i*n+i], s.g[i], s.x[i] = 1, 1, -x, x
		sum += x * x
	}
	s.nearest = true
	if s.reach = math.Sqrt(sum); !finite(sum) {
		s.broken = NotFinite
	}
}
