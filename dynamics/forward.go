package dynamics

import (
	"slices"

	"poise/linalg"
	"poise/robot"
	"poise/spatial"
)

// ForwardTo stores in dst the acceleration that the joint forces tau give at the
// configuration q and the velocity v, under gravity and the load. It is the
// articulated body algorithm of [RBDA] ch. 7 in root axes, in a form where the
// velocities have their effect beforehand: the motion without joint
// acceleration is that of inverse dynamics, and its forces are what the joints
// have to overcome,
//
//	U = I·S,  D = S·U,  u = τ − S·F                                      (1)
//	I_P += I − U·Uᵀ/D,  F_P += F + U·u/D                                 (2)
//	q̈ = (u − U·A_P)/D                                                    (3)
//
// With mimics, which close loops in the tree, it solves M·a = τ − h instead.
// If nothing resists some joint, dst is zero and the error an ErrSingular. dst
// may alias tau. Loop-safe.
func (d *Data) ForwardTo(dst, q, v, tau []float64, l Load) error {
	mustLen("dst", dst, d.nv)
	mustLen("q", q, d.m.NumQ())
	mustLen("v", v, d.nv)
	mustLen("tau", tau, d.nv)
	d.checkLoad(l)
	bad := 0
	if d.mimics {
		bad = d.solve(dst, q, v, tau, l)
	} else {
		d.turns(q)
		d.coast(q, v)
		if bad = d.resist(tau, l); bad == 0 {
			d.accelerate(dst)
		}
	}
	if bad != 0 {
		clear(dst)
		return d.singular[bad]
	}
	return nil
}

// coast goes outward: motion and forces without joint acceleration.
func (d *Data) coast(q, v []float64) {
	for i := 1; i < len(d.body); i++ {
		b := &d.body[i]
		B := &d.articulated[i]
		switch {
		case b.parent == 0:
			// let the world accelerate upwards instead of pulling every body down
			*B = articulated{R: spatial.Identity3, a: d.seenFromRoot(i, q, d.m.Gravity().Neg())}
			d.spin(i, v)
		case b.kind <= robot.Continuous:
			d.coastTurn(i, v[b.v])
		default:
			P := &d.articulated[b.parent]
			R_PB, r := d.pose(i, q)
			B.R, B.r = P.R.Mul(R_PB), P.R.MulVec(r)
			B.w, B.dw = P.w, P.dw
			B.a = P.a.Add(P.Ψ.MulVec(B.r))
			d.spin(i, v)
		}
		B.own(b)
	}
}

// seenFromRoot returns u, given in world axes, in those of the root i.
func (d *Data) seenFromRoot(i int, q []float64, u spatial.Vec3) spatial.Vec3 {
	b := &d.body[i]
	h := &b.hinge
	switch {
	case b.base:
		R_W0 := freeRotation(q[b.q:])
		return R_W0.TMulVec(u)
	case b.kind > robot.Prismatic:
		R_W0, _ := d.pose(i, q)
		return R_W0.TMulVec(u)
	}
	u.X, u.Y = h.CosBank*u.X+h.SinBank*u.Y, h.CosBank*u.Y-h.SinBank*u.X
	u.Y, u.Z = h.CosTilt*u.Y+h.SinTilt*u.Z, h.CosTilt*u.Z-h.SinTilt*u.Y
	u.X, u.Y = d.cos[i]*u.X+d.sin[i]*u.Y, d.cos[i]*u.Y-d.sin[i]*u.X
	return u
}

// coastTurn places and moves the body i, which turns about its z.
func (d *Data) coastTurn(i int, dq float64) {
	b := &d.body[i]
	B, P := &d.articulated[i], &d.articulated[b.parent]
	h := &b.hinge
	R := &P.R
	x0, y0, z0 := R[0], R[1], R[2]
	x1, y1, z1 := R[3], R[4], R[5]
	x2, y2, z2 := R[6], R[7], R[8]
	rx := x0*h.P.X + y0*h.P.Y + z0*h.P.Z
	ry := x1*h.P.X + y1*h.P.Y + z1*h.P.Z
	rz := x2*h.P.X + y2*h.P.Y + z2*h.P.Z
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
	s, c = d.sin[i], d.cos[i]
	B.R[0], B.R[1], B.R[2] = c*x0+s*y0, c*y0-s*x0, z0
	B.R[3], B.R[4], B.R[5] = c*x1+s*y1, c*y1-s*x1, z1
	B.R[6], B.R[7], B.R[8] = c*x2+s*y2, c*y2-s*x2, z2
	B.r.X, B.r.Y, B.r.Z = rx, ry, rz
	Ψ := &P.Ψ
	B.a.X = P.a.X + Ψ[0]*rx + Ψ[1]*ry + Ψ[2]*rz
	B.a.Y = P.a.Y + Ψ[3]*rx + Ψ[4]*ry + Ψ[5]*rz
	B.a.Z = P.a.Z + Ψ[6]*rx + Ψ[7]*ry + Ψ[8]*rz

	// w = w_P + z·q̇, ẇ = ẇ_P + w_P × z·q̇
	sx, sy, sz := z0*dq, z1*dq, z2*dq
	wx, wy, wz := P.w.X, P.w.Y, P.w.Z
	B.w.X, B.w.Y, B.w.Z = wx+sx, wy+sy, wz+sz
	B.dw.X = P.dw.X + wy*sz - wz*sy
	B.dw.Y = P.dw.Y + wz*sx - wx*sz
	B.dw.Z = P.dw.Z + wx*sy - wy*sx
}

// spin moves the body i, placed and carried along already, by its own joint.
func (d *Data) spin(i int, v []float64) {
	b := &d.body[i]
	B := &d.articulated[i]
	switch b.kind {
	case robot.Revolute, robot.Continuous:
		turn := B.R.Col(2).Scale(v[b.v])
		B.dw = B.dw.Add(B.w.Cross(turn))
		B.w = B.w.Add(turn)
	case robot.Prismatic:
		B.a = B.a.Add(B.w.Cross(B.R.Col(2).Scale(2 * v[b.v])))
	case robot.Planar:
		x, y := d.planarAxes(i, &B.R)
		B.a = B.a.Add(B.w.Cross(x.Scale(v[b.v]).Add(y.Scale(v[b.v+1]))).Scale(2))
		spin := B.R.Col(2).Scale(v[b.v+2])
		B.dw = B.dw.Add(B.w.Cross(spin))
		B.w = B.w.Add(spin)
	case robot.Floating:
		lin, spin := six(v[b.v:])
		lin, spin = B.R.MulVec(lin), B.R.MulVec(spin)
		B.a = B.a.Add(B.w.Cross(lin).Scale(2)).Add(spin.Cross(lin))
		B.dw = B.dw.Add(B.w.Cross(spin))
		B.w = B.w.Add(spin)
	}
}

// resist goes inward: (1) and (2). It returns the body whose joint nothing
// resists, 0 if there is none.
func (d *Data) resist(tau []float64, l Load) (bad int) {
	if l.Wrench != nil {
		for i := 1; i < len(d.body); i++ {
			B := &d.articulated[i]
			w := d.turned(i, l.Wrench[i]).In(B.R)
			B.f = B.f.Sub(w.Force)
			B.n = B.n.Sub(w.Torque)
		}
	}
	for i := len(d.body) - 1; i > 0; i-- {
		b := &d.body[i]
		B := &d.articulated[i]
		v := int(b.v)
		rotor := func(k int) float64 {
			if l.Armature == nil {
				return 0
			}
			return l.Armature[v+k]
		}
		ok := true
		switch b.kind {
		case robot.Revolute, robot.Continuous:
			ok = B.turn(&d.column[v], tau[v], rotor(0))
		case robot.Prismatic:
			ok = B.slide(&d.column[v], B.R.Col(2), tau[v], rotor(0))
		case robot.Planar:
			// one after the other, as if light bodies stood between them
			x, y := d.planarAxes(i, &B.R)
			ok = B.turn(&d.column[v+2], tau[v+2], rotor(2)) &&
				B.slide(&d.column[v+1], y, tau[v+1], rotor(1)) &&
				B.slide(&d.column[v], x, tau[v], rotor(0))
		case robot.Floating:
			ok = B.free(tau[v : v+6])
		}
		if !ok {
			return i
		}
		if b.parent != 0 {
			d.articulated[b.parent].add(B)
		}
	}
	return 0
}

// accelerate goes outward: (3).
func (d *Data) accelerate(dst []float64) {
	d.articulated[0].ddw, d.articulated[0].da = spatial.Vec3{}, spatial.Vec3{}
	for i := 1; i < len(d.body); i++ {
		b := &d.body[i]
		B, P := &d.articulated[i], &d.articulated[b.parent]

		// as a part of the parent
		wx, wy, wz := P.ddw.X, P.ddw.Y, P.ddw.Z
		ax := P.da.X + wy*B.r.Z - wz*B.r.Y
		ay := P.da.Y + wz*B.r.X - wx*B.r.Z
		az := P.da.Z + wx*B.r.Y - wy*B.r.X

		v := int(b.v)
		switch b.kind {
		case robot.Revolute, robot.Continuous:
			c := &d.column[v]
			ddq := c.inv * (c.u - (c.n.X*wx + c.n.Y*wy + c.n.Z*wz + c.f.X*ax + c.f.Y*ay + c.f.Z*az))
			dst[v] = ddq
			B.ddw.X, B.ddw.Y, B.ddw.Z = wx+ddq*B.R[2], wy+ddq*B.R[5], wz+ddq*B.R[8]
			B.da.X, B.da.Y, B.da.Z = ax, ay, az
		case robot.Prismatic:
			B.ddw, B.da = spatial.Vec3{X: wx, Y: wy, Z: wz}, spatial.Vec3{X: ax, Y: ay, Z: az}
			dst[v] = d.column[v].solve(B)
			B.da = B.da.Add(B.R.Col(2).Scale(dst[v]))
		case robot.Planar:
			B.ddw, B.da = spatial.Vec3{X: wx, Y: wy, Z: wz}, spatial.Vec3{X: ax, Y: ay, Z: az}
			x, y := d.planarAxes(i, &B.R)
			dst[v] = d.column[v].solve(B)
			B.da = B.da.Add(x.Scale(dst[v]))
			dst[v+1] = d.column[v+1].solve(B)
			B.da = B.da.Add(y.Scale(dst[v+1]))
			dst[v+2] = d.column[v+2].solve(B)
			B.ddw = B.ddw.Add(B.R.Col(2).Scale(dst[v+2]))
		case robot.Floating:
			lin := B.R.TMulVec(B.da.Sub(spatial.Vec3{X: ax, Y: ay, Z: az}))
			ang := B.R.TMulVec(B.ddw.Sub(spatial.Vec3{X: wx, Y: wy, Z: wz}))
			u := dst[v : v+6]
			u[0], u[1], u[2] = lin.X, lin.Y, lin.Z
			u[3], u[4], u[5] = ang.X, ang.Y, ang.Z
		}
	}
}

// solve is forward dynamics by the mass matrix: M·a = τ − h. It returns the body
// whose joint nothing resists, 0 if there is none.
func (d *Data) solve(dst, q, v, tau []float64, l Load) (bad int) {
	d.BiasTo(d.bias, q, v, Load{Wrench: l.Wrench})
	for i := range dst {
		dst[i] = tau[i] - d.bias[i]
	}
	d.MassMatrixTo(d.factor, q, Load{Armature: l.Armature})
	if row := d.weightless(); row < d.nv {
		return d.bodyOf(row)
	}

	// from the tips to the root, as the articulated bodies go, most of M is zero;
	// a symmetric matrix read backwards has its rows and columns in that order
	slices.Reverse(d.factor)
	slices.Reverse(dst)
	if row := linalg.SkylineTo(d.factor, d.factor, d.first, d.nv, pivotTolerance); row < d.nv {
		return d.bodyOf(d.nv - 1 - row)
	}
	linalg.SkylineSolve(dst, d.factor, d.first, d.nv)
	slices.Reverse(dst)
	return 0
}

// weightless returns the first velocity that moves nothing, by the diagonal of
// the mass matrix just made; NumV if there is none.
func (d *Data) weightless() int {
	scale := d.bias
	clear(scale)
	for i := 1; i < len(d.body); i++ {
		b, C := &d.body[i], &d.composite[i]
		mc := spatial.Vec3{X: C.mx, Y: C.my, Z: C.mz}
		size := (C.ixx+C.iyy+C.izz)/2 - 2*C.p.Dot(mc) + C.mass*C.p.Dot(C.p)
		turns, slides := 0, 0 // which of the joint's velocities are which
		switch b.kind {
		case robot.Revolute, robot.Continuous:
			turns = 1
		case robot.Prismatic:
			slides = 1
		case robot.Planar:
			slides, turns = 2, 1
		case robot.Floating:
			slides, turns = 3, 3
		}
		for k := range slides {
			scale[int(b.v)+k] += b.ratio * b.ratio * C.mass
		}
		for k := range turns {
			scale[int(b.v)+slides+k] += b.ratio * b.ratio * size
		}
	}
	for v, s := range scale {
		if !(d.factor[v*d.nv+v] > pivotTolerance*s) {
			return v
		}
	}
	return d.nv
}

// bodyOf returns the body whose own joint has the velocity v.
func (d *Data) bodyOf(v int) int {
	for i, b := range d.m.Bodies() {
		if i > 0 && !b.Mimic && b.V <= v && v < b.V+b.Kind.NumV() {
			return i
		}
	}
	return 0
}
