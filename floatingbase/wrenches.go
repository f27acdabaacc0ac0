package floatingbase

import (
	"math"

	"poise/linalg"
	"poise/qp"
	"poise/spatial"
)

// Round limits are regular polygons inside the circle that turn with the robot's heading:
// with 64 sides they lose 0.12 % of the radius. A circle itself would be met by planes that
// come ever closer to each other, and the answer would depend on the way there.
const (
	sides       = 64 // as many as a mask has bits
	rowsPerFoot = 4 + 2*sides
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
// within their limits. With N = √s·y all unknowns cost the same. The minimum without
// limits takes six equations; only if it breaks a limit the quadratic program is asked.
// Both have the same objective, so nothing jumps in between.
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
	inv.leastNorm(y, A, n)
	if !inv.inside(y) {
		ans.Limited = true
		ans.Status = inv.limited(A, n)
		ans.Iterations = inv.solver.Iterations()
		copy(y, inv.solver.X())
	}
	for i := range inv.feet {
		f := &inv.feet[i]
		if ans.Limited {
			f.cutOff(y)
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
func (inv *Inverse) leastNorm(y, A []float64, n int) {
	K := inv.K[:]
	for i := range 6 {
		for j := range i + 1 {
			K[i*6+j] = dot(A[i*n:(i+1)*n], A[j*n:(j+1)*n])
		}
		K[i*6+i] += regularisation
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

// circle is a round limit: |u, v| ≤ radius·fz.
type circle struct {
	first  int // unknown of u, v is the next
	radius float64
	used   uint64 // sides that are rows already
}

// limits sets the round limits of a foot and the greatest ratio of its torsion.
func (f *foot) limits(friction float64) {
	f.round[0] = circle{first: f.unknown, radius: friction}
	f.rounds = 1
	f.torsion = 0
	if f.model.moments == 3 {
		f.torsion = torsion * min(friction, 1)
	}
	if f.model.moments >= 2 {
		// with the torsion at its limit the whole moment still is sole·fz
		f.round[1] = circle{first: f.unknown + 3, radius: math.Sqrt(1 - f.torsion*f.torsion)}
		f.rounds = 2
	}
	// so that the whole force is at most what the coefficient allows
	f.most = f.cap / math.Hypot(1, friction)
}

// side returns the side of the polygon that (u, v) is nearest to leaving, its normal, and
// by how much it does.
func (c *circle) side(y []float64, fz, heading float64) (k int, nx, ny, excess float64) {
	u, v := y[c.first], y[c.first+1]
	k = int(math.Round((math.Atan2(v, u) - heading) / sector))
	ny, nx = math.Sincos(heading + float64(k)*sector)
	return (k%sides + sides) % sides, nx, ny, u*nx + v*ny - inner*c.radius*fz
}

// inside reports whether all wrenches keep their limits.
func (inv *Inverse) inside(y []float64) bool {
	for i := range inv.feet {
		f := &inv.feet[i]
		fz := y[f.unknown+2]
		if !(fz >= 0 && fz*f.root <= f.most) {
			return false
		}
		if f.model.moments == 3 && math.Abs(y[f.unknown+5]) > f.torsion*fz {
			return false
		}
		for _, c := range f.round[:f.rounds] {
			if _, _, _, excess := c.side(y, fz, inv.heading); !(excess <= 0) {
				return false
			}
		}
	}
	return true
}

// limited solves with the limits. Sides of polygons become rows when an answer leaves
// them; each does once, so this ends.
func (inv *Inverse) limited(A []float64, n int) qp.Status {
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
		H[i*n+i] += regularisation
	}
	s := inv.solver
	s.Reset(H, g)
	for i := range inv.feet {
		f := &inv.feet[i]
		z := f.unknown + 2
		inv.plane(z, 1, z, 0, z, 0, 0)
		if !math.IsInf(f.most, 1) {
			inv.plane(z, -1, z, 0, z, 0, -f.most/f.root)
		}
		if f.model.moments == 3 {
			inv.plane(z, f.torsion, z+3, 1, z, 0, 0)
			inv.plane(z, f.torsion, z+3, -1, z, 0, 0)
		}
	}
	for {
		status := s.Solve()
		if status != qp.Optimal || !inv.cut(s.X()) {
			return status
		}
	}
}

// plane adds the row a·y[i] + b·y[j] + c·y[k] ≥ least.
func (inv *Inverse) plane(i int, a float64, j int, b float64, k int, c float64, least float64) {
	last := &inv.feet[len(inv.feet)-1]
	row := inv.row[:last.unknown+last.unknowns]
	clear(row)
	row[i] += a
	row[j] += b
	row[k] += c
	inv.solver.AtLeast(row, least)
}

// cut adds the sides of polygons that y leaves, and reports whether there were any.
func (inv *Inverse) cut(y []float64) (added bool) {
	for i := range inv.feet {
		f := &inv.feet[i]
		z := f.unknown + 2
		for k := range f.round[:f.rounds] {
			c := &f.round[k]
			side, nx, ny, excess := c.side(y, y[z], inv.heading)
			if excess*f.root <= tolExcess || c.used>>side&1 == 1 {
				continue
			}
			c.used |= 1 << side
			inv.plane(z, inner*c.radius, c.first, -nx, c.first+1, -ny, 0)
			added = true
		}
	}
	return added
}

// cutOff brings a foot inside its round limits to the last digit where rounding left
// it outside; what it takes away is left to the residual.
func (f *foot) cutOff(y []float64) {
	fz := &y[f.unknown+2]
	if !(*fz > 0) {
		clear(y[f.unknown : f.unknown+f.unknowns])
		return
	}
	*fz = min(*fz, f.most/f.root)
	for _, c := range f.round[:f.rounds] {
		u, v := &y[c.first], &y[c.first+1]
		if length := math.Hypot(*u, *v); length > c.radius**fz {
			k := c.radius * *fz / length * (1 - 1e-15)
			*u, *v = k**u, k**v
		}
	}
	if f.model.moments == 3 {
		most := f.torsion * *fz
		y[f.unknown+5] = min(max(y[f.unknown+5], -most), most)
	}
}
