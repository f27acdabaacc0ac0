package contact

import (
	"math"

	"poise/spatial"
)

// Balance is how a robot stands. The zero value is ready to be filled.
type Balance struct {
	Mass    float64      // kg
	Com     spatial.Vec3 // centre of mass in the world, m
	Support Polygon      // hull of the soles, seen from above
	Margin  float64      // how far the centre of mass is inside of it, m; negative outside
}

// BalanceTo fills in b for a robot with its base at X_WB. Loop-safe.
func (g *Ground) BalanceTo(b *Balance, joints []float64, feet []Foot, X_WB spatial.Pose) {
	g.set(joints)
	g.whole.UpdatePosition(g.q)
	g.points, g.soles, g.flat = g.points[:0], g.soles[:0], g.flat[:0]
	for _, f := range feet {
		g.pointsOf(g.whole, f)
	}
	for _, p := range g.soles {
		x := X_WB.Apply(p)
		g.flat = append(g.flat, Point{x.X, x.Y})
	}
	b.Support.Hull(g.flat)
	c, ok := g.whole.Com()
	b.Mass, b.Com, b.Margin = g.m.Mass(), X_WB.Apply(c), math.Inf(-1)
	if ok {
		b.Margin = b.Support.Margin(Point{b.Com.X, b.Com.Y})
	}
}

// ZMP returns the point of the ground z = 0 about which a wrench on the robot has
// no horizontal torque. The wrench is what the ground gives, about the origin and
// in world axes; ok is false if it does not press. At rest the point is below the
// centre of mass. Loop-safe.
func ZMP(w spatial.Wrench) (p Point, ok bool) {
	if !(w.Force.Z > 0) {
		return Point{}, false
	}
	return Point{X: -w.Torque.Y / w.Force.Z, Y: w.Torque.X / w.Force.Z}, true
}
