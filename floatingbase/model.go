package floatingbase

import (
	"poise/contact"
	"poise/robot"
	"poise/spatial"
)

// model is what a set of contact points holds and transmits.
type model struct {
	points  []spatial.Vec3 // in the tip's frame
	soles   []spatial.Vec3 // those that carry
	moments int            // 0, 2 (about x and y) or 3
	sole    float64        // m

	// Accelerations of n points of a rigid body are T·(linear; angular), seen in the tip's
	// axes at the first point. Of T = U·C, U (3n×rank) has orthonormal columns: Uᵀ of what
	// the points do is all of it that can be held, in independent rows.
	rank int
	U, C []float64
}

// tolSpread is how far points must be apart to hold a rotation, m; how far from one line, is
// 1e-6 of that distance.
const tolSpread = 1e-9

func newModel(c *robot.Contact) model {
	k := model{points: c.Points, sole: c.Sole}
	if len(c.Points) == 0 {
		return k
	}
	largest := 0.0
	for _, p := range c.Points {
		if contact.Carries(c.Points, p) {
			k.soles = append(k.soles, p)
		}
		largest = max(largest, p.Sub(c.Points[0]).Norm())
	}
	k.decompose(largest)
	if k.sole > 0 {
		k.moments = map[int]int{3: 0, 5: 2, 6: 3}[k.rank]
	}
	return k
}

// area returns where the set can press: a disc about its first point, at which its wrench acts, as
// |m| ≤ sole·fz says; one that transmits no moment presses on the points that carry, radius 0.
func (k *model) area() (middles []spatial.Vec3, radius float64) {
	if k.moments == 0 {
		return k.soles, 0
	}
	return k.points[:1], k.sole
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
				u = u.Scale(1 / largest).Cross(p.Sub(k.points[0]))
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
