// Package journal is what a server tells of itself: log lines for people, the same on
// rosout for ROS, and what comes again and again said once and counted.
package journal
