//go:build linux

package families

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"poise/servo"
	"poise/servo/bus"
	"poise/servo/emulator"
)

// terminal is a bed whose line is a pseudo-terminal behind a link, as a serial port is.
type terminal struct {
	*bed
	link string
	far  *bus.Pseudo
}

// plug puts the servos on a new pseudo-terminal.
func (x *terminal) plug(t *testing.T) {
	t.Helper()
	far, err := bus.OpenPseudo()
	if err != nil {
		t.Fatal(err)
	}
	x.mu.Lock()
	x.far = far
	x.line = x.servos.Line("", far, 0)
	x.line.Have(x.have)
	go func(l *emulator.Line) { _ = l.Serve() }(x.line)
	x.mu.Unlock()
	if err := os.Symlink(far.Name, x.link); err != nil {
		t.Fatal(err)
	}
}

// pull takes it away.
func (x *terminal) pull(t *testing.T) {
	t.Helper()
	if err := errors.Join(os.Remove(x.link), x.far.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestAThousandCyclesOnAPseudoTerminal, with all troubles at once, servos that die and reset,
// and an adapter that is pulled out and put back: nothing is told what it must not be, and
// everything goes on afterwards. A second program on the port is refused.
func TestAThousandCyclesOnAPseudoTerminal(t *testing.T) {
	t.Parallel()
	m := turntable(t, 3, "sts3215", 2048)
	x := &terminal{bed: newBed(t, m, 1_000_000, 0.005, false), link: filepath.Join(t.TempDir(), "line")}
	settings := bus.DefaultSettings()
	settings.Lines = []string{x.link}
	var err error
	if x.driver, err = bus.New(m, 0.005, settings, All); err != nil {
		t.Fatal(err)
	}
	x.plug(t)
	r := newRig(t, x.bed, 0.005)
	if _, err := bus.OpenPort(x.link, 1_000_000); !errors.Is(err, bus.ErrBusy) {
		t.Errorf("a second program: %v", err)
	}
	r.run(1, nil)
	r.trouble(emulator.Trouble{Loss: 0.1, Corrupt: 0.01, Late: 0.05, LateBy: 3 * time.Millisecond, Swap: 0.01, Echo: true})
	r.run(1, nil)
	for j := range r.servos.Servos() {
		s := r.servos.Servos()[j]
		r.servos.With(func() { s.Kill(true) })
		r.run(0.5, nil)
		r.servos.With(func() { s.Kill(false) })
		r.servos.With(func() { r.servos.Servos()[(j+1)%3].Reset() })
		r.run(0.3, nil)
	}
	x.pull(t)
	waitFor(t, r, "the line is down", func() bool { return r.fault&servo.BusDown != 0 })
	x.plug(t)
	r.run(0.5, nil)
	r.trouble(emulator.Trouble{})
	waitFor(t, r, "all follow again", func() bool {
		for j := range r.src {
			if f := r.dst.Joints[j]; f.Fault != 0 || f.Age > 50 || math.Abs(r.world.Read(j).Position-r.src[j].Position) > 0.1 {
				return false
			}
		}
		return r.fault == 0
	})
	if v := r.violations(); len(v) > 0 {
		t.Errorf("%d violations, the first: %+v", len(v), v[0])
	}
	for r.n < 1000 {
		r.run(0.1, nil)
	}
}

// waitFor steps until something is so.
func waitFor(t *testing.T, r *rig, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !so(); {
		r.run(0.02, nil)
		if time.Now().After(end) {
			t.Fatalf("still waiting until %s: %+v, %v", what, r.dst.Joints, r.fault)
		}
	}
}

// TestEveryStatusBitIsAFaultOfItsJoint, by the words of servos.
func TestEveryStatusBitIsAFaultOfItsJoint(t *testing.T) {
	for _, c := range []struct {
		kind string
		zero float64
		baud int
		bits map[uint16]servo.Fault
	}{
		{"drs-0201", 512, 115200, map[uint16]servo.Fault{1: servo.UnderVoltage, 2: servo.OutOfRange, 4: servo.OverTemperature, 0x10: servo.Overload, 0x20: servo.Overload, 0x40: servo.SensorFault}},
		{"xm430-w350", 2048, 1_000_000, map[uint16]servo.Fault{1: servo.UnderVoltage, 4: servo.OverTemperature, 8: servo.SensorFault, 0x10: servo.Overload, 0x20: servo.Overload}},
		{"sts3215", 2048, 1_000_000, map[uint16]servo.Fault{1: servo.UnderVoltage, 2: servo.SensorFault, 4: servo.OverTemperature, 8: servo.Overload, 0x20: servo.Overload}},
	} {
		for bits, want := range c.bits {
			t.Run(fmt.Sprintf("%s/%02x", c.kind, bits), func(t *testing.T) {
				inFakeTime(t, func(t *testing.T) {
					r := newRig(t, newBed(t, turntable(t, 2, c.kind, c.zero), c.baud, 0.02, false), 0.02)
					r.run(2, nil)
					r.servos.With(func() { r.servos.Servo("j1").Ail(bits) })
					seen := servo.Fault(0)
					r.run(3, func() { seen |= r.dst.Joints[0].Fault })
					if seen&want == 0 || r.dst.Joints[1].Fault&want != 0 {
						t.Errorf("joint 1 says %016b, joint 2 %016b, want %016b of the first", seen, r.dst.Joints[1].Fault, want)
					}
				})
			})
		}
	}
}
