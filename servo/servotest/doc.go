// Package servotest holds a servo.Driver to the contract that package servo states. A
// driver's own test is
//
//	func TestContract(t *testing.T) {
//		servotest.Run(t, func(t testing.TB) servotest.Subject {
//			return servotest.Subject{Driver: …, Joints: 6, Period: 0.01, Silence: …}
//		})
//	}
//
// Run works in the fake time of testing/synctest: a second of the cycle costs nothing, the
// same run gives the same result on a busy machine, and an Exchange that waits is seen
// because time passed in it. A driver that talks to its machine by system calls, such as
// one behind a pseudo-terminal, cannot live in fake time: RunInRealTime is for it.
// Turntable is a robot for tests of drivers of servos.
package servotest
