package bus_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"poise/robot"
	"poise/servo"
	"poise/servo/bus"
	"poise/servo/emulator"
	"poise/servo/families"
	"poise/servo/servotest"
)

// turntable is a robot of n joints about vertical axes, each with a servo of a type.
func turntable(t testing.TB, n int, servoType string, zero float64) *robot.Model {
	t.Helper()
	return turntableOn(t, n, servoType, zero, func(int) string { return "" })
}

// turntableOn is one whose servos are on lines with names.
func turntableOn(t testing.TB, n int, servoType string, zero float64, line func(joint int) string) *robot.Model {
	t.Helper()
	return turntableOf(t, n, func(joint int) string {
		return fmt.Sprintf("type: %s, zero: %g, bus: %q", servoType, zero, line(joint))
	})
}

// turntableOf is one whose servos are as robot.yaml says of each.
func turntableOf(t testing.TB, n int, servo func(joint int) string) *robot.Model {
	t.Helper()
	var servos strings.Builder
	servos.WriteString("servos:\n")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&servos, "  j%d: {id: %d, reversed: %v, %s}\n", i, i, i%2 == 0, servo(i-1))
	}
	return servotest.Turntable(t, n, servos.String())
}

// kind is a servo with the reading in its middle, and the rate of its line.
type kind struct {
	name string
	zero float64
	baud int
}

// kinds are a servo of each protocol.
var kinds = []kind{{"drs-0201", 512, 115200}, {"xm430-w350", 2048, 1_000_000}, {"sts3215", 2048, 1_000_000}, {"scs0009", 512, 1_000_000}, {"ax-12a", 512, 1_000_000}}

// longKinds are those of a long test. Which goroutines meet does not depend on the protocol: the race detector,
// with which tests are ten times as slow, sees one of them there, and all in the short tests.
func longKinds() []kind {
	if testing.Short() {
		return kinds[2:3]
	}
	return kinds
}

// bed is a robot's driver with its emulated servos on a line in memory.
type bed struct {
	t      testing.TB
	driver *bus.Driver
	model  *robot.Model
	world  *emulator.Ideal
	servos *emulator.Emulator

	mu     sync.Mutex
	line   *emulator.Line
	have   emulator.Trouble
	events []emulator.Event
	ports  []bus.Port
	pulled bool // the adapter is not plugged in
	usb    time.Duration
}

// usbLatency is what an adapter of the beds takes.
const usbLatency = time.Millisecond

func newBed(t testing.TB, m *robot.Model, baud int, period float64, on bool) *bed {
	t.Helper()
	b := &bed{t: t, model: m, usb: usbLatency, world: emulator.NewIdeal(make([]float64, len(m.Joints())))}
	var err error
	b.servos, err = emulator.New(emulator.Config{Model: m, World: b.world, Families: families.All, Baud: baud, On: on, Log: func(e emulator.Event) {
		b.mu.Lock()
		b.events = append(b.events, e)
		b.mu.Unlock()
	}})
	if err != nil {
		t.Fatal(err)
	}
	s := bus.DefaultSettings()
	s.Lines, s.Patience = []string{fmt.Sprintf("memory,baud=%d", baud)}, 0.003
	if b.driver, err = bus.New(m, period, s, families.All); err != nil {
		t.Fatal(err)
	}
	b.driver.Dial = func(string, int) (bus.Port, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.pulled {
			return nil, fmt.Errorf("no adapter")
		}
		here, there := bus.Pipe(baud, b.usb)
		b.line = b.servos.Line("", there, baud)
		b.line.Have(b.have)
		b.ports = append(b.ports, here)
		go func(l *emulator.Line) { _ = l.Serve() }(b.line)
		return here, nil
	}
	return b
}

// trouble sets what happens to packets from now on.
func (b *bed) trouble(t emulator.Trouble) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.have = t
	if b.line != nil {
		b.line.Have(t)
	}
}

// violations lists what no program may do to servos.
func (b *bed) violations() (all []emulator.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.events {
		if e.What == emulator.Violation || e.What == "saved" {
			all = append(all, e)
		}
	}
	return all
}

// TestContract holds the driver to the contract of drivers, with each protocol.
func TestContract(t *testing.T) {
	ticks := 0 // the default
	if testing.Short() {
		ticks = 60
	}
	for _, k := range longKinds() {
		t.Run(k.name, func(t *testing.T) {
			m := turntable(t, 3, k.name, k.zero)
			servotest.Run(t, func(t testing.TB) servotest.Subject {
				b := newBed(t, m, k.baud, 0.02, false)
				silence := func(on bool) { b.trouble(emulator.Trouble{Silent: on}) }
				if k.name == "sts3215" { // with an inertial unit
					x := addUnit(t, b, 0.02, "unit")
					silence = func(on bool) { x.trouble(emulator.Trouble{Silent: on}); x.suffer(emulator.Trouble{Silent: on}) }
				}
				told := func(joint int) (mode servo.Mode) {
					b.servos.With(func() { mode = b.servos.Servos()[joint].Mode() })
					return mode
				}
				return servotest.Subject{Driver: b.driver, Joints: 3, Period: 0.02, Ticks: ticks, Tolerance: 0.01, Silence: silence, Told: told}
			})
		})
	}
}
