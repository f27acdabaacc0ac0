package golden

import (
	"os"
	"testing"
)

// Python returns the Python that has the outside tools to compare with, named by
// POISE_PYTHON (make test sets it up). If there is none the test is skipped, or
// fails under CI=true.
func Python(t testing.TB) string {
	t.Helper()
	python := os.Getenv("POISE_PYTHON")
	if python == "" {
		Missing(t, "POISE_PYTHON names no Python to compare with")
	}
	return python
}

// Missing ends a test for want of a tool: a skip, and under CI=true a failure.
func Missing(t testing.TB, format string, a ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, a...)
	}
	t.Skipf(format, a...)
}
