package floatingbase

import (
	"math"

	"poise/contact"
	"poise/robot"
	"poise/spatial"
)

// model is what a set of contact points holds and transmits.
type model struct {
	points  []spatial.Vec3 // in the tip's frame
	soles   []spatial.Vec3 // those that carry
	origin  spatial.Vec3   // at which the wrench is given: the first point, or the middle of bare ones
	moments int            // 0, 2 (about x and y) or 3
	sole    float64        // radius of the disc, or of that about the middle of bare points, m
	edges   []edge         // of the area that bare points span; none of a disc

	// Accelerations of n points of a rigid body are T·(linear; angular), seen in the tip's
	// axes at the origin. Of T = U·C, U (3n×rank) has orthonormal columns: Uᵀ of what
	// the points do is all of it that can be held, in independent rows.
	rank int
	U, C []float64
}

// tolSpread is how far points must be apart to hold a rotation, m; how far from one line, is
// 1e-6 of that distance.
const tolSpread = 1e-9

// edge is one of the area that bare points span. Pressures inside of it have no moment about it that turns the foot outwards:
// within·fn + along·m ≥ 0 for a force and a moment at the origin.
type edge struct {
	along  spatial.Vec3 // counter-clockwise about the tip's z axis, unit
	within float64      // distance of the origin, m
}

// leastArea is how far the middle of bare points is from the edges of the area that they span, at least, m. Others are on a line.
const leastArea = 1e-3

func newModel(c *robot.Contact) model {
	k := model{points: c.Points, sole: c.Sole}
	if len(c.Points) == 0 {
		return k
	}
	for _, p := range c.Points {
		if contact.Carries(c.Points, p) {
			k.soles = append(k.soles, p)
		}
	}
	if k.origin = c.Points[0]; k.sole == 0 {
		k.span()
	}
	largest := 0.0
	for _, p := range c.Points {
		largest = max(largest, p.Sub(k.origin).Norm())
	}
	k.decompose(largest)
	switch {
	case len(k.edges) > 0:
		k.moments = 3
	case k.sole > 0:
		k.moments = map[int]int{3: 0, 5: 2, 6: 3}[k.rank]
	}
	return k
}

// span finds the area that bare points span, if they do.
func (k *model) span() {
	var middle spatial.Vec3
	var points []contact.Point
	for _, p := range k.soles {
		middle = middle.Add(p.Scale(1 / float64(len(k.soles))))
		points = append(points, contact.Point{X: p.X, Y: p.Y})
	}
	var area contact.Polygon
	for area.Hull(points); len(area.Corners) > sides-2; area.Hull(points) { // as many rows there are
		points = points[:0]
		for i := 0; i < len(area.Corners); i += 2 {
			points = append(points, area.Corners[i])
		}
	}
	if !(area.Margin(contact.Point{X: middle.X, Y: middle.Y}) > leastArea) {
		return
	}
	k.origin, k.sole = middle, math.Inf(1)
	for i := range area.Corners {
		e, inward := area.Edge(i)
		x := edge{along: spatial.Vec3{X: inward.Y, Y: -inward.X}, within: inward.X*(middle.X-e.X) + inward.Y*(middle.Y-e.Y)}
		k.edges, k.sole = append(k.edges, x), min(k.sole, x.within)
	}
}

// area returns where the set can press: a disc about the point at which its wrench acts, as |m| ≤ sole·fz says; bare points
// and one that transmits no moment press on the points that carry, radius 0.
func (k *model) area() (middles []spatial.Vec3, radius float64) {
	if k.moments == 0 || len(k.edges) > 0 {
		return k.soles, 0
	}
	return k.points[:1], k.sole
}

// limits is how many rows limit the moments of bare points: one for each edge, and two for the torsion about the sole's normal.
func (k *model) limits() int {
	if len(k.edges) == 0 {
		return 0
	}
	return len(k.edges) + 2
}

// limit returns what one of them asks of a wrench at the origin of a tip turned by R, in world axes: f·force + m·moment ≥ 0. The
// ground presses from below, wherever the tip's z axis points.
func (k *model) limit(i int, R spatial.Mat3, friction float64) (f, m spatial.Vec3) {
	normal := R.Col(2)
	up := math.Copysign(1, normal.Z)
	if i < len(k.edges) {
		e := &k.edges[i]
		return normal.Scale(up * e.within), R.MulVec(e.along).Scale(up)
	}
	most := torsion * min(friction, 1) * k.sole
	return normal.Scale(up * most), normal.Scale(float64(1 - 2*(i-len(k.edges))))
}

// decompose finds U and C by Gram and Schmidt's method on the columns of T, twice, with
// the angular ones in units of the largest distance.
func (k *model) decompose(largest float64) {
	n := 3 * len(k.points)
	var columns [][]float64
	for c := range 6 {
		if c >= 3 && !(largest > tolSpread) {
			break
		}
		t := make([]float64, n)
		for i, p := range k.points {
			var e [3]float64
			e[c%3] = 1
			u := spatial.Vec3{X: e[0], Y: e[1], Z: e[2]}
			if c >= 3 {
				u = u.Scale(1 / largest).Cross(p.Sub(k.origin))
			}
			t[3*i], t[3*i+1], t[3*i+2] = u.X, u.Y, u.Z
		}
		columns = append(columns, t)
	}
	var basis [][]float64
	for _, t := range columns {
		u := append([]float64(nil), t...)
		for range 2 {
			for _, q := range basis {
				s := dot(q, u)
				for i := range u {
					u[i] -= s * q[i]
				}
			}
		}
		if length := norm(u); length > 1e-6 {
			for i := range u {
				u[i] /= length
			}
			basis = append(basis, u)
		}
	}
	k.rank = len(basis)
	k.U, k.C = make([]float64, n*k.rank), make([]float64, k.rank*6)
	for r, q := range basis {
		for i, x := range q {
			k.U[i*k.rank+r] = x
		}
		for c, t := range columns {
			k.C[r*6+c] = dot(q, t)
			if c >= 3 {
				k.C[r*6+c] *= largest
			}
		}
	}
}
