// Package world reads what a simulated robot stands in: friction, slope, boxes and bumps
// of the ground, which links touch each other, and the corners of meshes. Scenarios and
// `poise serve --world` have it from here. The format is told in docs/physics.md.
package world
