package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// memoryLimit is from where on garbage is collected more often, unless GOMEMLIMIT says
// otherwise: what clients can make the server hold (docs/budgets.md) fits below it.
const memoryLimit = 896 << 20

// setRuntime prepares Go's runtime for a process with a cycle, unless the environment says
// otherwise.
func setRuntime() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	if os.Getenv("GOGC") == "" {
		// collections stop the cycle for a moment: a fifth of them, for some more memory
		debug.SetGCPercent(500)
	}
	if os.Getenv("GOMAXPROCS") == "" {
		// more than cores: the cycle's thread finds a free one when it wakes, and the
		// system, which knows its priority, decides who runs
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 2)
	}
}
