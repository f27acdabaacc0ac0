package track

import (
	"context"
	"math"

	"poise/kinematics"
	"poise/kinematics/ik"
	"poise/planner"
	"poise/planner/path"
	"poise/robot"
	"poise/spatial"
	"poise/trajectory/spline"
)

// Fit is how far the link may be from the path between two places where it is on
// it, m and rad.
const Fit = 1e-7

const (
	exact     = 1e-11 // how far the link may be off where it is on the path, m and rad
	near      = 1e-9  // what rounding may make of that
	maxNewton = 10    // steps
	longStep  = 0.7   // of a joint between two places, rad or m
	maxNodes  = 50_000
	leastStep = 1e-9 // of a path, in its unit
)

// Tracker makes a link follow paths. It holds the memory of its work: one per
// goroutine.
type Tracker struct {
	m      *robot.Model
	link   robot.FrameID
	joints []robot.JointID // of the group
	moves  []int           // which of them carry the link
	extra  int             // more joints than six

	data  *kinematics.Data
	place kinematics.Place
	ik    *ik.Solver
	q, v  []float64 // whole robot
	jac   []float64
	eq    lsq
	w     []float64 // extra × len(moves): what (2) looks at
	ref   reference
}

// reference is r(s) of (2): at the start, or on the way to an end.
type reference struct {
	start, slope []float64 // of moves, slope per length of the whole path
	done         float64   // length before the part
}

// New returns a tracker for a link that is carried by joints of a group.
func New(m *robot.Model, joints []robot.JointID, link robot.FrameID) (*Tracker, *planner.Refusal) {
	t := &Tracker{m: m, link: link, joints: joints, data: kinematics.NewData(m)}
	t.place = t.data.At(link)
	t.q, t.v = make([]float64, m.NumQ()), make([]float64, m.NumV())
	t.jac = make([]float64, 6*m.NumV())
	solver, err := ik.New(m, ik.Options{}, joints, link)
	if err != nil {
		return nil, planner.Refuse(planner.NoSolution, "%v", err)
	}
	t.ik = solver
	return t, nil
}

// prepare finds out which joints carry the link, at a configuration.
func (t *Tracker) prepare(q []float64) {
	copy(t.q, q)
	t.data.UpdatePosition(t.q)
	t.data.JacobianTo(t.jac, t.place)
	t.moves = t.moves[:0]
	for k, j := range t.joints {
		col := t.m.Joints()[j].V
		for r := range 6 {
			if t.jac[r*t.m.NumV()+col] != 0 {
				t.moves = append(t.moves, k)
				break
			}
		}
	}
	n := len(t.moves)
	t.extra = max(0, n-6)
	t.eq = newLSQ(max(6, n), n)
	t.ref = reference{start: make([]float64, n), slope: make([]float64, n)}
	for i, k := range t.moves {
		t.ref.start[i] = q[t.m.Joints()[t.joints[k]].Q]
	}
	t.across()
}

// across fills w with directions that leave the link in place, orthonormal: what
// is left of the unit vectors when the rows of the Jacobian are taken out.
func (t *Tracker) across() {
	n := len(t.moves)
	t.w = make([]float64, t.extra*n)
	var rows [][]float64
	take := func(v []float64) float64 {
		for range 2 { // twice is enough
			for _, u := range rows {
				dot := 0.0
				for i := range v {
					dot += u[i] * v[i]
				}
				for i := range v {
					v[i] -= dot * u[i]
				}
			}
		}
		norm := 0.0
		for _, x := range v {
			norm += x * x
		}
		return math.Sqrt(norm)
	}
	add := func(v []float64, norm float64) {
		for i := range v {
			v[i] /= norm
		}
		rows = append(rows, v)
	}
	for r := range 6 {
		v := make([]float64, n)
		for i, k := range t.moves {
			v[i] = t.jac[r*t.m.NumV()+t.m.Joints()[t.joints[k]].V]
		}
		if norm := take(v); norm > 1e-6 {
			add(v, norm)
		}
	}
	for e := range t.extra {
		var best []float64
		most := 0.0
		for i := range n {
			v := make([]float64, n)
			v[i] = 1
			if norm := take(v); norm > most {
				best, most = v, norm
			}
		}
		add(best, most)
		copy(t.w[e*n:], best)
	}
}

// node is a place where the link is on the path.
type node struct {
	s         float64
	q, d1, d2 []float64 // of moves
}

// Follow makes the link follow parts of a path, one behind the other, beginning
// at the configuration start, where the link must be on the path. It returns for
// each part the positions of the group's joints over its length. If end is not
// nil, redundant joints go straight towards that configuration meanwhile. Parts
// have length.
func (t *Tracker) Follow(ctx context.Context, parts []path.Path, start, end []float64) ([]*spline.Spline, *planner.Refusal) {
	t.prepare(start)
	total := 0.0
	for _, p := range parts {
		total += p.Length()
	}
	if end != nil && total > 0 {
		for i, k := range t.moves {
			at := t.m.Joints()[t.joints[k]].Q
			t.ref.slope[i] = (end[at] - start[at]) / total
		}
	}
	q := append([]float64(nil), t.ref.start...)
	var out []*spline.Spline
	for _, p := range parts {
		if refusal := planner.Stopped(ctx); refusal != nil {
			return nil, refusal
		}
		nodes, refusal := t.walk(ctx, p, q)
		if refusal == nil {
			var curve *spline.Spline
			curve, refusal = t.curve(nodes, start)
			if refusal == nil {
				refusal = t.withinLimits(curve, t.ref.done)
			}
			out = append(out, curve)
		}
		if refusal != nil {
			return nil, refusal
		}
		q = append([]float64(nil), nodes[len(nodes)-1].q...)
		t.ref.done += p.Length()
	}
	return out, nil
}

// walk finds places along one part.
func (t *Tracker) walk(ctx context.Context, p path.Path, q []float64) ([]node, *planner.Refusal) {
	length := p.Length()
	last, ok := t.solve(p, 0, q)
	if !ok {
		return nil, t.lost(p, 0, q)
	}
	nodes := []node{last}
	step := length / 8
	for last.s < length {
		if len(nodes)%64 == 0 {
			if why := planner.Stopped(ctx); why != nil {
				return nil, why
			}
		}
		if len(nodes) > maxNodes {
			return nil, t.lost(p, last.s, last.q)
		}
		s := last.s + step
		if rest := length - last.s; rest <= step*1.0001 {
			s = length
		} else if rest < 2*step {
			s = last.s + rest/2
		}
		h := s - last.s
		right, ok := t.solve(p, s, t.predict(&last, h))
		miss := math.Inf(1)
		if ok && !jumps(last.q, right.q) {
			miss = t.miss(p, &last, &right)
		}
		if miss <= Fit {
			nodes = append(nodes, right)
			last = right
			step = h * min(3, 0.9*math.Pow(miss/Fit+1e-12, -1.0/6))
			continue
		}
		step = h * max(0.2, min(0.9, 0.85*math.Pow(miss/Fit, -1.0/6)))
		if step < leastStep {
			return nil, t.lost(p, last.s, last.q)
		}
	}
	return nodes, nil
}

func jumps(a, b []float64) bool {
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= longStep) {
			return true
		}
	}
	return false
}

// predict is Taylor's series from a place.
func (t *Tracker) predict(n *node, h float64) []float64 {
	x := make([]float64, len(n.q))
	for i := range x {
		x[i] = n.q[i] + h*(n.d1[i]+h/2*n.d2[i])
		if !(math.Abs(x[i]-n.q[i]) <= longStep) {
			copy(x, n.q) // beyond what a series can tell
			break
		}
	}
	return x
}

// at places the robot with the moved joints at x.
func (t *Tracker) at(x []float64) spatial.Pose {
	for i, k := range t.moves {
		t.q[t.m.Joints()[t.joints[k]].Q] = x[i]
	}
	t.data.UpdatePosition(t.q)
	return t.data.Pose(t.place)
}

// miss returns how far the link is off the path half way between two places on
// the quintic through them.
func (t *Tracker) miss(p path.Path, a, b *node) float64 {
	h := b.s - a.s
	x := make([]float64, len(a.q))
	for i := range x {
		x[i] = (a.q[i]+b.q[i])/2 + 5*h/32*(a.d1[i]-b.d1[i]) + h*h/64*(a.d2[i]+b.d2[i])
	}
	e := off(p.At((a.s+b.s)/2).Pose, t.at(x))
	return max(e.Linear.Norm(), e.Angular.Norm())
}

// off returns the way from F to T, world axes.
func off(T, F spatial.Pose) spatial.Twist {
	return spatial.Twist{Linear: T.P.Sub(F.P), Angular: turned(T.R, F.R)}
}

// turned returns the rotation vector from B to A.
func turned(A, B spatial.Mat3) spatial.Vec3 {
	M := A.Mul(B.Transpose())
	if M[0]+M[4]+M[8] > 2.999 { // sin φ = φ·(1 − φ²/6): the next term is below rounding
		v := spatial.Vec3{X: M[7] - M[5], Y: M[2] - M[6], Z: M[3] - M[1]}.Scale(0.5)
		return v.Scale(1 + v.Dot(v)/6)
	}
	return M.Quat().Log()
}

// solve finds the joint positions at s near a guess, and their derivatives.
func (t *Tracker) solve(p path.Path, s float64, guess []float64) (node, bool) {
	state := p.At(s)
	n := len(guess)
	x := append(make([]float64, 0, 3*n), guess...)[:n:n]
	if !t.newton(state.Pose, s, x) {
		return node{}, false
	}
	t.columns()
	d1, d2 := make([]float64, n), make([]float64, n)
	t.right(state.D1, t.ref.slope)
	t.eq.solveTo(d1)
	clear(t.v)
	for i, k := range t.moves {
		t.v[t.m.Joints()[t.joints[k]].V] = d1[i]
	}
	t.data.UpdateVelocity(t.v)
	bias := t.data.BiasAcceleration(t.place)
	t.right(state.D2.Add(bias.Scale(-1)), nil)
	t.eq.solveTo(d2)
	return node{s: s, q: x, d1: d1, d2: d2}, true
}

// newton brings the link to a pose; false if it does not get there.
func (t *Tracker) newton(X spatial.Pose, s float64, x []float64) bool {
	step := make([]float64, len(x))
	last := math.Inf(1)
	for range maxNewton {
		e := off(X, t.at(x))
		far := max(e.Linear.Norm(), e.Angular.Norm())
		residual := t.residual(x, s)
		for _, r := range residual {
			far = max(far, math.Abs(r))
		}
		if far <= exact || far <= near && far >= last/4 {
			return true
		}
		if !(far < 2*last) {
			return false
		}
		last = far
		t.columns()
		t.right(e, nil)
		copy(t.eq.b[6:], residual)
		t.eq.solveTo(step)
		for i := range x {
			if !(math.Abs(step[i]) <= longStep) {
				return false
			}
			x[i] += step[i]
		}
	}
	return last <= near
}

// residual is how far (2) is from being kept.
func (t *Tracker) residual(x []float64, s float64) []float64 {
	if t.extra == 0 {
		return nil
	}
	n := len(x)
	r := make([]float64, t.extra)
	for e := range r {
		for i := range x {
			r[e] += t.w[e*n+i] * (t.ref.start[i] + (t.ref.done+s)*t.ref.slope[i] - x[i])
		}
	}
	return r
}

// columns fills and factors the equations at the present position.
func (t *Tracker) columns() {
	t.data.JacobianTo(t.jac, t.place)
	nv, n := t.m.NumV(), len(t.moves)
	for i, k := range t.moves {
		col, v := t.eq.column(i), t.m.Joints()[t.joints[k]].V
		for r := range 6 {
			col[r] = t.jac[r*nv+v]
		}
		for e := range t.extra {
			col[6+e] = t.w[e*n+i]
		}
	}
	t.eq.factor()
}

// right fills the right-hand side: a motion of the link, and of (2).
func (t *Tracker) right(x spatial.Twist, slope []float64) {
	b := t.eq.b
	clear(b)
	b[0], b[1], b[2] = x.Linear.X, x.Linear.Y, x.Linear.Z
	b[3], b[4], b[5] = x.Angular.X, x.Angular.Y, x.Angular.Z
	n := len(t.moves)
	for e := range t.extra {
		for i := range slope {
			b[6+e] += t.w[e*n+i] * slope[i]
		}
	}
}

// curve draws the quintic through places, with the joints that do not carry the
// link held where they started.
func (t *Tracker) curve(nodes []node, start []float64) (*spline.Spline, *planner.Refusal) {
	n := len(t.joints)
	table := func(of func(*node) []float64, held bool) [][]float64 {
		rows, all := make([][]float64, len(nodes)), make([]float64, len(nodes)*n)
		for i := range nodes {
			rows[i] = all[i*n : (i+1)*n]
			for k, j := range t.joints {
				if held {
					rows[i][k] = start[t.m.Joints()[j].Q]
				}
			}
			for m, k := range t.moves {
				rows[i][k] = of(&nodes[i])[m]
			}
		}
		return rows
	}
	s := make([]float64, len(nodes))
	for i := range nodes {
		s[i] = nodes[i].s
	}
	c, err := spline.Quintic(s,
		table(func(n *node) []float64 { return n.q }, true),
		table(func(n *node) []float64 { return n.d1 }, false),
		table(func(n *node) []float64 { return n.d2 }, false))
	if err != nil {
		return nil, planner.Refuse(planner.NoSolution, "the joints cannot follow the path: %v", err)
	}
	return c, nil
}

// Redundant reports whether the arm has more joints than the path of the last
// Follow needed.
func (t *Tracker) Redundant() bool { return t.extra > 0 }
