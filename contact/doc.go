// Package contact tells how a robot stands: where its base is, given which feet
// are on the ground, and whether it keeps its balance there.
//
//	g, err := contact.NewGround(m)
//	feet := []contact.Foot{{Chain: leg1, Contact: hoof}, …}
//	X_WB, ok := g.Settle(joints, feet)        // on level ground, above the origin
//	g.BalanceTo(&b, joints, feet, X_WB)       // centre of mass, polygon, margin
//
// A robot with a free base is rooted at its supports: joints and feet together
// say where the base is. Settle answers without any history: soles on the plane
// z = 0, base above the origin, nose along x. Fit and Register answer with places
// of the contact points that are known: the pose that brings the points there, and
// how the base moves so that they stay there. Package estimate does so from tick to
// tick while feet come and go.
//
// Joints are given as one number each, in array order and without the base, as
// commands and stored motions have them. Feet are chains with a named set of
// contact points, in the frame of the chain's tip:
//
//   - the first point is on the ground, and with it all points level with it
//     across the tip's z axis: these carry;
//   - a point above or below them says that the tip stands upright.
//
// The ground is level, gravity points along −z. Balance knows no forces: it is
// that of a robot at rest.
//
// All methods but the constructors are loop-safe, once a call with as many feet
// as ever has been made. A Ground serves one goroutine.
package contact
