package dynamics

import "poise/spatial"

// articulated is what forward dynamics stores for a body. Axes are those of the
// root, the first body that moves against the world, so that for the root itself
// there is little to do; moments are taken about the body's own origin.
type articulated struct {
	R spatial.Mat3 // R_0B
	r spatial.Vec3 // from the parent's origin to the body's

	// motion if no joint accelerated, as in inverse dynamics
	w, dw, a spatial.Vec3
	Ψ        spatial.Mat3

	// what hangs on the body resists with torque n + A·ẇ + B·a and force
	// f + Bᵀ·ẇ + C·a to a further acceleration (ẇ, a); A and C are symmetric
	axx, axy, axz, ayy, ayz, azz                float64
	bxx, bxy, bxz, byx, byy, byz, bzx, bzy, bzz float64
	cxx, cxy, cxz, cyy, cyz, czz                float64
	f, n                                        spatial.Vec3

	// size of what hangs on the body, if frozen: mass, first moment, ∫|x|² dm
	mass float64
	mc   spatial.Vec3
	size float64

	// further acceleration, found on the way out
	ddw, da spatial.Vec3
}

// column is what forward dynamics keeps of a velocity that its joint adds: the
// force U that a unit of acceleration takes, its share 1/(S·U) and the joint
// force that is left for it.
type column struct {
	n, f spatial.Vec3 // U: torque, force
	inv  float64      // 1/D, D = S·U
	u    float64      // τ − S·(n, f)
}

// pivotTolerance is how small the resistance D of a joint may get against that
// of a like mass at the distance of what hangs on it: below, rounding (some
// 1e-15) leaves too few digits. The smallest of real robots, long thin links
// about their own axes, are near 1e-8.
const pivotTolerance = 1e-12

// own sets inertia and forces to those of the body alone, moving as coast says.
func (B *articulated) own(b *body) {
	R := &B.R

	// first and second moments of its mass
	mx := R[0]*b.mx + R[1]*b.my + R[2]*b.mz
	my := R[3]*b.mx + R[4]*b.my + R[5]*b.mz
	mz := R[6]*b.mx + R[7]*b.my + R[8]*b.mz
	tx, ty, tz := R[0]*b.sxx+R[1]*b.sxy+R[2]*b.sxz, R[0]*b.sxy+R[1]*b.syy+R[2]*b.syz, R[0]*b.sxz+R[1]*b.syz+R[2]*b.szz
	sxx := tx*R[0] + ty*R[1] + tz*R[2]
	sxy := tx*R[3] + ty*R[4] + tz*R[5]
	sxz := tx*R[6] + ty*R[7] + tz*R[8]
	tx, ty, tz = R[3]*b.sxx+R[4]*b.sxy+R[5]*b.sxz, R[3]*b.sxy+R[4]*b.syy+R[5]*b.syz, R[3]*b.sxz+R[4]*b.syz+R[5]*b.szz
	syy := tx*R[3] + ty*R[4] + tz*R[5]
	syz := tx*R[6] + ty*R[7] + tz*R[8]
	szz := b.sxx + b.syy + b.szz - sxx - syy // the trace stays

	// A = tr(Σ)·1 − Σ, B = [mc]×, C = m·1
	B.axx, B.axy, B.axz, B.ayy, B.ayz, B.azz = syy+szz, -sxy, -sxz, sxx+szz, -syz, sxx+syy
	B.bxx, B.bxy, B.bxz = 0, -mz, my
	B.byx, B.byy, B.byz = mz, 0, -mx
	B.bzx, B.bzy, B.bzz = -my, mx, 0
	B.cxx, B.cxy, B.cxz, B.cyy, B.cyz, B.czz = b.mass, 0, 0, b.mass, 0, b.mass
	B.mass, B.size = b.mass, sxx+syy+szz
	B.mc.X, B.mc.Y, B.mc.Z = mx, my, mz

	// Ψ = [ẇ]× + w·wᵀ − |w|²·1
	wx, wy, wz := B.w.X, B.w.Y, B.w.Z
	ax, ay, az := B.dw.X, B.dw.Y, B.dw.Z
	lx, ly, lz := B.a.X, B.a.Y, B.a.Z
	xx, yy, zz := wx*wx, wy*wy, wz*wz
	xy, xz, yz := wx*wy, wx*wz, wy*wz
	Ψ0, Ψ1, Ψ2 := -yy-zz, xy-az, xz+ay
	Ψ3, Ψ4, Ψ5 := xy+az, -xx-zz, yz-ax
	Ψ6, Ψ7, Ψ8 := xz-ay, yz+ax, -xx-yy
	B.Ψ[0], B.Ψ[1], B.Ψ[2] = Ψ0, Ψ1, Ψ2
	B.Ψ[3], B.Ψ[4], B.Ψ[5] = Ψ3, Ψ4, Ψ5
	B.Ψ[6], B.Ψ[7], B.Ψ[8] = Ψ6, Ψ7, Ψ8

	// f = m·a + Ψ·mc, n = mc × a + the antisymmetric part of Ψ·Σ
	B.f.X = b.mass*lx + Ψ0*mx + Ψ1*my + Ψ2*mz
	B.f.Y = b.mass*ly + Ψ3*mx + Ψ4*my + Ψ5*mz
	B.f.Z = b.mass*lz + Ψ6*mx + Ψ7*my + Ψ8*mz
	B.n.X = my*lz - mz*ly + Ψ6*sxy - Ψ3*sxz + Ψ7*syy - Ψ5*szz + (Ψ8-Ψ4)*syz
	B.n.Y = mz*lx - mx*lz + Ψ1*syz - Ψ7*sxy + Ψ2*szz - Ψ6*sxx + (Ψ0-Ψ8)*sxz
	B.n.Z = mx*ly - my*lx + Ψ5*sxz - Ψ2*syz + Ψ3*sxx - Ψ1*syy + (Ψ4-Ψ0)*sxy
}

// turn is (1) and (2) for a joint about z.
func (B *articulated) turn(c *column, τ, rotor float64) bool {
	zx, zy, zz := B.R[2], B.R[5], B.R[8]
	nx := B.axx*zx + B.axy*zy + B.axz*zz
	ny := B.axy*zx + B.ayy*zy + B.ayz*zz
	nz := B.axz*zx + B.ayz*zy + B.azz*zz
	fx := B.bxx*zx + B.byx*zy + B.bzx*zz
	fy := B.bxy*zx + B.byy*zy + B.bzy*zz
	fz := B.bxz*zx + B.byz*zy + B.bzz*zz
	D := nx*zx + ny*zy + nz*zz + rotor
	if !(D > pivotTolerance*B.size) {
		return false
	}
	c.n.X, c.n.Y, c.n.Z, c.f.X, c.f.Y, c.f.Z = nx, ny, nz, fx, fy, fz
	c.inv = 1 / D
	c.u = τ - (B.n.X*zx + B.n.Y*zy + B.n.Z*zz)
	B.yield(c)
	return true
}

// slide is (1) and (2) for a joint along e.
func (B *articulated) slide(c *column, e spatial.Vec3, τ, rotor float64) bool {
	c.n.X = B.bxx*e.X + B.bxy*e.Y + B.bxz*e.Z
	c.n.Y = B.byx*e.X + B.byy*e.Y + B.byz*e.Z
	c.n.Z = B.bzx*e.X + B.bzy*e.Y + B.bzz*e.Z
	c.f.X = B.cxx*e.X + B.cxy*e.Y + B.cxz*e.Z
	c.f.Y = B.cxy*e.X + B.cyy*e.Y + B.cyz*e.Z
	c.f.Z = B.cxz*e.X + B.cyz*e.Y + B.czz*e.Z
	D := c.f.Dot(e) + rotor
	if !(D > pivotTolerance*B.mass) {
		return false
	}
	c.inv = 1 / D
	c.u = τ - B.f.Dot(e)
	B.yield(c)
	return true
}

// yield takes away what the joint gives way to, (2).
func (B *articulated) yield(c *column) {
	nx, ny, nz, fx, fy, fz := c.n.X, c.n.Y, c.n.Z, c.f.X, c.f.Y, c.f.Z
	kx, ky, kz := nx*c.inv, ny*c.inv, nz*c.inv
	B.axx -= kx * nx
	B.axy -= kx * ny
	B.axz -= kx * nz
	B.ayy -= ky * ny
	B.ayz -= ky * nz
	B.azz -= kz * nz
	B.bxx -= kx * fx
	B.bxy -= kx * fy
	B.bxz -= kx * fz
	B.byx -= ky * fx
	B.byy -= ky * fy
	B.byz -= ky * fz
	B.bzx -= kz * fx
	B.bzy -= kz * fy
	B.bzz -= kz * fz
	B.n.X += kx * c.u
	B.n.Y += ky * c.u
	B.n.Z += kz * c.u
	kx, ky, kz = fx*c.inv, fy*c.inv, fz*c.inv
	B.cxx -= kx * fx
	B.cxy -= kx * fy
	B.cxz -= kx * fz
	B.cyy -= ky * fy
	B.cyz -= ky * fz
	B.czz -= kz * fz
	B.f.X += kx * c.u
	B.f.Y += ky * c.u
	B.f.Z += kz * c.u
}

// free solves for the acceleration of a body that its joint leaves free: nothing
// of its inertia reaches the parent, only the joint's own force τ. By blocks,
//
//	a = C⁻¹·(f − Bᵀ·ẇ),  (A − B·C⁻¹·Bᵀ)·ẇ = n − B·C⁻¹·f
func (B *articulated) free(τ []float64) bool {
	f, n := six(τ)
	f, n = B.R.MulVec(f), B.R.MulVec(n)
	C, ok := symmetric{B.cxx, B.cxy, B.cxz, B.cyy, B.cyz, B.czz}.inverse(B.mass)
	if !ok {
		return false
	}

	// rows of T = B·C⁻¹
	x := C.times(spatial.Vec3{X: B.bxx, Y: B.bxy, Z: B.bxz})
	y := C.times(spatial.Vec3{X: B.byx, Y: B.byy, Z: B.byz})
	z := C.times(spatial.Vec3{X: B.bzx, Y: B.bzy, Z: B.bzz})
	S, ok := symmetric{
		B.axx - (x.X*B.bxx + x.Y*B.bxy + x.Z*B.bxz),
		B.axy - (x.X*B.byx + x.Y*B.byy + x.Z*B.byz),
		B.axz - (x.X*B.bzx + x.Y*B.bzy + x.Z*B.bzz),
		B.ayy - (y.X*B.byx + y.Y*B.byy + y.Z*B.byz),
		B.ayz - (y.X*B.bzx + y.Y*B.bzy + y.Z*B.bzz),
		B.azz - (z.X*B.bzx + z.Y*B.bzy + z.Z*B.bzz),
	}.inverse(B.size)
	if !ok {
		return false
	}
	Δf, Δn := f.Sub(B.f), n.Sub(B.n)
	w := S.times(spatial.Vec3{X: Δn.X - x.Dot(Δf), Y: Δn.Y - y.Dot(Δf), Z: Δn.Z - z.Dot(Δf)})
	B.ddw = w
	B.da = C.times(spatial.Vec3{
		X: Δf.X - (B.bxx*w.X + B.byx*w.Y + B.bzx*w.Z),
		Y: Δf.Y - (B.bxy*w.X + B.byy*w.Y + B.bzy*w.Z),
		Z: Δf.Z - (B.bxz*w.X + B.byz*w.Y + B.bzz*w.Z),
	})

	B.axx, B.axy, B.axz, B.ayy, B.ayz, B.azz = 0, 0, 0, 0, 0, 0
	B.bxx, B.bxy, B.bxz, B.byx, B.byy, B.byz, B.bzx, B.bzy, B.bzz = 0, 0, 0, 0, 0, 0, 0, 0, 0
	B.cxx, B.cxy, B.cxz, B.cyy, B.cyz, B.czz = 0, 0, 0, 0, 0, 0
	B.f, B.n = f, n
	return true
}

// symmetric is a symmetric 3×3 matrix.
type symmetric struct{ xx, xy, xz, yy, yz, zz float64 }

func (S symmetric) times(u spatial.Vec3) spatial.Vec3 {
	return spatial.Vec3{
		X: S.xx*u.X + S.xy*u.Y + S.xz*u.Z,
		Y: S.xy*u.X + S.yy*u.Y + S.yz*u.Z,
		Z: S.xz*u.X + S.yz*u.Y + S.zz*u.Z,
	}
}

// inverse returns the inverse of a positive definite S by its cofactors. It is
// not ok if S is singular to working precision: an element of the diagonal is
// small against scale, or the determinant against the diagonal.
func (S symmetric) inverse(scale float64) (inv symmetric, ok bool) {
	xx := S.yy*S.zz - S.yz*S.yz
	xy := S.xz*S.yz - S.xy*S.zz
	xz := S.xy*S.yz - S.xz*S.yy
	det := S.xx*xx + S.xy*xy + S.xz*xz
	least := pivotTolerance * scale
	if !(S.xx > least && S.yy > least && S.zz > least && det > pivotTolerance*S.xx*S.yy*S.zz) {
		return inv, false
	}
	k := 1 / det
	return symmetric{
		xx: k * xx, xy: k * xy, xz: k * xz,
		yy: k * (S.xx*S.zz - S.xz*S.xz), yz: k * (S.xy*S.xz - S.xx*S.yz),
		zz: k * (S.xx*S.yy - S.xy*S.xy),
	}, true
}

// add hangs what is left of B on its parent P, moved to P's origin:
//
//	C_P += C,  B_P += B',  A_P += A + [r]×·Bᵀ − B'·[r]×,  B' = B + [r]×·C
func (P *articulated) add(B *articulated) {
	rx, ry, rz := B.r.X, B.r.Y, B.r.Z

	bxx := B.bxx + ry*B.cxz - rz*B.cxy
	bxy := B.bxy + ry*B.cyz - rz*B.cyy
	bxz := B.bxz + ry*B.czz - rz*B.cyz
	byx := B.byx + rz*B.cxx - rx*B.cxz
	byy := B.byy + rz*B.cxy - rx*B.cyz
	byz := B.byz + rz*B.cxz - rx*B.czz
	bzx := B.bzx + rx*B.cxy - ry*B.cxx
	bzy := B.bzy + rx*B.cyy - ry*B.cxy
	bzz := B.bzz + rx*B.cyz - ry*B.cxz

	P.axx += B.axx + ry*(B.bxz+bxz) - rz*(B.bxy+bxy)
	P.ayy += B.ayy + rz*(B.byx+byx) - rx*(B.byz+byz)
	P.azz += B.azz + rx*(B.bzy+bzy) - ry*(B.bzx+bzx)
	P.axy += B.axy + ry*B.byz - rz*B.byy + rz*bxx - rx*bxz
	P.axz += B.axz + ry*B.bzz - rz*B.bzy + rx*bxy - ry*bxx
	P.ayz += B.ayz + rz*B.bzx - rx*B.bzz + rx*byy - ry*byx

	P.bxx += bxx
	P.bxy += bxy
	P.bxz += bxz
	P.byx += byx
	P.byy += byy
	P.byz += byz
	P.bzx += bzx
	P.bzy += bzy
	P.bzz += bzz

	P.cxx += B.cxx
	P.cxy += B.cxy
	P.cxz += B.cxz
	P.cyy += B.cyy
	P.cyz += B.cyz
	P.czz += B.czz

	P.f.X += B.f.X
	P.f.Y += B.f.Y
	P.f.Z += B.f.Z
	P.n.X += B.n.X + ry*B.f.Z - rz*B.f.Y
	P.n.Y += B.n.Y + rz*B.f.X - rx*B.f.Z
	P.n.Z += B.n.Z + rx*B.f.Y - ry*B.f.X

	// and its size: ∫|x+r|² = ∫|x|² + 2·r·∫x + m·r²
	mx, my, mz := B.mc.X, B.mc.Y, B.mc.Z
	P.size += B.size + 2*(rx*mx+ry*my+rz*mz) + B.mass*(rx*rx+ry*ry+rz*rz)
	P.mc.X += mx + B.mass*rx
	P.mc.Y += my + B.mass*ry
	P.mc.Z += mz + B.mass*rz
	P.mass += B.mass
}

// solve is (3) with the acceleration that B has so far.
func (c *column) solve(B *articulated) float64 {
	return c.inv * (c.u - c.n.Dot(B.ddw) - c.f.Dot(B.da))
}
