//go:build unix

package library

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock takes the folder for a writer; it waits for others and ends with the process.
func lock(dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for {
		if err = unix.Flock(int(d.Fd()), unix.LOCK_EX); err != unix.EINTR {
			break
		}
	}
	if err != nil {
		d.Close()
		return nil, &os.PathError{Op: "lock", Path: dir, Err: err}
	}
	return func() { d.Close() }, nil // closing unlocks
}
