package dynamics

import (
	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
)

// Momentum returns the momentum of the whole robot: linear, and angular about
// its centre of mass, world axes. A robot without mass has none: ok is false.
// Loop-safe.
func (d *Data) Momentum(q, v []float64) (h spatial.Momentum, ok bool) {
	d.kin.UpdatePosition(q)
	d.kin.UpdateVelocity(v)
	com, ok := d.kin.Com()
	if !ok {
		return h, false
	}
	bodies := d.m.Bodies()
	for i := 1; i < len(bodies); i++ {
		M := &bodies[i].Inertia
		X_WB := d.kin.BodyPose(robot.BodyID(i))
		V := d.kin.Twist(kinematics.Place{Body: robot.BodyID(i), Pose: spatial.Pose{P: M.Com}})

		// of the centre of mass, and about it
		p := V.Linear.Scale(M.Mass)
		spin := X_WB.R.MulVec(M.I.MulVec(X_WB.R.TMulVec(V.Angular)))
		h.Linear = h.Linear.Add(p)
		h.Angular = h.Angular.Add(spin).Add(X_WB.Apply(M.Com).Sub(com).Cross(p))
	}
	return h, true
}

// CentroidalTo stores in dst the 6×NumV matrix A with A·v = momentum about the
// centre of mass, world axes: rows 0–2 linear, rows 3–5 angular. If ok is false,
// dst is zero: see Momentum. Loop-safe.
func (d *Data) CentroidalTo(dst, q []float64) (ok bool) {
	nv := d.nv
	mustLen("dst", dst, 6*nv)
	clear(dst)
	d.kin.UpdatePosition(q)
	com, ok := d.kin.Com()
	if !ok {
		return false
	}

	// place the bodies as seen from the centre of mass, in world axes
	d.turns(q)
	for i := 1; i < len(d.body); i++ {
		C := &d.composite[i]
		X_WB := d.kin.BodyPose(robot.BodyID(i))
		C.R, C.p = X_WB.R.Mul(spatial.TurnZ(d.body[i].hinge.Turn)), X_WB.P.Sub(com)
		C.own(&d.body[i])
	}

	// a velocity moves all that hangs on its joint
	for i := len(d.body) - 1; i > 0; i-- {
		b, C := &d.body[i], &d.composite[i]
		set := func(k int, f, n spatial.Vec3) {
			v := int(b.v) + k
			for row, x := range [6]float64{f.X, f.Y, f.Z, n.X, n.Y, n.Z} {
				dst[row*nv+v] += b.ratio * x
			}
		}
		z := C.R.Col(2)
		switch b.kind {
		case robot.Revolute, robot.Continuous:
			f, n := C.turn(z)
			set(0, f, n)
		case robot.Prismatic:
			f, n := C.slide(z)
			set(0, f, n)
		case robot.Planar:
			x, y := d.planarAxes(i, &C.R)
			f, n := C.slide(x)
			set(0, f, n)
			f, n = C.slide(y)
			set(1, f, n)
			f, n = C.turn(z)
			set(2, f, n)
		case robot.Floating:
			for k := range 3 {
				f, n := C.slide(C.R.Col(k))
				set(k, f, n)
				f, n = C.turn(C.R.Col(k))
				set(3+k, f, n)
			}
		}
		if b.parent != 0 {
			d.composite[b.parent].add(C)
		}
	}
	return true
}

// KineticEnergy returns the energy of motion, ½·vᵀ·M·v, J. Loop-safe.
func (d *Data) KineticEnergy(q, v []float64) float64 {
	d.kin.UpdatePosition(q)
	d.kin.UpdateVelocity(v)
	twice := 0.0
	bodies := d.m.Bodies()
	for i := 1; i < len(bodies); i++ {
		M := &bodies[i].Inertia
		V := d.kin.Twist(kinematics.Place{Body: robot.BodyID(i), Pose: spatial.Pose{P: M.Com}})
		w := d.kin.BodyPose(robot.BodyID(i)).R.TMulVec(V.Angular)
		twice += M.Mass*V.Linear.Dot(V.Linear) + w.Dot(M.I.MulVec(w))
	}
	return twice / 2
}

// PotentialEnergy returns the energy in the field of gravity, −Σ m·g·c over
// every link, J; zero is at the world's origin. Loop-safe.
func (d *Data) PotentialEnergy(q []float64) float64 {
	d.kin.UpdatePosition(q)
	g := d.m.Gravity()
	e := 0.0
	for i, b := range d.m.Bodies() {
		e -= b.Inertia.Mass * g.Dot(d.kin.BodyPose(robot.BodyID(i)).Apply(b.Inertia.Com))
	}
	return e
}
