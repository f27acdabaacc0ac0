// Package servo is the machine as the cycle sees it: setpoints out, measurements
// in, once per tick, in SI units.
//
//	joint command ──Inverter──▶ Setpoint ──Bus.Exchange──▶ Measurement
//
// A Bus is a robot's servos and sensors behind one call that never blocks:
// drivers talk to hardware on their own time and exchange what they have. A Driver
// is a Bus with a life and capabilities; servo/driver is the table of drivers,
// servo/servotest the tests that each of them passes, servo/sim the one without
// hardware. What a servo reports about itself is a Fault, a set of small stable
// bits; what to do about it is decided above.
package servo
