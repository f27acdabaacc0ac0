// Package qp solves small dense strictly convex quadratic programs:
//
//	minimise ½·xᵀ·H·x + gᵀ·x   subject to   cᵢ·x ≥ bᵢ,   cⱼ·x = bⱼ
//
//	s := qp.New(n, rows)
//	s.Reset(H, g)
//	s.AtLeast(c, b)
//	if s.Solve() == qp.Optimal { use(s.X()) }
//
// The method is the dual active-set method of Goldfarb and Idnani: it begins at the
// unconstrained minimum and adds violated constraints one by one, so every point on the
// way is the minimum under the constraints that are active. Rows may be added after a
// Solve; the next one goes on from the point it has. That is how curved limits are kept:
// add the plane that cuts off the point, solve again.
//
// The answer is judged before it is given: a point is called Optimal only if it keeps
// the rows and the gradient is balanced by multipliers of the right sign. That no point
// exists (Infeasible) and that none was found (all other words) are different answers.
//
// A problem that resembles another starts from the rows that were active there, known by
// their identities: Label, Active, Start.
//
// A Primal solves what a Solver cannot: problems that are not strictly convex, and rows that
// cannot all be kept. It holds a point that keeps the hard rows all the time.
//
// All methods but New are loop-safe. A Solver serves one goroutine.
//
// # References
//
//   - [GI] D. Goldfarb, A. Idnani, A numerically stable dual method for solving strictly
//     convex quadratic programs, Mathematical Programming 27, 1983.
package qp
