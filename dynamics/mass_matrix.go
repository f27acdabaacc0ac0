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
	m spatial.Vec3 // p × z: velocity at the root's origin for a turn about z

	mass                         float64
	mx, my, mz                   float64 // ∫x dm
	ixx, ixy, ixz, iyy, iyz, izz float64 // ∫(|x|²·1 − x·xᵀ) dm
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
		b, C := &d.body[i], &d.composite[i]
		switch b.kind {
		case robot.Revolute, robot.Continuous:
			d.shareTurn(dst, i)
		case robot.Prismatic:
			d.shareSlide(dst, i)
		default:
			d.shareMany(dst, i)
		}
		if b.parent != 0 {
			d.composite[b.parent].add(C)
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
		if b.parent == 0 {
			C.root(b)
			continue
		}
		P := &composites[b.parent]
		R := &P.R
		if b.kind > robot.Continuous {
			C.R = R.Mul(d.rotation(i, q))
			C.p = P.p.Add(R.MulVec(d.offset(i, q)))
			C.own(b)
			continue
		}

		// R_0B = R_0P · E · turn about z
		E, p := &b.E, &b.p
		x0, y0, z0 := R[0]*E[0]+R[1]*E[3]+R[2]*E[6], R[0]*E[1]+R[1]*E[4]+R[2]*E[7], R[0]*E[2]+R[1]*E[5]+R[2]*E[8]
		x1, y1, z1 := R[3]*E[0]+R[4]*E[3]+R[5]*E[6], R[3]*E[1]+R[4]*E[4]+R[5]*E[7], R[3]*E[2]+R[4]*E[5]+R[5]*E[8]
		x2, y2, z2 := R[6]*E[0]+R[7]*E[3]+R[8]*E[6], R[6]*E[1]+R[7]*E[4]+R[8]*E[7], R[6]*E[2]+R[7]*E[5]+R[8]*E[8]
		C.p.X = P.p.X + R[0]*p.X + R[1]*p.Y + R[2]*p.Z
		C.p.Y = P.p.Y + R[3]*p.X + R[4]*p.Y + R[5]*p.Z
		C.p.Z = P.p.Z + R[6]*p.X + R[7]*p.Y + R[8]*p.Z
		s, c := sin[i], cos[i]
		C.R[0], C.R[1], C.R[2] = c*x0+s*y0, c*y0-s*x0, z0
		C.R[3], C.R[4], C.R[5] = c*x1+s*y1, c*y1-s*x1, z1
		C.R[6], C.R[7], C.R[8] = c*x2+s*y2, c*y2-s*x2, z2
		C.own(b)
	}
}

// root sets the composite of a root to its mass alone: as compiled.
func (C *composite) root(b *body) {
	C.R, C.p, C.m = spatial.Identity3, spatial.Vec3{}, spatial.Vec3{}
	C.mass, C.mx, C.my, C.mz = b.mass, b.mx, b.my, b.mz
	C.ixx, C.ixy, C.ixz = b.syy+b.szz, -b.sxy, -b.sxz
	C.iyy, C.iyz, C.izz = b.sxx+b.szz, -b.syz, b.sxx+b.syy
}

// own sets the composite of a placed body to its mass alone.
func (C *composite) own(b *body) {
	R := &C.R
	R0, R1, R2, R3, R4, R5, R6, R7, R8 := R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8]
	px, py, pz := C.p.X, C.p.Y, C.p.Z
	C.m.X, C.m.Y, C.m.Z = py*R8-pz*R5, pz*R2-px*R8, px*R5-py*R2

	// centre of mass
	c := &b.com
	cx := px + R0*c.X + R1*c.Y + R2*c.Z
	cy := py + R3*c.X + R4*c.Y + R5*c.Z
	cz := pz + R6*c.X + R7*c.Y + R8*c.Z
	mx, my, mz := b.mass*cx, b.mass*cy, b.mass*cz
	C.mass, C.mx, C.my, C.mz = b.mass, mx, my, mz

	// R·I·Rᵀ about the centre of mass, moved to the root's origin
	I := &b.inertia
	xx, xy, xz, yy, yz, zz := I[0], I[1], I[2], I[4], I[5], I[8]
	sx, sy, sz := mx*cx, my*cy, mz*cz
	tx, ty, tz := R0*xx+R1*xy+R2*xz, R0*xy+R1*yy+R2*yz, R0*xz+R1*yz+R2*zz
	C.ixx = tx*R0 + ty*R1 + tz*R2 + sy + sz
	C.ixy = tx*R3 + ty*R4 + tz*R5 - mx*cy
	C.ixz = tx*R6 + ty*R7 + tz*R8 - mx*cz
	tx, ty, tz = R3*xx+R4*xy+R5*xz, R3*xy+R4*yy+R5*yz, R3*xz+R4*yz+R5*zz
	C.iyy = tx*R3 + ty*R4 + tz*R5 + sx + sz
	C.iyz = tx*R6 + ty*R7 + tz*R8 - my*cz
	tx, ty, tz = R6*xx+R7*xy+R8*xz, R6*xy+R7*yy+R8*yz, R6*xz+R7*yz+R8*zz
	C.izz = tx*R6 + ty*R7 + tz*R8 + sx + sy
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

// shareTurn is (1) for the joint of body i, which turns about z.
func (d *Data) shareTurn(M []float64, i int) {
	b, C := &d.body[i], &d.composite[i]
	k := b.ratio
	zx, zy, zz := k*C.R[2], k*C.R[5], k*C.R[8]
	ux, uy, uz := k*C.m.X, k*C.m.Y, k*C.m.Z

	// f = m·u + z × mc, n = I·z + mc × u
	mx, my, mz := C.mx, C.my, C.mz
	fx := C.mass*ux + zy*mz - zz*my
	fy := C.mass*uy + zz*mx - zx*mz
	fz := C.mass*uz + zx*my - zy*mx
	nx := C.ixx*zx + C.ixy*zy + C.ixz*zz + my*uz - mz*uy
	ny := C.ixy*zx + C.iyy*zy + C.iyz*zz + mz*ux - mx*uz
	nz := C.ixz*zx + C.iyz*zy + C.izz*zz + mx*uy - my*ux

	v := int(b.v)
	M[v*d.nv+v] += zx*nx + zy*ny + zz*nz + ux*fx + uy*fy + uz*fz
	d.share(M, v, int(b.parent), spatial.Vec3{X: fx, Y: fy, Z: fz}, spatial.Vec3{X: nx, Y: ny, Z: nz})
}

// shareSlide is (1) for the joint of body i, which slides along z.
func (d *Data) shareSlide(M []float64, i int) {
	b, C := &d.body[i], &d.composite[i]
	z := spatial.Vec3{X: C.R[2], Y: C.R[5], Z: C.R[8]}
	f, n := C.slide(z.Scale(b.ratio))
	v := int(b.v)
	M[v*d.nv+v] += b.ratio * z.Dot(f)
	d.share(M, v, int(b.parent), f, n)
}

// shareMany is (1) for a joint with several coordinates.
func (d *Data) shareMany(M []float64, i int) {
	b, C := &d.body[i], &d.composite[i]
	if b.kind == robot.Planar {
		x, y := d.planarAxes(i)
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
		x, y := d.planarAxes(i)
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
	row := M[v*nv : (v+1)*nv]
	fx, fy, fz, nx, ny, nz := f.X, f.Y, f.Z, n.X, n.Y, n.Z
	for i != 0 {
		b, C := &d.body[i], &d.composite[i]
		u := int(b.v)
		switch b.kind {
		case robot.Revolute, robot.Continuous:
			τ := b.ratio * (C.R[2]*nx + C.R[5]*ny + C.R[8]*nz + C.m.X*fx + C.m.Y*fy + C.m.Z*fz)
			row[u] += τ
			M[u*nv+v] += τ
		case robot.Prismatic:
			τ := b.ratio * (C.R[2]*fx + C.R[5]*fy + C.R[8]*fz)
			row[u] += τ
			M[u*nv+v] += τ
		default:
			var τ [6]float64
			k := d.project(&τ, i, f, n)
			for c := range k {
				row[u+c] += τ[c]
				M[(u+c)*nv+v] += τ[c]
			}
		}
		i = int(b.parent)
	}
}

// planarAxes returns the directions in which a planar joint slides, in the axes
// of its composite.
func (d *Data) planarAxes(i int) (x, y spatial.Vec3) {
	R := &d.composite[i].R
	s, c := d.sin[i], d.cos[i]
	return R.Col(0).Scale(c).Sub(R.Col(1).Scale(s)), R.Col(0).Scale(s).Add(R.Col(1).Scale(c))
}
