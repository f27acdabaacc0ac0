package floatingbase

import (
	"math"

	"poise/robot"
	"poise/spatial"
)

// ContactModel is what a set of contact points holds and transmits, for those who set up
// equations of their own.
type ContactModel struct{ model }

// NewContactModel reads a robot's contact set.
func NewContactModel(c *robot.Contact) ContactModel { return ContactModel{newModel(c)} }

// First is the point of the set at which its wrench is given, in the tip's frame. ok is
// false if the set has no points.
func (c *ContactModel) First() (p spatial.Vec3, ok bool) {
	if len(c.points) == 0 {
		return p, false
	}
	return c.points[0], true
}

// Soles are the points that carry, in the tip's frame.
func (c *ContactModel) Soles() []spatial.Vec3 { return c.soles }

// Area returns where the set can press: discs of a radius, m, about points in the tip's frame; 0 is
// the bare points.
func (c *ContactModel) Area() (middles []spatial.Vec3, radius float64) { return c.area() }

// Rows returns how many independent accelerations the set holds; Moments how many moments
// it transmits: 0, 2 (about x and y) or 3; Sole the radius of its sole, m.
func (c *ContactModel) Rows() int     { return c.rank }
func (c *ContactModel) Moments() int  { return c.moments }
func (c *ContactModel) Sole() float64 { return c.sole }

// RowTo stores row i of what the points do, for a tip that is turned by R and has the
// Jacobian J, 6×n, at the first point in world axes. Loop-safe.
func (c *ContactModel) RowTo(dst []float64, i int, R spatial.Mat3, J []float64, n int) {
	k := c.C[i*6 : i*6+6]
	l := R.MulVec(spatial.Vec3{X: k[0], Y: k[1], Z: k[2]})
	t := R.MulVec(spatial.Vec3{X: k[3], Y: k[4], Z: k[5]})
	for j := range dst {
		dst[j] = l.X*J[j] + l.Y*J[n+j] + l.Z*J[2*n+j] + t.X*J[3*n+j] + t.Y*J[4*n+j] + t.Z*J[5*n+j]
	}
}

// RatesTo stores J̇·v of the rows, from the acceleration A of the first point that the motion
// has of itself and the tip's rate of turning ω. It returns the length of what is left of the
// points' accelerations, which no row can take away. Loop-safe.
func (c *ContactModel) RatesTo(rate []float64, R spatial.Mat3, A spatial.Twist, ω spatial.Vec3) (rest float64) {
	clear(rate[:c.rank])
	for i := range c.points {
		for d, x := range c.bias(i, R, A, ω) {
			for m := range c.rank {
				rate[m] += c.U[(3*i+d)*c.rank+m] * x
			}
		}
	}
	for i := range c.points {
		for d, x := range c.bias(i, R, A, ω) {
			for m := range c.rank {
				x -= c.U[(3*i+d)*c.rank+m] * rate[m]
			}
			rest += x * x
		}
	}
	return math.Sqrt(rest)
}

// bias is the acceleration of a point that the motion has of itself, in the tip's axes.
func (c *ContactModel) bias(i int, R spatial.Mat3, A spatial.Twist, ω spatial.Vec3) [3]float64 {
	r := R.MulVec(c.points[i].Sub(c.points[0]))
	e := R.TMulVec(A.Linear.Add(A.Angular.Cross(r)).Add(ω.Cross(ω.Cross(r))))
	return [3]float64{e.X, e.Y, e.Z}
}

// MomentLimits are the limits of a set's moments over sole·fz: the radius of the polygon of
// Sides that the two about x and y keep to, and the greatest about z.
func (c *ContactModel) MomentLimits(friction float64) (radius, about float64) {
	if c.moments == 3 {
		about = torsion * min(friction, 1)
	}
	return inner * math.Sqrt(1-about*about), about
}

// Sides is the number of sides of polygons in place of circles.
const Sides = sides

// Heading is the angle by which those polygons are turned: the base's x axis seen from above.
func Heading(R_WB spatial.Mat3) float64 { return heading(R_WB) }
