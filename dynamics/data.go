package dynamics

import (
	"errors"
	"fmt"
	"math"

	"poise/kinematics"
	"poise/linalg"
	"poise/robot"
	"poise/spatial"
)

// Data holds the working memory of dynamics for one Model. It is made once and
// used by one goroutine; its methods do not allocate and keep nothing from call
// to call.
type Data struct {
	m   *robot.Model
	kin *kinematics.Data // poses and twists in the world, for momentum and energy
	nv  int

	// compiled from the Model by NewData
	body     []body
	turn     []kinematics.Angle // how each body turns about its z
	mimics   bool               // some body follows another's joint
	singular []*SingularError   // what is said of each body's joint
	zero     []float64          // NumV

	// of each call: what the algorithms store for each body
	angle, sin, cos []float64
	motion          []motion      // inverse
	composite       []composite   // mass matrix
	screw           []screw       // mass matrix
	articulated     []articulated // forward

	column []column // forward, of each velocity

	// forward dynamics with mimics: the mass matrix and its factor, the bias
	factor, bias []float64
	first        []int // where the rows of the factor begin
}

// body is a body of the Model as the kernels want it.
type body struct {
	parent        int32
	q, v          int32 // first index in q and v
	kind          robot.Kind
	base          bool    // free, against the world itself
	ratio, offset float64 // 1 and 0, or those of a mimic
	hinge         kinematics.Hinge

	moments              // of its mass, about the origin, in its axes as turned
	com     spatial.Vec3 // centre of mass

	// second moments about the centre of mass as λ·1 + g·gᵀ + h·hᵀ
	λ    float64
	g, h spatial.Vec3

	lumped moments // as inverse dynamics wants them: see lump
}

// moments are ∫dm, ∫x dm and ∫x·xᵀ dm of a body. The second moments Σ stand for
// the inertia I = tr(Σ)·1 − Σ, because x × (Ψ·x) summed over the body needs them.
type moments struct {
	mass                         float64
	mx, my, mz                   float64
	sxx, sxy, sxz, syy, syz, szz float64
}

// Load is what a caller adds to the bodies and their weight. The zero Load adds
// nothing.
type Load struct {
	// Wrench acts on each body from outside: about the origin of the body and in
	// its axes (kinematics.Data.WrenchOnBody makes that of a wrench in the
	// world). Nil, or one for each body.
	Wrench []spatial.Wrench

	// Armature is the inertia of the rotor that turns with each velocity, times
	// the square of its gear: added to the diagonal of the mass matrix. Nil, or
	// one for each velocity, not negative; zero for free bodies, which no rotor
	// drives.
	Armature []float64
}

// ErrSingular is matched by every SingularError.
var ErrSingular = errors.New("mass matrix is singular")

// SingularError says that nothing resists the motion of a joint: any force would
// accelerate it without bound. It is made once and may be kept.
type SingularError struct {
	Joint string // as in the file, "" for the floating base
}

func (e *SingularError) Error() string {
	if e.Joint == "" {
		return "dynamics: mass matrix is singular: nothing resists the floating base"
	}
	return fmt.Sprintf("dynamics: mass matrix is singular: nothing resists joint %q", e.Joint)
}

// Is reports whether target is ErrSingular.
func (e *SingularError) Is(target error) bool { return target == ErrSingular }

// NewData makes room for the dynamics of m.
func NewData(m *robot.Model) *Data {
	n, nv := len(m.Bodies()), m.NumV()
	d := &Data{
		m:           m,
		kin:         kinematics.NewData(m),
		nv:          nv,
		body:        make([]body, n),
		turn:        make([]kinematics.Angle, n),
		singular:    make([]*SingularError, n),
		zero:        make([]float64, nv),
		angle:       make([]float64, n),
		sin:         make([]float64, n),
		cos:         make([]float64, n),
		motion:      make([]motion, n),
		composite:   make([]composite, n),
		screw:       make([]screw, n),
		articulated: make([]articulated, n),
		column:      make([]column, nv),
	}
	hinges := kinematics.Hinges(m)
	for i, b := range m.Bodies() {
		d.body[i] = compile(b, hinges[i])
		d.turn[i] = hinges[i].Angle
		d.screw[i] = screw{
			parent: int32(b.Parent), v: int32(b.V),
			single: b.Kind.NumV() == 1, free: b.Kind == robot.Floating && b.Parent == robot.World,
		}
		d.singular[i] = &SingularError{Joint: b.Name}
		d.mimics = d.mimics || b.Mimic
	}
	lump(d.body)
	if d.mimics {
		d.factor, d.bias, d.first = make([]float64, nv*nv), make([]float64, nv), make([]int, nv)
	}
	return d
}

func compile(b robot.Body, hinge kinematics.Hinge) body {
	M := b.Inertia.Transform(spatial.Pose{R: spatial.TurnZ(-hinge.Turn)})
	λ, g, h := dyads(M.I)
	return body{
		parent: int32(b.Parent),
		q:      int32(b.Q),
		v:      int32(b.V),
		kind:   b.Kind,
		base:   b.Kind == robot.Floating && b.Parent == robot.World && b.Rest == spatial.IdentityPose,
		ratio:  b.Ratio,
		offset: b.Offset,
		hinge:  hinge,

		moments: momentsOf(M),
		com:     M.Com,
		λ:       λ, g: g, h: h,
	}
}

func momentsOf(M spatial.Inertia) moments {
	I := M.AboutOrigin()
	half := (I[0] + I[4] + I[8]) / 2 // tr Σ
	mc := M.Com.Scale(M.Mass)
	return moments{
		mass: M.Mass,
		mx:   mc.X, my: mc.Y, mz: mc.Z,
		sxx: half - I[0], sxy: -I[1], sxz: -I[2], syy: half - I[4], syz: -I[5], szz: half - I[8],
	}
}

// lump gives to each parent what may as well belong to it: of a body that turns
// about z, the mass m, its moment mz and its second moment szz move no force
// across the joint if they lie on the axis, so a thin rod there stands for them.
// Inverse dynamics then has three numbers less to count with.
func lump(bodies []body) {
	for i := range bodies {
		bodies[i].lumped = bodies[i].moments
	}
	for i := len(bodies) - 1; i > 0; i-- {
		b := &bodies[i]
		if b.kind > robot.Continuous {
			continue
		}
		h := &b.hinge
		p, z := h.P, spatial.Vec3{X: h.SinBank * h.SinTilt, Y: -h.CosBank * h.SinTilt, Z: h.CosTilt}
		m, mz, szz := b.lumped.mass, b.lumped.mz, b.lumped.szz
		b.lumped.mass, b.lumped.mz, b.lumped.szz = 0, 0, 0

		// ∫x dm and ∫x·xᵀ dm of x = p + s·z along the rod
		P := &bodies[b.parent].lumped
		second := func(pi, zi, pj, zj float64) float64 { return m*pi*pj + mz*(pi*zj+zi*pj) + szz*zi*zj }
		P.mass += m
		P.mx += m*p.X + mz*z.X
		P.my += m*p.Y + mz*z.Y
		P.mz += m*p.Z + mz*z.Z
		P.sxx += second(p.X, z.X, p.X, z.X)
		P.sxy += second(p.X, z.X, p.Y, z.Y)
		P.sxz += second(p.X, z.X, p.Z, z.Z)
		P.syy += second(p.Y, z.Y, p.Y, z.Y)
		P.syz += second(p.Y, z.Y, p.Z, z.Z)
		P.szz += second(p.Z, z.Z, p.Z, z.Z)
	}
}

// dyads takes the second moments Σ = ½tr(I)·1 − I apart along their principal
// axes, least moment λ first: Σ = λ·1 + g·gᵀ + h·hᵀ.
func dyads(I spatial.Mat3) (λ float64, g, h spatial.Vec3) {
	moments, axes := spatial.Principal(I)
	// the greatest moment of inertia is the least second moment
	half := (moments[0] + moments[1] + moments[2]) / 2
	λ = half - moments[2]
	g = axes.Col(0).Scale(math.Sqrt(moments[2] - moments[0]))
	h = axes.Col(1).Scale(math.Sqrt(moments[2] - moments[1]))
	return λ, g, h
}

// Model returns the robot that d belongs to.
func (d *Data) Model() *robot.Model { return d.m }

// turns computes sine and cosine of every angle in q.
func (d *Data) turns(q []float64) {
	turn, angle := d.turn, d.angle[:len(d.turn)]
	for i := 1; i < len(turn); i++ {
		angle[i] = turn[i].Ratio*q[turn[i].Q] + turn[i].Zero
	}
	linalg.SincosTo(d.sin[1:], d.cos[1:], angle[1:])
}

// pose returns X_PB of the body i, whose angle turns has taken.
func (d *Data) pose(i int, q []float64) (R spatial.Mat3, r spatial.Vec3) {
	b := &d.body[i]
	h := &b.hinge
	s, c := d.sin[i], d.cos[i]
	turn := spatial.Mat3{c, -s, 0, s, c, 0, 0, 0, 1}
	switch b.kind {
	case robot.Planar:
		return h.Rest.R.Mul(turn), h.Rest.Apply(spatial.Vec3{X: q[b.q], Y: q[b.q+1]})
	case robot.Floating:
		return h.Rest.R.Mul(freeRotation(q[b.q:])), h.Rest.Apply(spatial.Vec3{X: q[b.q], Y: q[b.q+1], Z: q[b.q+2]})
	}
	bank := spatial.Mat3{h.CosBank, -h.SinBank, 0, h.SinBank, h.CosBank, 0, 0, 0, 1}
	tilt := spatial.Mat3{1, 0, 0, 0, h.CosTilt, -h.SinTilt, 0, h.SinTilt, h.CosTilt}
	R = bank.Mul(tilt).Mul(turn)
	r = h.P
	if b.kind == robot.Prismatic {
		r = r.Add(R.Col(2).Scale(b.ratio*q[b.q] + b.offset))
	}
	return R, r
}

// freeRotation returns the rotation of x y z qx qy qz qw, whatever the length of
// the quaternion.
func freeRotation(q []float64) spatial.Mat3 {
	x, y, z, w := q[3], q[4], q[5], q[6]
	s := 2 / (x*x + y*y + z*z + w*w)
	return spatial.Mat3{
		1 - s*(y*y+z*z), s * (x*y - w*z), s * (x*z + w*y),
		s * (x*y + w*z), 1 - s*(x*x+z*z), s * (y*z - w*x),
		s * (x*z - w*y), s * (y*z + w*x), 1 - s*(x*x+y*y),
	}
}

func (d *Data) checkLoad(l Load) {
	if l.Wrench != nil && len(l.Wrench) != len(d.body) {
		panic(fmt.Sprintf("dynamics: len(Wrench) = %d, want %d", len(l.Wrench), len(d.body)))
	}
	if l.Armature == nil {
		return
	}
	mustLen("Armature", l.Armature, d.nv)
	for i := 1; i < len(d.body); i++ {
		if b := &d.body[i]; b.kind == robot.Floating {
			for k := range 6 {
				if l.Armature[int(b.v)+k] != 0 {
					panic(fmt.Sprintf("dynamics: Armature[%d] = %v, want 0 for a free body", int(b.v)+k, l.Armature[int(b.v)+k]))
				}
			}
		}
	}
}

func mustLen(name string, x []float64, n int) {
	if len(x) != n {
		panic(fmt.Sprintf("dynamics: len(%s) = %d, want %d", name, len(x), n))
	}
}
