package sim

import (
	"fmt"
	"math"

	"poise/contact"
	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
)

// Settled returns the configuration of a robot that stands on its soles on the ground, one
// number given for each joint; it leans with the slope. Without declared feet its base is
// upright and its lowest part touches. A robot on a fixed base is where it is.
func (m *Model) Settled(joints []float64, g *Ground) ([]float64, error) {
	return m.SettledAt(joints, g, spatial.Vec3{}, 0)
}

// SettledAt is Settled elsewhere: moved over the ground to a place, and turned by a heading,
// rad.
func (m *Model) SettledAt(joints []float64, g *Ground, place spatial.Vec3, heading float64) ([]float64, error) {
	bot := m.robot
	q := make([]float64, bot.NumQ())
	m.space.NeutralTo(q)
	for i, j := range bot.Joints() {
		if j.Kind.NumQ() == 1 {
			q[j.Q] = joints[i]
		}
	}
	if !bot.Floating() {
		return q, nil
	}
	X := spatial.IdentityPose
	for _, c := range bot.Chains() {
		if c.Contact == robot.NoContact {
			continue
		}
		ground, err := contact.NewGround(bot)
		if err != nil {
			return nil, err
		}
		X, _ = ground.Settle(joints, ground.DefaultFeetTo(nil))
		break
	}
	over := g.R.TMulVec(place)
	over.Z = 0
	X = spatial.Pose{R: g.R}.Mul(spatial.Pose{R: spatial.FromRPY(0, 0, heading), P: over}).Mul(X)
	put := func() {
		Q := X.R.Quat()
		copy(q, []float64{X.P.X, X.P.Y, X.P.Z, Q.X, Q.Y, Q.Z, Q.W})
	}
	put()
	d := kinematics.NewData(bot)
	const rounds = 8 // on boxes and bumps the way out is not found at once
	for range rounds {
		d.UpdatePosition(q)
		gap := m.Clearance(d, g)
		if math.IsInf(gap, 0) {
			return nil, fmt.Errorf("sim: nothing of robot %q can touch the ground", bot.Name())
		}
		X.P = X.P.Sub(g.R.Col(2).Scale(gap))
		put()
		if flat := g.Heights == nil && len(g.Boxes) == 0; flat || math.Abs(gap) < 1e-6 {
			break
		}
	}
	return q, nil
}

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
			if i, box, _ := g.box(p, gap, -1); i >= 0 {
				gap = box
			}
			least = math.Min(least, gap-F.radius)
		}
	}
	return least
}
