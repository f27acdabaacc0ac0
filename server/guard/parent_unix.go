//go:build unix

package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Guard is the parent's end.
type Guard struct {
	Command  *exec.Cmd        // starts the child; its output should be files, not copies
	Patience time.Duration    // how long the child may give no sign of life
	Signals  <-chan os.Signal // passed to the child
	Log      io.Writer        // what the guard has done
}

// Time limits: how long a child that can still ramp may take to end in order, how long
// one takes that said so, and how long a bus may take what means rest.
const (
	grace         = 3 * time.Second
	endPatience   = 20 * time.Second
	writePatience = time.Second
)

// look is how often the guard counts the time without a sign of life. It counts its own
// turns: when the whole machine was suspended, none have passed.
const look = 50 * time.Millisecond

// Run starts the child, watches it until it is over, brings its servos to rest if it did
// not do so itself, and returns its exit code: 128 and the signal's number if one ended it.
// It does not start it again: what the robot does and how its servos are is then not known, and
// people decide, or a service manager that was told to.
func (g *Guard) Run() (code int, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET, 0)
	if err != nil {
		return 0, fmt.Errorf("guard: %w", err)
	}
	unix.CloseOnExec(pair[0])
	unix.CloseOnExec(pair[1])
	own, theirs := pair[0], os.NewFile(uintptr(pair[1]), "guard")
	defer unix.Close(own)
	g.Command.ExtraFiles = append(g.Command.ExtraFiles, theirs)
	if g.Command.Env == nil {
		g.Command.Env = os.Environ()
	}
	g.Command.Env = append(slices.DeleteFunc(g.Command.Env, func(v string) bool { return strings.HasPrefix(v, "WATCHDOG_PID=") }),
		fmt.Sprintf("%s=%d", variable, 2+len(g.Command.ExtraFiles)))
	err = g.Command.Start()
	theirs.Close()
	if err != nil {
		return 0, fmt.Errorf("guard: %w", err)
	}
	w := &watch{g: g, rests: map[string]held{}, messages: make(chan message, 64), over: make(chan error, 1)}
	go w.read(own)
	go func() { w.over <- g.Command.Wait() }()
	return w.run(), nil
}

// watch is a child that is watched.
type watch struct {
	g        *Guard
	messages chan message // closed when the child has closed its end
	over     chan error
	rests    map[string]held // by robot
}

// message is one of the child.
type message struct {
	kind  byte
	robot string
	rest  held
}

// held is what brings a robot to rest, with descriptors of our own.
type held []heldWrite

type heldWrite struct {
	descriptor int
	bytes      []byte
	times      int
}

func (h held) close() {
	for _, w := range h {
		unix.Close(w.descriptor)
	}
}

// read takes the child's messages until it closes its end.
func (w *watch) read(socket int) {
	defer close(w.messages)
	data, rights := make([]byte, 1<<18), make([]byte, unix.CmsgSpace(4*253))
	for {
		n, r, _, _, err := unix.Recvmsg(socket, data, rights, unix.MSG_CMSG_CLOEXEC)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return
		}
		m := message{kind: data[0]}
		if m.kind == restMessage {
			if m.robot, m.rest, err = parseRest(data[1:n], rights[:r]); err != nil {
				fmt.Fprintf(w.g.Log, "poise: guard: %v\n", err)
				continue
			}
		}
		w.messages <- m
	}
}

// parseRest reads what brings a robot to rest.
func parseRest(text, rights []byte) (robot string, h held, err error) {
	var descriptors []int
	messages, err := unix.ParseSocketControlMessage(rights)
	for i := range messages {
		some, e := unix.ParseUnixRights(&messages[i])
		descriptors, err = append(descriptors, some...), errors.Join(err, e)
	}
	defer func() {
		if err != nil {
			for _, d := range descriptors {
				unix.Close(d)
			}
		}
	}()
	var r rest
	if err = errors.Join(err, json.Unmarshal(text, &r)); err != nil {
		return "", nil, fmt.Errorf("what brings servos to rest cannot be read: %w", err)
	}
	if len(r.Writes) != len(descriptors) {
		return "", nil, fmt.Errorf("robot %q: %d writes with %d descriptors", r.Robot, len(r.Writes), len(descriptors))
	}
	for i, one := range r.Writes {
		h = append(h, heldWrite{descriptors[i], one.Bytes, one.Times})
	}
	return r.Robot, h, nil
}

// phase is what the guard waits for.
type phase uint8

const (
	starting phase = iota // for the first sign of life; servos have no torque yet
	watching              // for silence
	ending                // for the end, which the child has begun or was told to begin
	killed                // for the end
)

// run watches until the child is over.
func (w *watch) run() int {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	c := counter{patience: turns(w.g.Patience)}
	messages := w.messages
	for {
		select {
		case s := <-w.g.Signals:
			_ = w.g.Command.Process.Signal(s) // it may be over
		case m, ok := <-messages:
			if !ok {
				messages = nil // it is dead, and its status comes
				continue
			}
			w.take(&c, m)
		case <-ticker.C:
			w.turn(&c)
		case <-w.over:
			return w.end(messages)
		}
	}
}

// counter counts turns of the guard.
type counter struct {
	phase    phase
	patience int
	silent   int // turns without any sign of life
	weak     int // turns without a full one
	left     int // turns that the end may still take
}

func turns(d time.Duration) int { return max(int(d/look), 2) }

// take takes a message of the child.
func (w *watch) take(c *counter, m message) {
	switch m.kind {
	case byte(Alive):
		c.silent, c.weak = 0, 0
		if c.phase == starting {
			c.phase = watching
		}
	case byte(CycleOnly):
		c.silent = 0
	case endingMessage:
		if c.phase != killed {
			c.phase, c.left = ending, turns(endPatience)
		}
	case restMessage:
		w.rests[m.robot].close()
		w.rests[m.robot] = m.rest
	}
}

// turn counts one turn, and acts when it was the last that is allowed.
func (w *watch) turn(c *counter) {
	c.silent++
	c.weak++
	kill := func(why string, n int) {
		fmt.Fprintf(w.g.Log, "poise: guard: %s for %v: the server is killed\n", why, time.Duration(n)*look)
		_ = w.g.Command.Process.Kill() // it may be over
		c.phase = killed
	}
	switch c.phase {
	case watching:
		switch {
		case c.silent > c.patience:
			kill("no sign of life", c.patience)
		case c.weak > c.patience:
			fmt.Fprintf(w.g.Log, "poise: guard: the cycle runs, but nothing else has moved for %v: the server is told to end\n", time.Duration(c.patience)*look)
			_ = w.g.Command.Process.Signal(syscall.SIGTERM)
			c.phase, c.left = ending, turns(grace)
		}
	case ending:
		c.left--
		switch {
		case c.left <= 0:
			kill("it does not end", turns(endPatience))
		case c.silent > c.patience && w.holds():
			kill("no sign of life, and servos are not at rest", c.patience)
		}
	}
}

// holds reports whether there are servos that the child has not let go of.
func (w *watch) holds() bool {
	for _, h := range w.rests {
		if len(h) > 0 {
			return true
		}
	}
	return false
}

// end brings the servos of a child that is over to rest, unless it has said that they need
// it no more.
func (w *watch) end(messages chan message) int {
	for m := range drain(messages) {
		if m.kind == restMessage {
			w.rests[m.robot].close()
			w.rests[m.robot] = m.rest
		}
	}
	state := w.g.Command.ProcessState
	for robot, h := range w.rests {
		if len(h) == 0 {
			continue
		}
		verdict := "were brought to rest"
		if err := h.write(); err != nil {
			verdict = fmt.Sprintf("could not be brought to rest: %v", err)
		}
		fmt.Fprintf(w.g.Log, "poise: guard: the server is over (%v) and did not let go of its servos: those of robot %q %s\n", state, robot, verdict)
		h.close()
	}
	if s, ok := state.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		fmt.Fprintf(w.g.Log, "poise: guard: the server died of a signal: %v\n", s.Signal())
		return 128 + int(s.Signal())
	}
	return state.ExitCode()
}

// drain yields what is left; the child is over, so it ends.
func drain(messages chan message) chan message {
	if messages == nil {
		messages = make(chan message)
		close(messages)
	}
	return messages
}

// write writes everything, each for as often as it says.
func (h held) write() error {
	var errs []error
	for _, w := range h {
		_ = unix.SetNonblock(w.descriptor, true) // the child, which shared it, is dead
		for range w.times {
			if err := writeAll(w.descriptor, w.bytes); err != nil {
				errs = append(errs, err)
				break
			}
		}
	}
	return errors.Join(errs...)
}

func writeAll(fd int, data []byte) error {
	for end := time.Now().Add(writePatience); len(data) > 0; {
		n, err := unix.Write(fd, data)
		switch {
		case n > 0:
			data = data[n:]
		case err == unix.EINTR:
		case err == unix.EAGAIN && time.Now().Before(end):
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, 50) // an error shows at the next write
		case err == unix.EAGAIN:
			return fmt.Errorf("the bus took nothing for %v: %d bytes are left", writePatience, len(data))
		case err != nil:
			return err
		}
	}
	return nil
}
