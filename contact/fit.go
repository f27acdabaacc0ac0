package contact

import (
	"math"

	"poise/spatial"
)

// Fit returns the pose of the base that brings the contact points of the feet to
// where they are to be: anchors, in the order of PointsTo. What they leave open,
// such as the yaw on one hoof, stays as in guess. Worst is the largest distance that
// is left, m: feet that slipped, or legs that work against each other. Without feet
// the guess comes back. Loop-safe.
func (g *Ground) Fit(joints []float64, feet []Foot, anchors []spatial.Vec3, guess spatial.Pose) (X_WB spatial.Pose, worst float64) {
	g.Move(joints, nil, nil)
	g.matches = g.matches[:0]
	for _, f := range feet {
		g.matches = g.MatchesTo(g.matches, f)
	}
	if len(anchors) != len(g.matches) {
		panic("contact: one anchor for each contact point")
	}
	for i := range anchors {
		g.matches[i].Anchor, g.matches[i].Weight = anchors[i], 1
	}
	r := Register(g.matches, guess)
	return r.Pose, r.Worst
}

// MatchesTo appends the contact points of a foot as the base sees them, and how they
// move there, for joints as Move has them. Anchors and weights are left to the caller.
// Loop-safe if dst has room.
func (g *Ground) MatchesTo(dst []Match, f Foot) []Match {
	tip := g.tips[f.Chain]
	X_BT := g.legs.Pose(tip)
	var V, A spatial.Twist
	if g.moving {
		V = g.legs.Twist(tip)
	}
	if g.changes {
		A = g.legs.Acceleration(tip)
	}
	ω, α := V.Angular, A.Angular
	for _, p := range g.m.Contacts()[f.Contact].Points {
		r := X_BT.R.MulVec(p)
		dst = append(dst, Match{
			P: X_BT.P.Add(r),
			V: V.Linear.Add(ω.Cross(r)),
			A: A.Linear.Add(α.Cross(r)).Add(ω.Cross(ω.Cross(r))),
		})
	}
	return dst
}

// Level turns a pose upright: the same place and heading, without roll and pitch.
func Level(X spatial.Pose) spatial.Pose {
	x := X.R.Col(0)
	return spatial.Pose{R: spatial.TurnZ(math.Atan2(x.Y, x.X)), P: X.P}
}
