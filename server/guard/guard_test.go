//go:build unix

package guard

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"poise/servo"
)

// childVariable makes the test binary a child with a bus at descriptor 3: its value says
// how it behaves.
const childVariable = "POISE_TEST_CHILD"

func TestMain(m *testing.M) {
	if how := os.Getenv(childVariable); how != "" {
		child(how)
	}
	os.Exit(m.Run())
}

// child talks on its bus and gives signs of life, until it does what it is to do.
func child(how string) {
	f, err := FromEnvironment()
	if err != nil || f == nil {
		fmt.Println("no guard:", err)
		os.Exit(9)
	}
	bus := os.NewFile(3, "bus")
	rest := []servo.RestWrite{{Descriptor: 3, Bytes: []byte("\nREST\n"), Times: 2}}
	if err := f.Rest("bot", rest); err != nil {
		fmt.Println(err)
		os.Exit(9)
	}
	ended := make(chan os.Signal, 10)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	fmt.Fprintf(bus, "pid %d\n", os.Getpid())
	for n := 0; ; n++ {
		sign := Alive
		if how == "weak" && n > 5 {
			sign = CycleOnly
		}
		if how != "silent" || n < 5 {
			f.Beat(sign)
		}
		if n == 20 && how == "crash" {
			os.Exit(3)
		}
		fmt.Fprintf(bus, "move %d\n", n)
		select {
		case <-ended:
			if how == "deaf" {
				f.Ending()
				select {}
			}
			f.Ending()
			fmt.Fprintln(bus, "ramp")
			if err := f.Rest("bot", nil); err != nil {
				os.Exit(9)
			}
			os.Exit(0)
		case <-f.Gone():
			os.Exit(8)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// guarded is a child under a guard.
type guarded struct {
	t       *testing.T
	signals chan os.Signal
	log     bytes.Buffer
	over    chan int

	mu  sync.Mutex
	bus bytes.Buffer
}

func start(t *testing.T, how string, patience time.Duration) *guarded {
	t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	g := &guarded{t: t, signals: make(chan os.Signal, 1), over: make(chan int, 1)}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+how)
	cmd.ExtraFiles = []*os.File{out}
	go func() {
		one := make([]byte, 4096)
		for {
			n, err := in.Read(one)
			g.mu.Lock()
			g.bus.Write(one[:n])
			g.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() {
		code, err := (&Guard{Command: cmd, Patience: patience, Signals: g.signals, Log: &g.log}).Run()
		if err != nil {
			t.Error(err)
		}
		out.Close()
		g.over <- code
	}()
	return g
}

func (g *guarded) said() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.bus.String()
}

// hang is how long anything may take before it is taken for one that hangs.
const hang = 5 * time.Minute

func (g *guarded) until(word string) string {
	g.t.Helper()
	for end := time.Now().Add(hang); !strings.Contains(g.said(), word); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			g.t.Fatalf("%q does not come: %q", word, g.said())
		}
	}
	return g.said()
}

func (g *guarded) end(code int) {
	g.t.Helper()
	select {
	case got := <-g.over:
		if got != code {
			g.t.Errorf("it ended with code %d, want %d: %s", got, code, &g.log)
		}
	case <-time.After(hang):
		g.t.Fatal("it does not end")
	}
}

func (g *guarded) pid() (pid int) {
	g.t.Helper()
	if _, err := fmt.Sscanf(g.until("move 3"), "pid %d", &pid); err != nil {
		g.t.Fatal(err)
	}
	return pid
}

// TestAKilledChildsServosAreBroughtToRest: kill -9 at random instants; the last that the bus
// hears is the rest, whole, whatever the child was writing.
func TestAKilledChildsServosAreBroughtToRest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 15 {
		g := start(t, "live", hang)
		pid := g.pid()
		time.Sleep(time.Duration(rng.IntN(20_000)) * time.Microsecond)
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		g.end(128 + 9)
		g.until("\nREST\n\nREST\n")
		if said := g.said(); !strings.HasSuffix(said, "\nREST\n\nREST\n") || strings.Count(said, "REST") != 2 {
			t.Errorf("the bus heard last: %q", said[max(0, len(said)-40):])
		}
		if !strings.Contains(g.log.String(), `robot "bot" were brought to rest`) {
			t.Errorf("the guard says %q", g.log.String())
		}
	}
}

// TestAStoppedChildIsStuck: SIGSTOP keeps it from everything; it is killed, and then its
// servos come to rest. It cannot come back.
func TestAStoppedChildIsStuck(t *testing.T) {
	g := start(t, "live", 500*time.Millisecond)
	pid := g.pid()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	g.end(128 + 9)
	g.until("REST")
	if !strings.Contains(g.log.String(), "no sign of life") {
		t.Errorf("the guard says %q", g.log.String())
	}
}

func TestASilentChildIsKilled(t *testing.T) {
	g := start(t, "silent", 200*time.Millisecond)
	g.end(128 + 9)
	g.until("REST")
}

// TestAChildWhosePumpHangsMayRamp: its cycle gives signs of life, so it is told to end, and
// ends in order.
func TestAChildWhosePumpHangsMayRamp(t *testing.T) {
	g := start(t, "weak", 200*time.Millisecond)
	g.end(0)
	g.until("ramp")
	if strings.Contains(g.said(), "REST") || !strings.Contains(g.log.String(), "told to end") {
		t.Errorf("the bus heard %q, the guard says %q", g.said(), g.log.String())
	}
}

func TestAChildThatCrashesIsBroughtToRest(t *testing.T) {
	g := start(t, "crash", hang)
	g.end(3)
	g.until("REST")
}

// TestSignalsReachTheChild, which ends in order: nothing is written to its bus.
func TestSignalsReachTheChild(t *testing.T) {
	g := start(t, "live", hang)
	g.pid()
	g.signals <- syscall.SIGTERM
	g.end(0)
	g.until("ramp")
	if strings.Contains(g.said(), "REST") || g.log.Len() > 0 {
		t.Errorf("the bus heard %q, the guard says %q", g.said(), g.log.String())
	}
}

// TestAChildThatNeverEndsIsKilled: it has said that it ends, and falls silent with its
// servos in its hands.
func TestAChildThatNeverEndsIsKilled(t *testing.T) {
	g := start(t, "deaf", 300*time.Millisecond)
	g.pid()
	g.signals <- syscall.SIGTERM
	g.end(128 + 9)
	g.until("REST")
}

// TestANilFeedDoesNothing: a server without a guard.
func TestANilFeedDoesNothing(t *testing.T) {
	var f *Feed
	f.Beat(Alive)
	f.Ending()
	if err := f.Rest("bot", []servo.RestWrite{{}}); err != nil || f.Gone() != nil {
		t.Error(err)
	}
}

// TestABusThatTakesNothing is left after some time.
func TestABusThatTakesNothing(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	fd := int(out.Fd())
	if err := syscall.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	if err := writeAll(fd, make([]byte, 1<<20)); err == nil || !strings.Contains(err.Error(), "are left") {
		t.Error(err)
	}
	go func() { _, _ = io.Copy(io.Discard, in) }()
	if err := writeAll(fd, make([]byte, 1<<20)); err != nil {
		t.Error(err)
	}
}
