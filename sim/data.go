package sim

import (
	"math"

	"poise/dynamics"
	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
)

// State is all that one step hands to the next.
type State struct {
	Q, V []float64 // NumQ, NumV
	Tick uint64    // steps made

	impulse []spatial.Vec3 // of each contact that there may be, world axes, N·s
	bound   []float64      // of each joint's limit, N·m·s
	dry     []float64      // of each joint's dry friction
}

// NewState returns a robot at rest with every joint as near to zero as it may be.
func NewState(m *Model) *State {
	s := &State{
		Q: make([]float64, m.robot.NumQ()), V: make([]float64, m.robot.NumV()),
		impulse: make([]spatial.Vec3, m.slots()), bound: make([]float64, len(m.joints)), dry: make([]float64, len(m.joints)),
	}
	m.space.NeutralTo(s.Q)
	return s
}

// Copy makes s equal to src, which is of the same Model.
func (s *State) Copy(src *State) {
	copy(s.Q, src.Q)
	copy(s.V, src.V)
	copy(s.impulse, src.impulse)
	copy(s.bound, src.bound)
	copy(s.dry, src.dry)
	s.Tick = src.Tick
}

// Rest stops all motion and forgets all forces: for a robot that was put somewhere.
func (s *State) Rest() {
	clear(s.V)
	clear(s.impulse)
	clear(s.bound)
	clear(s.dry)
}

// Push is a force from outside on a body, world axes.
type Push struct {
	Body  robot.BodyID
	Point spatial.Vec3 // where, in the body
	Force spatial.Vec3 // N
}

// Input is what acts on a robot during a step.
type Input struct {
	Drives []Drive // of each joint; that of a welded one gives its place
	Ground *Ground // nil is nothing to touch
	Pushes []Push
}

// Contact is a force between a link and what it touches.
type Contact struct {
	Link  robot.FrameID
	Other robot.FrameID // NoFrame is the ground
	Foot  robot.ChainID // whose sole touches, NoChain if none does
	Point spatial.Vec3  // in the world
	Force spatial.Vec3  // on Link, world axes, N
	Gap   float64       // m, at the beginning of the step
}

// Fault is why a step was not made.
type Fault uint8

// The faults.
const (
	OK       Fault = iota
	Singular       // nothing resists some motion
	Diverged       // a number is not finite, or a speed beyond all reason
)

var faultNames = [...]string{"ok", "singular: nothing resists some motion", "diverged: a number is not finite, or faster than anything can be"}

func (f Fault) String() string { return faultNames[f] }

// fastest is the largest velocity that is taken for real, m/s or rad/s.
const fastest = 2e3

// Data is working memory of one goroutine. It keeps nothing from step to step but what
// can be asked for: contacts and torques of the last one.
type Data struct {
	m   *Model
	dyn *dynamics.Data
	kin *kinematics.Data

	mass     []float64 // NumV×NumV
	bias     []float64 // NumV
	still    []float64 // NumV: acceleration at which free bodies keep their velocity
	armature []float64 // NumV
	wrench   []spatial.Wrench
	pushed   bool
	jacobian []float64 // 6×NumV

	a         []float64 // n×n, then the factor L
	rhs       []float64 // n
	z         []float64 // n: L·v
	shift     []float64 // n: L·w of what only moves positions
	v         []float64 // NumV: the new velocity
	push      []float64 // NumV: by which positions move besides
	torque    []float64 // of each joint's motor
	saturated []float64 // the limit that each joint's motor is at, 0 if it is not

	mid     State // in the middle of the step
	touches []touch
	blocks  []block
	between int // the first block of links that touch each other
	direct  direct
	numbers []float64 // room for the blocks' rows
	rows    []row
	rowRoom []float64
	paths   []int32 // room for unions of paths

	stage [4]stage // of Runge and Kutta's method
	tau   []float64
}

type stage struct{ q, v, a []float64 }

// NewData returns working memory for a Model.
func NewData(m *Model) *Data {
	nv, n := m.robot.NumV(), m.n
	d := &Data{
		m: m, dyn: dynamics.NewData(m.robot), kin: kinematics.NewData(m.robot),
		mass: make([]float64, nv*nv), bias: make([]float64, nv), still: make([]float64, nv), armature: make([]float64, nv),
		wrench: make([]spatial.Wrench, len(m.robot.Bodies())), jacobian: make([]float64, 6*nv),
		a: make([]float64, n*n), rhs: make([]float64, n), z: make([]float64, n), shift: make([]float64, n),
		v: make([]float64, nv), push: make([]float64, nv), torque: make([]float64, len(m.joints)), saturated: make([]float64, len(m.joints)),
		mid:     State{Q: make([]float64, m.robot.NumQ()), V: make([]float64, nv)},
		touches: make([]touch, 0, m.slots()), tau: make([]float64, nv),
	}
	if len(m.pairs) > 0 {
		d.direct = newDirect(n)
	}
	longest := 0
	for _, p := range m.path {
		longest = max(longest, len(p))
	}
	blocks := len(m.bodies) + len(m.pairs)
	d.blocks = make([]block, 0, blocks)
	d.numbers = make([]float64, (len(m.bodies)*longest+len(m.pairs)*2*longest)*6)
	d.paths = make([]int32, 2*longest*len(m.pairs))
	d.rows = make([]row, 0, 2*len(m.joints))
	d.rowRoom = make([]float64, 2*len(m.joints)*longest)
	for i, p := range m.passive {
		if r := m.joints[i].row; r >= 0 {
			d.armature[m.joints[i].v] = p.Armature
		}
	}
	for i := range d.stage {
		d.stage[i] = stage{make([]float64, m.robot.NumQ()), make([]float64, nv), make([]float64, nv)}
	}
	return d
}

// Torque returns what the motor of a joint gave in the last step, N·m or N.
func (d *Data) Torque(joint int) float64 { return d.torque[joint] }

// ContactsTo appends the contacts of the last step that carry something. Loop-safe if
// dst has room.
func (d *Data) ContactsTo(dst []Contact) []Contact {
	for i := range d.touches {
		t := &d.touches[i]
		if t.λ == [3]float64{} {
			continue
		}
		dst = append(dst, Contact{Link: t.link, Other: t.other, Foot: t.foot, Point: t.at, Force: t.impulse().Scale(1 / d.m.h), Gap: t.gap})
	}
	return dst
}

// bounded reports whether every number is finite and no larger than most.
func bounded(xs []float64, most float64) bool {
	for _, x := range xs {
		if !(math.Abs(x) <= most) {
			return false
		}
	}
	return true
}
