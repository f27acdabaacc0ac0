package floatingbase

import (
	"math"

	"poise/linalg"
	"poise/qp"
	"poise/spatial"
)

// Round limits are polytopes inside of them that turn with the robot's heading: regular polygons
// of 64 sides around the vertical, which lose 0.12 % of the radius, and arcs of chords where a
// sphere is the limit. A circle itself would be met by planes that come ever closer to each
// other, and the answer would depend on the way there.
const (
	sides       = 64 // as many as a mask has bits
	chords      = 3  // of the arc between the pole, or the equator, and the edge of a limit
	mostRings   = 1 + chords + 2*chords
	rowsPerFoot = 4 + mostRings*sides
	tolExcess   = 1e-10 // of the weight
)

var (
	sector = 2 * math.Pi / sides
	inner  = math.Cos(sector / 2) // distance of the sides of a polygon in the unit circle
)

// distribute finds the wrenches of
//
//	minimise |A·N − need|² + ε·Σ (|f|² + |m/sole|²)/s
//
// within their limits. A small ε gives the least residual. Where that is not zero, wrenches of
// the least residual alone may jump: feet would press against each other with all their friction
// for a millionth of it, and the other way round after the next millionth. There ε grows with the
// residual, which costs some 1e-5 of the weight, and wrenches are continuous.
func (inv *Inverse) distribute(ans *Answer, X_WB spatial.Pose, friction float64) {
	ans.Limited, ans.Status, ans.Iterations = false, qp.Optimal, 0
	if len(inv.feet) == 0 {
		return
	}
	last := &inv.feet[len(inv.feet)-1]
	n := last.unknown + last.unknowns
	A := inv.A[:6*n]
	inv.wrenchMap(A, n, X_WB.P)
	inv.heading = heading(X_WB.R)
	for i := range inv.feet {
		inv.feet[i].limits(friction)
	}
	y := inv.y[:n]
	inv.active = inv.active[:0]
	left := inv.least(ans, y, A, n, regularisation)
	if more := forgiving * left / max(1, norm(inv.need[:])); more > regularisation/100 {
		inv.least(ans, y, A, n, regularisation+more)
	}
	for i := range inv.feet {
		f := &inv.feet[i]
		if ans.Limited {
			f.cutOff(y, friction)
		}
		w := &ans.Contacts[f.answer].Wrench
		k := f.root * inv.weight
		u := y[f.unknown : f.unknown+f.unknowns]
		w.Force = spatial.Vec3{X: k * u[0], Y: k * u[1], Z: k * u[2]}
		w.Torque = spatial.Vec3{}
		k *= f.model.sole
		if f.model.moments >= 2 {
			w.Torque.X, w.Torque.Y = k*u[3], k*u[4]
		}
		if f.model.moments == 3 {
			w.Torque.Z = k * u[5]
		}
	}
}

// least stores the minimum for an ε in y and returns the length of the residual. With
// N = √s·y all unknowns cost the same. The minimum without limits takes six equations; only if
// it breaks a limit the quadratic program is asked. Both have the same objective, so nothing
// jumps in between.
func (inv *Inverse) least(ans *Answer, y, A []float64, n int, ε float64) (residual float64) {
	inv.leastNorm(y, A, n, ε)
	if ans.Limited = !inv.inside(y); ans.Limited {
		ans.Status = inv.limited(A, n, ε)
		ans.Iterations += inv.solver.Iterations()
		copy(y, inv.solver.X())
	}
	var left [6]float64
	for i := range left {
		left[i] = dot(A[i*n:(i+1)*n], y) - inv.need[i]
	}
	return norm(left[:])
}

// heading is the angle of the base's x axis seen from above, or of its z axis where that
// one points up or down.
func heading(R spatial.Mat3) float64 {
	x := R.Col(0)
	if math.Hypot(x.X, x.Y) < 0.1 {
		x = R.Col(2)
	}
	return math.Atan2(x.Y, x.X)
}

// wrenchMap stores in A what each unknown does to the base.
func (inv *Inverse) wrenchMap(A []float64, n int, base spatial.Vec3) {
	clear(A)
	axes := [3]spatial.Vec3{{X: 1}, {Y: 1}, {Z: 1}}
	for i := range inv.feet {
		f := &inv.feet[i]
		arm := f.point.Sub(base)
		for c, e := range axes {
			m := arm.Cross(e)
			col := f.unknown + c
			A[c*n+col] = f.root
			A[3*n+col], A[4*n+col], A[5*n+col] = f.root*m.X, f.root*m.Y, f.root*m.Z
		}
		for c := range f.model.moments {
			A[(3+c)*n+f.unknown+3+c] = f.root * f.model.sole
		}
	}
}

// leastNorm stores in y the minimum without limits, Aᵀ·(A·Aᵀ + ε)⁻¹·need.
func (inv *Inverse) leastNorm(y, A []float64, n int, ε float64) {
	K := inv.K[:]
	for i := range 6 {
		for j := range i + 1 {
			K[i*6+j] = dot(A[i*n:(i+1)*n], A[j*n:(j+1)*n])
		}
		K[i*6+i] += ε
	}
	linalg.CholeskyTo(inv.factorOfK[:], K, 6, 0)
	x := inv.need
	linalg.CholeskySolve(x[:], inv.factorOfK[:], 6)
	clear(y)
	for i, λ := range x {
		for k, c := range A[i*n : (i+1)*n] {
			y[k] += λ * c
		}
	}
}

// ring is a ring of planes around the vertical, one for each side of a polygon:
//
//	across·|u, v| + along·w ≤ radius·fz + most
type ring struct {
	first  int // unknown of u, v is the next
	axis   int // unknown of w
	across float64
	along  float64
	radius float64
	most   float64
	used   uint64 // sides that are rows already
}

// limits sets the limits of a foot: friction, the moments of its sole and, while it fades, the
// greatest force.
func (f *foot) limits(friction float64) {
	z := f.unknown + 2
	f.rings = append(f.room[:0], ring{first: f.unknown, axis: z, across: 1, radius: friction})
	f.torsion, f.friction = 0, friction
	if f.twists() {
		f.torsion = torsion * min(friction, 1)
	}
	switch {
	case f.model.limits() > 0: // those limit the moments
	case f.torsion > 0: // |m| ≤ sole·fz, up to the greatest torsion on both sides
		step := math.Asin(f.torsion) / chords
		for k := range chords {
			sin, cos := math.Sincos((float64(k) + 0.5) * step)
			r := ring{first: z + 1, axis: z + 3, across: cos, along: sin, radius: math.Cos(step / 2)}
			f.rings = append(f.rings, r)
			r.along = -sin
			f.rings = append(f.rings, r)
		}
	case f.model.moments >= 2:
		f.rings = append(f.rings, ring{first: z + 1, axis: z, across: 1, radius: 1})
	}
	f.most = f.cap / f.root
	if !math.IsInf(f.most, 1) && friction > 0 { // the whole force is at most cap, up to the edge of friction
		step := math.Atan(friction) / chords
		for k := range chords {
			sin, cos := math.Sincos((float64(k) + 0.5) * step)
			f.rings = append(f.rings, ring{first: f.unknown, axis: z, across: sin, along: cos, most: f.most * math.Cos(step/2)})
		}
	}
}

// nearest returns the side of the polygon that (u, v) is nearest to leaving, and by how much
// it does.
func (r *ring) nearest(y []float64, fz, heading float64) (side int, excess float64) {
	u, v := y[r.first], y[r.first+1]
	side = int(math.Round((math.Atan2(v, u) - heading) / sector))
	ny, nx := math.Sincos(heading + float64(side)*sector)
	return (side%sides + sides) % sides, r.across*(u*nx+v*ny) + inner*(r.along*y[r.axis]-r.radius*fz-r.most)
}

// inside reports whether all wrenches keep their limits.
func (inv *Inverse) inside(y []float64) bool {
	for i := range inv.feet {
		f := &inv.feet[i]
		fz := y[f.unknown+2]
		if !(fz >= 0 && fz <= f.most) {
			return false
		}
		if f.twists() && math.Abs(y[f.unknown+5]) > f.torsion*fz {
			return false
		}
		for k := range f.rings {
			if _, excess := f.rings[k].nearest(y, fz, inv.heading); !(excess <= 0) {
				return false
			}
		}
		for k := range f.model.limits() {
			if !(f.left(k, y[f.unknown:]) >= 0) {
				return false
			}
		}
	}
	return true
}

// limited solves with the limits. Sides of polygons become rows when an answer leaves
// them; each does once, so this ends. It starts from the rows that held the answer before.
func (inv *Inverse) limited(A []float64, n int, ε float64) qp.Status {
	H, g := inv.H[:n*n], inv.g[:n]
	clear(H)
	clear(g)
	for r := range 6 {
		a := A[r*n : (r+1)*n]
		for i, x := range a {
			if x == 0 {
				continue
			}
			for j, y := range a[:i+1] {
				H[i*n+j] += x * y
			}
			g[i] -= x * inv.need[r]
		}
	}
	for i := range n {
		H[i*n+i] += ε
	}
	s := inv.solver
	s.Reset(H, g)
	for i := range inv.feet {
		inv.planes(i)
	}
	s.Start(inv.active)
	for {
		status := s.Solve()
		if status == qp.Optimal && inv.cut(s.X()) {
			continue
		}
		inv.active = s.Active(inv.active[:0])
		return status
	}
}

// planes adds the rows of a foot: its flat limits, and the sides that were used before.
func (inv *Inverse) planes(foot int) {
	f := &inv.feet[foot]
	z, id := f.unknown+2, foot*rowsPerFoot
	inv.plane(id, z, 1, z, 0, 0)
	if !math.IsInf(f.most, 1) {
		inv.plane(id+1, z, -1, z, 0, -f.most)
	}
	if f.twists() {
		inv.plane(id+2, z, f.torsion, z+3, 1, 0)
		inv.plane(id+3, z, f.torsion, z+3, -1, 0)
	}
	for k := range f.model.limits() {
		clear(inv.row)
		F, M := f.model.limit(k, f.R, f.friction)
		F = F.Scale(1 / f.model.sole)
		copy(inv.row[f.unknown:], []float64{F.X, F.Y, F.Z, M.X, M.Y, M.Z})
		inv.add(id+4+(mostRings-1)*sides+k, 0) // of a ring that it does not have
	}
	for k := range f.rings {
		for side := range sides {
			if f.rings[k].used>>side&1 == 1 {
				inv.side(foot, k, side)
			}
		}
	}
}

// plane adds the row a·y[i] + b·y[j] ≥ least.
func (inv *Inverse) plane(id, i int, a float64, j int, b, least float64) {
	clear(inv.row)
	inv.row[i] += a
	inv.row[j] += b
	inv.add(id, least)
}

// side adds a side of a ring of a foot as a row.
func (inv *Inverse) side(foot, k, side int) {
	f := &inv.feet[foot]
	r := &f.rings[k]
	ny, nx := math.Sincos(inv.heading + float64(side)*sector)
	clear(inv.row)
	inv.row[r.first], inv.row[r.first+1] = -r.across*nx, -r.across*ny
	inv.row[r.axis] -= inner * r.along
	inv.row[f.unknown+2] += inner * r.radius
	inv.add(foot*rowsPerFoot+4+k*sides+side, -inner*r.most)
}

func (inv *Inverse) add(id int, least float64) {
	last := &inv.feet[len(inv.feet)-1]
	inv.solver.AtLeast(inv.row[:last.unknown+last.unknowns], least)
	inv.solver.Label(id)
}

// cut adds the sides of polygons that y leaves, and reports whether there were any.
func (inv *Inverse) cut(y []float64) (added bool) {
	for i := range inv.feet {
		f := &inv.feet[i]
		for k := range f.rings {
			r := &f.rings[k]
			side, excess := r.nearest(y, y[f.unknown+2], inv.heading)
			if excess*f.root <= tolExcess || r.used>>side&1 == 1 {
				continue
			}
			r.used |= 1 << side
			inv.side(i, k, side)
			added = true
		}
	}
	return added
}

// twists reports whether the torsion of a disc is limited.
func (f *foot) twists() bool { return f.model.moments == 3 && f.model.limits() == 0 }

// left is what a limit of bare points leaves, over sole; y are the foot's unknowns.
func (f *foot) left(limit int, y []float64) float64 {
	F, M := f.model.limit(limit, f.R, f.friction)
	return (F.X*y[0]+F.Y*y[1]+F.Z*y[2])/f.model.sole + M.X*y[3] + M.Y*y[4] + M.Z*y[5]
}

// cutOff brings a foot inside its round limits to the last digit where rounding left
// it outside; what it takes away is left to the residual.
func (f *foot) cutOff(y []float64, friction float64) {
	y = y[f.unknown : f.unknown+f.unknowns]
	fz := y[2]
	if !(fz > 0) {
		clear(y)
		return
	}
	shorten(y[:2], friction*fz)
	if m := y[3:]; len(m) > 0 {
		if f.twists() {
			m[2] = min(max(m[2], -f.torsion*fz), f.torsion*fz)
		}
		if f.model.limits() == 0 {
			shorten(m, fz)
		}
		for k := range f.model.limits() {
			if out := f.left(k, y); out < 0 { // a smaller moment presses nearer to the middle
				F, _ := f.model.limit(k, f.R, f.friction)
				in := max(0, (F.X*y[0]+F.Y*y[1]+F.Z*y[2])/f.model.sole)
				scale(m, in/(in-out)*(1-1e-15))
			}
		}
	}
	if length := norm(y[:3]); length > f.most { // all of it, for the other limits go with fz
		scale(y, f.most/length*(1-1e-15))
	}
}

// shorten scales x to a length if it is longer.
func shorten(x []float64, most float64) {
	if length := norm(x); length > most {
		scale(x, most/length*(1-1e-15))
	}
}

func scale(x []float64, k float64) {
	for i := range x {
		x[i] *= k
	}
}
