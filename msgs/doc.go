// Package msgs holds ROS messages as Go structs.
//
// Package edge converts them to the types that the planner and the controllers work
// with, and back. A struct's json tags are the ROS field names. msgs/registry knows
// every type by its ROS name, msgs/rosjson reads and writes messages as JSON or YAML,
// msgs/codec as bytes.
//
// Times are ROS 2's: seconds and nanoseconds. JSON is read with the names of ROS 1 too.
package msgs
