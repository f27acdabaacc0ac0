// Package rosjson reads and writes ROS-shaped messages as JSON or YAML text.
//
// Reading is strict and reports all problems at once: an unknown field, a value of the
// wrong kind, a number that does not fit, each with its path
// ("goal_constraints[0].joint_constraints[2].position") and line. A missing field is
// zero; null in place of a number is NaN, as rosbridge writes it. Fields of both forms
// (msgs.Form) are read. Size, depth, count and memory are bounded, YAML aliases included.
//
// Wires use UnmarshalJSON, which takes only JSON and builds no tree; files are read with
// Unmarshal, which takes YAML too.
//
// Append writes one form: its fields, their names, its names of times. A non-finite number
// is null, a list is never null, and uint8[] is base64, all as rosbridge does. Struct tags are those of msgs/registry.
package rosjson
