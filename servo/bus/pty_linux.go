package bus

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Pseudo is the far end of a pseudo-terminal: programs open its Name as a serial port, and
// what they send is read here.
type Pseudo struct {
	serialPort
	Name  string
	slave *os.File // kept open, so that the end stays when programs come and go
}

// OpenPseudo makes a pseudo-terminal.
func OpenPseudo() (*Pseudo, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	p := &Pseudo{serialPort: serialPort{file: master}}
	if err := p.open(); err != nil {
		master.Close()
		return nil, fmt.Errorf("pseudo-terminal: %w", err)
	}
	return p, nil
}

func (p *Pseudo) open() error {
	fd, err := descriptor(p.file)
	if err != nil {
		return err
	}
	if err := unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err != nil {
		return err
	}
	n, err := unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
	if err != nil {
		return err
	}
	p.Name = fmt.Sprintf("/dev/pts/%d", n)
	if p.slave, err = os.OpenFile(p.Name, os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return err
	}
	t, err := unix.IoctlGetTermios(int(p.slave.Fd()), unix.TCGETS)
	if err != nil {
		return err
	}
	t.Iflag, t.Oflag, t.Lflag = 0, 0, 0 // raw: bytes are bytes
	t.Cflag = t.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
	return unix.IoctlSetTermios(int(p.slave.Fd()), unix.TCSETS, t)
}

// Baud returns the rate that the last program has set.
func (p *Pseudo) Baud() int {
	raw, err := p.slave.SyscallConn() // Fd would not heed that another closes it
	if err != nil {
		return 0
	}
	speed := 0
	err = raw.Control(func(fd uintptr) {
		if t, err := unix.IoctlGetTermios(int(fd), unix.TCGETS2); err == nil {
			speed = int(t.Ospeed)
		}
	})
	if err != nil {
		return 0
	}
	return speed
}

// Flush drops what has arrived.
func (p *Pseudo) Flush() error { return nil }

// Close removes the pseudo-terminal.
func (p *Pseudo) Close() error {
	p.slave.Close()
	return p.file.Close()
}
