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
// Planning is deterministic, safe for concurrent use and ends early when its
// context is cancelled.
package planner
