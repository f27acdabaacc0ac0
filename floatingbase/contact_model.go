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

// Origin is the point at which the wrench of the set is given, in the tip's frame: its first one, or the middle of bare points that
// span an area. ok is false if the set has no points.
func (c *ContactModel) Origin() (p spatial.Vec3, ok bool) { return c.origin, len(c.points) > 0 }

// Soles are the points that carry, in the tip's frame.
func (c *ContactModel) Soles() []spatial.Vec3 { return c.soles }

// Area returns where the set can press: discs of a radius, m, about points in the tip's frame; 0 is
// the bare points.
func (c *ContactModel) Area() (middles []spatial.Vec3, radius float64) { return c.area() }

// Rows returns how many independent accelerations the set holds; Moments how many moments
// it transmits: 0, 2 (about x and y) or 3; Sole the radius of its sole, m, or that of a disc inside of its bare points;
// Limits how many rows limit the moments of bare points in place of a disc.
func (c *ContactModel) Rows() int     { return c.rank }
func (c *ContactModel) Moments() int  { return c.moments }
func (c *ContactModel) Sole() float64 { return c.sole }
func (c *ContactModel) Limits() int   { return c.limits() }

// Limit returns what one of these rows asks of a wrench at the origin, for a tip that is turned by R, in world axes:
// f·force + m·moment ≥ 0. All but the last two keep the pressure inside an edge of the area; those two limit the torsion. Loop-safe.
func (c *ContactModel) Limit(i int, R spatial.Mat3, friction float64) (f, m spatial.Vec3) {
	return c.limit(i, R, friction)
}

// RowTo stores row i of what the points do, for a tip that is turned by R and has the
// Jacobian J, 6×n, at the origin in world axes. Loop-safe.
func (c *ContactModel) RowTo(dst []float64, i int, R spatial.Mat3, J []float64, n int) {
	k := c.C[i*6 : i*6+6]
	l := R.MulVec(spatial.Vec3{X: k[0], Y: k[1], Z: k[2]})
	t := R.MulVec(spatial.Vec3{X: k[3], Y: k[4], Z: k[5]})
	for j := range dst {
		dst[j] = l.X*J[j] + l.Y*J[n+j] + l.Z*J[2*n+j] + t.X*J[3*n+j] + t.Y*J[4*n+j] + t.Z*J[5*n+j]
	}
}

// RatesTo stores J̇·v of the rows, from the acceleration A of the origin that the motion
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
	r := R.MulVec(c.points[i].Sub(c.origin))
	e := R.TMulVec(A.Linear.Add(A.Angular.Cross(r)).Add(ω.Cross(ω.Cross(r))))
	return [3]float64{e.X, e.Y, e.Z}
}

// MomentLimits are the limits of a disc's moments over sole·fz: the radius of the polygon of
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
