// Package robot holds the Model: what a robot is, checked, immutable and shared
// by all.
//
//	documents ──Build──▶ Model ──▶ kinematics, dynamics, planner, control …
//
// A Model is a tree of bodies. Body 0 is the world (and all that is fixed to
// it); each further body is connected to an earlier one by a joint. Links that are
// connected by fixed joints are one body, and their frames are kept. A joint that mimics
// another adds no coordinate of its own: its body moves with its leader's.
//
// The body frame is at the joint, turned so that a revolute or prismatic
// axis is always +z, as kernels assume. Frames are the link frames of the file.
//
// Order of all joint arrays: depth first from the root, the children of a link
// sorted by joint name; a floating base comes first.
//
// Beside what a robot is, the Model holds how it is used: chains and contacts,
// groups, and the leaf resources that controllers own. They come from the SRDF
// and from robot.yaml (docs/robot-yaml.md).
//
//	m, warnings, err := robot.Build(doc, robot.Options{})
//	id, ok := m.Joint("elbow")       // names at start-up, ids in loops
//	m.Joints()[id].Limits.Velocity   // with the file and line that it came from
//
// Beside it, package description reads robot.yaml, load finds the files, summary
// prints the result.
package robot
