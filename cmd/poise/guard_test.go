package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"poise/internal/golden"
	"poise/robot"
	"poise/servo"
	"poise/servo/driver"
	"poise/servo/sim"
)

// wiredVariable makes the test binary the program, with one more driver: "wired" is a
// simulated robot that also talks on a bus, the pipe that the variable names.
const wiredVariable = "POISE_TEST_BUS"

// wired runs the program with the driver.
func wired() int {
	driver.Standard = append(driver.Standard, driver.Row("wired", "a simulated robot with a bus", sim.DefaultSettings,
		func(m *robot.Model, period float64, s sim.Settings) (servo.Driver, error) {
			d, err := sim.NewDriver(m, period, s)
			return &wiredDriver{Driver: d}, err
		}))
	return run(&env{in: os.Stdin, out: os.Stdout, err: os.Stderr}, os.Args[1:])
}

// wiredDriver writes a line for each exchange, as long as the bus takes it.
type wiredDriver struct {
	servo.Driver
	bus int
	n   int
}

func (d *wiredDriver) Open(ctx context.Context) (err error) {
	if d.bus, err = syscall.Open(os.Getenv(wiredVariable), syscall.O_WRONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0); err != nil {
		return err
	}
	return d.Driver.Open(ctx)
}

func (d *wiredDriver) Exchange(t servo.Tick, dst *servo.Measurement, src []servo.Setpoint) servo.Fault {
	d.n++
	word := "off"
	for i := range src {
		if src[i].Mode.Powered() {
			word = "on"
		}
	}
	_, _ = syscall.Write(d.bus, fmt.Appendf(nil, "%s %d\n", word, d.n)) // what the reader does not take is lost
	return d.Driver.Exchange(t, dst, src)
}

func (d *wiredDriver) Close() error {
	if d.bus > 0 {
		syscall.Close(d.bus)
		d.bus = 0
	}
	return d.Driver.Close()
}

func (d *wiredDriver) Rest() []servo.RestWrite {
	return []servo.RestWrite{{Descriptor: uintptr(d.bus), Bytes: []byte("\nREST\n"), Times: 2}}
}

// bus is the other end of the pipe.
type bus struct {
	path string
	in   *os.File
	lockedBuffer
}

func newBus(t *testing.T) *bus {
	t.Helper()
	b := &bus{path: filepath.Join(t.TempDir(), "bus")}
	if err := syscall.Mkfifo(b.path, 0o600); err != nil {
		golden.Missing(t, "no pipe can be made in the temporary folder: %v", err)
	}
	var err error
	if b.in, err = os.OpenFile(b.path, os.O_RDWR, 0); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(&b.lockedBuffer, b.in) }()
	t.Cleanup(func() { b.in.Close() })
	return b
}

// children lists the processes that a process has started.
func children(t *testing.T, pid int) (all []int) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		t.Skip("absent: /proc")
	}
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		at := bytes.LastIndexByte(text, ')')
		fields := strings.Fields(string(text[at+1:]))
		if parent, _ := strconv.Atoi(fields[1]); parent == pid && fields[0] != "Z" {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			all = append(all, child)
		}
	}
	return all
}

// guardIt starts a guarded server whose robot has a bus.
func guardIt(t *testing.T, patience string, args ...string) (*running, *bus, int) {
	t.Helper()
	needsProgram(t)
	file := filepath.Join(t.TempDir(), "poise.yaml")
	text := "loop: {silence: 600, period: 0.005}\nfaults: {cycle_gap: {severity: ignore}}\nrobots: [{name: virtual, driver: wired, leaving: {do: off}}]\nguard: {patience: " + patience + "}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBus(t)
	r := serveBy(t, os.Args[0], []string{wiredVariable + "=" + b.path}, append([]string{"--guard", "--config", file}, args...)...)
	all := children(t, r.cmd.Process.Pid)
	if len(all) != 1 {
		t.Fatalf("the guard has %d children", len(all))
	}
	return r, b, all[0]
}

// over waits for the end of the guard.
func (r *running) over(code int) {
	r.t.Helper()
	select {
	case <-r.ended:
		r.ended <- nil // for the clean-up
	case <-time.After(hang):
		r.t.Fatal("the guard does not end")
	}
	if got := r.cmd.ProcessState.ExitCode(); got != code {
		r.t.Errorf("the guard ended with code %d, want %d", got, code)
	}
}

// TestGuardBringsTheServosOfAKilledServerToRest: kill -9 of the server at random instants of
// a motion. The last that its bus hears is what means rest, and the guard says so and ends.
func TestGuardBringsTheServosOfAKilledServerToRest(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for range 3 {
		r, b, child := guardIt(t, "600")
		r.moving()
		time.Sleep(time.Duration(rng.IntN(200_000)) * time.Microsecond)
		if err := syscall.Kill(child, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		r.over(128 + 9)
		r.until("the bus hears the rest", func() bool { return strings.HasSuffix(b.String(), "\nREST\n\nREST\n") })
		r.until("the guard says so", func() bool { return strings.Contains(r.log.String(), "were brought to rest") })
	}
}

// TestGuardLeavesAServerAloneThatEndsInOrder: signals reach it, it ramps, lets go of its
// servos itself, and the guard ends with its exit code.
func TestGuardLeavesAServerAloneThatEndsInOrder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "flight.rec")
	r, b, _ := guardIt(t, "600", "--record", file)
	r.moving()
	r.stop(syscall.SIGTERM)
	r.over(exitOK)
	if said := b.String(); strings.Contains(said, "REST") || !strings.Contains(said[max(0, len(said)-40):], "off ") {
		t.Errorf("the bus heard last: %q", said[max(0, len(said)-40):])
	}
	if a := replayed(t, file); a.Stops < 2 || !a.Equal {
		t.Errorf("%d stops in the cycle, equal is %v", a.Stops, a.Equal)
	}
}

// TestGuardEndsAServerThatIsStuck: SIGSTOP of the server.
func TestGuardEndsAServerThatIsStuck(t *testing.T) {
	t.Parallel()
	r, b, child := guardIt(t, "10")
	if err := syscall.Kill(child, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	r.over(128 + 9)
	r.until("the bus hears the rest", func() bool { return strings.HasSuffix(b.String(), "\nREST\n\nREST\n") })
}

// TestAServerWhoseGuardIsDeadRampsAndEnds: no process would watch it or end it.
func TestAServerWhoseGuardIsDeadRampsAndEnds(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "flight.rec")
	r, b, child := guardIt(t, "600", "--record", file)
	r.moving()
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.until("the server is over", func() bool { return syscall.Kill(child, 0) != nil })
	if a := replayed(t, file); a.Stops < 2 || !a.Equal {
		t.Errorf("%d stops in the cycle, equal is %v", a.Stops, a.Equal)
	}
	if strings.Contains(b.String(), "REST") {
		t.Error("who wrote that?")
	}
	<-r.ended
	r.ended <- nil
}
