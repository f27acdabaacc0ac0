// Package smooth plans motions that are as fast as the limits allow and break
// none of them, at no instant.
//
//	Request ──Resolve──▶ Task ──▶ legs ──▶ joints over a path ──▶ time ──▶ samples
//	                              └─ bends where legs are blended
//
// Geometry comes first. Lines, arcs and polylines are paths of the tool, which
// package track turns into paths of the joints; a point-to-point motion is a
// path of the joints by itself. Legs that are blended leave their paths inside a
// sphere around the goal between them and are joined by a bend that continues
// tangent and curvature on both sides. What lies between two stops is a run.
//
// Then each run is timed as a whole: each joint within its own limits, the tool
// within the Cartesian ones. Where a joint cannot follow at the wanted speed the
// motion slows down and says so in a note; nothing is refused that time can cure.
//
// Samples of the law are taken evenly and smoothed,
//
//	s̃(t) = Σ c_k·B((t − t_k)/h),   c_k = s(t_k)                            (1)
//
// with the cubic B-spline B: path acceleration then changes linearly between
// samples, is an average of what it was around, and is zero at both ends. Where
// the path bends within a few samples and their quintic breaks a limit, package
// retime itself is asked for a law to be sampled, which takes longer to find.
// Through the samples goes one quintic per joint (trajectory.Interpolant); it is this
// curve that keeps the limits and stays within the given deviation of the path.
// The last sample is at rest, with no acceleration.
//
// A Planner holds no state between calls, is safe for concurrent use, asks no
// clock and gives the same answer to the same question.
package smooth
