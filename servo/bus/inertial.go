package bus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"poise/internal/rt"
	"poise/problem"
	"poise/robot"
	"poise/servo"
	"poise/servo/imu"
	"poise/spatial"
)

// inertial is the inertial unit of a robot, which sends by itself over a line of its own; nil
// for a robot without one.
type inertial struct {
	line  LineConfig
	kind  *imu.Type
	onto  spatial.Mat3 // axes of the unit to those of the base link, R_BI
	dial  func(name string, baud int) (Port, error)
	stop  chan struct{}
	done  chan struct{}
	first chan struct{} // closed when something was measured

	mu   sync.Mutex // of port, which end closes
	port Port

	newest *rt.Latest[servo.Inertial]
	last   servo.Inertial // the cycle's own
}

// newInertial returns the unit that settings and robot.yaml name, nil without one.
func newInertial(m *robot.Model, s Settings) (*inertial, error) {
	if s.IMU == "none" {
		return nil, nil
	}
	unit := m.InertialUnit()
	u := &inertial{line: LineConfig{Port: unit.Port, Baud: unit.Baud}, onto: unit.Rotation}
	if s.IMU != "" {
		c, err := ParseLine(s.IMU)
		if err != nil {
			return nil, fmt.Errorf("imu: %w", err)
		}
		u.line = c
	}
	switch {
	case u.line.Port == "":
		return nil, nil
	case unit.Port == "":
		u.onto = spatial.FromRPY(0, 0, 0)
	}
	kind, ok := imu.Named(unit.Type)
	if !ok {
		return nil, fmt.Errorf("imu: type %q is not one of %s%s", unit.Type, strings.Join(imu.Names(), ", "), problem.Hint(unit.Type, imu.Names()))
	}
	if u.kind = kind; u.line.Baud == 0 {
		u.line.Baud = kind.Baud
	}
	u.last.Age = servo.Never
	return u, nil
}

// unitPatience is how long a unit may take until it has sent something.
const unitPatience = 2 * time.Second

// begin opens the port and waits for a measurement.
func (u *inertial) begin(ctx context.Context, dial func(name string, baud int) (Port, error), partial bool) error {
	if u == nil {
		return nil
	}
	u.dial, u.stop, u.done, u.first = dial, make(chan struct{}), make(chan struct{}), make(chan struct{})
	u.newest = rt.NewLatest[servo.Inertial](nil)
	err := u.connect()
	if err != nil && !partial {
		close(u.done)
		return err
	}
	go u.run()
	select {
	case <-u.first:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(unitPatience):
	}
	if partial {
		return nil
	}
	return fmt.Errorf("inertial unit on %s: no measurement of a %s at %d baud within %v", u.line.Port, u.kind.Name, u.line.Baud, unitPatience)
}

func (u *inertial) connect() error {
	port, err := u.dial(u.line.Port, u.line.Baud)
	if err != nil {
		return fmt.Errorf("inertial unit: %w", err)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	select {
	case <-u.stop: // end has closed what there was
		return errors.Join(ErrClosed, port.Close())
	default:
		u.port = port
		return nil
	}
}

// hangUp closes the port, which ends a Read that waits.
func (u *inertial) hangUp() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.port == nil {
		return nil
	}
	err := u.port.Close()
	u.port = nil
	return err
}

// end ends what begin began.
func (u *inertial) end() error {
	if u == nil || u.stop == nil {
		return nil
	}
	close(u.stop)
	err := u.hangUp()
	<-u.done
	u.stop = nil
	return errors.Join(err, u.hangUp())
}

// run reads until it is told to stop; a port that is gone is opened again when it is back.
func (u *inertial) run() {
	defer close(u.done)
	for {
		u.mu.Lock()
		port := u.port
		u.mu.Unlock()
		if port != nil || u.connect() == nil {
			u.receive()
		}
		_ = u.hangUp() // it is gone; what went wrong shows when it cannot be opened
		select {
		case <-u.stop:
			return
		case <-time.After(lookAgain):
		}
	}
}

// receive reads measurements until the port is gone.
func (u *inertial) receive() {
	u.mu.Lock()
	port := u.port
	u.mu.Unlock()
	if port == nil {
		return
	}
	decoder := u.kind.Decoder()
	buffer, filled := make([]byte, 1024), 0
	for {
		if port.SetReadDeadline(time.Now().Add(unitPatience)) != nil {
			return
		}
		n, err := port.Read(buffer[filled:])
		if err != nil {
			return
		}
		filled += n
		rest := buffer[:filled]
		for len(rest) > 0 {
			m, used, ok := decoder.Next(rest)
			if rest = rest[used:]; ok && m.Finite() {
				u.publish(m)
			}
			if used == 0 {
				break
			}
		}
		if filled = copy(buffer, rest); filled == len(buffer) {
			filled = 0 // a line full of what is no packet
		}
	}
}

// publish hands a measurement over, in the axes of the base link.
func (u *inertial) publish(m servo.Inertial) {
	m.Rate, m.Acceleration = u.onto.MulVec(m.Rate), u.onto.MulVec(m.Acceleration)
	m.Orientation = m.Orientation.Mul(u.onto.Transpose().Quat())
	*u.newest.Slot() = m
	u.newest.Publish()
	select {
	case <-u.first:
	default:
		close(u.first)
	}
}

// exchange is the cycle's half. Loop-safe.
func (u *inertial) exchange(dst *servo.Measurement) {
	if u == nil || len(dst.IMU) == 0 {
		return
	}
	if u.last.Age != servo.Never {
		u.last.Age++
	}
	if u.newest != nil {
		if m, fresh := u.newest.Load(); fresh {
			u.last = *m
		}
	}
	dst.IMU[0] = u.last
}
