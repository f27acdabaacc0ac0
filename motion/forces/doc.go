// Package forces finds what a motion asks of a robot before it is played: the torque of each
// joint beside what its servo can give, the zero-moment point in the supports, and what each
// foot carries.
//
//	s, err := forces.NewStance(goal, model, rest)
//	report, err := s.Judge(forces.Options{})
//	report.Spans // which joint or foot, from when to when, how much at worst and when
//
// It is inverse dynamics with contacts (package floatingbase), as cycle 1 computes it, from the
// positions, velocities and accelerations of the curve that is played. The base goes where
// standing feet leave it (estimate.Odometry). A robot with a fixed base needs inverse dynamics
// alone.
//
// # What stands
//
// A chain with a support track stands where the track says so. One without stands if the motion
// does not move it and is free if it does. If that leaves no foot at all and there is no track,
// every foot that the robot declares stands. The player asks the same function (follow.Goal's
// Freed), and has the feet go on carrying what they carry.
//
// # Where it looks
//
// Every Step and on both sides of every knot, where accelerations may jump; then again every
// Period around the worst of each span, its ends, and whatever comes close to a limit.
//
// What is beyond its limit is also computed for the same pose at rest: of that which is left
// there, more time mends nothing. The rest shrinks with the square of the time, and Needs says
// how much longer it would have to take.
package forces
