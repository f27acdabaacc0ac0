//go:build !unix

package bus

import (
	"errors"
	"fmt"
	"time"

	"go.bug.st/serial"
)

// serialPort is a serial port of the system.
type serialPort struct{ port serial.Port }

// OpenPort opens a serial port for this program alone: 8N1, raw, without flow control.
func OpenPort(name string, baud int) (Port, error) {
	p, err := serial.Open(name, &serial.Mode{BaudRate: baud})
	var wrong *serial.PortError
	if errors.As(err, &wrong) && wrong.Code() == serial.PortBusy {
		err = ErrBusy
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &serialPort{port: p}, nil
}

// Descriptor returns none: there is no guard here.
func Descriptor(Port) (uintptr, bool) { return 0, false }

func (p *serialPort) Read(b []byte) (int, error)  { return p.port.Read(b) }
func (p *serialPort) Write(b []byte) (int, error) { return p.port.Write(b) }
func (p *serialPort) Flush() error                { return p.port.ResetInputBuffer() }
func (p *serialPort) Close() error                { return p.port.Close() }

func (p *serialPort) SetReadDeadline(t time.Time) error {
	return p.port.SetReadTimeout(max(0, time.Until(t)))
}
