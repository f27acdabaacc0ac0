//go:build !unix

package main

import (
	"os"
	"syscall"
)

// endingSignals are those after which the robots ramp down before the server ends.
func endingSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// tryLock reports that a file can be locked: here other processes cannot be told apart from
// dead ones.
func tryLock(*os.File) bool { return true }
