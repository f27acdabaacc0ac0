// Package follow makes programs of joint trajectories.
//
//	Goal ──Compile──▶ play.Program ──order──▶ play.Controller ──▶ references, events, supports
//
// A Goal is plain data, as a message or a stored motion states it: names of joints
// in any order, points in time, tolerances, events. Compile checks all of it
// against a robot before anything moves, and reports every problem at once. What
// it returns never changes; package play performs it inside the cycle, and knows
// nothing of names, defaults and problems.
//
// Between its points a goal means one curve (package trajectory): positions alone
// give the local cubic that rests at both ends and on holds, velocities a cubic,
// accelerations a quintic. Position, velocity and acceleration limits are checked
// at every instant of that curve. What comes before the first point is a way to
// it: from the command, if that point is later than zero; an approach move, if
// the robot stands elsewhere and the goal allows one; otherwise the goal is
// refused, or the little that is missing is left to the bridge of the cycle.
//
// Append extends a program that may be playing already.
package follow
