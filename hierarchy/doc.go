// Package hierarchy solves linear tasks under strict priorities: each level is a list of
// equations and inequalities, and a level is served as well as the levels above it allow.
//
//	level k:  minimise |A·x − b|² + |max(0, f − D·x)|²
//	          over the x that serve the levels above as well as before
//
//	s := hierarchy.New(n, rows, levels)
//	s.Reset(n)
//	s.Begin()
//	copy(s.Row(), a)
//	s.Equal(b)
//	s.Solve(nil)
//	use(s.X())
//
// Strict means that no request of a lower level changes the result of a higher one by more
// than rounding: equations are kept by staying in their null space, inequalities as rows of
// the problems below. A row that is broken, or that holds a level back, has the same value at
// every optimum of its level, so it becomes an equation for the levels below.
//
// A level is first tried whole: the shortest way to its least-squares optimum that breaks no
// inequality, a projection by [qp.Solver]. Only if that does not exist the compromise is
// found by [qp.Primal], which holds a feasible point all the time. If that is stopped, the
// level has what was reached, and says so; the levels above have what they had. The budget of
// work is in iterations.
//
// All methods but New are loop-safe. A Solver serves one goroutine.
//
// # References
//
//   - O. Kanoun, F. Lamiraux, P.-B. Wieber, Kinematic control of redundant manipulators:
//     generalizing the task-priority framework to inequality tasks, 2011.
//   - A. Escande, N. Mansard, P.-B. Wieber, Hierarchical quadratic programming, 2014: rows
//     that hold a level back are equations below it.
//   - C. D. Bellicoso et al., Perception-less terrain adaptation through whole body control
//     and hierarchical optimization, 2016: the cascade in null spaces.
package hierarchy
