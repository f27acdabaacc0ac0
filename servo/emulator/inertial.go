package emulator

import (
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"poise/servo/bus"
	"poise/servo/imu"
	"poise/spatial"
)

// Unit is an emulated inertial unit on a line of its own.
type Unit struct {
	e    *Emulator
	port bus.Port
	kind *imu.Type
	onto spatial.Mat3 // axes of the unit to those of the base link, R_BI
	rng  *rand.Rand

	mu      sync.Mutex
	trouble Trouble
}

// Unit returns the inertial unit of the robot on a port. Its rotation on the base link is that of
// robot.yaml.
func (e *Emulator) Unit(p bus.Port, kind *imu.Type) *Unit {
	onto := e.cfg.Model.InertialUnit().Rotation
	if onto == (spatial.Mat3{}) {
		onto = spatial.FromRPY(0, 0, 0)
	}
	return &Unit{e: e, port: p, kind: kind, onto: onto, rng: rand.New(rand.NewPCG(19, 80))}
}

// Have sets what happens to what it sends: loss, corruption, silence.
func (u *Unit) Have(t Trouble) {
	u.mu.Lock()
	u.trouble = t
	u.mu.Unlock()
}

// Serve sends until the port is closed.
func (u *Unit) Serve() error {
	for n, next := 0, time.Now(); ; n++ {
		next = next.Add(time.Duration(u.kind.Period * float64(time.Second)))
		if err := u.wait(next); err != nil {
			return err
		}
		u.mu.Lock()
		t := u.trouble
		u.mu.Unlock()
		if t.Silent || t.Loss > 0 && u.rng.Float64() < t.Loss {
			continue
		}
		data := u.measure(n)
		if t.Corrupt > 0 && u.rng.Float64() < t.Corrupt {
			data[u.rng.IntN(len(data))] ^= 1 << u.rng.IntN(8)
		}
		if _, err := u.port.Write(data); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) { // the reader may be absent
			return err
		}
	}
}

// wait waits for some time; what the host sends meanwhile means nothing to a unit.
func (u *Unit) wait(until time.Time) error {
	if err := u.port.SetReadDeadline(until); err != nil {
		return err
	}
	var dump [64]byte
	for {
		if n, err := u.port.Read(dump[:]); err != nil || n == 0 {
			return err
		}
	}
}

// measure returns what it sends now.
func (u *Unit) measure(n int) (data []byte) {
	u.e.With(func() {
		m := u.e.cfg.World.Inertial()
		m.Rate, m.Acceleration = u.onto.TMulVec(m.Rate), u.onto.TMulVec(m.Acceleration)
		m.Orientation = m.Orientation.Mul(u.onto.Quat())
		data = u.kind.Append(nil, n, &m)
	})
	return data
}
