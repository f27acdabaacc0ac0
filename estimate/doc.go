// Package estimate finds out what no sensor says: where the base of a robot is, how
// it moves, and which feet stand.
//
//	base, err := estimate.NewBase(m)
//	base.Update(&estimate.Sample{Time: t, Q: q, V: v, Support: supports, Commanded: commanded, Begun: true})
//	base.Motion(), base.Support(chain)
//
// Odometry is the one implementation of where the base is: a foot that stands keeps
// its place in the world, and the base goes where the feet leave it. It runs twice in
// the cycle, on the command and on the measurement, and outside of it where a motion
// is checked or drawn before it is played.
//
// Base adds which feet stand. Where that is commanded, the command holds. Otherwise
// a hoof may be dragged, or the robot put into a pose at once: a foot that left its
// place is in the air, and a robot whose feet do not fit their places is put down anew.
// The ground is then level, z = 0.
//
// Balancer adds how it is balanced: by the forces that a commanded motion needs, or by
// those that sensors feel. Attitude is how an inertial unit has the base turned.
//
// Updates are loop-safe. An estimator serves one goroutine.
package estimate
