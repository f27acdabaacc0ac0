package wholebody

import (
	"fmt"
	"math"

	"poise/contact"
	"poise/dynamics"
	"poise/floatingbase"
	"poise/hierarchy"
	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
)

const sides = floatingbase.Sides

// leastInradius is that of a polygon with area, m: feet on a line leave rounding.
const leastInradius = 1e-9

// leastVolume is the part of its rows' lengths that the determinant of J·Jᵀ has in a limb that is not straight.
const leastVolume = 1e-9

// regularisation of accelerations and wrenches beside torques: the root of 1e-4.
const regularisation = 1e-2

// Solver is for one robot. Make one with New.
type Solver struct {
	m        *robot.Model
	kin      *kinematics.Data
	dyn      *dynamics.Data
	levels   *hierarchy.Solver
	models   []floatingbase.ContactModel // of each contact set
	rowNames *Names
	ways     [][]int // of each chain: velocities that move its tip, behind the base's
	nv       int
	weight   float64 // N
	scale    float64 // of the rows that are asked for
	fault    floatingbase.InputError
	armature []float64 // of each velocity

	stands, named []bool // of each chain
	busy          []bool // of each velocity: it has something to do
	yields        []bool // likewise: what it is asked for comes after its limb's point

	feet    []foot
	n       int       // unknowns
	M, h    []float64 // mass matrix and forces without acceleration
	torque  []int     // rows of the hierarchy with each torque
	J, rate []float64
	soles   []contact.Point
	polygon contact.Polygon
	heading float64
	beyond  float64 // length of the accelerations of points that no joint can change
	names   []string
	safety  []bool
	above   bool // posture has a level above that of the limbs

	mostEdges int
	impact    impact
}

// foot is a support that stands.
type foot struct {
	chain   robot.ChainID
	model   *floatingbase.ContactModel
	R       spatial.Mat3 // of the tip
	place   kinematics.Place
	point   spatial.Vec3
	J       []float64 // 6×nv at the point, world axes
	unknown int       // first of its unknowns

	coefficient float64
	back        spatial.Twist // acceleration that takes it back to where it stood
}

func (f *foot) unknowns() int { return 3 + f.model.Moments() }

// New makes room for a robot with a free base.
func New(m *robot.Model) (*Solver, error) {
	if !m.Floating() {
		return nil, fmt.Errorf("wholebody: the base of robot %q is fixed, and only a free one stands on contacts", m.Name())
	}
	nv, chains := m.NumV(), len(m.Chains())
	f := func(k int) []float64 { return make([]float64, k) }
	s := &Solver{
		m: m, kin: kinematics.NewData(m), dyn: dynamics.NewData(m), nv: nv, rowNames: NewNames(m), weight: m.Mass() * m.Gravity().Norm(), scale: 1,
		stands: make([]bool, chains), named: make([]bool, chains), busy: make([]bool, nv), yields: make([]bool, nv),
		feet: make([]foot, chains), M: f(nv * nv), h: f(nv), torque: make([]int, nv), J: f(6 * nv), rate: f(6),
	}
	most := 0
	for i := range m.Contacts() {
		k := floatingbase.NewContactModel(&m.Contacts()[i])
		s.models = append(s.models, k)
		most = max(most, len(k.Soles()))
	}
	for i := range s.feet {
		s.feet[i].J = f(6 * nv)
		s.ways = append(s.ways, way(m, m.Chains()[i].Tip))
	}
	// dynamics, base, zmp; of each joint torque, its change, acceleration, request and regularisation; of
	// each chain contact, orientation, limits, edges, point, regularisation
	// (twice where the edges are those of the capture point); of joints that are fixed one more
	rows := 16 + 7*nv + chains*(6+2+7+sides+2*most+6+6+1)
	s.levels = hierarchy.New(nv+6*chains, rows, mostLevels)
	s.armature, s.mostEdges, s.impact = f(nv), chains*most, newImpact(nv, chains)
	return s, nil
}

// way lists the velocities that move a frame, without the base's.
func way(m *robot.Model, f robot.FrameID) (all []int) {
	for b := m.Frames()[f].Body; b > 0; b = m.Bodies()[b].Parent {
		for k := range m.Bodies()[b].Kind.NumV() {
			if v := m.Bodies()[b].V + k; v >= 6 {
				all = append(all, v)
			}
		}
	}
	return all
}

// Forget drops what is known from the call before, which only saves work.
func (s *Solver) Forget() { s.levels.Forget() }

// Solve answers a request in a state. Loop-safe, also where it refuses.
func (s *Solver) Solve(ans *Answer, q, v []float64, r *Request) error {
	if err := s.check(q, v, r); err != nil {
		return err
	}
	s.kin.UpdatePosition(q)
	s.kin.UpdateVelocity(v)
	load := dynamics.Load{}
	if r.Armature != nil {
		clear(s.armature)
		copy(s.armature[6:], r.Armature)
		load.Armature = s.armature
	}
	s.dyn.MassMatrixTo(s.M, q, load)
	s.dyn.BiasTo(s.h, q, v, dynamics.Load{})
	s.stand(r)
	s.levels.Reset(s.n)
	if r.Iterations > 0 {
		s.levels.Within(r.Iterations)
	}
	s.build(r)
	if !s.levels.Solve(nil) {
		return s.refuse("a number of the robot's equations", -1, math.NaN(), "finite ones: the numbers given are too large")
	}
	s.finish(ans)
	return nil
}

// finish turns the answer of the hierarchy into torques, wrenches and words.
func (s *Solver) finish(ans *Answer) {
	x := s.levels.X()
	ans.Acceleration = append(ans.Acceleration[:0], x[:s.nv]...)
	ans.Torque = ans.Torque[:0]
	for j := 6; j < s.nv; j++ {
		sum := s.h[j]
		for k, m := range s.M[j*s.nv : (j+1)*s.nv] {
			sum += m * x[k]
		}
		for i := range s.feet {
			f := &s.feet[i]
			for c := range f.unknowns() {
				sum -= f.J[c*s.nv+j] * x[f.unknown+c]
			}
		}
		ans.Torque = append(ans.Torque, sum)
	}
	ans.Contacts = ans.Contacts[:0]
	for i := range s.feet {
		f := &s.feet[i]
		w := floatingbase.ContactWrench{Chain: f.chain, Point: f.point}
		u := x[f.unknown : f.unknown+f.unknowns()]
		w.Force = spatial.Vec3{X: u[0], Y: u[1], Z: u[2]}
		if len(u) >= 5 {
			w.Torque.X, w.Torque.Y = u[3], u[4]
		}
		if len(u) == 6 {
			w.Torque.Z = u[5]
		}
		ans.Contacts = append(ans.Contacts, w)
	}
	ans.Feasible, ans.Iterations = true, s.levels.Iterations()
	levels := s.levels.Levels()
	for len(ans.Levels) < len(levels) {
		ans.Levels = append(ans.Levels, Level{})
	}
	ans.Levels = ans.Levels[:len(levels)]
	for i, l := range levels {
		a := &ans.Levels[i]
		*a = Level{s.names[i], l.Residual, l.Slack, l.Status, l.Iterations, a.Active[:0], s.safety[i]}
		for _, id := range l.Active {
			a.Active = append(a.Active, Row(id))
		}
		if a.Name == "contacts" {
			a.Residual = math.Hypot(a.Residual, s.beyond)
		}
		ans.Feasible = ans.Feasible && (!a.Safety || a.Slack < tolFeasible)
	}
}
