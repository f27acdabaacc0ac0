// Package session identifies servos on the robot: it checks that this is safe, plans the motion, records
// setpoints and readings while a controller performs it, writes the log, fits the models and publishes
// those that are better than the ones in force.
//
//	Begin: pre-flight ──▶ Plan: excite.Plan, recording on ──▶ (the cycle moves) ──▶ Fit: log, fit, verdict ──▶ End
//
// Everything but the Tap runs outside the cycle. A model that predicts the log worse than the one in
// use is not published; the figures of both are in the verdict.
package session
