// Package walks is what tests of walks in more than one engine share: robots other than the pony that walk, commands that jump, and what
// is done to a walk at random instants.
package walks
