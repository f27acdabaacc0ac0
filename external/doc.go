// Package external estimates external forces without force sensors: by the torque that servos
// give beyond what the masses need.
//
//	sense, err := external.New(external.Config{Model: m, Servos: models})
//	sense.Update(&external.Sample{…})     // once per tick
//	sense.Contact(chain).Carries()         // a foot
//	sense.Limb(chain).Force               // N on the limb, world axes
//	sense.Joint(j).External, .Band        // N·m, and how far that is uncertain
//	sense.Events()                        // touch-downs, lift-offs and impacts of this tick
//
// # From servos to forces
//
// The torque of a servo follows from its goal, its position and the voltage, by its model
// (package servo/model). The ramp that a servo makes of its goals is followed, with the
// transport delay; velocities are differences of positions. With τs the torque without the rotor
// and RNEA what the bodies need,
//
//	External = RNEA(measured) − τs      what the world does to the joint
//	Beyond   = τs − τref                what the servo gives beyond the reference's torque
//
// External is the residual of the generalised momentum (De Luca),
//
//	r = K·(p − p₀ − ∫(τs + Cᵀu − g + r) dt),   p = M·u with the rotors in M
//
// in increments: over a tick p less ∫Cᵀu is M·Δu, so that one inverse dynamics of the tick's
// mean motion is all it takes. r follows the outside torque with the time 1/K. The base is part
// of it: its rows are the wrench of the world on the whole robot. What an inertial unit feels is
// taken as the acceleration of the base, otherwise the change of its twist in odometry.
//
// The wrench of a limb is the force at its contact that explains the residuals of its joints
// best, weighted by their uncertainty; Unexplained is what is left: large if something touches
// the limb elsewhere.
//
// Momentum is that residual. Its velocities are differences of readings, which come in steps.
// External, by which contacts are detected, is the residual of a predicted momentum: the equation of
// its servo is solved for each joint over the period, and the external torque is what moves the joint
// from there to its reading (a Kalman filter, to which a reading within half a step agrees).
//
// # Uncertainty
//
// Sigma is the standard deviation by the steps of readings and the errors of models. Friction is
// the dry friction whose direction is not known, because the joint hardly moves: the residual may
// be off by as much, to either side. A line that loses readings loses setpoints, too, and a lost
// setpoint looks like a force: Lost is the torque that it would explain. Band is Friction + Lost +
// 3·Sigma, and nothing within it is reported as a contact.
//
// # Contacts of feet
//
// Each foot is in one of four states. It touches down when the force on it, less what friction may
// explain, is above max(ForceOn, 5σ) for two ticks; one tick is enough where contact is expected
// (the foot is commanded to stand, or in the last fifth of its swing) or the force is twice as
// large. It lifts off below half of that threshold, and below ForceOn, for three ticks.
//
//   - Near the end of a swing, or where that is not known, the force is extrapolated by 25 ms at
//     short periods: a joint has to move by a step of its readings before a force shows.
//
//   - In the first part of a swing nothing is a touch-down, since legs that lift drag.
//
//   - Where contact is not expected, a force mostly from the side is no touch-down: it may be an impact.
//
//     Swing ──force──▶ Touching ──still──▶ Stance ──no force──▶ Lifting ──still──▶ Swing
//
// Early and Late compare that with the command: a foot that stands and should swing, and one
// that should stand and does not.
//
// All updates are loop-safe. A Sense serves one goroutine.
//
// # References
//
//   - A. De Luca, R. Mattone, Sensorless robot collision detection and hybrid force/motion
//     control, 2005.
//   - S. Haddadin, A. De Luca, A. Albu-Schäffer, Robot collisions: a survey on detection,
//     isolation, and identification, 2017.
package external
