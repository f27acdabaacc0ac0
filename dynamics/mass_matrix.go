package dynamics

import (
	"poise/robot"
	"poise/spatial"
)

// composite is what the mass matrix stores for a body: where it is, and the mass
// of all that hangs on it, as if frozen. All is seen from the root, the first
// body that moves against the world: its axes, its origin. The mass matrix does
// not depend on where the root is, so nothing has to be done for it; and a robot
// far from the world's origin loses no digits.
type composite struct {
	R spatial.Mat3 // R_0B
	p spatial.Vec3 // p_0B

	mass                         float64
	mx, my, mz                   float64 // ∫x dm
	ixx, ixy, ixz, iyy, iyz, izz float64 // ∫(|x|²·1 − x·xᵀ) dm
}

// screw is what a joint with one velocity does to the root's axes: S = (e, u),
// the turn and the velocity at the root's origin. A follower's is scaled by its
// ratio. Joints with more velocities have none.
type screw struct {
	ex, ey, ez, ux, uy, uz float64
	parent, v              int32
	single                 bool // one velocity
	free                   bool // a free root
}

// MassMatrixTo stores in dst the mass matrix M(q), NumV×NumV, both triangles,
// with the load's armature on its diagonal. It is the composite rigid body
// algorithm of [RBDA] ch. 6: a joint i that accelerates alone needs the force
// F_i = I_i·S_i for all that hangs on it, and each joint j between it and the
// world carries its share,
//
//	M_ij = S_j·F_i.                                                      (1)
//
// Unlike there, all is seen from one frame, that of the root: then the F need no
// transformation on their way. Loop-safe.
func (d *Data) MassMatrixTo(dst, q []float64, l Load) {
	mustLen("dst", dst, d.nv*d.nv)
	mustLen("q", q, d.m.NumQ())
	d.checkLoad(l)
	d.turns(q)
	d.weigh(q)
	clear(dst)
	for i, inertia := range l.Armature {
		dst[i*d.nv+i] = inertia
	}
	for i := len(d.body) - 1; i > 0; i-- {
		if d.screw[i].single {
			d.shareOne(dst, i)
		} else {
			d.shareMany(dst, i)
		}
		if parent := d.body[i].parent; parent != 0 {
			d.composite[parent].add(&d.composite[i])
		}
	}
}

// weigh goes outward: places each body and puts down its own mass.
func (d *Data) weigh(q []float64) {
	bodies := d.body
	composites := d.composite[:len(bodies)]
	sin, cos := d.sin[:len(bodies)], d.cos[:len(bodies)]
	for i := 1; i < len(bodies); i++ {
		b := &bodies[i]
		C := &composites[i]
		S := &d.screw[i]
		if b.parent == 0 {
			C.root(b)
			S.set(b, C)
			continue
		}
		P := &composites[b.parent]
		R := &P.R
		if b.kind > robot.Continuous {
			R_PB, r := d.pose(i, q)
			C.R, C.p = R.Mul(R_PB), P.p.Add(R.MulVec(r))
			C.own(b)
			S.set(b, C)
			continue
		}

		// R_0B = R_0P·R_PB: turns mix columns
		h := &b.hinge
		x0, y0, z0 := R[0], R[1], R[2]
		x1, y1, z1 := R[3], R[4], R[5]
		x2, y2, z2 := R[6], R[7], R[8]
		px := P.p.X + x0*h.P.X + y0*h.P.Y + z0*h.P.Z
		py := P.p.Y + x1*h.P.X + y1*h.P.Y + z1*h.P.Z
		pz := P.p.Z + x2*h.P.X + y2*h.P.Y + z2*h.P.Z
		C.p.X, C.p.Y, C.p.Z = px, py, pz
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
		s, c = sin[i], cos[i]
		C.R[0], C.R[1], C.R[2] = c*x0+s*y0, c*y0-s*x0, z0
		C.R[3], C.R[4], C.R[5] = c*x1+s*y1, c*y1-s*x1, z1
		C.R[6], C.R[7], C.R[8] = c*x2+s*y2, c*y2-s*x2, z2
		C.own(b)

		// S = (z, p × z)
		z0, z1, z2 = b.ratio*z0, b.ratio*z1, b.ratio*z2
		S.ex, S.ey, S.ez = z0, z1, z2
		S.ux, S.uy, S.uz = py*z2-pz*z1, pz*z0-px*z2, px*z1-py*z0
	}
}

// set is the screw of a body that is placed.
func (S *screw) set(b *body, C *composite) {
	z := C.R.Col(2).Scale(b.ratio)
	var e, u spatial.Vec3
	switch b.kind {
	case robot.Revolute, robot.Continuous:
		e, u = z, C.p.Cross(z)
	case robot.Prismatic:
		u = z
	}
	S.ex, S.ey, S.ez, S.ux, S.uy, S.uz = e.X, e.Y, e.Z, u.X, u.Y, u.Z
}

// root sets the composite of a root to its mass alone: as compiled.
func (C *composite) root(b *body) {
	C.R, C.p = spatial.Identity3, spatial.Vec3{}
	C.mass, C.mx, C.my, C.mz = b.mass, b.mx, b.my, b.mz
	C.ixx, C.ixy, C.ixz = b.syy+b.szz, -b.sxy, -b.sxz
	C.iyy, C.iyz, C.izz = b.sxx+b.szz, -b.syz, b.sxx+b.syy
}

// own sets the composite of a placed body to its mass alone. With the second
// moments about the centre of mass as λ·1 + g·gᵀ + h·hᵀ, three vectors are all
// that has to be turned.
func (C *composite) own(b *body) {
	R := &C.R
	R0, R1, R2, R3, R4, R5, R6, R7, R8 := R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8]
	x, y, z := b.com.X, b.com.Y, b.com.Z
	cx := C.p.X + R0*x + R1*y + R2*z
	cy := C.p.Y + R3*x + R4*y + R5*z
	cz := C.p.Z + R6*x + R7*y + R8*z
	x, y, z = b.g.X, b.g.Y, b.g.Z
	gx, gy, gz := R0*x+R1*y+R2*z, R3*x+R4*y+R5*z, R6*x+R7*y+R8*z
	x, y, z = b.h.X, b.h.Y, b.h.Z
	hx, hy, hz := R0*x+R1*y+R2*z, R3*x+R4*y+R5*z, R6*x+R7*y+R8*z

	mx, my, mz := b.mass*cx, b.mass*cy, b.mass*cz
	C.mass, C.mx, C.my, C.mz = b.mass, mx, my, mz

	// Σ = λ·1 + g·gᵀ + h·hᵀ + m·c·cᵀ,  I = tr(Σ)·1 − Σ
	xx := b.λ + gx*gx + hx*hx + mx*cx
	yy := b.λ + gy*gy + hy*hy + my*cy
	zz := b.λ + gz*gz + hz*hz + mz*cz
	C.ixx, C.iyy, C.izz = yy+zz, xx+zz, xx+yy
	C.ixy = -(gx*gy + hx*hy + mx*cy)
	C.ixz = -(gx*gz + hx*hz + mx*cz)
	C.iyz = -(gy*gz + hy*hz + my*cz)
}

// add hangs the composite B on C.
func (C *composite) add(B *composite) {
	C.mass += B.mass
	C.mx += B.mx
	C.my += B.my
	C.mz += B.mz
	C.ixx += B.ixx
	C.ixy += B.ixy
	C.ixz += B.ixz
	C.iyy += B.iyy
	C.iyz += B.iyz
	C.izz += B.izz
}

// turn returns the force on all of C that turns about the axis e through its
// body's origin with unit acceleration: force, and torque about the root's
// origin.
func (C *composite) turn(e spatial.Vec3) (f, n spatial.Vec3) {
	return C.push(e, C.p.Cross(e))
}

// slide returns the force on all of C that slides along e.
func (C *composite) slide(e spatial.Vec3) (f, n spatial.Vec3) {
	return C.push(spatial.Vec3{}, e)
}

// push returns I·S for S = (angular e, linear u at the root's origin).
func (C *composite) push(e, u spatial.Vec3) (f, n spatial.Vec3) {
	// f = m·u + e × mc
	f.X = C.mass*u.X + e.Y*C.mz - e.Z*C.my
	f.Y = C.mass*u.Y + e.Z*C.mx - e.X*C.mz
	f.Z = C.mass*u.Z + e.X*C.my - e.Y*C.mx

	// n = I·e + mc × u
	n.X = C.ixx*e.X + C.ixy*e.Y + C.ixz*e.Z + C.my*u.Z - C.mz*u.Y
	n.Y = C.ixy*e.X + C.iyy*e.Y + C.iyz*e.Z + C.mz*u.X - C.mx*u.Z
	n.Z = C.ixz*e.X + C.iyz*e.Y + C.izz*e.Z + C.mx*u.Y - C.my*u.X
	return f, n
}

// shareOne is (1) for the joint of body i, which has one velocity.
func (d *Data) shareOne(M []float64, i int) {
	C, S := &d.composite[i], &d.screw[i]
	ex, ey, ez, ux, uy, uz := S.ex, S.ey, S.ez, S.ux, S.uy, S.uz

	// f = m·u + e × mc, n = I·e + mc × u
	m, mx, my, mz := C.mass, C.mx, C.my, C.mz
	fx := m*ux + ey*mz - ez*my
	fy := m*uy + ez*mx - ex*mz
	fz := m*uz + ex*my - ey*mx
	nx := C.ixx*ex + C.ixy*ey + C.ixz*ez + my*uz - mz*uy
	ny := C.ixy*ex + C.iyy*ey + C.iyz*ez + mz*ux - mx*uz
	nz := C.ixz*ex + C.iyz*ey + C.izz*ez + mx*uy - my*ux

	nv, v := d.nv, int(S.v)
	row := M[v*nv:][:nv]
	row[v] += ex*nx + ey*ny + ez*nz + ux*fx + uy*fy + uz*fz

	// walk to the root
	screws := d.screw
	for k := S.parent; k != 0; {
		S := &screws[k]
		if S.free {
			// a free root carries everything, and its axes are those we see from
			u := int(S.v)
			r := row[u : u+6]
			r[0] += fx
			r[1] += fy
			r[2] += fz
			r[3] += nx
			r[4] += ny
			r[5] += nz
			M[u*nv+v] = r[0]
			M[(u+1)*nv+v] = r[1]
			M[(u+2)*nv+v] = r[2]
			M[(u+3)*nv+v] = r[3]
			M[(u+4)*nv+v] = r[4]
			M[(u+5)*nv+v] = r[5]
			return
		}
		if !S.single {
			d.share(M, v, int(k), spatial.Vec3{X: fx, Y: fy, Z: fz}, spatial.Vec3{X: nx, Y: ny, Z: nz})
			return
		}
		τ := S.ex*nx + S.ey*ny + S.ez*nz + S.ux*fx + S.uy*fy + S.uz*fz
		u := int(S.v)
		row[u] += τ
		M[u*nv+v] += τ
		k = S.parent
	}
}

// shareMany is (1) for a joint with several coordinates.
func (d *Data) shareMany(M []float64, i int) {
	b, C := &d.body[i], &d.composite[i]
	if b.kind == robot.Planar {
		x, y := d.planarAxes(i, &C.R)
		fx, nx := C.slide(x)
		fy, ny := C.slide(y)
		fz, nz := C.turn(C.R.Col(2))
		d.shareOwn(M, i, 0, fx, nx)
		d.shareOwn(M, i, 1, fy, ny)
		d.shareOwn(M, i, 2, fz, nz)
		return
	}
	if b.parent == 0 {
		d.shareBase(M, i)
		return
	}
	for k := range 3 {
		f, n := C.slide(C.R.Col(k))
		d.shareOwn(M, i, k, f, n)
		f, n = C.turn(C.R.Col(k))
		d.shareOwn(M, i, 3+k, f, n)
	}
}

// shareBase stores the block of a free root, which is what it weighs:
//
//	⎡  m·1   −[mc]× ⎤
//	⎣ [mc]×     I   ⎦
func (d *Data) shareBase(M []float64, i int) {
	C := &d.composite[i]
	v, n := int(d.body[i].v), d.nv
	row := func(k int, x0, x1, x2, x3, x4, x5 float64) {
		r := M[(v+k)*n+v:][:6]
		r[0], r[1], r[2], r[3], r[4], r[5] = x0, x1, x2, x3, x4, x5
	}
	m, x, y, z := C.mass, C.mx, C.my, C.mz
	row(0, m, 0, 0, 0, z, -y)
	row(1, 0, m, 0, -z, 0, x)
	row(2, 0, 0, m, y, -x, 0)
	row(3, 0, -z, y, C.ixx, C.ixy, C.ixz)
	row(4, z, 0, -x, C.ixy, C.iyy, C.iyz)
	row(5, -y, x, 0, C.ixz, C.iyz, C.izz)
}

// shareOwn stores the row k of the body's own block, up to the diagonal and
// mirrored, and what the joints below carry.
func (d *Data) shareOwn(M []float64, i, k int, f, n spatial.Vec3) {
	first := int(d.body[i].v)
	v := first + k
	var τ [6]float64
	d.project(&τ, i, f, n)
	for c := range k {
		M[v*d.nv+first+c] = τ[c]
		M[(first+c)*d.nv+v] = τ[c]
	}
	M[v*d.nv+v] += τ[k]
	d.share(M, v, int(d.body[i].parent), f, n)
}

// project stores what the joint of body i carries of the force (f, n), one
// number for each of its velocities, and returns how many there are.
func (d *Data) project(τ *[6]float64, i int, f, n spatial.Vec3) int {
	b, C := &d.body[i], &d.composite[i]
	switch b.kind {
	case robot.Planar:
		x, y := d.planarAxes(i, &C.R)
		τ[0], τ[1] = x.Dot(f), y.Dot(f)
		τ[2] = C.R.Col(2).Dot(n.Sub(C.p.Cross(f)))
		return 3
	default: // floating
		if b.parent == 0 {
			*τ = [6]float64{f.X, f.Y, f.Z, n.X, n.Y, n.Z}
			return 6
		}
		F := C.R.TMulVec(f)
		N := C.R.TMulVec(n.Sub(C.p.Cross(f)))
		*τ = [6]float64{F.X, F.Y, F.Z, N.X, N.Y, N.Z}
		return 6
	}
}

// share walks from the body i to the world and stores what each joint on the way
// carries of the force (f, n) that belongs to the velocity v.
func (d *Data) share(M []float64, v, i int, f, n spatial.Vec3) {
	nv := d.nv
	for i != 0 {
		S := &d.screw[i]
		var τ [6]float64
		k := 1
		if S.single {
			τ[0] = S.ex*n.X + S.ey*n.Y + S.ez*n.Z + S.ux*f.X + S.uy*f.Y + S.uz*f.Z
		} else {
			k = d.project(&τ, i, f, n)
		}
		for c := range k {
			u := int(S.v) + c
			M[v*nv+u] += τ[c]
			M[u*nv+v] += τ[c]
		}
		i = int(S.parent)
	}
}

// planarAxes returns the directions in which a planar joint slides, in the axes in which
// its body has the orientation R.
func (d *Data) planarAxes(i int, R *spatial.Mat3) (x, y spatial.Vec3) {
	s, c := d.sin[i], d.cos[i]
	return R.Col(0).Scale(c).Sub(R.Col(1).Scale(s)), R.Col(0).Scale(s).Add(R.Col(1).Scale(c))
}
