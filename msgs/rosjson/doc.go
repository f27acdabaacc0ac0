// Package rosjson reads and writes ROS-shaped messages as JSON or YAML text.
//
// Reading is strict and tells everything at once: a field that the message does
// not have, a value of the wrong kind, a number that does not fit, each with its
// path ("goal_constraints[0].joint_constraints[2].position") and line. A field
// that is missing takes ROS's zero value; null in place of a number is NaN, as
// rosbridge writes it. Fields of both forms (msgs.Form) are read, whichever the
// sender speaks. Size, depth, count and memory are bounded, YAML aliases included.
//
// Wires read with UnmarshalJSON, which takes JSON alone and fills the message as
// it goes; people's files are read with Unmarshal, which takes YAML too.
//
// Writing (Append) is in one form: its fields, its names, its spelling of time. A
// number that is not finite is null, a list is never null, and uint8[] is base64,
// all as rosbridge does. Struct tags are those of msgs/registry.
package rosjson
