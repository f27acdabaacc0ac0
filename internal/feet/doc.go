// Package feet solves the quadratic program of a robot that stands on points, all requests
// weighed at once, where its legs decouple:
//
//	minimise |J·a − want|² of the base + ρ·(|τ|² + 1e-4·|joint a|² + 1e-4·|f|²)
//	subject to the equation of motion, points that do not accelerate, friction, torque limits
//
//	p := feet.New(nv, len(legs))
//	status := p.Solve(&state)
//	use(p.Acceleration(), p.Force(), p.Torque())
//
// A leg has three joints, and its point is moved by them and the base alone. So the
// accelerations of its joints follow from the base's by a 3×3 matrix, the base's from the forces
// by a 6×6 one, and what is left are the forces and the joints of no leg: 12 unknowns without
// equations in place of 30 with 18 for a robot of four legs. Where a leg is straight, or shares
// joints with another, the answer is NotDecoupled, and the general program of package qp has to
// be asked.
//
// This is the program of one level that other controllers solve each tick, to compare with: no stage of the
// cycle uses it. Strict priorities are package wholebody's.
//
// Program is loop-safe after New. It serves one goroutine.
package feet
