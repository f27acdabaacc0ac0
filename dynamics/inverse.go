package dynamics

import (
	"poise/robot"
	"poise/spatial"
)

// motion is what inverse dynamics stores for a body B, all in its own axes, with
// P its parent.
type motion struct {
	R spatial.Mat3 // R_PB, of joints that do not just turn
	r spatial.Vec3 // p_PB, in P's axes, of such joints

	w, dw spatial.Vec3 // angular velocity and acceleration
	a     spatial.Vec3 // acceleration of the origin, less gravity
	Ψ     spatial.Mat3 // [dw]× + [w]×²: a point x of B accelerates with a + Ψ·x

	f, n spatial.Vec3 // force through the joint, torque about the origin
}

// InverseTo stores in dst the joint forces τ that give the acceleration a at the
// configuration q and the velocity v, under gravity and the load. It is the
// recursive Newton–Euler algorithm of [LWP] in body axes; with Ψ as above and
// the moments m, mc, Σ of the mass about the body's origin,
//
//	a_B = R_BP·(a_P + Ψ_P·r) + joint                                     (1)
//	f_B = m·a + Ψ·mc,   n_B = mc × a + ∫x × Ψx dm                         (2)
//	τ   = n·z or f·z,   f_P += R·f_B,   n_P += R·n_B + r × R·f_B          (3)
//
// No linear velocity is needed: a uniform motion costs no force. dst may alias
// v or a. Loop-safe.
func (d *Data) InverseTo(dst, q, v, a []float64, l Load) {
	mustLen("dst", dst, d.nv)
	mustLen("q", q, d.m.NumQ())
	mustLen("v", v, d.nv)
	mustLen("a", a, d.nv)
	d.checkLoad(l)
	d.turns(q)
	d.forces(q, v, a)
	d.gather(dst, a, l)
}

// forces goes outward: the motion of each body, and the force it takes, (1) and
// (2).
func (d *Data) forces(q, v, a []float64) {
	bodies := d.body
	motions := d.motion[:len(bodies)]
	sin, cos := d.sin[:len(bodies)], d.cos[:len(bodies)]

	// let the world accelerate upwards instead of pulling every body down
	g := d.m.Gravity()
	motions[0].a = g.Neg()

	for i := 1; i < len(bodies); i++ {
		b := &bodies[i]
		B, P := &motions[i], &motions[b.parent]
		var wx, wy, wz, ax, ay, az, lx, ly, lz float64 // w, ẇ, a

		if b.kind <= robot.Continuous {
			h := &b.hinge
			dq, ddq := b.ratio*v[b.v], b.ratio*a[b.v]

			// R_PB = tilt · joint's turn, and bank before them
			s, c := sin[i], cos[i]
			st, ct := h.SinTilt, h.CosTilt
			R0, R1, R2 := c, -s, 0.0
			R3, R4, R5 := ct*s, ct*c, -st
			R6, R7, R8 := st*s, st*c, ct
			if h.Banked {
				sb, cb := h.SinBank, h.CosBank
				R0, R3 = cb*R0-sb*R3, sb*R0+cb*R3
				R1, R4 = cb*R1-sb*R4, sb*R1+cb*R4
				R2, R5 = -sb*R5, cb*R5
			}

			// (1)
			rx, ry, rz := h.P.X, h.P.Y, h.P.Z
			x := P.a.X + (P.Ψ[0]*rx + P.Ψ[1]*ry + P.Ψ[2]*rz)
			y := P.a.Y + (P.Ψ[3]*rx + P.Ψ[4]*ry + P.Ψ[5]*rz)
			z := P.a.Z + (P.Ψ[6]*rx + P.Ψ[7]*ry + P.Ψ[8]*rz)
			lx = R0*x + R3*y + R6*z
			ly = R1*x + R4*y + R7*z
			lz = R2*x + R5*y + R8*z

			// w = R_BP·w_P + z·q̇
			x, y, z = P.w.X, P.w.Y, P.w.Z
			wx = R0*x + R3*y + R6*z
			wy = R1*x + R4*y + R7*z
			wz = dq + R2*x + R5*y + R8*z

			// ẇ = R_BP·ẇ_P + w × z·q̇ + z·q̈
			x, y, z = P.dw.X, P.dw.Y, P.dw.Z
			ax = wy*dq + (R0*x + R3*y + R6*z)
			ay = (R1*x + R4*y + R7*z) - wx*dq
			az = ddq + R2*x + R5*y + R8*z

			B.w.X, B.w.Y, B.w.Z = wx, wy, wz
			B.dw.X, B.dw.Y, B.dw.Z = ax, ay, az
			B.a.X, B.a.Y, B.a.Z = lx, ly, lz
		} else {
			d.carry(i, q, v, a)
			wx, wy, wz = B.w.X, B.w.Y, B.w.Z
			ax, ay, az = B.dw.X, B.dw.Y, B.dw.Z
			lx, ly, lz = B.a.X, B.a.Y, B.a.Z
		}

		// Ψ = [ẇ]× + w·wᵀ − |w|²·1
		xx, yy, zz := wx*wx, wy*wy, wz*wz
		xy, xz, yz := wx*wy, wx*wz, wy*wz
		Ψ0, Ψ1, Ψ2 := -yy-zz, xy-az, xz+ay
		Ψ3, Ψ4, Ψ5 := xy+az, -xx-zz, yz-ax
		Ψ6, Ψ7, Ψ8 := xz-ay, yz+ax, -xx-yy
		B.Ψ[0], B.Ψ[1], B.Ψ[2] = Ψ0, Ψ1, Ψ2
		B.Ψ[3], B.Ψ[4], B.Ψ[5] = Ψ3, Ψ4, Ψ5
		B.Ψ[6], B.Ψ[7], B.Ψ[8] = Ψ6, Ψ7, Ψ8

		// f = m·a + Ψ·mc, n = mc × a + the antisymmetric part of Ψ·Σ
		m := &b.lumped
		mx, my := m.mx, m.my
		B.f.X = Ψ0*mx + Ψ1*my
		B.f.Y = Ψ3*mx + Ψ4*my
		B.f.Z = Ψ6*mx + Ψ7*my
		B.n.X = my*lz + Ψ6*m.sxy - Ψ3*m.sxz + Ψ7*m.syy + (Ψ8-Ψ4)*m.syz
		B.n.Y = Ψ1*m.syz - mx*lz - Ψ7*m.sxy - Ψ6*m.sxx + (Ψ0-Ψ8)*m.sxz
		B.n.Z = mx*ly - my*lx + Ψ5*m.sxz - Ψ2*m.syz + Ψ3*m.sxx - Ψ1*m.syy + (Ψ4-Ψ0)*m.sxy
		if b.kind > robot.Continuous {
			// what those that turn have given away
			mass, mz, szz := m.mass, m.mz, m.szz
			B.f.X += mass*lx + Ψ2*mz
			B.f.Y += mass*ly + Ψ5*mz
			B.f.Z += mass*lz + Ψ8*mz
			B.n.X -= mz*ly + Ψ5*szz
			B.n.Y += mz*lx + Ψ2*szz
		}
	}
}

// carry is the step outward for joints that do not just turn.
func (d *Data) carry(i int, q, v, a []float64) {
	b := &d.body[i]
	B, P := &d.motion[i], &d.motion[b.parent]
	if b.base {
		// the world does not turn: what a free base does is all its own
		lin, spin := six(v[b.v:])
		dlin, dspin := six(a[b.v:])
		R := freeRotation(q[b.q:])
		B.w, B.dw = spin, dspin
		B.a = R.TMulVec(P.a).Add(spin.Cross(lin)).Add(dlin)
		return
	}
	B.R, B.r = d.pose(i, q)

	// as a part of the parent
	w := B.R.TMulVec(P.w)
	dw := B.R.TMulVec(P.dw)
	acc := B.R.TMulVec(P.a.Add(P.Ψ.MulVec(B.r)))

	// the joint's own: Coriolis, and what its rates add
	switch b.kind {
	case robot.Prismatic:
		dq, ddq := b.ratio*v[b.v], b.ratio*a[b.v]
		acc = acc.Add(spatial.Vec3{X: 2 * dq * w.Y, Y: -2 * dq * w.X, Z: ddq})
	case robot.Planar:
		// slides in the axes before the turn, here seen from those after it
		slide := spatial.Vec3{X: v[b.v], Y: v[b.v+1]}
		pull := spatial.Vec3{X: a[b.v], Y: a[b.v+1]}
		acc = acc.Add(w.Cross(d.turnBack(i, slide)).Scale(2)).Add(d.turnBack(i, pull))
		spin := spatial.Vec3{Z: v[b.v+2]}
		dw = dw.Add(w.Cross(spin)).Add(spatial.Vec3{Z: a[b.v+2]})
		w = w.Add(spin)
	case robot.Floating:
		lin, spin := six(v[b.v:])
		dlin, dspin := six(a[b.v:])
		acc = acc.Add(w.Cross(lin).Scale(2)).Add(spin.Cross(lin)).Add(dlin)
		dw = dw.Add(w.Cross(spin)).Add(dspin)
		w = w.Add(spin)
	}
	B.w, B.dw, B.a = w, dw, acc
}

// turnBack returns u in the axes after the turn about z, given it in those
// before.
func (d *Data) turnBack(i int, u spatial.Vec3) spatial.Vec3 {
	s, c := d.sin[i], d.cos[i]
	return spatial.Vec3{X: c*u.X + s*u.Y, Y: c*u.Y - s*u.X, Z: u.Z}
}

// six reads linear then angular.
func six(u []float64) (linear, angular spatial.Vec3) {
	return spatial.Vec3{X: u[0], Y: u[1], Z: u[2]}, spatial.Vec3{X: u[3], Y: u[4], Z: u[5]}
}

// gather goes inward: project on the joints, hand the rest to the parent, (3).
// What gives the rotors their acceleration a comes on top; it is taken before
// dst is written, as dst may alias a.
func (d *Data) gather(dst, a []float64, l Load) {
	if l.Wrench != nil {
		for i := 1; i < len(d.body); i++ {
			B := &d.motion[i]
			w := d.turned(i, l.Wrench[i])
			B.f = B.f.Sub(w.Force)
			B.n = B.n.Sub(w.Torque)
		}
	}
	if l.Armature == nil {
		clear(dst)
	} else {
		for i, inertia := range l.Armature {
			dst[i] = inertia * a[i]
		}
	}
	bodies := d.body
	motions := d.motion[:len(bodies)]
	sin, cos := d.sin[:len(bodies)], d.cos[:len(bodies)]
	for i := len(bodies) - 1; i > 0; i-- {
		b := &bodies[i]
		B, P := &motions[i], &motions[b.parent]

		switch b.kind {
		case robot.Revolute, robot.Continuous:
			dst[b.v] += b.ratio * B.n.Z
		case robot.Prismatic:
			dst[b.v] += b.ratio * B.f.Z
		case robot.Planar:
			s, c := sin[i], cos[i]
			dst[b.v] += c*B.f.X - s*B.f.Y
			dst[b.v+1] += s*B.f.X + c*B.f.Y
			dst[b.v+2] += B.n.Z
		case robot.Floating:
			u := dst[b.v : b.v+6]
			u[0], u[1], u[2] = B.f.X, B.f.Y, B.f.Z
			u[3], u[4], u[5] = B.n.X, B.n.Y, B.n.Z
		}
		if b.parent == 0 {
			continue
		}

		var fx, fy, fz, nx, ny, nz, rx, ry, rz float64
		if b.kind <= robot.Continuous {
			h := &b.hinge
			s, c := sin[i], cos[i]
			st, ct := h.SinTilt, h.CosTilt
			x, y, z := B.f.X, B.f.Y, B.f.Z
			u, v, w := B.n.X, B.n.Y, B.n.Z

			// R_PB: the joint's turn and tilt, then bank
			fx, nx = c*x-s*y, c*u-s*v
			fy, ny = ct*s*x+ct*c*y-st*z, ct*s*u+ct*c*v-st*w
			fz, nz = st*s*x+st*c*y+ct*z, st*s*u+st*c*v+ct*w
			if h.Banked {
				sb, cb := h.SinBank, h.CosBank
				fx, fy = cb*fx-sb*fy, sb*fx+cb*fy
				nx, ny = cb*nx-sb*ny, sb*nx+cb*ny
			}
			rx, ry, rz = h.P.X, h.P.Y, h.P.Z
		} else {
			f, n := B.R.MulVec(B.f), B.R.MulVec(B.n)
			fx, fy, fz, nx, ny, nz = f.X, f.Y, f.Z, n.X, n.Y, n.Z
			rx, ry, rz = B.r.X, B.r.Y, B.r.Z
		}
		P.f.X += fx
		P.f.Y += fy
		P.f.Z += fz
		P.n.X += nx + (ry*fz - rz*fy)
		P.n.Y += ny + (rz*fx - rx*fz)
		P.n.Z += nz + (rx*fy - ry*fx)
	}
}

// turned returns a wrench on body i in the axes of its turned frame.
func (d *Data) turned(i int, w spatial.Wrench) spatial.Wrench {
	return w.In(spatial.TurnZ(-d.body[i].hinge.Turn))
}

// BiasTo stores in dst the forces h(q, v) that keep the joints at constant
// velocity: gravity, Coriolis and centrifugal forces, less the load's wrenches.
// Loop-safe.
func (d *Data) BiasTo(dst, q, v []float64, l Load) {
	d.InverseTo(dst, q, v, d.zero, l)
}

// GravityTo stores in dst the forces g(q) that hold the robot still. Loop-safe.
func (d *Data) GravityTo(dst, q []float64) {
	d.InverseTo(dst, q, d.zero, d.zero, Load{})
}
