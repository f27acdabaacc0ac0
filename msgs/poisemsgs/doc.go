// Package poisemsgs holds the messages of the ROS package poise_msgs: those of Poise's own
// services, topics and actions.
//
// Every response begins with success, a sentence for people, and all explanations of a
// refusal. Field tags are those of msgs/registry.
//
// A Motion is motion.Document as a message. Optional values are lists of at most one
// entry, such as a joint's tolerances. A position that was not captured is NaN. A
// version is the hash of a stored motion's text; a request to replace, delete or rename
// a motion gives the version that was read, empty if there is no such motion yet.
package poisemsgs
