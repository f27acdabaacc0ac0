package feet

import (
	"math"

	"poise/linalg"
	"poise/qp"
)

// Status is how a Solve ended.
type Status uint8

const (
	Optimal      Status = iota
	NotDecoupled        // a leg is straight or shares joints: ask the general program
	Infeasible          // friction and torques cannot be kept
	Failed              // rounding or the budget of iterations; the numbers may not be finite
)

func (s Status) String() string {
	return [...]string{"optimal", "not decoupled", "infeasible", "failed"}[s]
}

// Numbers of the method.
const (
	regularisation = 1e-2 // ρ
	small          = 1e-4 // of accelerations and forces beside torques
	straight       = 1e-6 // volume of a leg's Jacobian beside the lengths of its columns
	tolRow         = 1e-9 // a row broken by less is kept
	rounds         = 50   // of rows that come into the program
)

// Leg is a support on a point.
type Leg struct {
	Joints [3]int    // their velocities
	J      []float64 // 3×nv, of the point, world axes
	Rate   [3]float64
}

// State is what a program is made of: M·a + h = τ + Σ Jᵀ·f, with a base of six velocities.
type State struct {
	M, H      []float64 // nv×nv, nv
	Legs      []Leg
	Base      [36]float64 // Jacobian of the base over its own velocities
	Want      [6]float64  // less what the base accelerates by without a
	Friction  float64     // of the inner pyramid: |fx|, |fy| ≤ Friction·fz
	MaxTorque []float64   // of velocities behind the base's
}

// Program holds one problem at a time. Make one with New.
type Program struct {
	nv, m, forces int
	E, e          []float64 // a = E·y + e
	T, t          []float64 // τ = T·y + t
	K             []float64 // 6×(m+1)
	G             []float64 // 3×6 of each leg: its joints' accelerations are g − G·(base's)
	H, g          []float64
	row, baseRow  []float64
	owner         []int // leg of each velocity, −1 without
	others        []int // velocities of no leg
	a, tau        []float64
	posed         []bool // torque rows of both signs, then friction
	solver        *qp.Solver
}

// New makes room for a robot of nv velocities on up to so many legs.
func New(nv, legs int) *Program {
	f := func(k int) []float64 { return make([]float64, k) }
	m := nv - 6 // forces in place of the joints of legs, and the other joints
	rows := 2*(nv-6) + 5*legs
	return &Program{
		nv: nv, E: f(nv * m), e: f(nv), T: f((nv - 6) * m), t: f(nv - 6), K: f(6 * (m + 1)), G: f(18 * legs),
		H: f(m * m), g: f(m), row: f(m), baseRow: f(m), owner: make([]int, nv), others: make([]int, 0, nv), a: f(nv), tau: f(nv - 6),
		posed: make([]bool, rows), solver: qp.New(m, rows),
	}
}

// Acceleration, Torque and Force are the answer: of all velocities, of those behind the base's,
// of the legs three by three. They are the Program's own.
func (p *Program) Acceleration() []float64 { return p.a }
func (p *Program) Torque() []float64       { return p.tau }
func (p *Program) Force() []float64        { return p.solver.X()[:p.forces] }

// Iterations returns how many steps the program took.
func (p *Program) Iterations() int { return p.solver.Iterations() }

// Solve answers a state.
func (p *Program) Solve(s *State) Status {
	if !p.decouple(s) || !p.base(s) {
		return NotDecoupled
	}
	p.torques(s)
	p.pose(s)
	status := p.keep(s)
	y := p.solver.X()
	linalg.MulRows(p.a, p.E, y, p.m)
	linalg.MulRows(p.tau, p.T, y, p.m)
	for i, x := range p.e {
		p.a[i] += x
	}
	for i, x := range p.t {
		p.tau[i] += x
	}
	return status
}

// decouple finds the joints of each leg, and that nothing else moves its point.
func (p *Program) decouple(s *State) bool {
	for v := range p.owner {
		p.owner[v] = -1
	}
	for k := range s.Legs {
		for _, v := range s.Legs[k].Joints {
			if v < 6 || p.owner[v] >= 0 {
				return false
			}
			p.owner[v] = k
		}
	}
	p.others = p.others[:0]
	for v := 6; v < p.nv; v++ {
		if p.owner[v] < 0 {
			p.others = append(p.others, v)
		}
		for k := range s.Legs {
			J := s.Legs[k].J
			if p.owner[v] != k && (J[v] != 0 || J[p.nv+v] != 0 || J[2*p.nv+v] != 0) {
				return false
			}
		}
	}
	p.forces = 3 * len(s.Legs)
	p.m = p.forces + len(p.others)
	return true
}

// base finds E and e: legs follow the base, S·a = Σ Jᵀ·f − M·(others) − c the base the forces.
func (p *Program) base(s *State) bool {
	nv, m := p.nv, p.m
	var S [36]float64
	width := m + 1
	K := p.K[:6*width]
	for r := range 6 {
		copy(S[6*r:6*r+6], s.M[r*nv:])
		for i, v := range p.others {
			K[r*width+p.forces+i] = -s.M[r*nv+v]
		}
		K[r*width+m] = -s.H[r]
	}
	for k := range s.Legs {
		l, G := &s.Legs[k], p.G[18*k:18*k+18]
		P, ok := inverse(l, nv)
		if !ok {
			return false
		}
		var g [3]float64
		for r := range 3 {
			for c := range 6 {
				G[6*r+c] = P[3*r]*l.J[c] + P[3*r+1]*l.J[nv+c] + P[3*r+2]*l.J[2*nv+c]
			}
			g[r] = -(P[3*r]*l.Rate[0] + P[3*r+1]*l.Rate[1] + P[3*r+2]*l.Rate[2])
			p.e[l.Joints[r]] = g[r]
		}
		for r := range 6 {
			a, b, c := s.M[r*nv+l.Joints[0]], s.M[r*nv+l.Joints[1]], s.M[r*nv+l.Joints[2]]
			for i := range 6 {
				S[6*r+i] -= a*G[i] + b*G[6+i] + c*G[12+i]
			}
			at := K[r*width : (r+1)*width]
			at[m] -= a*g[0] + b*g[1] + c*g[2]
			at[3*k], at[3*k+1], at[3*k+2] = l.J[r], l.J[nv+r], l.J[2*nv+r]
		}
	}
	if !solve6(&S, K, width) {
		return false
	}
	p.follow(s, K, width)
	return true
}

// follow fills in E and e from the base's rows.
func (p *Program) follow(s *State, K []float64, width int) {
	m := p.m
	for r := range 6 {
		copy(p.E[r*m:(r+1)*m], K[r*width:])
		p.e[r] = K[r*width+m]
	}
	for k := range s.Legs {
		for r, v := range s.Legs[k].Joints {
			row, G := p.E[v*m:(v+1)*m], p.G[18*k+6*r:18*k+6*r+6]
			var minus [6]float64
			for i, x := range G {
				minus[i] = -x
				p.e[v] -= x * p.e[i]
			}
			clear(row)
			linalg.AddRows(row, minus[:], p.E, m)
		}
	}
	for i, v := range p.others {
		row := p.E[v*m : (v+1)*m]
		clear(row)
		row[p.forces+i], p.e[v] = 1, 0
	}
}

// torques finds T and t of τ = M·a + h − Jᵀ·f.
func (p *Program) torques(s *State) {
	nv, m := p.nv, p.m
	linalg.MulRows(p.t, s.M[6*nv:], p.e, nv)
	for j := range nv - 6 {
		v, row := 6+j, p.T[j*m:(j+1)*m]
		clear(row)
		linalg.AddRows(row, s.M[v*nv:(v+1)*nv], p.E, m)
		p.t[j] += s.H[v]
		if k := p.owner[v]; k >= 0 {
			J := s.Legs[k].J
			row[3*k] -= J[v]
			row[3*k+1] -= J[nv+v]
			row[3*k+2] -= J[2*nv+v]
		}
	}
}

// pose begins the program without rows: its Hessian and gradient.
func (p *Program) pose(s *State) {
	m := p.m
	H, g := p.H[:m*m], p.g[:m]
	clear(H)
	clear(g)
	add := func(row []float64, left, weight float64) { // weight·(row·y + left)²
		for i, x := range row {
			p.row[i] = weight * x
		}
		linalg.AddOuter(H, p.row[:m], row, m)
		linalg.AddScaled(g, left, p.row[:m])
	}
	for r := range 6 {
		base := p.baseRow[:m]
		clear(base)
		linalg.AddRows(base, s.Base[6*r:6*r+6], p.E, m)
		left := -s.Want[r]
		for i, x := range s.Base[6*r : 6*r+6] {
			left += x * p.e[i]
		}
		add(base, left, 1)
	}
	for j := range p.nv - 6 {
		add(p.T[j*m:(j+1)*m], p.t[j], regularisation)
		add(p.E[(6+j)*m:(7+j)*m], p.e[6+j], regularisation*small)
	}
	for i := range p.forces {
		H[i*m+i] += regularisation * small
	}
	p.solver.Reset(H, g)
}

// keep solves the program; rows come in when a point breaks them.
func (p *Program) keep(s *State) Status {
	clear(p.posed)
	for range rounds {
		switch p.solver.Solve() {
		case qp.Optimal:
		case qp.Infeasible:
			return Infeasible
		default:
			return Failed
		}
		if !p.cut(s) {
			return Optimal
		}
	}
	return Failed
}

// cut adds the rows that the point breaks, and reports whether there were any.
func (p *Program) cut(s *State) (more bool) {
	m, y := p.m, p.solver.X()
	add := func(at int, row []float64, b float64) {
		if !p.posed[at] {
			p.posed[at], more = true, true
			p.solver.AtLeast(row, b)
		}
	}
	if s.MaxTorque != nil {
		linalg.MulRows(p.tau, p.T, y, m)
	}
	for j, most := range s.MaxTorque {
		switch tau, tol := p.tau[j]+p.t[j], tolRow*(1+most); {
		case tau < -most-tol:
			add(2*j, p.T[j*m:(j+1)*m], -most-p.t[j])
		case tau > most+tol:
			for i, x := range p.T[j*m : (j+1)*m] {
				p.row[i] = -x
			}
			add(2*j+1, p.row[:m], p.t[j]-most)
		}
	}
	for k := range s.Legs {
		at, f := 2*(p.nv-6)+5*k, y[3*k:3*k+3]
		cone := func(at int, x, y, z float64) {
			if x*f[0]+y*f[1]+z*f[2] < -tolRow*(1+math.Abs(f[2])) {
				row := p.row[:m]
				clear(row)
				row[3*k], row[3*k+1], row[3*k+2] = x, y, z
				add(at, row, 0)
			}
		}
		cone(at, 0, 0, 1)
		cone(at+1, 1, 0, s.Friction)
		cone(at+2, -1, 0, s.Friction)
		cone(at+3, 0, 1, s.Friction)
		cone(at+4, 0, -1, s.Friction)
	}
	return more
}
