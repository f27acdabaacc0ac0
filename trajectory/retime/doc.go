// Package retime finds the fastest way along a given path.
//
// The path is geometry: q(s), with exact first and second derivatives. The
// answer is a time law s(t): package reach finds the largest speeds along the path
// that the limits of joints and of measures (distances along the path) allow, and
// certifies them at every place.
//
// Acceleration of this law jumps. Where a jerk limit is given, or samples with a
// period are wanted whose quintic obeys the limits, the law is smoothed in time:
//
//	s̃(t) = Σ c_k·B((t − t_k)/h),   c = moving average of s(t_k)            (1)
//
// with B the cubic B-spline: path acceleration then changes linearly, with its
// corners on the samples, and never beyond what it was around. A jump that would
// still be too quick gets a stretch of constant speed; what certification finds
// lowers the speed there, and all is done again.
//
//	var solver retime.Solver
//	var law retime.Law
//	err := solver.Solve(&law, &retime.Problem{Path: path, Limits: limits})
//	motion := retime.NewMotion(path, &law)
//	points, err := trajectory.Sample(motion, 0.001)
package retime
