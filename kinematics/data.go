package kinematics

import (
	"fmt"

	"poise/linalg"
	"poise/robot"
	"poise/spatial"
)

// Data holds the kinematics of one Model. It is made once and used by one
// goroutine; its methods do not allocate.
type Data struct {
	m  *robot.Model
	nv int

	// compiled from the Model by NewData
	joint []joint // how each body hangs on its parent (bodies)

	// position stage: filled by UpdatePosition
	angle    []float64      // by which a body turns about its z (bodies)
	sin, cos []float64      // of angle (bodies)
	pose     []spatial.Pose // X_WB, body in the world (bodies)

	// velocity stage: filled by UpdateVelocity
	v     []float64       // as given (NumV)
	twist []spatial.Twist // V_WB of the body's origin, world axes (bodies)

	// acceleration stage: filled by UpdateAcceleration
	accel []spatial.Twist // A_WB, classical, of the body's origin, world axes (bodies)

	// scratch of ComJacobianTo
	moment []spatial.Vec3 // mass times centre of what hangs on a body, world axes (bodies)

	stage stage // what is valid
}

// joint is a body of the Model as the kernels want it.
type joint struct {
	parent        int32
	q, v          int32 // first index in q and v
	kind          robot.Kind
	ratio, offset float64      // 1 and 0, or those of a mimic
	rest          spatial.Pose // X_PB at zero
	mass          float64      // of the body
	subtree       float64      // mass of the body and all that hangs on it
	com           spatial.Vec3 // in the body
}

type stage uint8

const (
	none stage = iota
	position
	velocity
	acceleration
)

// NewData makes room for the kinematics of m.
func NewData(m *robot.Model) *Data {
	bodies := m.Bodies()
	n := len(bodies)
	d := &Data{
		m:      m,
		nv:     m.NumV(),
		joint:  make([]joint, n),
		angle:  make([]float64, n),
		sin:    make([]float64, n),
		cos:    make([]float64, n),
		pose:   make([]spatial.Pose, n),
		v:      make([]float64, m.NumV()),
		twist:  make([]spatial.Twist, n),
		accel:  make([]spatial.Twist, n),
		moment: make([]spatial.Vec3, n),
	}
	d.pose[robot.World] = spatial.IdentityPose
	for b, body := range bodies {
		d.joint[b] = joint{
			parent: int32(body.Parent),
			q:      int32(body.Q),
			v:      int32(body.V),
			kind:   body.Kind,
			ratio:  body.Ratio,
			offset: body.Offset,
			rest:   body.Rest,
			mass:   body.Inertia.Mass,
			com:    body.Inertia.Com,
		}
	}
	for b := n - 1; b >= 0; b-- {
		j := &d.joint[b]
		j.subtree += j.mass
		if b > 0 {
			d.joint[j.parent].subtree += j.subtree
		}
	}
	return d
}

// Model returns the robot that d belongs to.
func (d *Data) Model() *robot.Model { return d.m }

// UpdatePosition places all bodies at the configuration q. Velocities and
// accelerations are not valid any more. Loop-safe.
func (d *Data) UpdatePosition(q []float64) {
	mustLen("q", q, d.m.NumQ())
	d.stage = position
	joints := d.joint
	pose := d.pose[:len(joints)]
	sin, cos := d.sin[:len(joints)], d.cos[:len(joints)]

	// all angles at once
	for b := 1; b < len(joints); b++ {
		j := &joints[b]
		switch j.kind {
		case robot.Revolute, robot.Continuous:
			d.angle[b] = j.ratio*q[j.q] + j.offset
		case robot.Planar:
			d.angle[b] = q[j.q+2]
		}
	}
	linalg.SincosTo(sin, cos, d.angle)

	for b := 1; b < len(joints); b++ {
		j := &joints[b]
		P, B := &pose[j.parent], &pose[b]

		// X_WB = X_WP · Rest
		R, E, r := &P.R, &j.rest.R, &j.rest.P
		x0, y0, z0 := R[0]*E[0]+R[1]*E[3]+R[2]*E[6], R[0]*E[1]+R[1]*E[4]+R[2]*E[7], R[0]*E[2]+R[1]*E[5]+R[2]*E[8]
		x1, y1, z1 := R[3]*E[0]+R[4]*E[3]+R[5]*E[6], R[3]*E[1]+R[4]*E[4]+R[5]*E[7], R[3]*E[2]+R[4]*E[5]+R[5]*E[8]
		x2, y2, z2 := R[6]*E[0]+R[7]*E[3]+R[8]*E[6], R[6]*E[1]+R[7]*E[4]+R[8]*E[7], R[6]*E[2]+R[7]*E[5]+R[8]*E[8]
		px := P.P.X + R[0]*r.X + R[1]*r.Y + R[2]*r.Z
		py := P.P.Y + R[3]*r.X + R[4]*r.Y + R[5]*r.Z
		pz := P.P.Z + R[6]*r.X + R[7]*r.Y + R[8]*r.Z

		switch j.kind {
		case robot.Revolute, robot.Continuous:
			// a turn about z mixes the columns x and y
			s, c := sin[b], cos[b]
			B.R = spatial.Mat3{
				c*x0 + s*y0, c*y0 - s*x0, z0,
				c*x1 + s*y1, c*y1 - s*x1, z1,
				c*x2 + s*y2, c*y2 - s*x2, z2,
			}
			B.P = spatial.Vec3{X: px, Y: py, Z: pz}
		case robot.Prismatic:
			u := j.ratio*q[j.q] + j.offset
			B.R = spatial.Mat3{x0, y0, z0, x1, y1, z1, x2, y2, z2}
			B.P = spatial.Vec3{X: px + u*z0, Y: py + u*z1, Z: pz + u*z2}
		case robot.Planar:
			s, c := sin[b], cos[b]
			x, y := q[j.q], q[j.q+1]
			B.R = spatial.Mat3{
				c*x0 + s*y0, c*y0 - s*x0, z0,
				c*x1 + s*y1, c*y1 - s*x1, z1,
				c*x2 + s*y2, c*y2 - s*x2, z2,
			}
			B.P = spatial.Vec3{X: px + x*x0 + y*y0, Y: py + x*x1 + y*y1, Z: pz + x*x2 + y*y2}
		case robot.Floating:
			Rest := spatial.Pose{
				R: spatial.Mat3{x0, y0, z0, x1, y1, z1, x2, y2, z2},
				P: spatial.Vec3{X: px, Y: py, Z: pz},
			}
			*B = Rest.Mul(freePose(q[j.q : j.q+7]))
		}
	}
}

// UpdateVelocity moves the bodies placed by UpdatePosition with the velocity v.
// Loop-safe.
func (d *Data) UpdateVelocity(v []float64) {
	mustLen("v", v, d.nv)
	d.need(position, "UpdateVelocity")
	d.stage = velocity
	copy(d.v, v)

	for b := 1; b < len(d.joint); b++ {
		j := &d.joint[b]
		V_P := &d.twist[j.parent]

		// the parent carries the body: ω_B = ω_P, v_B = v_P + ω_P × r
		r := d.pose[b].P.Sub(d.pose[j.parent].P)
		V_B := V_P.At(r)

		// and the joint adds its own
		V_B = V_B.Add(d.jointTwist(b, v))
		d.twist[b] = V_B
	}
}

// UpdateAcceleration accelerates the bodies moved by UpdateVelocity with a, the
// derivative of v. Loop-safe.
func (d *Data) UpdateAcceleration(a []float64) {
	mustLen("a", a, d.nv)
	d.need(velocity, "UpdateAcceleration")
	d.stage = acceleration

	for b := 1; b < len(d.joint); b++ {
		j := &d.joint[b]
		V_P, A_P := &d.twist[j.parent], &d.accel[j.parent]
		r := d.pose[b].P.Sub(d.pose[j.parent].P)
		V_J := d.jointTwist(b, d.v)
		ω := V_P.Angular

		// as a point fixed on the parent: α_P × r + ω × (ω × r)
		A_B := A_P.At(r)
		A_B.Linear = A_B.Linear.Add(ω.Cross(ω.Cross(r)))

		// moving along the parent (Coriolis), and the axes turning with it
		A_B.Linear = A_B.Linear.Add(ω.Cross(V_J.Linear).Scale(2))
		A_B.Angular = A_B.Angular.Add(ω.Cross(V_J.Angular))
		if j.kind == robot.Floating {
			// v is in the body's axes, which turn against the parent's
			A_B.Linear = A_B.Linear.Add(V_J.Angular.Cross(V_J.Linear))
		}

		// the joint's own
		d.accel[b] = A_B.Add(d.jointTwist(b, a))
	}
}

// jointTwist returns what the joint of body b makes of the rates u (a velocity or
// an acceleration): the twist of b against its parent, world axes.
func (d *Data) jointTwist(b int, u []float64) spatial.Twist {
	j := &d.joint[b]
	R_WB := &d.pose[b].R
	switch j.kind {
	case robot.Revolute, robot.Continuous:
		return spatial.Twist{Angular: R_WB.Col(2).Scale(j.ratio * u[j.v])}
	case robot.Prismatic:
		return spatial.Twist{Linear: R_WB.Col(2).Scale(j.ratio * u[j.v])}
	case robot.Planar:
		x, y := d.planarAxes(b)
		return spatial.Twist{
			Angular: R_WB.Col(2).Scale(u[j.v+2]),
			Linear:  x.Scale(u[j.v]).Add(y.Scale(u[j.v+1])),
		}
	}
	w := u[j.v : j.v+6]
	return spatial.Twist{
		Angular: R_WB.MulVec(spatial.Vec3{X: w[3], Y: w[4], Z: w[5]}),
		Linear:  R_WB.MulVec(spatial.Vec3{X: w[0], Y: w[1], Z: w[2]}),
	}
}

// planarAxes returns the directions in which a planar joint slides: the body's
// axes turned back by its angle.
func (d *Data) planarAxes(b int) (x, y spatial.Vec3) {
	R_WB := &d.pose[b].R
	s, c := d.sin[b], d.cos[b]
	return R_WB.Col(0).Scale(c).Sub(R_WB.Col(1).Scale(s)), R_WB.Col(0).Scale(s).Add(R_WB.Col(1).Scale(c))
}

// freePose returns the pose that the seven numbers x y z qx qy qz qw stand for,
// whatever the length of the quaternion.
func freePose(q []float64) spatial.Pose {
	x, y, z, w := q[3], q[4], q[5], q[6]
	s := 2 / (x*x + y*y + z*z + w*w)
	return spatial.Pose{
		R: spatial.Mat3{
			1 - s*(y*y+z*z), s * (x*y - w*z), s * (x*z + w*y),
			s * (x*y + w*z), 1 - s*(x*x+z*z), s * (y*z - w*x),
			s * (x*z - w*y), s * (y*z + w*x), 1 - s*(x*x+y*y),
		},
		P: spatial.Vec3{X: q[0], Y: q[1], Z: q[2]},
	}
}

func (d *Data) need(s stage, who string) {
	if d.stage < s {
		panic("kinematics: " + who + " before " + [...]string{"", "UpdatePosition", "UpdateVelocity", "UpdateAcceleration"}[s])
	}
}

func mustLen(name string, x []float64, n int) {
	if len(x) != n {
		panic(fmt.Sprintf("kinematics: len(%s) = %d, want %d", name, len(x), n))
	}
}
