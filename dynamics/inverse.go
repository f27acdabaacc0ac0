package dynamics

import (
	"poise/robot"
	"poise/spatial"
)

// motion is what inverse dynamics stores for a body B, all in its own axes, with
// P its parent.
type motion struct {
	R spatial.Mat3 // R_PB
	r spatial.Vec3 // p_PB, in P's axes

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

		switch b.kind {
		case robot.Revolute, robot.Continuous:
			dq, ddq := b.ratio*v[b.v], b.ratio*a[b.v]

			// R_PB = E · turn about z
			s, c := sin[i], cos[i]
			E := &b.E
			R0, R1, R2 := c*E[0]+s*E[1], c*E[1]-s*E[0], E[2]
			R3, R4, R5 := c*E[3]+s*E[4], c*E[4]-s*E[3], E[5]
			R6, R7, R8 := c*E[6]+s*E[7], c*E[7]-s*E[6], E[8]
			B.R = spatial.Mat3{R0, R1, R2, R3, R4, R5, R6, R7, R8}
			B.r = b.p

			// w = R_BP·w_P + z·q̇
			wx := R0*P.w.X + R3*P.w.Y + R6*P.w.Z
			wy := R1*P.w.X + R4*P.w.Y + R7*P.w.Z
			wz := R2*P.w.X + R5*P.w.Y + R8*P.w.Z + dq

			// ẇ = R_BP·ẇ_P + w × z·q̇ + z·q̈
			ax := R0*P.dw.X + R3*P.dw.Y + R6*P.dw.Z + wy*dq
			ay := R1*P.dw.X + R4*P.dw.Y + R7*P.dw.Z - wx*dq
			az := R2*P.dw.X + R5*P.dw.Y + R8*P.dw.Z + ddq

			// (1)
			ux := P.a.X + P.Ψ[0]*b.p.X + P.Ψ[1]*b.p.Y + P.Ψ[2]*b.p.Z
			uy := P.a.Y + P.Ψ[3]*b.p.X + P.Ψ[4]*b.p.Y + P.Ψ[5]*b.p.Z
			uz := P.a.Z + P.Ψ[6]*b.p.X + P.Ψ[7]*b.p.Y + P.Ψ[8]*b.p.Z
			B.a = spatial.Vec3{
				X: R0*ux + R3*uy + R6*uz,
				Y: R1*ux + R4*uy + R7*uz,
				Z: R2*ux + R5*uy + R8*uz,
			}
			B.w = spatial.Vec3{X: wx, Y: wy, Z: wz}
			B.dw = spatial.Vec3{X: ax, Y: ay, Z: az}
		default:
			d.carry(i, q, v, a)
		}
		b.force(B)
	}
}

// force computes Ψ and (2).
func (b *body) force(B *motion) {
	wx, wy, wz := B.w.X, B.w.Y, B.w.Z
	ax, ay, az := B.dw.X, B.dw.Y, B.dw.Z
	lx, ly, lz := B.a.X, B.a.Y, B.a.Z

	// Ψ = [ẇ]× + w·wᵀ − |w|²·1
	xx, yy, zz := wx*wx, wy*wy, wz*wz
	xy, xz, yz := wx*wy, wx*wz, wy*wz
	Ψ0, Ψ1, Ψ2 := -yy-zz, xy-az, xz+ay
	Ψ3, Ψ4, Ψ5 := xy+az, -xx-zz, yz-ax
	Ψ6, Ψ7, Ψ8 := xz-ay, yz+ax, -xx-yy
	B.Ψ = spatial.Mat3{Ψ0, Ψ1, Ψ2, Ψ3, Ψ4, Ψ5, Ψ6, Ψ7, Ψ8}

	// f = m·a + Ψ·mc
	B.f = spatial.Vec3{
		X: b.mass*lx + Ψ0*b.mx + Ψ1*b.my + Ψ2*b.mz,
		Y: b.mass*ly + Ψ3*b.mx + Ψ4*b.my + Ψ5*b.mz,
		Z: b.mass*lz + Ψ6*b.mx + Ψ7*b.my + Ψ8*b.mz,
	}

	// n = mc × a + the antisymmetric part of Ψ·Σ
	B.n = spatial.Vec3{
		X: b.my*lz - b.mz*ly + Ψ6*b.sxy - Ψ3*b.sxz + Ψ7*b.syy - Ψ5*b.szz + (Ψ8-Ψ4)*b.syz,
		Y: b.mz*lx - b.mx*lz + Ψ1*b.syz - Ψ7*b.sxy + Ψ2*b.szz - Ψ6*b.sxx + (Ψ0-Ψ8)*b.sxz,
		Z: b.mx*ly - b.my*lx + Ψ5*b.sxz - Ψ2*b.syz + Ψ3*b.sxx - Ψ1*b.syy + (Ψ4-Ψ0)*b.sxy,
	}
}

// carry is the step outward for joints that do not just turn.
func (d *Data) carry(i int, q, v, a []float64) {
	b := &d.body[i]
	B, P := &d.motion[i], &d.motion[b.parent]
	B.R = d.rotation(i, q)
	B.r = d.offset(i, q)

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
			B.f = B.f.Sub(l.Wrench[i].Force)
			B.n = B.n.Sub(l.Wrench[i].Torque)
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
	for i := len(bodies) - 1; i > 0; i-- {
		b := &bodies[i]
		B, P := &motions[i], &motions[b.parent]

		switch b.kind {
		case robot.Revolute, robot.Continuous:
			dst[b.v] += b.ratio * B.n.Z
		case robot.Prismatic:
			dst[b.v] += b.ratio * B.f.Z
		case robot.Planar:
			s, c := d.sin[i], d.cos[i]
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

		R, r := &B.R, &B.r
		fx := R[0]*B.f.X + R[1]*B.f.Y + R[2]*B.f.Z
		fy := R[3]*B.f.X + R[4]*B.f.Y + R[5]*B.f.Z
		fz := R[6]*B.f.X + R[7]*B.f.Y + R[8]*B.f.Z
		P.f.X += fx
		P.f.Y += fy
		P.f.Z += fz
		P.n.X += R[0]*B.n.X + R[1]*B.n.Y + R[2]*B.n.Z + r.Y*fz - r.Z*fy
		P.n.Y += R[3]*B.n.X + R[4]*B.n.Y + R[5]*B.n.Z + r.Z*fx - r.X*fz
		P.n.Z += R[6]*B.n.X + R[7]*B.n.Y + R[8]*B.n.Z + r.X*fy - r.Y*fx
	}
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
