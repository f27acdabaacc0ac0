// Package estimate finds out what no sensor says: where the base of a robot is, how
// it moves, and which feet stand.
//
//	base, err := estimate.NewBase(m)
//	base.Update(&estimate.Sample{Time: t, Q: q, V: v, Support: supports, Told: told})
//	base.Motion(), base.Support(chain)
//
// Odometry is the one implementation of where the base is: a foot that stands keeps
// its place in the world, and the base goes where the feet leave it. It runs twice
// in the cycle, on the command and on the measurement, and outside it wherever a
// motion is looked at before it is played.
//
// Base adds what odometry needs to know: which feet stand. While a motion says so it
// is believed. While none does, somebody may drag a hoof or put the robot into a pose
// at once; then a foot that left its place is in the air, and a robot whose feet fit
// their places no more is put down anew. The ground is level there, z = 0.
//
// Updates are loop-safe: they allocate nothing, once every foot has stood. An
// estimator serves one goroutine.
package estimate
