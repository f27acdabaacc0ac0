// Package planning is what MoveIt offers: plans as services that move nothing, as actions
// that do, and forward and inverse kinematics of the robot where it is.
package planning
