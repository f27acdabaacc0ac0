// Package scenario runs a robot with mass through a script: where it starts, what its
// servos are, what happens to it and what is expected of it. The format is told in
// docs/physics.md.
//
//	s, err := scenario.Parse(data, "push.yaml")
//	plant, err := s.Prepare(robot)
//	result, err := plant.Run(seed, scenario.Watch{})
//
// A run sees no clock and no file: the same scenario and seed give the same run bit for
// bit.
package scenario
