// Package robot holds the Model: what a robot is, checked, immutable and shared
// by all.
//
//	documents ──Build──▶ Model ──▶ kinematics, dynamics, planner, control …
//
// A Model is a tree of bodies. Body 0 is the world (and all that is welded to
// it); each further body hangs on an earlier one by a joint. Links that fixed
// joints weld together are one body, their frames are kept. A joint that mimics
// another adds no coordinate of its own: its body moves with its leader's.
//
// The body frame stands at the joint, turned so that a revolute or prismatic
// axis is always +z: kernels then know the axis without asking. Frames carry
// the link frames of the file.
//
// Order of all joint arrays: depth first from the root, the children of a link
// sorted by joint name; a floating base comes first.
package robot
