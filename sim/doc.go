// Package sim moves a robot with mass: rigid bodies under gravity, driven at their
// joints, that touch the ground and each other.
//
//	m, err := sim.NewModel(bot, sim.Config{})
//	d, s := sim.NewData(m), sim.NewState(m)
//	fault := d.Step(s, &sim.Input{Drives: drives, Ground: ground})
//
// A Model is compiled once and shared; a State is all that one step hands to the next,
// so that a copy of it is a copy of the simulated robot; a Data is working memory of one
// goroutine. The same state and the same input give the same result bit for bit. Step
// allocates nothing.
//
// # Method
//
// A step goes half of its way with the old velocity, finds the new one there, and goes the
// other half with it (Moreau's time stepping, [M]):
//
//	q_M  = q ⊕ ½h·v
//	A·v⁺ = M·v + h·(τ − c(q_M, v)) + Jᵀ·λ,   A = M + h·D + h²·K          (1)
//	q⁺   = q_M ⊕ ½h·v⁺
//
// Damping D is taken at the end of the step, and so is as much of the stiffness K of the
// drives as stability asks for: stiff servos neither ring nor need small steps, soft ones
// keep their energy. λ are impulses within bounds: contacts
// push and do not pull, friction stays in its cone, limits of joints push back, dry
// friction of joints holds up to its limit. They are solved for together by a fixed
// number of projected Gauss–Seidel sweeps that begin with the impulses of the last step.
// With A = Lᵀ·L, a factor as sparse as the tree, the sweeps work on z = L·v: rows of
// J·L⁻¹ have numbers only for the joints that carry the body, and W = J·A⁻¹·Jᵀ is never
// formed. Where links touch each other, the sweeps may begin with a direct guess (direct.go)
// instead, so that a heavy body lies on a light one.
//
// Corners, balls and rims of the robot touch the ground; boxes of the ground are touched by
// them at their faces, and touch the robot's shapes with their edges (edges.go).
//
// A contact that is still open by a gap may close within the step and not more,
// n·v⁺ ≥ −gap/h. Bodies that are inside each other are moved apart by positions alone, at
// a bounded speed: no velocity and no kinetic energy comes of it. There are no springs in
// contacts. Where nothing but gravity and constant forces act, a step is Runge and
// Kutta's of fourth order instead of (1).
//
// # References
//
//   - [M] J.-J. Moreau, Unilateral contact and dry friction in finite freedom dynamics, 1988.
//   - [RBDA] R. Featherstone, Rigid Body Dynamics Algorithms, 2008: ch. 6, the factor Lᵀ·L.
//   - [ST] D. Stewart, J. Trinkle, An implicit time-stepping scheme for rigid body
//     dynamics with inelastic collisions and Coulomb friction, 1996.
//   - [JAJ] F. Jourdan, P. Alart, M. Jean, A Gauss–Seidel like algorithm to solve
//     frictional contact problems, 1998.
package sim
