// Package pilz plans as MoveIt's Pilz Industrial Motion Planner does: the same
// answer to the same request, for those who depend on it.
//
// Joint limits are the strictest of the group in PTP; LIN, CIRC and POLYLINE
// follow a symmetric trapezoid along the path and are refused where a joint
// would exceed its limits; sequences blend by a transition window. Time is
// sampled every 0.1 s unless told otherwise, plus a last, shorter interval.
//
// What Pilz does by mistake is not copied: see docs/pilz-compat.md for the list.
package pilz
