// Package sim is a robot without hardware: servos that obey, lag, sag, count in
// steps, answer late or not at all, and break on demand.
//
// They obey every mode of a setpoint: off, a free joint that stays where it is put;
// position, a straight ramp over the play time and what comes after it by the
// Servo's configuration; velocity; effort; impedance; brake. A joint has no
// inertia: what it carries comes from Config.Load, and what effort is left over
// moves it against its damping. A reading's effort is what the servo gives.
//
// All chance comes from one seed, so the same run gives the same readings.
// Rigid-body physics is another bus behind the same interface.
package sim
