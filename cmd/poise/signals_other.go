//go:build !unix

package main

import (
	"os"
	"syscall"
)

// endingSignals are those after which the robots ramp down before the server ends.
func endingSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }
