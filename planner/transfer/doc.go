// Package transfer moves joints from point to point: each with its own limits, all
// of them arriving together.
//
// A Transfer is sampled evenly. Its samples lie on a cubic B-spline whose control
// points are where the joints would be: between two samples accelerations change
// linearly, so that the quintic through them is that very curve, and velocity,
// acceleration and jerk are averages that no limit is exceeded by. Way strips it
// of its time, for motions that are timed together with others.
package transfer
