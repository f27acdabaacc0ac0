package robot

import (
	"math"

	"poise/problem"
	"poise/spatial"
	"poise/urdf"
)

// Tolerances of the inertia checks, relative to the largest principal moment:
// what rounding in double precision can do to an exact tensor, not what
// rounding of printed digits does.
const (
	tolDefinite = 1e-12
	tolTriangle = 1e-9
)

// checkInertial reports what no rigid body can have.
func checkInertial(l urdf.Link, r *problem.Report) {
	inertial := l.Inertial
	if inertial == nil {
		return
	}
	I := inertial.I
	if !finite(inertial.Mass, I.XX, I.XY, I.XZ, I.YY, I.YZ, I.ZZ) || !inertial.Origin.XYZ.Finite() || !inertial.Origin.RPY.Finite() {
		r.Errorf(NotFinite, inertial.Pos, problem.Link(l.Name), "inertial has a number that is not finite")
		return
	}
	if inertial.Mass < 0 {
		r.Errorf(NegativeMass, inertial.Pos, problem.Link(l.Name), "mass %g kg is negative", inertial.Mass)
	}
	λ := eigenvalues(tensor(I))
	scale := math.Max(math.Abs(λ[0]), math.Abs(λ[2]))
	switch {
	case !finite(λ[:]...):
		r.Errorf(NotFinite, inertial.Pos, problem.Link(l.Name), "inertia is too large to find its principal moments")
	case λ[0] < -tolDefinite*scale:
		r.Errorf(IndefiniteInertia, inertial.Pos, problem.Link(l.Name),
			"inertia is not positive: its principal moments are %.6g, %.6g and %.6g kg·m²", λ[0], λ[1], λ[2])
	case inertial.Mass == 0 && scale == 0:
		r.Warnf(ZeroMass, inertial.Pos, problem.Link(l.Name), "mass and inertia are zero")
	case inertial.Mass == 0:
		r.Warnf(ZeroMass, inertial.Pos, problem.Link(l.Name), "mass is zero, but its inertia is not")
	case scale == 0:
		r.Warnf(ZeroInertia, inertial.Pos, problem.Link(l.Name), "inertia is zero with a mass of %g kg", inertial.Mass)
	case λ[0] <= tolDefinite*scale:
		r.Warnf(ZeroInertia, inertial.Pos, problem.Link(l.Name),
			"a principal moment is zero: they are %.6g, %.6g and %.6g kg·m²", λ[0], λ[1], λ[2])
	case λ[0]+λ[1] < λ[2]*(1-tolTriangle):
		r.Warnf(TriangleInequality, inertial.Pos, problem.Link(l.Name),
			"principal moments %.6g and %.6g together are less than the third, %.6g kg·m²: no mass distribution has them",
			λ[0], λ[1], λ[2])
	}
}

// checkJoint reports what no joint can have, apart from mimics and limit files.
func checkJoint(j urdf.Joint, r *problem.Report) {
	if !j.Origin.XYZ.Finite() || !j.Origin.RPY.Finite() || !j.Axis.Finite() {
		r.Errorf(NotFinite, j.Pos, problem.Joint(j.Name), "origin or axis has a number that is not finite")
	}
	if d := j.Dynamics; d != nil {
		if !finite(d.Damping, d.Friction) {
			r.Errorf(NotFinite, j.Pos, problem.Joint(j.Name), "dynamics have a number that is not finite")
		} else if d.Damping < 0 || d.Friction < 0 {
			r.Errorf(NegativeLimit, j.Pos, problem.Joint(j.Name), "damping %g and friction %g must not be negative", d.Damping, d.Friction)
		}
	}
	switch j.Type {
	case urdf.Fixed, urdf.Floating:
		return
	case urdf.Revolute, urdf.Continuous, urdf.Prismatic, urdf.Planar:
	default:
		r.Errorf(BadName, j.Pos, problem.Joint(j.Name), "type %d is unknown", j.Type)
		return
	}
	if j.Axis == (spatial.Vec3{}) {
		r.Errorf(ZeroAxis, j.Pos, problem.Joint(j.Name), "axis 0 0 0 has no direction")
	}
	bounded := j.Type == urdf.Revolute || j.Type == urdf.Prismatic
	if j.Limit == nil {
		if bounded {
			r.Errorf(MissingLimit, j.Pos, problem.Joint(j.Name), "a revolute or prismatic joint needs a <limit>; one that turns freely is continuous")
		}
		return
	}
	checkLimit(j, bounded, r)
}

func checkLimit(j urdf.Joint, bounded bool, r *problem.Report) {
	l := j.Limit
	if !finite(l.Lower, l.Upper, l.Velocity, l.Effort, l.Acceleration, l.Deceleration, l.Jerk) {
		r.Errorf(NotFinite, l.Pos, problem.Joint(j.Name), "limit has a number that is not finite")
		return
	}
	for _, x := range []struct {
		name  string
		value float64
	}{{"velocity", l.Velocity}, {"effort", l.Effort}, {"acceleration", l.Acceleration}, {"deceleration", l.Deceleration}, {"jerk", l.Jerk}} {
		if x.value < 0 {
			r.Errorf(NegativeLimit, l.Pos, problem.Joint(j.Name), "%s limit %g is negative", x.name, x.value)
		}
	}
	switch {
	case bounded && l.Lower > l.Upper:
		r.Errorf(InvertedLimits, l.Pos, problem.Joint(j.Name), "lower limit %g is above the upper limit %g", l.Lower, l.Upper)
	case bounded && l.Lower == l.Upper:
		r.Warnf(EmptyRange, l.Pos, problem.Joint(j.Name), "lower and upper limit are both %g: it cannot move", l.Lower)
	case j.Type == urdf.Continuous && (l.Lower != 0 || l.Upper != 0):
		r.Warnf(UnusedLimit, l.Pos, problem.Joint(j.Name), "the range %g … %g is not used: only revolute and prismatic joints have one", l.Lower, l.Upper)
	}
}

// checkMeshes warns once of each mesh that is not there; exists may be nil.
func checkMeshes(doc *urdf.Document, exists func(name string) bool, r *problem.Report) {
	if exists == nil {
		return
	}
	seen := map[string]bool{}
	check := func(l urdf.Link, g urdf.Geometry, at problem.Pos) {
		if g.Shape != urdf.Mesh || seen[g.Mesh] {
			return
		}
		seen[g.Mesh] = true
		if !exists(g.Mesh) {
			r.Warnf(MissingMesh, at, problem.Link(l.Name), "mesh %q is missing", g.Mesh)
		}
	}
	for _, l := range doc.Links {
		for _, v := range l.Visuals {
			check(l, v.Geometry, v.Pos)
		}
		for _, c := range l.Collisions {
			check(l, c.Geometry, c.Pos)
		}
	}
}

// linkInertia returns the inertia of a link in its own frame, zero if it has none.
func linkInertia(l urdf.Link) spatial.Inertia {
	if l.Inertial == nil {
		return spatial.Inertia{}
	}
	M_C := spatial.Inertia{Mass: l.Inertial.Mass, I: tensor(l.Inertial.I)}
	return M_C.Transform(l.Inertial.Origin.Pose())
}

// totalMass adds the masses of all links, with the part that each addition
// rounds away carried along (Neumaier's sum): 2,000 links of 0.1 kg make 200 kg.
func totalMass(doc *urdf.Document) float64 {
	sum, lost := 0.0, 0.0
	for _, l := range doc.Links {
		if l.Inertial == nil {
			continue
		}
		x := l.Inertial.Mass
		next := sum + x
		if sum >= x {
			lost += (sum - next) + x
		} else {
			lost += (x - next) + sum
		}
		sum = next
	}
	return sum + lost
}

// WithInertias returns the robot with other masses: one inertia for each body, in its
// frame. All the rest is shared, the document too, which keeps its own masses.
func (m *Model) WithInertias(inertias []spatial.Inertia) *Model {
	if len(inertias) != len(m.bodies) {
		panic("robot: one inertia per body")
	}
	c := *m
	c.bodies = append([]Body(nil), m.bodies...)
	for i, M := range inertias {
		c.mass += M.Mass - m.bodies[i].Inertia.Mass
		c.bodies[i].Inertia = M
	}
	return &c
}

func tensor(t urdf.InertiaTensor) spatial.Mat3 {
	return spatial.Mat3{t.XX, t.XY, t.XZ, t.XY, t.YY, t.YZ, t.XZ, t.YZ, t.ZZ}
}

// eigenvalues returns the eigenvalues of a symmetric matrix in rising order, by
// Jacobi's rotations: for 3×3 a few sweeps reach machine precision, and small
// eigenvalues beside large ones keep their digits, unlike the roots of the
// cubic.
func eigenvalues(A spatial.Mat3) [3]float64 {
	const sweeps = 30 // convergence is quadratic: about six suffice
	for range sweeps {
		if A[1] == 0 && A[2] == 0 && A[5] == 0 {
			break
		}
		for _, pq := range [...][2]int{{0, 1}, {0, 2}, {1, 2}} {
			A = rotateAway(A, pq[0], pq[1])
		}
	}
	a, b, c := A[0], A[4], A[8]
	return [3]float64{min(a, b, c), max(min(a, b), min(max(a, b), c)), max(a, b, c)}
}

// rotateAway makes element (p,q) of a symmetric matrix zero by a rotation in
// the plane of axes p and q.
func rotateAway(A spatial.Mat3, p, q int) spatial.Mat3 {
	apq := A[3*p+q]
	if apq == 0 {
		return A
	}
	// the smaller of the two angles: tan φ = t, t² + 2θt − 1 = 0
	θ := (A[4*q] - A[4*p]) / (2 * apq)
	t := 1 / (math.Abs(θ) + math.Hypot(θ, 1))
	if θ < 0 {
		t = -t
	}
	c := 1 / math.Hypot(t, 1)
	s := t * c
	r := 3 - p - q // the axis that stays
	arp, arq := A[3*r+p], A[3*r+q]
	A[4*p] -= t * apq
	A[4*q] += t * apq
	A[3*p+q], A[3*q+p] = 0, 0
	A[3*r+p], A[3*p+r] = c*arp-s*arq, c*arp-s*arq
	A[3*r+q], A[3*q+r] = s*arp+c*arq, s*arp+c*arq
	return A
}

// finite reports whether no number is NaN or infinite.
func finite(xs ...float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}
