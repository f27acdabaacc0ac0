// Package excite moves joints so that the parameters of their servos show: quick small motion for the
// delay, a sum of sines for the equation, and sweeps of constant speed for the Stribeck curve.
//
//	p, figures, err := excite.Plan(excite.Options{Model: m, Joints: joints, From: q, …})
//
// Plan draws many such motions within the limits of positions, velocities, accelerations and torques,
// and takes the one whose regressor is conditioned best (Swevers et al., "Optimal robot excitation and
// identification", 1997). The controller then performs it: from where the joints are and back to
// there, at rest at both ends. It needs all of its joints, and ends if one of them is taken, is
// too far from its command, or is not heard of.
package excite
