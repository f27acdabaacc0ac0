// Package retime finds the fastest way along a given path.
//
// The path is geometry: q(s), with exact first and second derivatives. The
// answer is a time law s(t). With x = ṡ² and u = s̈ the limits of a joint are linear
// in (u, x) at every place,
//
//	q̇² = q′²·x ≤ v²,     −d ≤ ±(q′·u + q″·x) ≤ a                         (1)
//
// the sign being that of q′: acceleration with the motion is bounded by a,
// against it by d, and since ṡ ≥ 0 the sign of q̇ is known before the speed is.
// A distance measured along the path, such as that of the tool in metres or
// radians, obeys (1) like a joint; such rows follow the joints and are called
// measures.
//
// # The largest speeds
//
// A grid cuts the path into intervals of constant u. Reachability analysis
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
// # Smoothing
//
// Acceleration of this law jumps. Where a jerk limit is given, or samples with a
// period are wanted whose quintic obeys the limits, the law is smoothed in time:
//
//	s̃(t) = Σ c_k·B((t − t_k)/h),   c = moving average of s(t_k)            (2)
//
// with B the cubic B-spline: path acceleration then changes linearly, with its
// corners on the samples, and never beyond what it was around. A jump that would
// still be too quick gets an interval of constant speed; what certification finds
// lowers the speed there, and all is done again.
//
// A quick problem, of many pieces, goes through these rounds differently: it looks
// only at what changed, loosens in the first of them what was lowered too much, and
// ends when limits are kept up to what the caller has held back.
//
//	var solver retime.Solver
//	var law retime.Law
//	err := solver.Solve(&law, &retime.Problem{Path: path, Limits: limits})
//	motion := retime.NewMotion(path, &law)
//	points, err := trajectory.Sample(motion, 0.001)
//
// # References
//
//   - [Pham] H. Pham, Q.-C. Pham, A new approach to time-optimal path
//     parameterization based on reachability analysis, IEEE Transactions on
//     Robotics 34 (2018).
//   - [Verscheure] D. Verscheure, B. Demeulenaere, J. Swevers, J. De Schutter,
//     M. Diehl, Time-optimal path tracking for robots: a convex optimization
//     approach, IEEE Transactions on Automatic Control 54 (2009).
package retime
