// Package registry is the one table of message, service and action types.
//
// Each entry is a Go struct and its ROS name; fields and their ROS types are read from
// the struct and its tags, so that a definition is written once:
//
//	json:"name"   the field's name
//	ros:"byte"    a ROS type that does not follow from Go's (byte, char)
//	form:"1"      the field is in the ROS 1 form only ("2": in ROS 2's only)
//	ros1:"name"   the field's name in the ROS 1 form, where it differs
//	bound:"3"     ROS 2 bounds the list's length
//
// From that the registry prints .msg, .srv and .action text of either form and
// computes the md5 sum by which ROS 1 peers compare types. The form follows from how a
// type is named: pkg/msg/T, pkg/srv/T and pkg/action/T are ROS 2's, pkg/T is ROS 1's.
//
//	t, form, err := registry.Message("sensor_msgs/msg/JointState")
//	t.Text(form)   // string[] name …
//	t.MD5()        // 3066dcd76a6cfaef579bd0f34173e9fd
//
// An action of ROS 1 is seven messages (XGoal, XActionGoal, XAction …): they are
// entries of their own, made from the action's three structs.
//
// The table never changes while a program runs; all of this may be called from
// any goroutine.
package registry
