// Package reach finds how fast a path can be followed.
//
// The path is geometry: q(s), with exact first and second derivatives. With
// x = ṡ² and u = s̈ the limits of a joint are linear in (u, x) at every place,
//
//	q̇² = q′²·x ≤ v²,     −d ≤ ±(q′·u + q″·x) ≤ a                         (1)
//
// the sign being that of q′: acceleration with the motion is bounded by a,
// against it by d, and since ṡ ≥ 0 the sign of q̇ is known before the speed is.
// A distance measured along the path, such as that of the tool in metres or
// radians, obeys (1) like a joint; such rows follow the joints and are called
// measures.
//
// A Grid cuts the path into intervals of constant u. Reachability analysis
// [Pham] goes backwards to find from how fast a speed each interval can still be
// survived, then forwards as fast as that allows; (1) is imposed at both ends of
// every interval. Then the result is certified: it is checked between those ends
// too, an interval where a limit breaks is split or tightened, and the passes run
// again where anything changed. Only if that does not end is the whole motion
// slowed. Intervals in which the law switches are split until they are short.
//
// What is narrower than a quarter of an interval is not seen, unless the path
// tells of it by a break. Corners (q′ jumps at a break) are passed at rest, and so
// are jumps of q″ where a jerk limit is given.
//
//	var g reach.Grid
//	err := g.Prepare(&problem, from, to, 1)
//	err = g.SolveSharp()
//	speed := math.Sqrt(g.X[i]) // at g.S[i]
//
// Package retime makes a time law of it.
//
// # References
//
//   - [Pham] H. Pham, Q.-C. Pham, A new approach to time-optimal path
//     parameterization based on reachability analysis, IEEE Transactions on
//     Robotics 34 (2018); package phase holds its two steps.
package reach
