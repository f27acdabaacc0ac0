// Package estimate computes the state that no sensor measures: the pose and the motion
// of a robot's base, and which feet stand.
//
//	base, err := estimate.NewBase(m)
//	base.Update(&estimate.Sample{Time: t, Q: q, V: v, Support: supports, Commanded: commanded, Begun: true})
//	base.Motion(), base.Support(chain)
//
// Odometry is the one implementation of the base's pose: a foot that stands keeps
// its position in the world, and the pose of the base follows from the joints. It runs
// twice in the cycle, on the command and on the measurement, and outside of it where a
// motion is checked or drawn before it is played.
//
// Base adds which feet stand. Where that is commanded, the command counts. Otherwise
// a person may drag a hoof, or place the robot in another pose at once: a foot that has
// left its position is in the air, and a robot none of whose feet fit their positions is
// placed on level ground, z = 0, again.
//
// Balancer adds the balance, from the forces that a commanded motion needs or that
// sensors measure. Attitude is the orientation of the base by an inertial unit.
//
// Updates are loop-safe. An estimator serves one goroutine.
package estimate
