package dynamics

import (
	"poise/robot"
	"poise/spatial"
)

// composite is what the mass matrix stores for a body: where it is, and the mass
// of all that hangs on it, as if frozen. Axes are the world's; positions and
// moments are taken from the origin of the first moving body below the world,
// so that a robot far from the world's origin loses no digits.
type composite struct {
	R spatial.Mat3 // R_WB
	p spatial.Vec3 // of the body's origin
	m spatial.Vec3 // p × z: velocity at the reference point for a turn about z

	mass                         float64
	mx, my, mz                   float64 // ∫x dm
	ixx, ixy, ixz, iyy, iyz, izz float64 // ∫(|x|²·1 − x·xᵀ) dm
}

// MassMatrixTo stores in dst the mass matrix M(q), NumV×NumV, both triangles,
// with the load's armature on its diagonal. It is the composite rigid body
// algorithm of [RBDA] ch. 6 in world axes: a joint i that accelerates alone
// needs the force F_i = I_i·S_i for all that hangs on it, and each joint j
// between it and the world carries its share,
//
//	M_ij = S_j·F_i.                                                      (1)
//
// In one common frame the F need no transformation on their way to the root.
// Loop-safe.
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
		P := &composites[b.parent]
		R := &P.R

		// R_WB = R_WP · R_PB, and the origin, which is zero for the first body
		var px, py, pz float64
		if b.kind <= robot.Continuous {
			E := &b.E
			s, c := sin[i], cos[i]
			x0, y0, z0 := R[0]*E[0]+R[1]*E[3]+R[2]*E[6], R[0]*E[1]+R[1]*E[4]+R[2]*E[7], R[0]*E[2]+R[1]*E[5]+R[2]*E[8]
			x1, y1, z1 := R[3]*E[0]+R[4]*E[3]+R[5]*E[6], R[3]*E[1]+R[4]*E[4]+R[5]*E[7], R[3]*E[2]+R[4]*E[5]+R[5]*E[8]
			x2, y2, z2 := R[6]*E[0]+R[7]*E[3]+R[8]*E[6], R[6]*E[1]+R[7]*E[4]+R[8]*E[7], R[6]*E[2]+R[7]*E[5]+R[8]*E[8]
			C.R = spatial.Mat3{
				c*x0 + s*y0, c*y0 - s*x0, z0,
				c*x1 + s*y1, c*y1 - s*x1, z1,
				c*x2 + s*y2, c*y2 - s*x2, z2,
			}
			if b.parent != 0 {
				px = P.p.X + R[0]*b.p.X + R[1]*b.p.Y + R[2]*b.p.Z
				py = P.p.Y + R[3]*b.p.X + R[4]*b.p.Y + R[5]*b.p.Z
				pz = P.p.Z + R[6]*b.p.X + R[7]*b.p.Y + R[8]*b.p.Z
			}
		} else {
			C.R = R.Mul(d.rotation(i, q))
			if b.parent != 0 {
				p := P.p.Add(R.MulVec(d.offset(i, q)))
				px, py, pz = p.X, p.Y, p.Z
			}
		}
		C.p = spatial.Vec3{X: px, Y: py, Z: pz}
		C.own(b)
	}
}

// own sets the composite to the mass of the body alone.
func (C *composite) own(b *body) {
	R := &C.R
	px, py, pz := C.p.X, C.p.Y, C.p.Z
	zx, zy, zz := R[2], R[5], R[8]
	C.m = spatial.Vec3{X: py*zz - pz*zy, Y: pz*zx - px*zz, Z: px*zy - py*zx}

	// centre of mass from the reference point
	c := &b.com
	cx := px + R[0]*c.X + R[1]*c.Y + R[2]*c.Z
	cy := py + R[3]*c.X + R[4]*c.Y + R[5]*c.Z
	cz := pz + R[6]*c.X + R[7]*c.Y + R[8]*c.Z
	mx, my, mz := b.mass*cx, b.mass*cy, b.mass*cz
	C.mass, C.mx, C.my, C.mz = b.mass, mx, my, mz

	// R·I·Rᵀ about the centre of mass, moved to the reference point
	I := &b.inertia
	t0, t1, t2 := R[0]*I[0]+R[1]*I[1]+R[2]*I[2], R[0]*I[1]+R[1]*I[4]+R[2]*I[5], R[0]*I[2]+R[1]*I[5]+R[2]*I[8]
	t3, t4, t5 := R[3]*I[0]+R[4]*I[1]+R[5]*I[2], R[3]*I[1]+R[4]*I[4]+R[5]*I[5], R[3]*I[2]+R[4]*I[5]+R[5]*I[8]
	t6, t7, t8 := R[6]*I[0]+R[7]*I[1]+R[8]*I[2], R[6]*I[1]+R[7]*I[4]+R[8]*I[5], R[6]*I[2]+R[7]*I[5]+R[8]*I[8]
	xx, yy, zz2 := mx*cx, my*cy, mz*cz
	C.ixx = t0*R[0] + t1*R[1] + t2*R[2] + yy + zz2
	C.ixy = t0*R[3] + t1*R[4] + t2*R[5] - mx*cy
	C.ixz = t0*R[6] + t1*R[7] + t2*R[8] - mx*cz
	C.iyy = t3*R[3] + t4*R[4] + t5*R[5] + xx + zz2
	C.iyz = t3*R[6] + t4*R[7] + t5*R[8] - my*cz
	C.izz = t6*R[6] + t7*R[7] + t8*R[8] + xx + yy
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
// body's origin with unit acceleration: force, and torque about the reference
// point.
func (C *composite) turn(e spatial.Vec3) (f, n spatial.Vec3) {
	return C.push(e, C.p.Cross(e))
}

// slide returns the force on all of C that slides along e.
func (C *composite) slide(e spatial.Vec3) (f, n spatial.Vec3) {
	return C.push(spatial.Vec3{}, e)
}

// push returns I·S for S = (angular e, linear u at the reference point).
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
	z := spatial.Vec3{X: C.R[2], Y: C.R[5], Z: C.R[8]}
	f, n := C.push(z, C.m)
	if b.ratio != 1 {
		f, n = f.Scale(b.ratio), n.Scale(b.ratio)
	}
	v := int(b.v)
	M[v*d.nv+v] += b.ratio * (z.X*n.X + z.Y*n.Y + z.Z*n.Z + C.m.X*f.X + C.m.Y*f.Y + C.m.Z*f.Z)
	d.share(M, v, int(b.parent), f, n)
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
	for k := range 3 {
		f, n := C.slide(C.R.Col(k))
		d.shareOwn(M, i, k, f, n)
		f, n = C.turn(C.R.Col(k))
		d.shareOwn(M, i, 3+k, f, n)
	}
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
	for i != 0 {
		b, C := &d.body[i], &d.composite[i]
		u := int(b.v)
		switch b.kind {
		case robot.Revolute, robot.Continuous:
			τ := b.ratio * (C.R[2]*n.X + C.R[5]*n.Y + C.R[8]*n.Z + C.m.X*f.X + C.m.Y*f.Y + C.m.Z*f.Z)
			row[u] += τ
			M[u*nv+v] += τ
		case robot.Prismatic:
			τ := b.ratio * (C.R[2]*f.X + C.R[5]*f.Y + C.R[8]*f.Z)
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

// planarAxes returns the directions in which a planar joint slides, world axes.
func (d *Data) planarAxes(i int) (x, y spatial.Vec3) {
	R := &d.composite[i].R
	s, c := d.sin[i], d.cos[i]
	return R.Col(0).Scale(c).Sub(R.Col(1).Scale(s)), R.Col(0).Scale(s).Add(R.Col(1).Scale(c))
}
