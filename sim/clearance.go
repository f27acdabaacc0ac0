package sim

import (
	"math"

	"poise/kinematics"
)

// Clearance returns how far the robot is above the ground, placed as d has it: the least
// gap of all that may touch, +Inf if nothing may.
func (m *Model) Clearance(d *kinematics.Data, g *Ground) float64 {
	least := math.Inf(1)
	for i := range m.bodies {
		b := &m.bodies[i]
		X := d.BodyPose(b.body)
		for f := b.first; f < b.last; f++ {
			F := &m.features[f]
			p := X.Apply(F.p)
			if F.rim > 0 {
				_, n := g.surface(p)
				axis := X.R.MulVec(F.axis)
				down := n.Sub(axis.Scale(n.Dot(axis)))
				if l := down.Norm(); l > flatRim {
					p = p.Sub(down.Scale(F.rim / l))
				}
			}
			gap, _ := g.surface(p)
			if box, _, ok := g.box(p, gap); ok {
				gap = box
			}
			least = math.Min(least, gap-F.radius)
		}
	}
	return least
}
