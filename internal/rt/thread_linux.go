package rt

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Realtime asks the system to run the whole process before others: SCHED_FIFO for
// every thread that it has (new ones inherit it) and memory that is never paged
// out. It returns what was granted, in words for a person, and whether all was.
//
// The whole process, because a collector's threads that starve behind other
// programs hold up the cycle too.
func Realtime(priority int) (said string, granted bool) {
	var words []string
	granted = true
	if err := fifo(priority); err != nil {
		granted = false
		words = append(words, "no real-time priority ("+reason(err)+"): lateness depends on what else runs")
	} else {
		words = append(words, fmt.Sprintf("real-time priority %d (SCHED_FIFO) for the whole process", priority))
	}
	if err := unix.Mlockall(unix.MCL_CURRENT | unix.MCL_FUTURE); err != nil {
		granted = false
		words = append(words, "memory is not locked ("+reason(err)+")")
	} else {
		words = append(words, "memory locked")
	}
	return strings.Join(words, "; "), granted
}

func reason(err error) string {
	if errors.Is(err, unix.EPERM) {
		return "not permitted"
	}
	return err.Error()
}

func fifo(priority int) error {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: uint32(priority)}
	for _, t := range tasks {
		tid, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		if err := unix.SchedSetAttr(tid, &attr, 0); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}

// LockThread binds the goroutine to its thread for good.
func LockThread() { runtime.LockOSThread() }

// Now returns the monotonic clock that SleepUntil counts by, ns. The runtime reads that clock
// without a system call, as time passed since the program began.
func Now() int64 { return began + time.Since(start).Nanoseconds() }

var (
	start = time.Now()
	began = kernelStart()
)

// kernelStart returns start on the kernel's clock, ns: the least of some readings, each of
// which is late by as long as it took, so that Now is never behind the kernel.
func kernelStart() int64 {
	const readings = 16
	least := int64(math.MaxInt64)
	for range readings {
		passed := time.Since(start).Nanoseconds()
		least = min(least, kernelNow()-passed)
	}
	return least
}

// kernelNow asks the kernel for the clock that it wakes sleepers by, ns.
func kernelNow() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return time.Since(start).Nanoseconds()
	}
	return ts.Nano()
}

// SleepUntil returns when Now has reached deadline, or at once if it has. A
// ticker of the Go runtime wakes a millisecond late when the process is idle; the
// kernel's own absolute sleep does not.
//
// The runtime is not told of it (RawSyscall): it would give the processor of its scheduler
// to other goroutines, and the cycle would have to wait for one behind all of them. When it
// wants to stop the goroutine, for the collector, it sends a signal, which ends the sleep.
func SleepUntil(deadline int64) {
	ts := unix.NsecToTimespec(deadline)
	for {
		_, _, e := unix.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
		if e != unix.EINTR || kernelNow() >= deadline { // in a system call that it knows of the runtime can stop the goroutine
			return
		}
	}
}
