package kinematics

import (
	"poise/robot"
	"poise/spatial"
)

// JacobianTo stores in dst the 6×NumV matrix J with J·v = twist of the place in
// world axes: rows 0–2 the velocity of its origin, rows 3–5 its angular velocity.
// Columns of joints that do not carry the place are zero. Loop-safe.
func (d *Data) JacobianTo(dst []float64, p Place) {
	d.need(position, "JacobianTo")
	b := d.at(p.Body)
	d.columnsTo(dst, b, d.pose[b].P.Add(d.lever(b, p)))
}

// SpaceJacobianTo is JacobianTo for the point of the body that passes through
// the origin of the world: J·v is the spatial twist of the literature.
// Loop-safe.
func (d *Data) SpaceJacobianTo(dst []float64, b robot.BodyID) {
	d.need(position, "SpaceJacobianTo")
	d.columnsTo(dst, d.at(b), spatial.Vec3{})
}

// BodyJacobianTo is JacobianTo in the axes of the place itself. Loop-safe.
func (d *Data) BodyJacobianTo(dst []float64, p Place) {
	d.need(position, "BodyJacobianTo")
	X_WF := d.Pose(p)
	d.columnsTo(dst, d.at(p.Body), X_WF.P)
	n := d.nv
	for half := 0; half < 6; half += 3 {
		x, y, z := dst[half*n:(half+1)*n], dst[(half+1)*n:(half+2)*n], dst[(half+2)*n:(half+3)*n]
		for i := range x {
			u := X_WF.R.TMulVec(spatial.Vec3{X: x[i], Y: y[i], Z: z[i]})
			x[i], y[i], z[i] = u.X, u.Y, u.Z
		}
	}
}

// columnsTo walks from the body in slot b to the world and stores what each joint
// on the way does to the point x that is carried by b.
func (d *Data) columnsTo(dst []float64, b int, x spatial.Vec3) {
	n := d.nv
	mustLen("dst", dst, 6*n)
	clear(dst)
	J := columns{dst[:n], dst[n : 2*n], dst[2*n : 3*n], dst[3*n : 4*n], dst[4*n : 5*n], dst[5*n:]}
	for i := b; i != 0; {
		j := &d.joint[i]
		X := &d.pose[i]
		rx, ry, rz := x.X-X.P.X, x.Y-X.P.Y, x.Z-X.P.Z
		v := int(j.v)
		switch j.kind {
		case robot.Revolute, robot.Continuous:
			// linear z × r, angular z; a follower adds to its leader's column
			zx, zy, zz := j.ratio*X.R[2], j.ratio*X.R[5], j.ratio*X.R[8]
			J[0][v] += zy*rz - zz*ry
			J[1][v] += zz*rx - zx*rz
			J[2][v] += zx*ry - zy*rx
			J[3][v] += zx
			J[4][v] += zy
			J[5][v] += zz
		case robot.Prismatic:
			J[0][v] += j.ratio * X.R[2]
			J[1][v] += j.ratio * X.R[5]
			J[2][v] += j.ratio * X.R[8]
		case robot.Planar:
			r := spatial.Vec3{X: rx, Y: ry, Z: rz}
			ex, ey := d.planarAxes(i)
			J.slide(v, ex)
			J.slide(v+1, ey)
			J.turn(v+2, X.R.Col(2), r)
		case robot.Floating:
			r := spatial.Vec3{X: rx, Y: ry, Z: rz}
			for k := range 3 {
				J.slide(v+k, X.R.Col(k))
				J.turn(v+3+k, X.R.Col(k), r)
			}
		}
		i = int(j.parent)
	}
}

// columns are the rows of a Jacobian.
type columns [6][]float64

func (J *columns) slide(v int, e spatial.Vec3) {
	J[0][v], J[1][v], J[2][v] = e.X, e.Y, e.Z
}

func (J *columns) turn(v int, e, r spatial.Vec3) {
	u := e.Cross(r)
	J[0][v], J[1][v], J[2][v], J[3][v], J[4][v], J[5][v] = u.X, u.Y, u.Z, e.X, e.Y, e.Z
}

// BiasAcceleration returns J̇·v: the acceleration that the place has when all
// joints keep their velocity, world axes. It needs no acceleration stage.
// Loop-safe.
//
// With columns J = (e × (x − p), e) for a turn about e through p and (e, 0) for a
// slide along e, and ė = ω_P × e for axes carried by the parent:
//
//	d/dt (e × (x−p)) = ė × (x−p) + e × (ẋ−ṗ)
func (d *Data) BiasAcceleration(p Place) (A spatial.Twist) {
	d.need(velocity, "BiasAcceleration")
	b := d.at(p.Body)
	x := d.pose[b].P.Add(d.lever(b, p))
	ẋ := d.Twist(p).Linear
	for b != 0 {
		j := &d.joint[b]
		V_J := d.jointTwist(b, d.v) // Σ slide axes·v, Σ turn axes·v
		ω := d.twist[j.parent].Angular
		if j.kind == robot.Floating {
			ω = d.twist[b].Angular // whose axes turn with the body
		}
		ė := ω.Cross(V_J.Angular)
		A.Angular = A.Angular.Add(ė)
		A.Linear = A.Linear.
			Add(ω.Cross(V_J.Linear)).
			Add(ė.Cross(x.Sub(d.pose[b].P))).
			Add(V_J.Angular.Cross(ẋ.Sub(d.twist[b].Linear)))
		b = int(j.parent)
	}
	return A
}
