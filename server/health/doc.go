// Package health words how a robot is as diagnostic_msgs: its cycle, its power, its
// joints and how old their readings are.
package health
