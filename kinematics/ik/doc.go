// Package ik finds joint positions that bring frames to wanted poses.
//
// A Solver is made once for a set of tips and the joints that may move for them;
// solving then allocates nothing. It works in two ways and finds out by itself
// which applies:
//
//   - closed form, for six revolute axes of which the last three meet in a point
//     (and five of which the last two do): all branches, whatever the first three
//     axes look like. See closed.go.
//   - numeric otherwise, and for every task with free axes, tolerances, a posture
//     or several tips: damped Gauss–Newton steps that stay within the limits,
//     restarted from fixed pseudo-random places. See numeric.go.
//
// Of several solutions the one nearest to the seed wins, measured as the sum of
// the joint distances. A joint whose range is wider than a turn may come back by
// any whole turn that its limits allow; a continuous joint always comes back
// within half a turn of the seed.
//
// Time is counted in iterations, never by a clock: the same call gives the same
// answer, bit for bit.
package ik
