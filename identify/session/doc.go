// Package session identifies servos on the robot: it checks that this is safe, plans the motion, records
// setpoints and readings while a controller performs it, writes the log, fits the models and publishes
// those that are better than the ones in force.
//
//	Study ──▶ pre-flight ──▶ Make: excite.Plan, recording on ──▶ (the cycle moves) ──▶ Evaluate: log, fit, verdict
//
// Everything but the Tap runs outside the cycle. A model that predicts the log worse than the one in
// use is not published; the figures of both are in the verdict.
package session
