package linalg

import "testing"

// Narrow does without wide registers until the test ends.
func Narrow(t testing.TB) {
	before := wide
	wide = false
	t.Cleanup(func() { wide = before })
}
