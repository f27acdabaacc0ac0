// Package emulator emulates servos: they answer on a line as real ones do, and
// move the joints of a world with physics or without.
//
//	Port ◀── packets ──▶ Line ──▶ Servo: registers, torque, ramps ──▶ World
//
// It is tested with the vendors' own libraries, which take it for servos. It also checks its
// client: a goal for a servo that is to be free, a torque that sets in with a jump
// and a write to a register in EEPROM are events of its log.
package emulator
