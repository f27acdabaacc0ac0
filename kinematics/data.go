package kinematics

import (
	"fmt"
	"math"

	"poise/linalg"
	"poise/robot"
	"poise/spatial"
)

// Data holds the kinematics of one Model, or of the part of it that carries some
// places. It is made once and used by one goroutine; its methods do not allocate.
type Data struct {
	m  *robot.Model
	nv int

	// compiled from the Model by NewData and NewDataFor; "bodies" below are those
	// that d follows, the world first
	slot  []int32 // which of them a body of the Model is, -1 if none (Model's bodies)
	joint []joint // how each hangs on its parent (bodies)
	turn  []Angle // how each turns about its z (bodies)

	// position stage: filled by UpdatePosition
	angle    []float64      // by which a body turns about its z (bodies)
	sin, cos []float64      // of angle (bodies)
	pose     []spatial.Pose // X_WB, body in the world, turned as its hinge says (bodies)

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
	parent        int32 // slot
	q, v          int32 // first index in q and v
	kind          robot.Kind
	base          bool    // free, against the world itself
	ratio, offset float64 // 1 and 0, or those of a mimic
	hinge         Hinge
	sin, cos      float64      // of the hinge's Turn
	mass          float64      // of the body
	subtree       float64      // mass of the body and all that hangs on it
	com           spatial.Vec3 // in the body, as turned
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
	all := make([]bool, len(m.Bodies()))
	for b := range all {
		all[b] = true
	}
	return newData(m, all)
}

// NewDataFor makes room for the part of m that carries the places: all the rest
// is passed over, and asking about it panics. For one limb of a robot with many
// this saves most of the work.
func NewDataFor(m *robot.Model, places ...Place) *Data {
	carries := make([]bool, len(m.Bodies()))
	carries[robot.World] = true
	for _, p := range places {
		for b := p.Body; b != robot.World; b = m.Bodies()[b].Parent {
			carries[b] = true
		}
	}
	return newData(m, carries)
}

func newData(m *robot.Model, follow []bool) *Data {
	d := &Data{m: m, nv: m.NumV(), slot: make([]int32, len(follow))}
	hinges := Hinges(m)
	for b, body := range m.Bodies() {
		if !follow[b] {
			d.slot[b] = -1
			continue
		}
		d.slot[b] = int32(len(d.joint))
		sin, cos := math.Sincos(hinges[b].Turn)
		d.turn = append(d.turn, hinges[b].Angle)
		d.joint = append(d.joint, joint{
			parent: d.slot[body.Parent],
			q:      int32(body.Q),
			v:      int32(body.V),
			kind:   body.Kind,
			base:   body.Kind == robot.Floating && body.Parent == robot.World && body.Rest == spatial.IdentityPose,
			ratio:  body.Ratio,
			offset: body.Offset,
			hinge:  hinges[b],
			sin:    sin,
			cos:    cos,
			mass:   body.Inertia.Mass,
			com:    spatial.TurnZ(-hinges[b].Turn).MulVec(body.Inertia.Com),
		})
	}
	n := len(d.joint)
	d.angle, d.sin, d.cos = make([]float64, n), make([]float64, n), make([]float64, n)
	d.pose = make([]spatial.Pose, n)
	d.pose[robot.World] = spatial.IdentityPose
	d.v = make([]float64, d.nv)
	d.twist, d.accel = make([]spatial.Twist, n), make([]spatial.Twist, n)
	d.moment = make([]spatial.Vec3, n)
	for i := n - 1; i >= 0; i-- {
		j := &d.joint[i]
		j.subtree += j.mass
		if i > 0 {
			d.joint[j.parent].subtree += j.subtree
		}
	}
	return d
}

// at returns the slot of a body.
func (d *Data) at(b robot.BodyID) int {
	i := d.slot[b]
	if i < 0 {
		panic(fmt.Sprintf("kinematics: body %d carries none of the places that the Data was made for", b))
	}
	return int(i)
}

// needAll panics if d follows only a part of the robot.
func (d *Data) needAll(who string) {
	if len(d.joint) != len(d.slot) {
		panic("kinematics: " + who + " of a part of the robot")
	}
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
	turn, angle := d.turn[:len(joints)], d.angle[:len(joints)]
	for b := 1; b < len(joints); b++ {
		angle[b] = turn[b].Ratio*q[turn[b].Q] + turn[b].Zero
	}
	linalg.SincosTo(sin[1:], cos[1:], angle[1:])

	for b := 1; b < len(joints); b++ {
		j := &joints[b]
		P, B := &pose[j.parent], &pose[b]
		h := &j.hinge
		if !axial(j.kind) {
			d.placeMany(b, q)
			continue
		}

		// X_WB = X_WP · Rest: turns mix columns
		R, r := &P.R, &h.P
		x0, y0, z0 := R[0], R[1], R[2]
		x1, y1, z1 := R[3], R[4], R[5]
		x2, y2, z2 := R[6], R[7], R[8]
		px := P.P.X + x0*r.X + y0*r.Y + z0*r.Z
		py := P.P.Y + x1*r.X + y1*r.Y + z1*r.Z
		pz := P.P.Z + x2*r.X + y2*r.Y + z2*r.Z
		if h.Banked {
			s, c := h.SinBank, h.CosBank
			x0, y0 = c*x0+s*y0, c*y0-s*x0
			x1, y1 = c*x1+s*y1, c*y1-s*x1
			x2, y2 = c*x2+s*y2, c*y2-s*x2
		}
		s, c := h.SinTilt, h.CosTilt
		y0, z0 = c*y0+s*z0, c*z0-s*y0
		y1, z1 = c*y1+s*z1, c*z1-s*y1
		y2, z2 = c*y2+s*z2, c*z2-s*y2

		if j.kind == robot.Prismatic {
			u := j.ratio*q[j.q] + j.offset
			px, py, pz = px+u*z0, py+u*z1, pz+u*z2
		}

		// the joint's turn; numbers are stored one by one, because a literal would
		// go through memory twice
		s, c = sin[b], cos[b]
		B.R[0], B.R[1], B.R[2] = c*x0+s*y0, c*y0-s*x0, z0
		B.R[3], B.R[4], B.R[5] = c*x1+s*y1, c*y1-s*x1, z1
		B.R[6], B.R[7], B.R[8] = c*x2+s*y2, c*y2-s*x2, z2
		B.P.X, B.P.Y, B.P.Z = px, py, pz
	}
}

// placeMany places a body whose joint has several coordinates.
func (d *Data) placeMany(b int, q []float64) {
	j := &d.joint[b]
	P, B := &d.pose[j.parent], &d.pose[b]
	u := q[j.q:]
	if j.base {
		*B = freePose(u)
		return
	}
	*B = P.Mul(j.hinge.Rest)
	if j.kind == robot.Floating {
		*B = B.Mul(freePose(u))
		return
	}
	s, c := d.sin[b], d.cos[b]
	*B = B.Mul(spatial.Pose{
		R: spatial.Mat3{c, -s, 0, s, c, 0, 0, 0, 1},
		P: spatial.Vec3{X: u[0], Y: u[1]},
	})
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
		X, X_P := &d.pose[b], &d.pose[j.parent]
		V, V_P := &d.twist[b], &d.twist[j.parent]

		// the parent carries the body: ω = ω_P, v = v_P + ω_P × r
		rx, ry, rz := X.P.X-X_P.P.X, X.P.Y-X_P.P.Y, X.P.Z-X_P.P.Z
		wx, wy, wz := V_P.Angular.X, V_P.Angular.Y, V_P.Angular.Z
		vx := V_P.Linear.X + (wy*rz - wz*ry)
		vy := V_P.Linear.Y + (wz*rx - wx*rz)
		vz := V_P.Linear.Z + (wx*ry - wy*rx)

		// and the joint adds its own
		switch j.kind {
		case robot.Revolute, robot.Continuous:
			dq := j.ratio * v[j.v]
			wx, wy, wz = wx+dq*X.R[2], wy+dq*X.R[5], wz+dq*X.R[8]
		case robot.Prismatic:
			dq := j.ratio * v[j.v]
			vx, vy, vz = vx+dq*X.R[2], vy+dq*X.R[5], vz+dq*X.R[8]
		default:
			V_J := d.jointTwist(b, v)
			wx, wy, wz = wx+V_J.Angular.X, wy+V_J.Angular.Y, wz+V_J.Angular.Z
			vx, vy, vz = vx+V_J.Linear.X, vy+V_J.Linear.Y, vz+V_J.Linear.Z
		}
		V.Angular.X, V.Angular.Y, V.Angular.Z = wx, wy, wz
		V.Linear.X, V.Linear.Y, V.Linear.Z = vx, vy, vz
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
		X, X_P := &d.pose[b], &d.pose[j.parent]
		V_P, A_P, A := &d.twist[j.parent], &d.accel[j.parent], &d.accel[b]

		// as a point fixed on the parent: a_P + α_P × r + ω × (ω × r)
		rx, ry, rz := X.P.X-X_P.P.X, X.P.Y-X_P.P.Y, X.P.Z-X_P.P.Z
		wx, wy, wz := V_P.Angular.X, V_P.Angular.Y, V_P.Angular.Z
		αx, αy, αz := A_P.Angular.X, A_P.Angular.Y, A_P.Angular.Z
		ux, uy, uz := wy*rz-wz*ry, wz*rx-wx*rz, wx*ry-wy*rx
		ax := A_P.Linear.X + (αy*rz - αz*ry + wy*uz - wz*uy)
		ay := A_P.Linear.Y + (αz*rx - αx*rz + wz*ux - wx*uz)
		az := A_P.Linear.Z + (αx*ry - αy*rx + wx*uy - wy*ux)

		// the joint's own, its axis turning with the parent, and Coriolis
		switch j.kind {
		case robot.Revolute, robot.Continuous:
			dq, ddq := j.ratio*d.v[j.v], j.ratio*a[j.v]
			zx, zy, zz := X.R[2], X.R[5], X.R[8]
			αx += ddq*zx + dq*(wy*zz-wz*zy)
			αy += ddq*zy + dq*(wz*zx-wx*zz)
			αz += ddq*zz + dq*(wx*zy-wy*zx)
		case robot.Prismatic:
			dq, ddq := 2*j.ratio*d.v[j.v], j.ratio*a[j.v]
			zx, zy, zz := X.R[2], X.R[5], X.R[8]
			ax += ddq*zx + dq*(wy*zz-wz*zy)
			ay += ddq*zy + dq*(wz*zx-wx*zz)
			az += ddq*zz + dq*(wx*zy-wy*zx)
		default:
			A_J := d.jointAcceleration(b, V_P.Angular, a)
			αx, αy, αz = αx+A_J.Angular.X, αy+A_J.Angular.Y, αz+A_J.Angular.Z
			ax, ay, az = ax+A_J.Linear.X, ay+A_J.Linear.Y, az+A_J.Linear.Z
		}
		A.Angular.X, A.Angular.Y, A.Angular.Z = αx, αy, αz
		A.Linear.X, A.Linear.Y, A.Linear.Z = ax, ay, az
	}
}

// jointAcceleration returns what the joint of body b adds to the acceleration of
// a point fixed on its parent, which turns with ω.
func (d *Data) jointAcceleration(b int, ω spatial.Vec3, a []float64) spatial.Twist {
	V_J := d.jointTwist(b, d.v)
	A_J := d.jointTwist(b, a)
	A_J.Linear = A_J.Linear.Add(ω.Cross(V_J.Linear).Scale(2))
	A_J.Angular = A_J.Angular.Add(ω.Cross(V_J.Angular))
	if d.joint[b].kind == robot.Floating {
		// v is in the body's axes, which turn against the parent's
		A_J.Linear = A_J.Linear.Add(V_J.Angular.Cross(V_J.Linear))
	}
	return A_J
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
