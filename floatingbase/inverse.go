package floatingbase

import (
	"fmt"
	"math"

	"poise/contact"
	"poise/dynamics"
	"poise/kinematics"
	"poise/linalg"
	"poise/qp"
	"poise/robot"
	"poise/spatial"
)

// Support is a chain that touches the ground with a set of its contact points.
type Support struct {
	Chain       robot.ChainID
	Contact     robot.ContactID
	Coefficient float64 // 0 in the air … 1 stands
}

// ContactWrench is what the ground gives a support, in world axes.
type ContactWrench struct {
	Chain          robot.ChainID
	Point          spatial.Vec3 // the origin of the set, in the world: its first point, or the middle of bare ones
	spatial.Wrench              // torque about Point

	Speed float64 // of its fastest point as the robot moves, m/s: of one that stands 0
	Asked float64 // acceleration of its points that was asked for, root of the sum of squares, m/s²
}

// Answer is what Solve computes. The zero value is ready; it grows when it is first used.
type Answer struct {
	Acceleration []float64 // consistent with the contacts, as in dynamics
	Correction   float64   // length of its difference from what was asked
	Torque       []float64 // one for each velocity behind the base's
	Contacts     []ContactWrench
	Residual     spatial.Wrench // on the base, about its origin, world axes: no contact supplies it

	Com     spatial.Vec3
	CoP     contact.Point // centre of pressure of the wrenches
	ZMP     contact.Point // zero-moment point of what the motion needs
	HasCoP  bool          // the wrenches press
	HasZMP  bool          // the motion needs the ground to press, and there is one
	Polygon contact.Polygon
	Margin  float64 // of the ZMP in the polygon, m; −∞ if either is missing

	Limited    bool      // wrenches had to be kept inside their limits
	Status     qp.Status // of that; if not Optimal, the residual may be more than the least
	Iterations int
}

// Numbers of the method.
const (
	leastCoefficient = 1e-9  // less is absent: 1e-9 of the weight at most
	tolRank          = 1e-7  // rows of contacts that depend on each other up to this are solved with more care
	yielding         = 1e-12 // of their compliance, by which all contacts yield then
	refinements      = 2     // that take back what they yielded
	regularisation   = 1e-8  // of the wrenches' norm beside the residual's
	forgiving        = 1e-4  // more of it, beside a residual of the weight
	torsion          = 0.6   // of friction·sole·fz
	leastPressure    = 0.05  // of the weight: less has no centre
)

// InputError says which number a solver cannot take. It belongs to the solver and holds until
// its next Solve.
type InputError struct {
	What  string
	Index int // in What; −1 if that is one number
	Value float64
	Want  string
}

func (e *InputError) Error() string {
	at := e.What
	if e.Index >= 0 {
		at = fmt.Sprintf("%s[%d]", e.What, e.Index)
	}
	return fmt.Sprintf("%s is %g, want %s", at, e.Value, e.Want)
}

// Inverse is inverse dynamics with contacts for one robot. Make one with NewInverse.
type Inverse struct {
	m      *robot.Model
	kin    *kinematics.Data
	dyn    *dynamics.Data
	tree   tree
	models []model // of each contact set
	nv     int
	weight float64 // N

	singular []*dynamics.SingularError // of each velocity
	fault    InputError
	chains   []bool // used in this call

	feet    []foot
	carry   contact.Soles // from above
	ground  float64       // mean height of the soles
	soles   int
	factor  []float64 // mass matrix, then its factor
	diag    []float64
	W       []float64 // rows × nv: L⁻ᵀ·Jᵀ, row by row
	G       []float64 // rows × rows
	L       []float64
	lq      *linalg.LQ // of contacts that depend on each other
	u       []float64
	rate, λ []float64 // rows: acceleration to take away, multipliers
	change  []float64
	b       []float64 // nv: generalised forces that the motion needs

	solver       *qp.Solver
	A            []float64 // 6 × unknowns, with √s in it
	y, row       []float64
	active       []int // rows that hold the wrenches
	H, g         []float64
	need         [6]float64 // wrench on the base, world axes, over the weight
	K, factorOfK [36]float64
	heading      float64
}

// foot is a support in one call.
type foot struct {
	model    *model
	R        spatial.Mat3 // of the tip
	s, root  float64      // coefficient and its square root
	point    spatial.Vec3
	from     int       // velocity nearest to it
	J        []float64 // 6×nv at the point, world axes
	row      int       // first of its rows
	unknown  int       // first of its unknowns: force, moment over sole
	unknowns int
	cap      float64 // greatest force over the weight
	soft     float64 // compliance of its rows: 0 if it stands
	answer   int     // its place in Answer.Contacts

	most     float64 // greatest force over the weight, in its unknowns
	torsion  float64 // greatest moment about z over sole·fz
	friction float64
	rings    []ring // limits, in room
	room     []ring
}

// NewInverse makes room for a robot with a free base.
func NewInverse(m *robot.Model) (*Inverse, error) {
	if !m.Floating() {
		return nil, fmt.Errorf("floatingbase: the base of robot %q is fixed, and only a free one stands on contacts", m.Name())
	}
	weight := m.Mass() * m.Gravity().Norm()
	if !(weight > 0) {
		return nil, fmt.Errorf("floatingbase: robot %q weighs %g N, want more than 0", m.Name(), weight)
	}
	nv, most := m.NumV(), 6*len(m.Chains())
	f := func(k int) []float64 { return make([]float64, k) }
	inv := &Inverse{
		m: m, kin: kinematics.NewData(m), dyn: dynamics.NewData(m), tree: newTree(m), nv: nv, weight: weight,
		chains: make([]bool, len(m.Chains())), feet: make([]foot, 0, len(m.Chains())),
		factor: f(nv * nv), diag: f(nv), W: f(most * nv), G: f(most * most), L: f(most * most), lq: linalg.NewLQ(most, nv+most), u: f(nv + most),
		rate: f(most), λ: f(most), change: f(nv), b: f(nv),
		A: f(6 * most), y: f(most), row: f(most), active: make([]int, 0, most), H: f(most * most), g: f(most),
		solver: qp.New(most, rowsPerFoot*len(m.Chains())),
	}
	for i := range m.Contacts() {
		inv.models = append(inv.models, newModel(&m.Contacts()[i]))
	}
	for i := range inv.feet[:cap(inv.feet)] {
		foot := &inv.feet[:cap(inv.feet)][i]
		foot.J, foot.room = f(6*nv), make([]ring, 0, mostRings)
	}
	inv.singular = make([]*dynamics.SingularError, nv)
	for _, b := range m.Bodies()[1:] {
		for k := range b.Kind.NumV() {
			if e := &inv.singular[b.V+k]; *e == nil || !b.Mimic {
				*e = &dynamics.SingularError{Joint: b.Name}
			}
		}
	}
	return inv, nil
}

// Solve answers which torques and wrenches give the acceleration a, as far as the supports
// allow it. Friction is that of all contacts. Loop-safe, also where it refuses.
func (inv *Inverse) Solve(ans *Answer, q, v, a []float64, supports []Support, friction float64) error {
	if err := inv.check(q, v, a, supports, friction); err != nil {
		return err
	}
	inv.kin.UpdatePosition(q)
	inv.kin.UpdateVelocity(v)
	inv.stand(ans, supports)
	ans.Acceleration = append(ans.Acceleration[:0], a...)
	if k := inv.consistent(ans, q); k >= 0 {
		return inv.singular[k]
	}
	inv.dyn.InverseTo(inv.b, q, v, ans.Acceleration, dynamics.Load{})
	X_WB := inv.kin.BodyPose(inv.base())
	needed := inv.needed(X_WB)
	inv.distribute(ans, X_WB, friction)
	inv.finish(ans, X_WB, needed)
	inv.balance(ans, X_WB, needed)
	return nil
}

// base is the body that is free.
func (inv *Inverse) base() robot.BodyID { return 1 }

func (inv *Inverse) refuse(what string, index int, value float64, want string) error {
	inv.fault = InputError{what, index, value, want}
	return &inv.fault
}

func (inv *Inverse) check(q, v, a []float64, supports []Support, friction float64) error {
	for _, x := range [...]struct {
		name   string
		values []float64
	}{{"q", q}, {"v", v}, {"a", a}} {
		for i, value := range x.values {
			if value-value != 0 {
				return inv.refuse(x.name, i, value, "a finite number")
			}
		}
	}
	if !(friction >= 0) || math.IsInf(friction, 0) {
		return inv.refuse("friction", -1, friction, "a finite number, 0 or more")
	}
	clear(inv.chains)
	for i, s := range supports {
		switch {
		case s.Chain < 0 || int(s.Chain) >= len(inv.chains):
			return inv.refuse("chain of support", i, float64(s.Chain), "one of the robot's")
		case inv.chains[s.Chain]:
			return inv.refuse("chain of support", i, float64(s.Chain), "each chain once")
		case s.Contact < 0 || int(s.Contact) >= len(inv.models) || len(inv.models[s.Contact].points) == 0:
			return inv.refuse("contact of support", i, float64(s.Contact), "one of the robot's, with points")
		case !(s.Coefficient >= 0 && s.Coefficient <= 1):
			return inv.refuse("coefficient of support", i, s.Coefficient, "0 to 1")
		}
		inv.chains[s.Chain] = true
	}
	return nil
}

// stand finds where the supports are and what they can give.
func (inv *Inverse) stand(ans *Answer, supports []Support) {
	inv.feet, ans.Contacts = inv.feet[:0], ans.Contacts[:0]
	inv.carry.Clear()
	inv.ground, inv.soles = 0, 0
	row, unknown := 0, 0
	for _, s := range supports {
		if !(s.Coefficient > 0) {
			continue
		}
		k := &inv.models[s.Contact]
		tip := inv.kin.At(inv.m.Chains()[s.Chain].Tip)
		X_WT := inv.kin.Pose(tip)
		for _, p := range k.soles {
			inv.ground += X_WT.Apply(p).Z
			inv.soles++
		}
		middles, radius := k.area()
		for _, p := range middles {
			x := X_WT.Apply(p)
			inv.carry.Add(contact.Point{X: x.X, Y: x.Y}, radius)
		}
		point := X_WT.Apply(k.origin)
		ans.Contacts = append(ans.Contacts, ContactWrench{Chain: s.Chain, Point: point})
		if s.Coefficient < leastCoefficient {
			continue
		}
		inv.feet = inv.feet[:len(inv.feet)+1]
		f := &inv.feet[len(inv.feet)-1]
		*f = foot{
			model: k, R: X_WT.R, s: s.Coefficient, root: math.Sqrt(s.Coefficient), point: point,
			from: inv.tree.last[tip.Body], J: f.J, room: f.room, row: row, unknown: unknown, unknowns: 3 + k.moments,
			cap: s.Coefficient / (1 - s.Coefficient), answer: len(ans.Contacts) - 1,
		}
		place := tip.Offset(spatial.Pose{R: spatial.Identity3, P: k.origin})
		inv.kin.JacobianTo(f.J, place)
		ans.Contacts[f.answer].Speed = inv.rowsOf(f, X_WT.R, place)
		row, unknown = row+k.rank, unknown+f.unknowns
	}
	if inv.soles > 0 {
		inv.ground /= float64(inv.soles)
	}
}

// Press adds to the torques of the last answer what it takes to press down with a contact by a force more,
// N, and leaves all else of it as it was. Loop-safe.
func (inv *Inverse) Press(ans *Answer, contact int, force float64) {
	for i := range inv.feet {
		f := &inv.feet[i]
		if f.answer != contact {
			continue
		}
		for j := 6; j < inv.nv; j++ {
			ans.Torque[j-6] -= f.J[2*inv.nv+j] * force
		}
	}
}

// rowsOf stores the independent rows of a foot in W and J̇·v of them in rate. It returns the
// speed of its fastest point.
func (inv *Inverse) rowsOf(f *foot, R spatial.Mat3, place kinematics.Place) (speed float64) {
	k, n := f.model, inv.nv
	A := inv.kin.BiasAcceleration(place)
	V := inv.kin.Twist(place)
	ω := V.Angular
	rate := inv.rate[f.row : f.row+k.rank]
	clear(rate)
	for i, p := range k.points {
		r := R.MulVec(p.Sub(k.origin))
		speed = max(speed, V.Linear.Add(ω.Cross(r)).Norm())
		e := R.TMulVec(A.Linear.Add(A.Angular.Cross(r)).Add(ω.Cross(ω.Cross(r))))
		for c, x := range [3]float64{e.X, e.Y, e.Z} {
			for m := range rate {
				rate[m] += k.U[(3*i+c)*k.rank+m] * x
			}
		}
	}
	for m := range k.rank {
		c := k.C[m*6 : m*6+6]
		// C·diag(Rᵀ, Rᵀ): the row in world axes
		l := R.MulVec(spatial.Vec3{X: c[0], Y: c[1], Z: c[2]})
		t := R.MulVec(spatial.Vec3{X: c[3], Y: c[4], Z: c[5]})
		w := inv.W[(f.row+m)*n : (f.row+m+1)*n]
		clear(w)
		for i := f.from; i >= 0; i = inv.tree.parent[i] {
			w[i] = l.X*f.J[i] + l.Y*f.J[n+i] + l.Z*f.J[2*n+i] + t.X*f.J[3*n+i] + t.Y*f.J[4*n+i] + t.Z*f.J[5*n+i]
		}
	}
	return speed
}

// consistent changes the acceleration so that points that stand do not accelerate:
//
//	a ← a − M⁻¹·Jᵀ·λ,   (J·M⁻¹·Jᵀ + D)·λ = J·a + J̇·v
//
// D is zero for s = 1 and grows as ((1 − s)/s)² of the mean diagonal element of the foot:
// s = 1e-6 leaves 1e-12 of the change. Contacts may depend on each other, or nearly so, and
// contradict each other. No rank is decided, for that would jump: all of them yield by the same
// small η, so that they share what is impossible, and what they yielded though they need not is
// taken back (iterated regularisation of Tikhonov):
//
//	(J·M⁻¹·Jᵀ + D + η)·λₖ₊₁ = J·a + J̇·v + η·λₖ
//
// It returns the velocity that no mass resists, or −1.
func (inv *Inverse) consistent(ans *Answer, q []float64) (singular int) {
	n, a := inv.nv, ans.Acceleration
	inv.dyn.MassMatrixTo(inv.factor, q, dynamics.Load{})
	if k := inv.tree.factor(inv.factor, inv.diag); k >= 0 {
		return k
	}
	ans.Correction = 0
	if len(inv.feet) == 0 {
		return -1
	}
	rows := 0
	for i := range inv.feet {
		f := &inv.feet[i]
		for m := f.row; m < f.row+f.model.rank; m++ {
			w := inv.W[m*n : (m+1)*n]
			for j := f.from; j >= 0; j = inv.tree.parent[j] {
				inv.rate[m] += w[j] * a[j]
			}
			inv.tree.halfSolve(w, inv.factor, f.from)
		}
		ans.Contacts[f.answer].Asked = norm(inv.rate[f.row : f.row+f.model.rank])
		rows += f.model.rank
	}
	η := inv.gram(rows)
	rate := inv.rate[:rows]
	if linalg.CholeskyTo(inv.L[:rows*rows], inv.G[:rows*rows], rows, tolRank) == rows {
		inv.quick(rate, η)
	} else {
		inv.careful(rate, η)
	}
	inv.tree.solve(inv.change, inv.factor)
	for i, x := range inv.change {
		a[i] -= x
	}
	ans.Correction = norm(inv.change)
	return -1
}

// quick stores in change what takes the rates away, with the factor of Cholesky.
func (inv *Inverse) quick(rate []float64, η float64) {
	rows := len(rate)
	λ, L := inv.λ[:rows], inv.L[:rows*rows]
	clear(λ)
	for range 1 + refinements {
		for m, r := range rate {
			λ[m] = r + η*λ[m]
		}
		linalg.CholeskySolve(λ, L, rows)
	}
	clear(inv.change)
	for i := range inv.feet {
		f := &inv.feet[i]
		for m := f.row; m < f.row+f.model.rank; m++ {
			w := inv.W[m*inv.nv : (m+1)*inv.nv]
			for j := f.from; j >= 0; j = inv.tree.parent[j] {
				inv.change[j] += λ[m] * w[j]
			}
		}
	}
}

// careful does the same where the condition, which the matrix squares, is too bad for that: the
// shortest (x, z) with W·x + √(D + η)·z = rate is found by reflections of the rows.
func (inv *Inverse) careful(rate []float64, η float64) {
	n, rows := inv.nv, len(rate)
	inv.lq.Reset(n + rows)
	for i := range inv.feet {
		f := &inv.feet[i]
		for m := f.row; m < f.row+f.model.rank; m++ {
			w := inv.W[m*n : (m+1)*n]
			soft := f.soft + η
			row := inv.lq.Row(math.Sqrt(dot(w, w) + soft))
			copy(row, w)
			row[n+m] = math.Sqrt(soft)
		}
	}
	inv.lq.Decompose(0)
	clear(inv.change)
	u := inv.u[:n+rows]
	for range 1 + refinements {
		inv.lq.Solve(u, rate)
		for i, x := range u[:n] {
			inv.change[i] += x
		}
		for i := range inv.feet {
			f := &inv.feet[i]
			for m := f.row; m < f.row+f.model.rank; m++ {
				rate[m] = η / math.Sqrt(f.soft+η) * u[n+m]
			}
		}
	}
}

// gram stores J·M⁻¹·Jᵀ + D + η in G and returns η.
func (inv *Inverse) gram(rows int) (η float64) {
	n, G := inv.nv, inv.G
	sum := 0.0
	for i := range inv.feet {
		f := &inv.feet[i]
		trace := 0.0
		for m := f.row; m < f.row+f.model.rank; m++ {
			w := inv.W[m*n : (m+1)*n]
			for k := range m + 1 {
				u, sum := inv.W[k*n:(k+1)*n], 0.0
				for j := f.from; j >= 0; j = inv.tree.parent[j] {
					sum += w[j] * u[j]
				}
				G[m*rows+k], G[k*rows+m] = sum, sum
			}
			trace += G[m*rows+m]
		}
		soft := (1 - f.s) / f.s
		f.soft = soft * soft * trace / float64(f.model.rank)
		for m := f.row; m < f.row+f.model.rank; m++ {
			G[m*rows+m] += f.soft
		}
		sum += trace
	}
	η = yielding * sum / float64(rows)
	for m := range rows {
		G[m*rows+m] += η
	}
	return η
}

// needed returns the wrench on the base that the motion needs, world axes.
func (inv *Inverse) needed(X_WB spatial.Pose) spatial.Wrench {
	w := spatial.Wrench{
		Force:  X_WB.R.MulVec(spatial.Vec3{X: inv.b[0], Y: inv.b[1], Z: inv.b[2]}),
		Torque: X_WB.R.MulVec(spatial.Vec3{X: inv.b[3], Y: inv.b[4], Z: inv.b[5]}),
	}
	inv.need = [6]float64{w.Force.X, w.Force.Y, w.Force.Z, w.Torque.X, w.Torque.Y, w.Torque.Z}
	for i := range inv.need {
		inv.need[i] /= inv.weight
	}
	return w
}

// finish takes the wrenches from what the motion needs: joints give the rest of their
// rows, and nothing that of the base's.
func (inv *Inverse) finish(ans *Answer, X_WB spatial.Pose, needed spatial.Wrench) {
	n := inv.nv
	ans.Torque = append(ans.Torque[:0], inv.b[6:]...)
	ans.Residual = needed
	for i := range inv.feet {
		f := &inv.feet[i]
		w := &ans.Contacts[f.answer].Wrench
		for j := f.from; j >= 6; j = inv.tree.parent[j] {
			ans.Torque[j-6] -= f.J[j]*w.Force.X + f.J[n+j]*w.Force.Y + f.J[2*n+j]*w.Force.Z +
				f.J[3*n+j]*w.Torque.X + f.J[4*n+j]*w.Torque.Y + f.J[5*n+j]*w.Torque.Z
		}
		ans.Residual.Force = ans.Residual.Force.Sub(w.Force)
		ans.Residual.Torque = ans.Residual.Torque.Sub(w.Torque).Sub(f.point.Sub(X_WB.P).Cross(w.Force))
	}
}

// balance fills in centre of mass, centre of pressure, zero-moment point and polygon.
func (inv *Inverse) balance(ans *Answer, X_WB spatial.Pose, needed spatial.Wrench) {
	ans.Com, _ = inv.kin.Com()
	inv.carry.Hull(&ans.Polygon)
	var given spatial.Wrench
	for _, c := range ans.Contacts {
		given = given.Add(spatial.Wrench{Force: c.Force, Torque: c.Torque.Add(c.Point.Cross(c.Force))})
	}
	needed.Torque = needed.Torque.Add(X_WB.P.Cross(needed.Force))
	ans.CoP, ans.HasCoP = inv.centre(given)
	ans.ZMP, ans.HasZMP = inv.centre(needed)
	ans.Margin = math.Inf(-1)
	if ans.HasZMP {
		ans.Margin = ans.Polygon.Margin(ans.ZMP)
	}
}

// centre returns where on the plane of the soles a wrench about the world's origin has no
// horizontal torque.
func (inv *Inverse) centre(w spatial.Wrench) (contact.Point, bool) {
	if inv.soles == 0 || !(w.Force.Z > leastPressure*inv.weight) {
		return contact.Point{}, false
	}
	w.Torque = w.Torque.Sub(spatial.Vec3{Z: inv.ground}.Cross(w.Force))
	p, ok := contact.ZMP(w)
	return p, ok
}

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

func norm(a []float64) float64 { return math.Sqrt(dot(a, a)) }
