// Package gait plans how a robot with legs walks: where its feet go and when, and how its
// centre of mass moves over them. It depends on no servos, no joints and no cycle.
//
//	p, err := gait.New(gait.Config{Legs: feet, Height: 0.19})
//	err = p.SetGait(&pattern)
//	p.Place(at, yaw, feet)
//	p.Command(gait.Velocity{X: 0.05})
//	p.Advance(dt)
//	p.Com(), p.Yaw(), p.Foot(i)
//
// A gait is data: a period, the share of it that a foot stands, and when each foot is lifted.
// The same code walks on two, four or six legs.
//
// A nominal body moves over the ground as it is commanded, with an acceleration that is
// limited and continuous, and no faster than feet that stand allow: they stay within reach
// until they are lifted. Feet are put down where they will stand in the middle of their
// stance if it goes on so; one that stands does not move. Over the supports that follow
// from this, the reference of the zero-moment point is the nominal centre, projected into the
// polygon of the standing feet shrunken by a margin; it crosses from one polygon to the next
// while the feet of both stand. The centre of mass follows by preview control of a linear
// inverted pendulum: jerk is what is chosen, so its acceleration is continuous whatever is
// commanded, and a new velocity changes only the future.
//
// Stop lets feet that are in the air come down and brings the centre of mass to rest between
// all of them. A command of zero takes more steps until the feet are at their nominal places.
//
// Catch is apart from that: two quick steps of a robot that tips over the edge of its soles.
//
// Everything but New is loop-safe. A Planner serves one goroutine.
//
// # References
//
//   - S. Kajita et al., Biped walking pattern generation by using preview control of
//     zero-moment point, ICRA 2003.
//   - M. H. Raibert, Legged robots that balance, 1986 (footholds symmetric about the stance).
package gait
