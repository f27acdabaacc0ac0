// Package stage drives a robot by its whole body under strict priorities: cycle 2 of motion
// control.
//
//	s, err := stage.New(m, bounds, stage.Config{})
//	s.Update(command, accelerations, servos, dt)
//
// The command that comes in is what all controllers ask for together: joints, limbs, the base and
// which feet stand. The stage has a motion of its own, which it leads after that: each tick it finds
// by package wholebody the accelerations that serve the request as far as dynamics, contacts,
// torques, friction and balance allow, and integrates them. What comes out in the command is this
// motion, with the torques and the contact forces that go with it.
//
// # Requests
//
// Joints, the base and limbs are asked to accelerate as they are commanded to, and towards where
// they are commanded to be:
//
//	a = a_ref + 2ω·(v_ref + ω/2·e − v),   ω = min(25/s, 1/2dt)
//
// Accelerations of joints are cut to what their own motors give. Joints that no servo moves are at their
// target in every tick. Of a limb that is nearly straight (smallest singular value of its Jacobian below
// 20 mm) the joints are led in place of its point.
//
// # Balance
//
// The zero-moment point stays inside the polygon of the soles by Margin, and the capture point
// ξ = c + ċ/ω₀ inside by 3 mm more: its distance h from each edge is a barrier, ḣ ≥ −γ·h. So the body
// slows down before it would be too late. A foot that is to leave the ground stays until the capture
// point is 10 mm inside the polygon of the others; one that is to stand and is not there is led down
// to the ground.
//
// A controller that owns the supports may plan the balance itself, as a walk does. Feet then leave and stand as
// it says, limbs come before the base, and the capture point has no rows, since two feet on a line would leave no
// room for it. Feet that stand move with their limbs' references where it says that they are led.
//
// What is asked of the base is first cut to what balance, friction and the reach of legs allow. The change of
// torques is limited by a level of its own, torque_rate.
//
// # Measured
//
// The motion follows the command, not the robot. It stays near: its tilt leaks to the measured one, no joint
// is led further than its servo can pull, and a foot that comes to stand takes the velocities of an
// inelastic impact.
//
// # Failure
//
// A level that cannot be served keeps what those above it decided. If one of safety is not served, all
// that is asked for is weighed in one level in place of several; if that is not served either, the
// motion slows down on its path with the torques of cycle 1; what is not finite is not taken.
//
// Stage is loop-safe after New. It serves one goroutine.
//
// # References
//
//   - J. Pratt et al., Capture point: a step toward humanoid push recovery, 2006.
//   - A. Ames et al., Control barrier functions: theory and applications, 2019.
package stage
