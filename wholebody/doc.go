// Package wholebody finds the joint accelerations, torques and contact forces of a robot that
// stands, under strict priorities: physics and safety come first, requests are fulfilled as far
// as these allow.
//
//	s, err := wholebody.New(m)
//	err = s.Solve(&answer, q, v, &request)
//
// The unknowns are the accelerations a and the contact wrenches N; torques follow from the
// equation of motion,
//
//	τ = (M·a + h − Jᵀ·N) of the joints,     0 = M·a + h − Jᵀ·N of the base.
//
// # Levels
//
// Order Seed has, from the top:
//
//	dynamics        the base's six equations of motion
//	contacts        points that stand do not accelerate
//	limits          torques, joint accelerations
//	friction        |fx|, |fy| ≤ friction/√2·fz, fz ≥ 0; moments of the sole as in floatingbase
//	zmp             inside the polygon of the soles by a margin
//	zmp_trajectory  where it is asked to be, if it is
//	base            acceleration of the base
//	limbs           points of free limbs, joints
//	regularisation  |τ|² + 1e-4·|joint a|² + 1e-4·|N|²
//
// With the base above the limbs, the free limbs swing wildly when the base requests more
// than friction can provide: their inertia is the only other means. Order Default has them the
// other way round: after dynamics and contacts come orientation (feet on points do not
// tilt, for legs with the joints for it), limits (with friction and zmp in one level),
// posture (joints with a request, and free joints without one, which then do not
// accelerate), zmp_trajectory, base_height_tilt, base_plane (the two halves
// of the base, so that a lack of friction does not cost height), limbs and regularisation.
//
// Rows of a level have no weights. What a level could not fulfil is reported as residual and slack.
//
// Solver is loop-safe after New. It serves one goroutine.
package wholebody
