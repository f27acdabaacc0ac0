//go:build linux

package bus_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"poise/servo"
	"poise/servo/bus"
	"poise/servo/emulator"
	"poise/servo/families"
)

// terminal is a bed whose line is a pseudo-terminal behind a link, as a serial port is.
type terminal struct {
	*bed
	rig  *rig
	kind kind
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

// newTerminal is servos of a kind on a pseudo-terminal, with the driver that has them.
func newTerminal(t *testing.T, k kind, period float64) *terminal {
	t.Helper()
	m := turntable(t, 3, k.name, k.zero)
	x := &terminal{bed: newBed(t, m, k.baud, period, false), kind: k, link: filepath.Join(t.TempDir(), "line")}
	settings := bus.DefaultSettings()
	settings.Lines = []string{fmt.Sprintf("%s,baud=%d", x.link, k.baud)}
	var err error
	if x.driver, err = bus.New(m, period, settings, families.All); err != nil {
		t.Fatal(err)
	}
	x.plug(t)
	x.rig = newRig(t, x.bed, period)
	return x
}

// terminals are those of all protocols, which one cycle drives.
type terminals []*terminal

// run lets some seconds pass, in which every joint follows a slow wave.
func (all terminals) run(seconds float64) {
	period := all[0].rig.period
	for range int(seconds / period) {
		for _, x := range all {
			x.rig.wave()
			x.rig.exchange()
		}
		time.Sleep(time.Duration(period * float64(time.Second)))
	}
}

// until steps until something was so of each, however long a busy machine takes: on one that keeps emulated
// servos from answering in time it is rarely so of all at once.
func (all terminals) until(t *testing.T, what string, so func(r *rig) bool) {
	t.Helper()
	late := slices.Clone(all)
	for end := time.Now().Add(2 * time.Minute); ; all.run(0.02) {
		late = slices.DeleteFunc(late, func(x *terminal) bool { return so(x.rig) })
		if len(late) == 0 {
			return
		}
		if x := late[0]; time.Now().After(end) {
			t.Fatalf("%s: still waiting until %s: %+v, %v", x.kind.name, what, x.rig.dst.Joints, x.rig.fault)
		}
	}
}

// TestAThousandCyclesOnAPseudoTerminal of every protocol, with all troubles at once, servos that die and reset,
// and an adapter that is pulled out and put back: nothing is told what it must not be, and everything goes on
// afterwards. A second program on the port is refused. One cycle drives all the lines, so that their time is shared.
func TestAThousandCyclesOnAPseudoTerminal(t *testing.T) {
	t.Parallel()
	const period = 0.005
	var all terminals
	for _, k := range kinds {
		x := newTerminal(t, k, period)
		if _, err := bus.OpenPort(x.link, k.baud); !errors.Is(err, bus.ErrBusy) {
			t.Errorf("%s: a second program: %v", k.name, err)
		}
		all = append(all, x)
	}
	suffer := func(h emulator.Trouble) {
		for _, x := range all {
			x.trouble(h)
		}
	}
	all.run(1)
	suffer(emulator.Trouble{Loss: 0.1, Corrupt: 0.01, Late: 0.05, LateBy: 3 * time.Millisecond, Swap: 0.01, Echo: true})
	all.run(1)
	for j := range 3 {
		for _, x := range all {
			x.servos.With(func() { x.servos.Servos()[j].Kill(true) })
		}
		all.run(0.5)
		for _, x := range all {
			x.servos.With(func() {
				x.servos.Servos()[j].Kill(false)
				x.servos.Servos()[(j+1)%3].Reset()
			})
		}
		all.run(0.3)
	}
	for _, x := range all {
		x.pull(t)
	}
	all.until(t, "the line is down", func(r *rig) bool { return r.fault&servo.BusDown != 0 })
	for _, x := range all {
		x.plug(t)
	}
	all.run(0.5)
	suffer(emulator.Trouble{})
	all.until(t, "all follow again", func(r *rig) bool {
		for j := range r.src {
			if f := r.dst.Joints[j]; f.Fault != 0 || f.Age > 50 || math.Abs(r.world.Read(j).Position-r.src[j].Position) > 0.1 {
				return false
			}
		}
		return r.fault == 0
	})
	for all[0].rig.n < 1000 {
		all.run(0.1)
	}
	for _, x := range all {
		if v := x.violations(); len(v) > 0 {
			t.Errorf("%s: %d violations, the first: %+v", x.kind.name, len(v), v[0])
		}
	}
}

// TestEveryStatusBitIsAFaultOfItsJoint, by the words of servos.
func TestEveryStatusBitIsAFaultOfItsJoint(t *testing.T) {
	feetech := map[uint16]servo.Fault{1: servo.UnderVoltage, 2: servo.SensorFault, 4: servo.OverTemperature, 8: servo.Overload, 0x20: servo.Overload}
	old := map[uint16]servo.Fault{1: servo.UnderVoltage, 2: servo.OutOfRange, 4: servo.OverTemperature, 8: servo.OutOfRange, 0x10: servo.BadPacket, 0x20: servo.Overload, 0x40: servo.BadPacket}
	for _, c := range []struct {
		kind string
		zero float64
		baud int
		bits map[uint16]servo.Fault
	}{
		{"drs-0201", 512, 115200, map[uint16]servo.Fault{1: servo.UnderVoltage, 2: servo.OutOfRange, 4: servo.OverTemperature, 0x10: servo.Overload, 0x20: servo.Overload, 0x40: servo.SensorFault}},
		{"xm430-w350", 2048, 1_000_000, map[uint16]servo.Fault{1: servo.UnderVoltage, 4: servo.OverTemperature, 8: servo.SensorFault, 0x10: servo.Overload, 0x20: servo.Overload}},
		{"sts3215", 2048, 1_000_000, feetech},
		{"scs0009", 512, 1_000_000, feetech},
		{"ax-12a", 512, 1_000_000, old},
		{"mx-28", 2048, 1_000_000, old},
	} {
		for bits, want := range c.bits {
			if testing.Short() && bits != 4 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%02x", c.kind, bits), func(t *testing.T) {
				inFakeTime(t, func(t *testing.T) {
					r := newRig(t, newBed(t, turntable(t, 2, c.kind, c.zero), c.baud, 0.02, false), 0.02)
					r.run(2, nil)
					r.servos.With(func() { r.servos.Servo("j1").Ail(bits) })
					seen := servo.Fault(0)
					r.run(3, func() { seen |= r.dst.Joints[0].Fault })
					if seen != want || r.dst.Joints[1].Fault != 0 {
						t.Errorf("joint 1 says %016b, joint 2 %016b, want %016b of the first", seen, r.dst.Joints[1].Fault, want)
					}
				})
			})
		}
	}
}
