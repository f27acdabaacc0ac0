// Package poisemsgs holds the messages of the ROS package poise_msgs: what Poise
// says and is asked that ROS has no message for.
//
// Every answer begins alike: success, a sentence for people, and the explanations
// of a refusal, all of them. Field tags are those of msgs/registry.
//
// A Motion is motion.Document as a message. What it may lack is a list: a joint's
// tolerances have no entry or one. A position that was not captured is NaN. A
// version is the hash of a stored motion's text; who replaces, deletes or renames
// one says which version was read, and an empty one means that there is none yet.
package poisemsgs
