//go:build unix

package library

import (
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"poise/problem"
)

// lockLook is how often a lock that others hold is looked at.
const lockLook = 5 * time.Millisecond

// lock takes the folder for a writer; it waits for others, for some time and until it is
// abandoned. It ends with the process.
func lock(dir string, abandoned *atomic.Bool) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(lockPatience); ; time.Sleep(lockLook) {
		err = unix.Flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return func() { d.Close() }, nil // closing unlocks
		case err == unix.EINTR:
		case err != unix.EWOULDBLOCK:
			d.Close()
			return nil, &os.PathError{Op: "lock", Path: dir, Err: err}
		case abandoned.Load() || time.Now().After(end):
			d.Close()
			return nil, problem.New(ErrBusy, "another program has kept the folder %s locked for %v", dir, lockPatience).With("end that program, or try again later")
		}
	}
}
