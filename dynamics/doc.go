// Package dynamics relates the motion of articulated rigid bodies to the forces
// that cause it:
//
//	M(q)·a + h(q, v) = τ + Σ Jᵀ·F                                       (1)
//
// InverseTo solves (1) for the joint forces τ, ForwardTo for the acceleration a;
// MassMatrixTo, BiasTo and GravityTo give its terms; Momentum, CentroidalTo,
// KineticEnergy and PotentialEnergy the quantities that are kept or balanced.
//
//	d := dynamics.NewData(m)
//	d.InverseTo(tau, q, v, a, dynamics.Load{})
//
// # Conventions
//
// Coordinates are those of package kinematics: v of a free body is its twist in
// its own axes, linear then angular, a is the derivative of these components,
// and τ of a free body is the wrench about its origin in its own axes, force
// then torque. Only rigid bodies count: damping and friction of the file are
// left out, and the inertia of rotors is there only where a Load brings it. A
// mimic's motion and force belong to its leader's coordinate.
//
// Every method is loop-safe: it allocates nothing. A Data serves one goroutine.
//
// # References
//
//   - [LWP] J. Luh, M. Walker, R. Paul, On-line computational scheme for
//     mechanical manipulators, 1980: the recursive Newton–Euler equations.
//   - [RBDA] R. Featherstone, Rigid Body Dynamics Algorithms, 2008: composite
//     and articulated bodies.
package dynamics
