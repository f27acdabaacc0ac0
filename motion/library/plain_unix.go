//go:build unix

package library

import (
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// readPlain reads a plain file that is at most so long. What it opens is looked at once it
// is open: a name may mean another file by then. Pipes and devices are neither waited for
// nor read.
func readPlain(path string, most int64) ([]byte, error) {
	fail := func(op string, err error) ([]byte, error) {
		return nil, &fs.PathError{Op: op, Path: path, Err: err}
	}
	fd, err := again(func() (int, error) {
		return unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return fail("open", err)
	}
	defer unix.Close(fd)
	var at unix.Stat_t
	if err := unix.Fstat(fd, &at); err != nil {
		return fail("stat", err)
	}
	if at.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, fmt.Errorf("%s: no plain file", path)
	}
	if at.Size > most {
		return nil, fmt.Errorf("%s: %d bytes; a motion has at most %d", path, at.Size, most)
	}
	data := make([]byte, 0, at.Size+1)
	for {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := again(func() (int, error) { return unix.Read(fd, data[len(data):cap(data)]) })
		switch {
		case err != nil: // EAGAIN too: a plain file never waits
			return fail("read", err)
		case n == 0:
			return data, nil
		}
		if data = data[:len(data)+n]; int64(len(data)) > most {
			return nil, fmt.Errorf("%s: more than %d bytes, which a motion has at most", path, most)
		}
	}
}

// again calls a function until no signal interrupts it.
func again(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); err != unix.EINTR {
			return n, err
		}
	}
}
