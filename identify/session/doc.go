// Package session identifies servos on the robot: it looks whether that is safe, plans the motion,
// records what the servos are told and measure while a controller performs it, writes the log, fits
// the models and gives those that are better than what is in force to be taken over.
//
//	Study ──▶ pre-flight ──▶ Make: excite.Plan, recording on ──▶ (the cycle moves) ──▶ Evaluate: log, fit, verdict
//
// Everything but the Tap runs outside the cycle. A model that predicts the log worse than the one in
// force is not given on; the figures of both are in the verdict.
package session
