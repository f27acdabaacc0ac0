// Package sim is a robot without hardware: its servos lag, sag under load, quantise
// positions, answer late or not at all, and fail on demand.
//
// They obey every mode of a setpoint: off, a free joint that stays where it is put;
// position, a straight ramp over the play time and what comes after it by the
// Servo's configuration; velocity; effort; impedance; brake. A joint has no
// inertia: its load comes from Config.Load, and the effort in excess of the load
// moves it against its damping. A reading's effort is that of the servo.
//
// All chance comes from one seed, so the same run gives the same readings.
// Rigid-body physics is another bus behind the same interface.
package sim
