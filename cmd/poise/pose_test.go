package main

import "testing"

// TestTheWayOutOfAWrongPose: a motion that has to begin in a pose goes there first; where
// that is not wanted it is refused elsewhere, names the pose, and is played once the
// robot is there.
func TestTheWayOutOfAWrongPose(t *testing.T) {
	t.Parallel()
	r := serveIt(t)
	r.do("crouched: done", "pose", "crouched")
	r.do("nod: done", "play", "nod", "--speed", "200")
	r.do("crouched: done", "pose", "crouched")
	r.fails(exitFailure, `go to pose "stand" first`, "play", "nod", "--no-approach")
	r.do(`"status":4`, "pose", "stand", "--json")
	r.do("nod: done", "play", "nod", "--speed", "200")
	r.fails(exitFailure, `did you mean "stand"`, "pose", "stnd")
	r.fails(exitUsage, "NAME is missing", "pose")
}
