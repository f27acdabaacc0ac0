// Package control is the vocabulary of the cycle and the stages that every
// command passes.
//
//	references ──Aggregate──▶ one reference ──Shaper──▶ command ──inversion──▶ setpoint ──Guard──▶
//
// Aggregate takes each leaf from its owner alone. Shaper makes the command: Holder
// keeps what is unowned; Bridge lets the difference between command and reference
// go, so that nothing jumps when an owner changes.
// Limiter is the gate on the command: what leaves it is finite, within position,
// velocity and acceleration limits, and viable: from any state that it lets
// through, the joint can still stop before its limit. Guard is the gate on the
// setpoint, after the servo model has been inverted.
//
// Everything here is loop-safe: memory is made once, by New…, for one robot.
package control
