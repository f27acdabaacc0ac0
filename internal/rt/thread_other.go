//go:build !linux

package rt

import (
	"runtime"
	"time"
)

// Realtime says that this system gives none.
func Realtime(int) (said string, granted bool) {
	return "no real-time priority on this system: lateness depends on what else runs", false
}

// LockThread binds the goroutine to its thread for good.
func LockThread() { runtime.LockOSThread() }

var start = time.Now()

// Now returns the monotonic clock that SleepUntil counts by, ns.
func Now() int64 { return time.Since(start).Nanoseconds() }

// SleepUntil returns when Now has reached deadline, or at once if it has.
func SleepUntil(deadline int64) { time.Sleep(time.Duration(deadline - Now())) }
