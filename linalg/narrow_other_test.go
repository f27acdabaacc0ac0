//go:build !amd64

package linalg

import "testing"

// Narrow does nothing: there are no kernels for wide registers.
func Narrow(testing.TB) {}
