package wholebody_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/contact"
	"poise/dynamics"
	"poise/floatingbase"
	"poise/internal/legged"
	"poise/internal/priorities"
	"poise/internal/randbot"
	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
	"poise/urdf"
	"poise/wholebody"
)

// subject is a robot under test with its working memory.
type subject struct {
	m   *robot.Model
	s   *wholebody.Solver
	kin *kinematics.Data
	dyn *dynamics.Data
}

func newSubject(t testing.TB, m *robot.Model) *subject {
	t.Helper()
	s, err := wholebody.New(m)
	if err != nil {
		t.Fatal(err)
	}
	return &subject{m, s, kinematics.NewData(m), dynamics.NewData(m)}
}

func pony(t testing.TB) *subject {
	t.Helper()
	return newSubject(t, legged.Pony(t))
}

func shared(t testing.TB, name string) *subject {
	t.Helper()
	return newSubject(t, legged.Shared(t, name))
}

// randomRobot is a tree that stands on up to four of its leaves.
func randomRobot(t testing.TB, rng *rand.Rand) *subject {
	t.Helper()
	doc := randbot.Document(rng, randbot.Config{Bodies: 4 + rng.IntN(14), Floating: true, Mimics: rng.IntN(2), Types: []urdf.JointType{urdf.Revolute, urdf.Continuous, urdf.Prismatic}})
	return newSubject(t, legged.WithFeet(t, doc, legged.Leaves(doc)...))
}

type state struct {
	q, v []float64
	r    wholebody.Request
}

// random asks for all sorts of things at once: much of it cannot be had.
func (s *subject) random(rng *rand.Rand) state {
	st := state{q: randbot.Position(rng, s.m), v: randbot.Velocity(rng, s.m)}
	r := &st.r
	if rng.IntN(3) == 0 {
		clear(st.v)
	}
	r.Friction = []float64{0, 0.3, 0.6, 1.2}[rng.IntN(4)]
	r.Margin = 0.05 * rng.Float64()
	r.Order = wholebody.Order(rng.IntN(2))
	r.HasLinear, r.HasAngular, r.HasZMP = rng.IntN(4) > 0, rng.IntN(4) > 0, rng.IntN(3) == 0
	r.Base = spatial.Twist{Linear: vector(rng, 4), Angular: vector(rng, 10)}
	r.ZMP = contact.Point{X: 0.1 * rng.NormFloat64(), Y: 0.1 * rng.NormFloat64()}
	for c, chain := range s.m.Chains() {
		switch id := robot.ChainID(c); {
		case chain.Contact != robot.NoContact && rng.IntN(3) > 0:
			r.Supports = append(r.Supports, floatingbase.Support{Chain: id, Contact: robot.ContactID(rng.IntN(len(s.m.Contacts()))), Coefficient: []float64{1, 1, 0.5, 0}[rng.IntN(4)]})
			if r.Supports[len(r.Supports)-1].Coefficient > 0 {
				continue
			}
			fallthrough
		case rng.IntN(2) == 0:
			r.Limbs = append(r.Limbs, wholebody.Limb{Chain: id, Linear: vector(rng, 5)})
		}
	}
	for _, j := range s.m.Joints() {
		if j.Kind.NumV() == 1 && rng.IntN(5) == 0 {
			r.Joints = append(r.Joints, wholebody.Joint{V: j.V, Acceleration: 20 * rng.NormFloat64()})
		}
	}
	r.MaxTorque = s.limits(rng, 0.5+5*rng.Float64())
	r.MaxAcceleration = s.limits(rng, 20+200*rng.Float64())
	return st
}

func (s *subject) limits(rng *rand.Rand, most float64) []float64 {
	if rng.IntN(3) == 0 {
		return nil
	}
	all := make([]float64, s.m.NumV()-6)
	for i := range all {
		if all[i] = most; rng.IntN(6) == 0 {
			all[i] = math.Inf(1)
		}
	}
	return all
}

func vector(rng *rand.Rand, size float64) spatial.Vec3 {
	return spatial.Vec3{X: size * rng.NormFloat64(), Y: size * rng.NormFloat64(), Z: size * rng.NormFloat64()}
}

// standing is the pony on its four hooves.
func (s *subject) standing(t testing.TB) state {
	t.Helper()
	st := state{q: legged.Stand(s.m), v: make([]float64, s.m.NumV())}
	st.r = wholebody.Request{Friction: 0.6, Margin: 0.01, HasLinear: true, HasAngular: true}
	for c, chain := range s.m.Chains() {
		if chain.Contact != robot.NoContact {
			st.r.Supports = append(st.r.Supports, floatingbase.Support{Chain: robot.ChainID(c), Contact: chain.Contact, Coefficient: 1})
		}
	}
	all := func(x float64) []float64 {
		limits := make([]float64, s.m.NumV()-6)
		for i := range limits {
			limits[i] = x
		}
		return limits
	}
	st.r.MaxTorque, st.r.MaxAcceleration = all(1.18), all(200)
	return st
}

func (s *subject) solve(t testing.TB, st *state) *wholebody.Answer {
	t.Helper()
	ans := new(wholebody.Answer)
	s.s.Forget()
	if err := s.s.Solve(ans, st.q, st.v, &st.r); err != nil {
		t.Fatal(err)
	}
	return ans
}

// foot is a support as the reference sees it.
type foot struct {
	set     *robot.Contact
	chain   *robot.Chain
	model   floatingbase.ContactModel
	point   spatial.Vec3
	J       []float64
	unknown int
}

// reference writes down the levels from their definitions: one row for each component of
// each point, each moment, each edge.
type reference struct {
	s    *subject
	st   *state
	nv   int
	n    int
	feet []foot
	M, h []float64
	p    priorities.Problem
}

func (s *subject) reference(st *state) *priorities.Problem {
	r := s.define(st)
	if st.r.Order == wholebody.Seed {
		r.seed()
	} else {
		r.standard()
	}
	return &r.p
}

// define computes what the rows of a state are made of.
func (s *subject) define(st *state) *reference {
	nv := s.m.NumV()
	r := &reference{s: s, st: st, nv: nv, n: nv, M: make([]float64, nv*nv), h: make([]float64, nv)}
	s.kin.UpdatePosition(st.q)
	s.kin.UpdateVelocity(st.v)
	s.dyn.MassMatrixTo(r.M, st.q, dynamics.Load{})
	s.dyn.BiasTo(r.h, st.q, st.v, dynamics.Load{})
	for _, x := range st.r.Supports {
		if x.Coefficient == 0 {
			continue
		}
		f := foot{set: &s.m.Contacts()[x.Contact], chain: &s.m.Chains()[x.Chain], unknown: r.n, J: make([]float64, 6*nv)}
		f.model = floatingbase.NewContactModel(f.set)
		at := r.place(f.chain, legged.Origin(f.set))
		f.point = s.kin.Pose(at).P
		s.kin.JacobianTo(f.J, at)
		r.n += 3 + f.model.Moments()
		r.feet = append(r.feet, f)
	}
	r.p.N = r.n
	return r
}

func (r *reference) place(chain *robot.Chain, p spatial.Vec3) kinematics.Place {
	return r.s.kin.At(chain.Tip).Offset(spatial.Pose{R: spatial.Identity3, P: p})
}

func (r *reference) add(level *[]priorities.Row, b float64, equal bool) []float64 {
	c := make([]float64, r.n)
	*level = append(*level, priorities.Row{C: c, B: b, Equal: equal})
	return c
}

// motion is row i of M·a − Jᵀ·N.
func (r *reference) motion(c []float64, i int, sign float64) {
	for k := range r.nv {
		c[k] = sign * r.M[i*r.nv+k]
	}
	for _, f := range r.feet {
		for k := range 3 + f.model.Moments() {
			c[f.unknown+k] = -sign * f.J[k*r.nv+i]
		}
	}
}

func (r *reference) dynamics() (level []priorities.Row) {
	for i := range 6 {
		r.motion(r.add(&level, -r.h[i], true), i, 1)
	}
	return level
}

func (r *reference) contacts() (level []priorities.Row) {
	J := make([]float64, 6*r.nv)
	for _, f := range r.feet {
		for _, p := range f.set.Points {
			at := r.place(f.chain, p)
			r.s.kin.JacobianTo(J, at)
			A := r.s.kin.BiasAcceleration(at).Linear
			for c, bias := range []float64{A.X, A.Y, A.Z} {
				copy(r.add(&level, -bias, true), J[c*r.nv:(c+1)*r.nv])
			}
		}
	}
	return level
}

func (r *reference) limits() (level []priorities.Row) {
	for j, most := range r.st.r.MaxTorque {
		if !math.IsInf(most, 1) {
			for _, sign := range []float64{1, -1} { // sign·τ ≥ −most
				r.motion(r.add(&level, -most-sign*r.h[6+j], false), 6+j, sign)
			}
		}
	}
	for j, most := range r.st.r.MaxAcceleration {
		if !math.IsInf(most, 1) {
			r.add(&level, -most, false)[6+j] = 1
			r.add(&level, -most, false)[6+j] = -1
		}
	}
	return level
}

func (r *reference) friction() (level []priorities.Row) {
	μ := r.st.r.Friction
	heading := floatingbase.Heading(r.s.kin.BodyPose(1).R)
	for _, f := range r.feet {
		z := f.unknown + 2
		r.add(&level, 0, false)[z] = 1
		for c := range 2 {
			for _, sign := range []float64{1, -1} {
				row := r.add(&level, 0, false)
				row[z], row[f.unknown+c] = μ/math.Sqrt2, sign
			}
		}
		about := 0.0
		if f.model.Moments() == 3 && !legged.OnCorners(f.set) {
			about = 0.6 * min(μ, 1) * f.set.Sole
			for _, sign := range []float64{1, -1} {
				row := r.add(&level, 0, false)
				row[z], row[z+3] = about, sign
			}
		}
		if legged.OnCorners(f.set) {
			wrench := func(F, M spatial.Vec3) {
				copy(r.add(&level, 0, false)[f.unknown:], []float64{F.X, F.Y, F.Z, M.X, M.Y, M.Z})
			}
			most, up := math.Inf(1), spatial.Vec3{}
			r.corners(f, func(edge, from spatial.Vec3) { // edge·(m − from×N) ≥ 0
				wrench(from.Cross(edge), edge)
				up, _ = from.Cross(edge).Unit()
				most = min(most, from.Cross(edge).Norm())
			})
			wrench(up.Scale(0.6*min(μ, 1)*most), up)
			wrench(up.Scale(0.6*min(μ, 1)*most), up.Scale(-1))
		} else if f.model.Moments() >= 2 {
			radius := math.Sqrt(f.set.Sole*f.set.Sole-about*about) * math.Cos(math.Pi/64)
			for k := range 64 {
				row := r.add(&level, 0, false)
				φ := heading + float64(k)*math.Pi/32
				row[z], row[z+1], row[z+2] = radius, -math.Cos(φ), -math.Sin(φ)
			}
		}
	}
	return level
}

// corners goes through the edges between bare corners: the way of each, in which the foot is to its left seen from above, and its begin
// seen from the middle.
func (r *reference) corners(f foot, each func(edge, from spatial.Vec3)) {
	R, o := r.s.kin.Pose(r.place(f.chain, spatial.Vec3{})).R, legged.Origin(f.set)
	for i, p := range f.set.Points {
		a, b := R.MulVec(p.Sub(o)), R.MulVec(f.set.Points[(i+1)%len(f.set.Points)].Sub(o))
		if edge, _ := b.Sub(a).Unit(); a.Cross(edge).Z > 0 {
			each(edge, a)
		} else {
			each(edge.Scale(-1), a)
		}
	}
}

// zmp is Σ (n·(P − e) − margin)·fz ≥ 0 for each edge; the margin is cut at half the inradius,
// which is found by search here.
func (r *reference) zmp() (level []priorities.Row) {
	var soles []contact.Point
	for _, f := range r.feet {
		for _, p := range f.set.Points {
			if contact.Carries(f.set.Points, p) {
				w := r.s.kin.Pose(r.place(f.chain, p)).P
				soles = append(soles, contact.Point{X: w.X, Y: w.Y})
			}
		}
	}
	var hull contact.Polygon
	hull.Hull(soles)
	if len(hull.Corners) < 3 {
		return nil
	}
	margin := min(r.st.r.Margin, inradius(&hull)/2)
	for i, a := range hull.Corners {
		b := hull.Corners[(i+1)%len(hull.Corners)]
		length := math.Hypot(b.X-a.X, b.Y-a.Y)
		row := r.add(&level, 0, false)
		for _, f := range r.feet {
			inside := ((b.X-a.X)*(f.point.Y-a.Y) - (b.Y-a.Y)*(f.point.X-a.X)) / length
			row[f.unknown+2] = inside - margin
		}
	}
	return level
}

// inradius is the greatest distance from the edges, which is concave: thirds are cut off in
// y, and in x around that.
func inradius(p *contact.Polygon) float64 {
	lo, hi := p.Corners[0], p.Corners[0]
	for _, c := range p.Corners {
		lo, hi = contact.Point{X: min(lo.X, c.X), Y: min(lo.Y, c.Y)}, contact.Point{X: max(hi.X, c.X), Y: max(hi.Y, c.Y)}
	}
	return highest(lo.X, hi.X, func(x float64) float64 {
		return highest(lo.Y, hi.Y, func(y float64) float64 { return p.Margin(contact.Point{X: x, Y: y}) })
	})
}

func highest(a, b float64, f func(float64) float64) float64 {
	for range 80 {
		x, y := a+(b-a)/3, b-(b-a)/3
		if f(x) < f(y) {
			a = x
		} else {
			b = y
		}
	}
	return f((a + b) / 2)
}

func (r *reference) zmpAt() (level []priorities.Row) {
	x, y := r.add(&level, 0, true), r.add(&level, 0, true)
	for _, f := range r.feet {
		x[f.unknown+2], y[f.unknown+2] = f.point.X-r.st.r.ZMP.X, f.point.Y-r.st.r.ZMP.Y
	}
	return level
}

func (r *reference) base(components ...int) (level []priorities.Row) {
	J := make([]float64, 6*r.nv)
	at := kinematics.Place{Body: 1, Pose: spatial.Pose{R: spatial.Identity3}}
	r.s.kin.JacobianTo(J, at)
	A := r.s.kin.BiasAcceleration(at)
	l, t := r.st.r.Base.Linear.Sub(A.Linear), r.st.r.Base.Angular.Sub(A.Angular)
	want := []float64{l.X, l.Y, l.Z, t.X, t.Y, t.Z}
	for _, c := range components {
		if c < 3 && r.st.r.HasLinear || c >= 3 && r.st.r.HasAngular {
			copy(r.add(&level, want[c], true), J[c*r.nv:(c+1)*r.nv])
		}
	}
	return level
}

func (r *reference) limbs() (level []priorities.Row) {
	J := make([]float64, 6*r.nv)
	for _, l := range r.st.r.Limbs {
		chain := &r.s.m.Chains()[l.Chain]
		var p spatial.Vec3
		if chain.Contact != robot.NoContact {
			p = legged.Origin(&r.s.m.Contacts()[chain.Contact])
		}
		at := r.place(chain, p)
		r.s.kin.JacobianTo(J, at)
		w := l.Linear.Sub(r.s.kin.BiasAcceleration(at).Linear)
		for c, want := range []float64{w.X, w.Y, w.Z} {
			copy(r.add(&level, want, true), J[c*r.nv:(c+1)*r.nv])
		}
	}
	return level
}

func (r *reference) regularise() (level []priorities.Row) {
	for i := 6; i < r.nv; i++ {
		r.motion(r.add(&level, -r.h[i], true), i, 1)
	}
	for i := 6; i < r.n; i++ {
		r.add(&level, 0, true)[i] = 1e-2
	}
	return level
}

func (r *reference) seed() {
	limbs := r.limbs()
	for _, j := range r.st.r.Joints {
		r.add(&limbs, j.Acceleration, true)[j.V] = 1
	}
	r.p.Levels = [][]priorities.Row{r.dynamics(), r.contacts(), r.limits(), r.friction(), r.zmp()}
	if r.st.r.HasZMP {
		r.p.Levels = append(r.p.Levels, r.zmpAt())
	}
	r.p.Levels = append(r.p.Levels, r.base(0, 1, 2, 3, 4, 5), limbs, r.regularise())
}

func (r *reference) standard() {
	busy := map[int]bool{}
	moves := func(chain *robot.Chain) (all []int) {
		J := make([]float64, 6*r.nv)
		at := r.s.m.Frames()[chain.Tip].Body
		r.s.kin.JacobianTo(J, r.s.kin.At(chain.Tip))
		for b := at; b > 1; b = r.s.m.Bodies()[b].Parent {
			for k := range r.s.m.Bodies()[b].Kind.NumV() {
				all = append(all, r.s.m.Bodies()[b].V+k)
			}
		}
		return all
	}
	var tilt []priorities.Row
	for _, f := range r.feet {
		way := moves(f.chain)
		for _, v := range way {
			busy[v] = true
		}
		if len(f.set.Points) == 1 && len(way) >= 5 {
			A := r.s.kin.BiasAcceleration(r.place(f.chain, f.set.Points[0])).Angular
			copy(r.add(&tilt, -A.X, true), f.J[3*r.nv:4*r.nv])
			copy(r.add(&tilt, -A.Y, true), f.J[4*r.nv:5*r.nv])
		}
	}
	for _, l := range r.st.r.Limbs {
		for _, v := range moves(&r.s.m.Chains()[l.Chain]) {
			busy[v] = true
		}
	}
	asked := map[int]float64{}
	limbs := r.limbs()
	for _, j := range r.st.r.Joints {
		if busy[j.V] {
			r.add(&limbs, j.Acceleration, true)[j.V] = 1
		} else {
			asked[j.V] = j.Acceleration
		}
	}
	var posture []priorities.Row
	for v := 6; v < r.nv; v++ {
		if !busy[v] {
			r.add(&posture, asked[v], true)[v] = 1
		}
	}
	safe := append(append(r.limits(), r.friction()...), r.zmp()...)
	r.p.Levels = [][]priorities.Row{r.dynamics(), r.contacts(), tilt, safe, posture}
	if r.st.r.HasZMP {
		r.p.Levels = append(r.p.Levels, r.zmpAt())
	}
	r.p.Levels = append(r.p.Levels, r.base(2, 3, 4), r.base(0, 1, 5), limbs, r.regularise())
}

// unknowns are the accelerations and wrenches of an answer in the reference's order.
func (s *subject) unknowns(st *state, ans *wholebody.Answer) []float64 {
	x := append([]float64(nil), ans.Acceleration...)
	k := 0
	for _, sup := range st.r.Supports {
		if sup.Coefficient == 0 {
			continue
		}
		w := ans.Contacts[k]
		k++
		model := floatingbase.NewContactModel(&s.m.Contacts()[sup.Contact])
		six := []float64{w.Force.X, w.Force.Y, w.Force.Z, w.Torque.X, w.Torque.Y, w.Torque.Z}
		x = append(x, six[:3+model.Moments()]...)
	}
	return x
}
