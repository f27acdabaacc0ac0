// Package emulator is servos that are not there: they answer on a line as real ones do, and
// move the joints of a world with physics or without.
//
//	Port ◀── packets ──▶ Line ──▶ Servo: registers, torque, ramps ──▶ World
//
// It is judged by the vendors' own libraries, which take it for servos. Besides it watches
// who speaks with it: a goal for a servo that is to be free, a torque that comes with a jump
// and a register in EEPROM that is written are events of its log.
package emulator
