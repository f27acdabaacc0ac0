//go:build unix

package guard

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"poise/servo"
)

// variable names the descriptor of the socket that a guard gives its child.
const variable = "POISE_GUARD_DESCRIPTOR"

// Feed is the child's end. Its methods never wait; a nil Feed has no guard and does
// nothing.
type Feed struct {
	mu     sync.Mutex
	socket int
	gone   chan struct{}
}

// FromEnvironment returns the feed of the guard that has started this process, nil if
// none has. The guard is then no guard of processes that this one starts.
func FromEnvironment() (*Feed, error) {
	text := os.Getenv(variable)
	if text == "" {
		return nil, nil
	}
	os.Unsetenv(variable)
	fd, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("guard: %s is %q, no descriptor", variable, text)
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil {
		return nil, fmt.Errorf("guard: %s is %d: %w", variable, fd, err)
	}
	unix.CloseOnExec(fd)
	f := &Feed{socket: fd, gone: make(chan struct{})}
	go f.wait()
	return f, nil
}

// Guarded reports whether this process was started by a guard.
func Guarded() bool { return os.Getenv(variable) != "" }

// wait waits for the end of the guard, which never sends anything.
func (f *Feed) wait() {
	defer close(f.gone)
	for {
		n, err := unix.Read(f.socket, make([]byte, 1))
		if err != unix.EINTR && n <= 0 {
			return
		}
	}
}

// Gone returns a channel that is closed when the guard is dead; nil if there is none.
func (f *Feed) Gone() <-chan struct{} {
	if f == nil {
		return nil
	}
	return f.gone
}

// Beat gives a sign of life. If the guard does not listen it is lost.
func (f *Feed) Beat(s Sign) {
	if f != nil {
		_ = f.send([]byte{byte(s)}, nil)
	}
}

// Ending says that the child ends in order from here on.
func (f *Feed) Ending() {
	if f != nil {
		_ = f.send([]byte{endingMessage}, nil)
	}
}

// Rest gives the guard what brings the servos of a robot to rest, in the place of what it
// had before. Without writes the robot needs none any more.
func (f *Feed) Rest(robot string, writes []servo.RestWrite) error {
	if f == nil {
		return nil
	}
	r, descriptors := restOf(robot, writes)
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	var rights []byte
	if len(descriptors) > 0 {
		rights = unix.UnixRights(descriptors...)
	}
	if err := f.send(append([]byte{restMessage}, text...), rights); err != nil {
		return fmt.Errorf("guard: robot %q: what brings its servos to rest could not be handed over: %w", robot, err)
	}
	return nil
}

func (f *Feed) send(data, rights []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		err := unix.Sendmsg(f.socket, data, rights, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		if err != unix.EINTR {
			return err
		}
	}
}
