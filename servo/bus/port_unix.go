//go:build unix

package bus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.bug.st/serial"
	"golang.org/x/sys/unix"
)

// serialPort is a serial port of the system. The library sets its mode; bytes go through a
// descriptor of our own, on which a Read has a deadline, a Write to a line that takes nothing
// ends with Close, and which a guard can have a duplicate of.
type serialPort struct {
	file *os.File
	mode serial.Port
}

// OpenPort opens a serial port for this program alone: 8N1, raw, without flow control. An
// error says what is missing.
func OpenPort(name string, baud int) (Port, error) {
	file, err := os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, explainOpen(name, err)
	}
	fail := func(err error) (Port, error) {
		file.Close()
		return nil, explainOpen(name, err)
	}
	fd, err := descriptor(file)
	if err != nil {
		return fail(err)
	}
	if err := unix.Flock(int(fd), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrBusy
		}
		return fail(err)
	}
	mode, err := serial.Open(name, &serial.Mode{BaudRate: baud})
	if err != nil {
		return fail(err)
	}
	if at, err := filepath.EvalSymlinks(name); err == nil && strings.HasPrefix(at, "/dev/pts/") {
		// a pseudo-terminal would stay exclusive after this program is dead; the lock does not
		_ = unix.IoctlSetInt(int(fd), unix.TIOCNXCL, 0)
	}
	lowLatency(int(fd))
	_ = mode.ResetInputBuffer()
	return &serialPort{file: file, mode: mode}, nil
}

// descriptor returns that of a file without making it block.
func descriptor(f *os.File) (fd uintptr, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	return fd, raw.Control(func(of uintptr) { fd = of })
}

// explainOpen says why a port cannot be opened and what would help.
func explainOpen(name string, err error) error {
	var port *serial.PortError
	switch {
	case errors.Is(err, ErrBusy), errors.Is(err, unix.EBUSY), errors.As(err, &port) && port.Code() == serial.PortBusy:
		return fmt.Errorf("%s: %w", name, ErrBusy)
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s: there is no such port; is the adapter plugged in? poise bus lists the ports", name)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%s: this user may not use the port: %s", name, permissionHint(name))
	case errors.As(err, &port) && port.Code() == serial.InvalidSerialPort:
		return fmt.Errorf("%s: is no serial port", name)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// permissionHint says which group a user must be in.
func permissionHint(name string) string {
	group := "dialout"
	var s unix.Stat_t
	if unix.Stat(name, &s) == nil {
		if known := groupName(int(s.Gid)); known != "" {
			group = known
		}
	}
	return "sudo usermod -aG " + group + " $USER, then log in again"
}

// groupName looks a group up in /etc/group.
func groupName(id int) string {
	text, err := os.ReadFile("/etc/group")
	if err != nil {
		return ""
	}
	for _, line := range strings.Split(string(text), "\n") {
		if f := strings.Split(line, ":"); len(f) >= 3 && f[2] == fmt.Sprint(id) {
			return f[0]
		}
	}
	return ""
}

// Descriptor returns the descriptor of a port of the system; ok is false for others.
func Descriptor(p Port) (fd uintptr, ok bool) {
	s, ok := p.(*serialPort)
	if !ok {
		return 0, false
	}
	fd, err := descriptor(s.file)
	return fd, err == nil
}

func (p *serialPort) Read(b []byte) (int, error) {
	n, err := p.file.Read(b)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return p.arrived(b), nil
	case errors.Is(err, os.ErrClosed):
		return n, ErrClosed
	}
	return n, err
}

// arrived reads what is there after the deadline: this program may have been late, not the
// servo.
func (p *serialPort) arrived(b []byte) (n int) {
	raw, err := p.file.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) { n, _ = unix.Read(int(fd), b) })
	return max(n, 0)
}

// Flush drops what has arrived.
func (p *serialPort) Flush() error { return p.mode.ResetInputBuffer() }

// writePatience is how long a line may take nothing, after which it is broken.
const writePatience = time.Second

func (p *serialPort) Write(b []byte) (int, error) {
	if err := p.file.SetWriteDeadline(time.Now().Add(writePatience)); err != nil {
		return 0, err
	}
	n, err := p.file.Write(b)
	if errors.Is(err, os.ErrClosed) {
		err = ErrClosed
	}
	return n, err
}

func (p *serialPort) SetReadDeadline(t time.Time) error { return p.file.SetReadDeadline(t) }

// Close gives the port back. The lock ends by name: a child of this program that has not become another
// program yet holds the file open for a moment longer.
func (p *serialPort) Close() error {
	err := p.mode.Close()
	if fd, e := descriptor(p.file); e == nil {
		_ = unix.Flock(int(fd), unix.LOCK_UN)
	}
	return errors.Join(err, p.file.Close())
}
