package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"poise/dynamics"
	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
)

// Config says how a robot is simulated. The zero value is good.
type Config struct {
	Step    float64   // s; 0 is DefaultStep
	Sweeps  int       // of the solver; 0 is DefaultSweeps
	Passive []Passive // of each joint; nil is damping and friction of the URDF

	// Mesh returns the corners of a mesh file, named as in the URDF. Nil, or no corners:
	// the mesh touches nothing.
	Mesh func(name string) []spatial.Vec3

	// Touch lists pairs of links that touch each other. Links of bodies that are free of
	// each other always do, unless Apart says otherwise.
	Touch [][2]robot.FrameID
	Apart [][2]robot.FrameID // pairs that never touch
}

// What a Config leaves open.
const (
	DefaultStep   = 0.001
	DefaultSweeps = 20
)

// Model is a robot as the solver wants it. It never changes and is shared.
type Model struct {
	robot  *robot.Model
	space  *kinematics.Space
	h      float64
	sweeps int

	// rows are the velocities that move, those of parents before those of children
	n       int
	dof     []int32   // velocity of each row (n)
	up      []int32   // the row that carries a row, −1 for none (n)
	path    [][]int32 // rows that carry each body, the last first (bodies)
	rowPath [][]int32 // and each row, itself first (n)

	joints    []joint
	free      []several // bodies with six velocities
	planar    []several // and with three
	effective []float64 // least inertia that a motor feels, of each joint
	passive   []Passive
	features  []feature
	bodies    []bodyFeatures // with something to touch with
	shapes    []shape
	solids    []shape // that edges of the ground's boxes touch
	edgeSlot  int     // the first slot of such contacts
	pairs     []pair
	resists   bool // some joint has damping or dry friction
}

// joint is a joint with one coordinate.
type joint struct {
	q, v         int32
	row          int32 // −1 if it is welded or has several coordinates
	welded       bool
	lower, upper float64 // ±Inf if there is none
}

// several is a body whose joint has several coordinates.
type several struct{ q, v int }

// bodyFeatures are those features of a body.
type bodyFeatures struct {
	body        robot.BodyID
	first, last int // in features, last excluded
	centre      spatial.Vec3
	radius      float64 // of the ball about centre that holds them
	reach       float64 // how far they are from the body's origin
}

// NewModel compiles a robot. A floating robot needs something to stand with: contact
// points or collision shapes. Every part that moves needs a mass.
func NewModel(m *robot.Model, c Config) (*Model, error) {
	s := &Model{robot: m, space: kinematics.NewSpace(m), h: c.Step, sweeps: c.Sweeps, passive: c.Passive}
	if s.h == 0 {
		s.h = DefaultStep
	}
	if !(s.h > 0 && s.h <= maxStep) {
		return nil, fmt.Errorf("sim: a step of %g s is not within 0 … %g s", s.h, maxStep)
	}
	if s.sweeps == 0 {
		s.sweeps = DefaultSweeps
	}
	if s.passive == nil {
		s.passive = make([]Passive, len(m.Joints()))
		for i, j := range m.Joints() {
			s.passive[i] = Passive{Damping: j.Damping, Friction: j.Friction}
		}
	}
	if len(s.passive) != len(m.Joints()) {
		panic("sim: one Passive per joint")
	}
	s.compileJoints()
	s.compileRows()
	if err := s.checkMass(); err != nil {
		return nil, err
	}
	s.feelInertia()
	s.compileShapes(c)
	if m.Floating() && len(s.features) == 0 {
		why := ""
		if mesh := s.unreadMesh(); mesh != "" {
			why = fmt.Sprintf(" that can be read (%s cannot)", mesh)
		}
		return nil, fmt.Errorf("sim: robot %q floats, and has neither contact points nor collision shapes%s: it would fall for ever", m.Name(), why)
	}
	return s, nil
}

// maxStep is the longest step that makes sense for contacts, s.
const maxStep = 0.02

// Robot returns the robot.
func (m *Model) Robot() *robot.Model { return m.robot }

// Contacts returns how many contacts there may be at once.
func (m *Model) Contacts() int { return m.slots() }

// Step returns the length of a step, s.
func (m *Model) Step() float64 { return m.h }

func (m *Model) compileJoints() {
	m.joints = make([]joint, len(m.robot.Joints()))
	for i := range m.joints {
		j := &m.robot.Joints()[i]
		c := joint{q: int32(j.Q), v: int32(j.V), row: -1, welded: j.Virtual, lower: math.Inf(-1), upper: math.Inf(1)}
		if j.Kind == robot.Revolute || j.Kind == robot.Prismatic {
			if j.Limits.Lower.Has {
				c.lower = j.Limits.Lower.Value
			}
			if j.Limits.Upper.Has {
				c.upper = j.Limits.Upper.Value
			}
		}
		m.joints[i] = c
		p := &m.passive[i]
		m.resists = m.resists || p.Damping != 0 || p.Friction != 0 || p.Stribeck != 0
	}
}

// compileRows numbers the velocities that move. A tree gives each row the row of its
// parent; where followers close loops, every row is carried by the one before.
func (m *Model) compileRows() {
	bodies := m.robot.Bodies()
	row := make([]int32, m.robot.NumV())
	for i := range row {
		row[i] = -1
	}
	loops := false
	last := make([]int32, len(bodies)) // the last row that carries a body
	last[robot.World] = -1
	for b := 1; b < len(bodies); b++ {
		body := &bodies[b]
		last[b] = last[body.Parent]
		if m.weldedBody(body) {
			continue
		}
		if body.Mimic {
			loops = true
			continue
		}
		switch body.Kind {
		case robot.Floating:
			m.free = append(m.free, several{body.Q, body.V})
		case robot.Planar:
			m.planar = append(m.planar, several{body.Q, body.V})
		}
		for k := range body.Kind.NumV() {
			r := int32(len(m.dof))
			row[body.V+k] = r
			m.dof = append(m.dof, int32(body.V+k))
			m.up = append(m.up, last[b])
			last[b] = r
		}
	}
	m.n = len(m.dof)
	if loops {
		for i := range m.up {
			m.up[i] = int32(i) - 1
		}
		for b := 1; b < len(bodies); b++ {
			last[b] = last[bodies[b].Parent]
			if r := row[bodies[b].V]; r >= 0 && !m.weldedBody(&bodies[b]) {
				last[b] = max(last[b], r+int32(bodies[b].Kind.NumV())-1)
			}
		}
	}
	m.path = make([][]int32, len(bodies))
	for b := range bodies {
		for r := last[b]; r >= 0; r = m.up[r] {
			m.path[b] = append(m.path[b], r)
		}
	}
	m.rowPath = make([][]int32, m.n)
	for r := range m.rowPath {
		m.rowPath[r] = m.chain(int32(r))
	}
	for i := range m.joints {
		if j := &m.joints[i]; m.robot.Joints()[i].Kind.NumV() == 1 {
			j.row = row[j.v]
		}
	}
}

// weldedBody reports whether no motion of its own moves a body against its parent.
func (m *Model) weldedBody(b *robot.Body) bool {
	return b.Joint != robot.NoJoint && m.joints[b.Joint].welded
}

// NoMass is the error of a robot that has nothing to move.
type NoMass struct {
	Robot string
	Joint string // that moves nothing; empty if the whole robot has no mass
	Link  string // that needs an <inertial>
}

func (e *NoMass) Error() string {
	if e.Joint == "" {
		return fmt.Sprintf("sim: robot %q has no mass: every link needs an <inertial>", e.Robot)
	}
	return fmt.Sprintf("sim: what joint %q moves has no mass: its links need an <inertial>, as link %q", e.Joint, e.Link)
}

// checkMass names what has no mass to move.
func (m *Model) checkMass() error {
	bodies := m.robot.Bodies()
	below := make([]spatial.Inertia, len(bodies)) // of a body and all that hangs on it
	for b := len(bodies) - 1; b > 0; b-- {
		body := &bodies[b]
		below[b].Mass += body.Inertia.Mass
		I := &body.Inertia.I
		below[b].I[0] += I[0] + I[4] + I[8]
		below[body.Parent].Mass += below[b].Mass
		below[body.Parent].I[0] += below[b].I[0]
	}
	for b := 1; b < len(bodies); b++ {
		body := &bodies[b]
		if body.Mimic || m.weldedBody(body) {
			continue
		}
		rotor := body.Joint != robot.NoJoint && m.passive[body.Joint].Armature > 0
		switch {
		case below[b].Mass > 0 || rotor:
		case body.Joint == robot.NoJoint:
			return &NoMass{Robot: m.robot.Name(), Link: m.robot.Frames()[body.Link].Name}
		case below[b].I[0] <= 0:
			return &NoMass{Robot: m.robot.Name(), Joint: body.Name, Link: m.robot.Frames()[body.Link].Name}
		}
	}
	return nil
}

// feelInertia finds the least inertia that each motor feels, with everything else free:
// 1/(M⁻¹)ⱼⱼ, at rest and in some random poses, and half of that to be sure.
func (m *Model) feelInertia() {
	const poses, half = 12, 0.5
	rng := rand.New(rand.NewPCG(1, 1))
	m.effective = make([]float64, len(m.joints))
	for i := range m.effective {
		m.effective[i] = math.Inf(1)
	}
	dyn := dynamics.NewData(m.robot)
	nv, n := m.robot.NumV(), m.n
	armature := make([]float64, nv)
	for i, p := range m.passive {
		if m.joints[i].row >= 0 {
			armature[m.joints[i].v] = p.Armature
		}
	}
	M, a, b, q := make([]float64, nv*nv), make([]float64, n*n), make([]float64, n), make([]float64, m.robot.NumQ())
	m.space.NeutralTo(q)
	for range poses {
		dyn.MassMatrixTo(M, q, dynamics.Load{Armature: armature})
		for r, v := range m.dof {
			for c, u := range m.dof[:r+1] {
				a[r*n+c] = M[int(v)*nv+int(u)]
			}
		}
		m.space.RandomTo(q, rng)
		if !m.factor(a) {
			continue
		}
		for i := range m.joints {
			if j := &m.joints[i]; j.row >= 0 {
				clear(b)
				b[j.row] = 1
				m.carry(b, a)
				m.spread(b, a)
				m.effective[i] = math.Min(m.effective[i], half/b[j.row])
			}
		}
	}
}

// implicit returns the share θ of the stiffness of a motor that counts at the end of the
// step: none if the step is short enough for the motor's vibration, half for a stiff one.
// With s = h²·K/I a step is stable where (1 − 2θ)·s ≤ 4, summed over all joints; θ takes
// energy out of the vibration, which a motor that is not stiff should keep.
func (m *Model) implicit(joint int, kp float64) float64 {
	const sum = 2
	s := m.h * m.h * kp / m.effective[joint] * float64(m.n)
	if !(s > sum) {
		return 0
	}
	return (1 - sum/s) / 2
}

// chain is the path of a row: itself and all that carry it.
func (m *Model) chain(r int32) []int32 {
	var path []int32
	for ; r >= 0; r = m.up[r] {
		path = append(path, r)
	}
	return path
}

// Feet returns the chains that have contact points, in the order of touch sensors.
func (m *Model) Feet() []robot.ChainID {
	var feet []robot.ChainID
	for i := range m.features {
		if c := m.features[i].foot; c != robot.NoChain && !slices.Contains(feet, c) {
			feet = append(feet, c)
		}
	}
	slices.Sort(feet)
	return feet
}
