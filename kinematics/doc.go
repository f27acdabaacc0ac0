// Package kinematics computes poses, velocities and accelerations of a robot's bodies.
//
//	X_WB = X_WP · Rest · motion(q),   V_WF = J(q)·v,   A_WF = J·a + J̇·v
//
// A Data holds the results for one Model, in stages: UpdatePosition, then
// UpdateVelocity, then UpdateAcceleration. Queries are for a Place, a
// frame on a body:
//
//	d := kinematics.NewData(m)
//	tool := d.At(tip).Offset(X_FT)
//	d.UpdatePosition(q)
//	X_WT := d.Pose(tool)
//	d.JacobianTo(J, tool)
//
// A Space is the set of configurations: it adds a motion to a configuration and
// tells the motion between two of them, which matters where q is no vector
// space (free bases, continuous joints).
//
// # Conventions
//
// Velocities and accelerations of a Place are in world axes and belong to its
// origin; accelerations are classical (the second derivative of the position),
// without gravity. Where six numbers stand in an array, the linear three come
// first. A matrix of r rows is row-major, r×NumV.
//
// Coordinates: revolute and prismatic joints have one number, and v is its
// derivative; planar joints have x, y and the angle, and v is the derivative of
// the three, along the axes of the joint before it turns; floating joints (the
// free base too) have x y z qx qy qz qw, and v is the twist in the axes of the
// body, linear then angular. A quaternion of any length but zero is read as the
// rotation it points to.
//
// Every method but the constructors is loop-safe: it allocates nothing. A Data
// serves one goroutine; a Space any number.
package kinematics
