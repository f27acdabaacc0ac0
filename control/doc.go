// Package control is the vocabulary of the cycle and the stages that every
// command passes.
//
//	references ──Aggregate──▶ one reference ──Shaper──▶ command ──inversion──▶ setpoint ──Guard──▶
//
// Aggregate takes the reference of each leaf from its owner alone. Shaper makes
// the command: Holder holds unowned joints; Bridge decays the difference between
// command and reference, so that nothing jumps when an owner changes.
// Limiter is the gate on the command: its output is finite, within position,
// velocity and acceleration limits, and viable: from any state that it permits,
// the joint can still stop before its position limit. Guard is the gate on the
// setpoint, after the servo model has been inverted.
//
// Everything here is loop-safe: memory is made once, by New…, for one robot.
package control
