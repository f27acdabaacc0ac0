// Package contact computes how a robot stands: the pose of its base, given which
// feet are on the ground, and its static balance there.
//
//	g, err := contact.NewGround(m)
//	feet := []contact.Foot{{Chain: leg1, Contact: hoof}, …}
//	X_WB, ok := g.Settle(joints, feet)        // on level ground, above the origin
//	g.BalanceTo(&b, joints, feet, X_WB)       // centre of mass, polygon, margin
//
// The base of a legged robot has no position sensor: its pose follows from the
// joints and the feet that stand. Settle needs no history: soles on the plane
// z = 0, base above the origin, nose along x. Fit and Register start from known
// positions of the contact points: the pose of the base that brings the points there,
// and the motion of the base that keeps them there. Package estimate repeats this
// every tick while feet are lifted and put down.
//
// Joints are given as one number each, in array order and without the base, as
// commands and stored motions have them. Feet are chains with a named set of
// contact points, in the frame of the chain's tip:
//
//   - the first point is on the ground, and with it all points level with it
//     across the tip's z axis: these carry;
//   - a point above or below them says that the tip stands upright.
//
// The ground is level, gravity points along −z. Balance is that of a robot at
// rest: accelerations and external forces do not count.
//
// All methods but the constructors are loop-safe, once a call with as many feet
// as ever has been made. A Ground serves one goroutine.
package contact
