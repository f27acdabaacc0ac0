// Package rosjson reads and writes ROS-shaped messages as JSON or YAML text.
//
// Reading is strict and tells everything at once: a field that the message does
// not have, a value of the wrong kind, a number that does not fit, each with its
// path ("goal_constraints[0].joint_constraints[2].position") and line. A field
// that is missing takes ROS's zero value; null in place of a number is NaN, as
// rosbridge writes it. Size, depth and count are bounded, YAML aliases included.
package rosjson
