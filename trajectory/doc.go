// Package trajectory holds motions as points in time, and what is done to them
// between the planner and the cycle.
//
// A Trajectory is a table: at each time the positions of all joints, and if they
// are known the velocities and accelerations. Between its points it means one
// curve, its Interpolant:
//
//	positions only                  Akima-type cubic, at rest at both ends
//	and velocities                  cubic
//	and accelerations               quintic
//
// so that "within limits" is a statement about every instant, not about samples:
// Limits.Violations uses the exact extremes of that curve.
//
// Functions that change a trajectory return a new one that shares nothing with
// the old: Cut, Reversed, Scaled, Shifted, Unwrapped, Turned. Times are
// seconds, values SI; a Limit that is absent is never invented.
//
//	curve, err := t.Interpolant()
//	bad := limits.Violations(curve, 1e-9)
//	even, err := trajectory.Sample(curve, 0.004)
package trajectory
