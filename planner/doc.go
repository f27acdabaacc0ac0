// Package planner turns a goal such as "go there in a straight line" into a
// checked joint trajectory.
//
//	Request ──Resolve──▶ Task ──▶ geometry ──▶ timing ──▶ Trajectory
//	                       └──▶ Refusal: what, which joint, where, by how much, what would help
//
// The commands are those of industrial arms: PTP moves joints from point to
// point, LIN the tool along a line, CIRC along an arc, POLYLINE along rounded
// corners. A Request is plain data; Resolve gives its names a meaning on one
// robot and checks everything that can be checked before geometry begins, in the
// order and with the kinds of refusal of MoveIt's Pilz planner. Package
// planner/pilz then plans as Pilz does.
//
// Four words for parts of a motion, from the largest to the smallest: a run is
// what goes from rest to rest, one or more legs blended with each other; a leg is
// one command of a sequence with its path; a stretch is a part of the tool's path
// with one set of bounds of the tool, a leg's own or the bend between two; a piece
// is a part of a run along which the joints are smooth functions of one parameter.
// (Package smooth makes a run of strands: chains of pieces that are found together.)
//
// Planning is deterministic, safe for concurrent use and ends early when its
// context is cancelled.
package planner
