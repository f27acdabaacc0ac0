// Package follow compiles and plays joint trajectories.
//
//	Goal ──Compile──▶ Program ──order──▶ Controller ──▶ references, events, supports
//
// A Goal is plain data, as a message or a stored motion states it: names of joints
// in any order, points in time, tolerances, events. Compile checks all of it
// against a robot before anything moves, and reports every problem at once. It
// writes a Record, the motion in plain numbers; a Program is a record with its
// curve and its clock. It never changes, and crosses into the cycle by pointer.
// Recordings keep records, and a replay builds the same programs again, bit for
// bit.
//
// Between its points a goal means one curve (package trajectory): positions alone
// give the local cubic that rests at both ends and on holds, velocities a cubic,
// accelerations a quintic. Position, velocity and acceleration limits are checked
// at every instant of that curve. What comes before the first point is a way to
// it: from the command, if that point is later than zero; an approach move, if
// the robot is elsewhere and the goal allows one; otherwise the goal is refused,
// or the little that is missing is left to the bridge of the cycle. Append extends
// a program that may be playing already.
//
// A Controller plays programs inside the cycle, and everything it does is
// loop-safe. A program runs on a path clock (trajectory/clock): pause, speed,
// cancel and a stop of category 2 slow it down along its path. Its time is that of
// the goal, so events and tolerances mean the same at every speed. Tolerances
// compare the measured pose with the reference at the time of the measurement: a
// late reading is compared with the past.
package follow
