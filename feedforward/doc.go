// Package feedforward is cycle 1 of motion control: the torques that a commanded motion
// needs, by the masses of the robot and its contacts.
//
//	stage, err := feedforward.New(m, feedforward.Limits{…})
//	stage.Update(command, powered, dt)
//	stage.Tau[j], stage.State
//
// The acceleration of a joint is what its reference claims, as long as the command moves so;
// otherwise the filtered difference of its velocity, and nothing until enough of it is known.
// Supports come and go within a fifth of a second, whatever is commanded, and inverse dynamics
// with contacts (package floatingbase) is continuous in them: so are the torques. A robot
// with a fixed base needs inverse dynamics alone.
//
// Which joints use the torques is a choice of each, which is blended too.
//
// All updates are loop-safe. A stage serves one goroutine.
//
// # References
//
//   - M. Schwarz, S. Behnke, Compliant robot behavior using servo actuator models identified by
//     iterative learning control, RoboCup 2013.
//   - A. Savitzky, M. Golay, Smoothing and differentiation of data by simplified least squares
//     procedures, 1964.
package feedforward
