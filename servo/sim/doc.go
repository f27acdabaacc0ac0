// Package sim is a robot without hardware: servos that obey, lag, sag, count in
// steps, answer late or not at all, and break on demand.
//
// Every servo moves its own target in a straight ramp over the play time, as
// position servos do; what comes after that is its Servo configuration. All
// chance comes from one seed, so the same run gives the same readings. Rigid-body
// physics is another bus behind the same interface.
package sim
