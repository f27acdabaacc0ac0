// Package shipped holds the robots that come with Poise: a folder for each, as
// docs/robot-yaml.md describes it.
//
//	pony   a small four-legged robot with a face
//	arm6   an industrial arm of six axes with a spherical wrist and a gripper
//	so101  a hobby arm of six servos with a gripper
//
// The .urdf of a robot is its .urdf.xacro expanded: people edit the one, any
// tool can read the other, a test keeps them the same.
package shipped

import "embed"

// FS holds one folder per robot.
//
//go:embed pony arm6 so101
var FS embed.FS
