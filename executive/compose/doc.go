// Package compose makes trajectories of other things, and other things of
// trajectories: stored motions become goals, plans of several groups one goal, a
// goal gets a way back, and a trajectory becomes a stored motion again.
//
// Everything here is pure: what comes in is not changed, unless it is the goal that
// a function completes.
package compose
