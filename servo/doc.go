// Package servo is the machine as the cycle sees it: setpoints out, measurements
// in, once per tick, in SI units.
//
//	joint command ──Inverter──▶ Setpoint ──Bus.Exchange──▶ Measurement
//
// A Bus is a robot's servos and sensors behind one call that never blocks:
// drivers talk to hardware in goroutines of their own, and an exchange takes the newest
// values. A Driver is a Bus with a life cycle and capabilities; servo/driver is the table of
// drivers, servo/servotest the tests that each of them passes, servo/sim the one without
// hardware. Servos report faults as a Fault, a set of bits with stable meanings; the
// reaction is decided by the cycle.
package servo
