// Package msgs holds the messages of Poise's wires as Go structs, shaped and
// named as ROS shapes and names them.
//
// They are for the edge: package edge turns them into the plain types that the
// planner and the controllers work with, and back. A struct's json tags are the
// ROS field names; msgs/rosjson reads and writes them as JSON or YAML.
//
// Times are ROS 2's: seconds and nanoseconds. Both spellings are read.
package msgs
