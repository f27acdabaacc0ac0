// Package timing gives a chain of joint paths its time, and samples it.
//
// A Route is several pieces, one behind the other, each with its own limits: of
// the joints, of the way and the turn of the tool, of the speed of a link. Package
// retime finds the fastest law along it. Samples of that law are taken evenly and
// smoothed,
//
//	s̃(t) = Σ c_k·B((t − t_k)/h),   c_k = s(t_k)                            (1)
//
// with the cubic B-spline B: path acceleration then changes linearly between
// samples, is an average of what it was around, and is zero at both ends. So the
// quintic through the joints' samples, which a controller follows, keeps the
// limits as well; it is checked to do so. Where it does not, which happens where
// the path bends within a few samples, retime itself is asked for a law to be
// sampled, which takes longer to find.
package timing
