// Package play is the half of package follow that runs inside the cycle: a
// Controller that plays Programs.
//
//	Record ──Build──▶ Program ──order──▶ Controller ──▶ references, events, supports
//
// A Record is a motion in plain numbers, checked by whoever wrote it: package
// follow, which compiles what people ask for. A Program is a record made ready,
// with its curve and its clock; it never changes, and crosses into the cycle by
// pointer. Recordings keep records, and a replay builds the same programs again,
// bit for bit.
//
// A program runs on a path clock (trajectory/clock): pause, speed, cancel and
// category 2 slow it down along its path. Its time is that of the goal, so events
// and tolerances mean the same at every speed. Tolerances compare the measured
// pose with what was asked for when it was measured: a reading that is late is
// compared with the past.
//
// Everything that the Controller does is loop-safe.
package play
