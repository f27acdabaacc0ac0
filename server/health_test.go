package server

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"poise/internal/golden"
	"poise/loop"
	"poise/server/config"
)

// realServer is a server on the real network, in real time: what is tested hangs in ways that
// stepped time cannot pass over. Nothing is measured, only waited for.
type realServer struct {
	t     *testing.T
	s     *Server
	stop  context.CancelFunc
	ended chan error
}

const hang = 2 * time.Minute

func startReal(t *testing.T) *realServer {
	t.Helper()
	c := config.Default()
	c.Listen, c.Motions, c.Loop.Period, c.Loop.Silence = "127.0.0.1:0", t.TempDir(), 0.005, 1
	c.Robots[0].Leaving.Do = "off"
	s, err := New(t.Context(), c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	w := &realServer{t: t, s: s, stop: stop, ended: make(chan error, 1)}
	go func() { w.ended <- s.Run(ctx) }()
	w.until(http.StatusOK, "ok")
	return w
}

func (w *realServer) get(path, accept string) (int, string) {
	w.t.Helper()
	q, err := http.NewRequest(http.MethodGet, "http://"+w.s.Address()+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	q.Header.Set("Accept", accept)
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		w.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

// until waits until readyz answers so.
func (w *realServer) until(status int, word string) string {
	w.t.Helper()
	for end := time.Now().Add(hang); ; time.Sleep(10 * time.Millisecond) {
		got, text := w.get("/readyz", "")
		if got == status && strings.Contains(text, word) {
			return text
		}
		if time.Now().After(end) {
			w.t.Fatalf("readyz answers %d, %s", got, text)
		}
	}
}

// TestAHungPumpIsToldAndTheEndRampsAllTheSame: readyz and healthz are 503 and name the pump
// while the executive's lock cannot be taken; then the server ends, the cycle ramps without
// the executive and lets go.
func TestAHungPumpIsToldAndTheEndRampsAllTheSame(t *testing.T) {
	w := startReal(t)
	bot := w.s.robots[0]
	release, held := make(chan struct{}), make(chan struct{})
	go bot.exec.View(func(*loop.Snapshot) { close(held); <-release })
	<-held
	w.until(http.StatusServiceUnavailable, "the pump of robot virtual has not moved")
	status, text := w.get("/healthz", "application/json")
	var answer struct {
		OK    bool
		Why   string
		Parts []PartHealth
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || status != http.StatusServiceUnavailable || answer.OK || !strings.Contains(answer.Why, "pump") || len(answer.Parts) != 3 {
		t.Errorf("healthz answers %d, %s, %v", status, text, err)
	}
	w.stop()
	select {
	case err := <-w.ended:
		if err == nil || !strings.Contains(err.Error(), `robot "virtual": its executive did not answer`) {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(hang):
		t.Fatal("it does not end")
	}
	close(release)
	if !bot.loop.Left() {
		t.Error("the robot still ramps")
	}
	for end := time.Now().Add(hang); bot.exec.State().Power == loop.Enabled; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the robot has torque")
		}
		bot.exec.Pump(0)
	}
}

// TestSystemdIsToldAndItsWatchdogFed while cycle and pump move on, and not when the pump
// hangs.
func TestSystemdIsToldAndItsWatchdogFed(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		golden.Missing(t, "no socket of datagrams can be made: %v", err)
	}
	defer manager.Close()
	t.Setenv("NOTIFY_SOCKET", name)
	t.Setenv("WATCHDOG_USEC", "200000")
	heard := make(chan string, 10_000)
	go func() {
		one := make([]byte, 4096)
		for {
			n, _, err := manager.ReadFromUnix(one)
			if err != nil {
				return
			}
			heard <- string(one[:n])
		}
	}()
	wait := func(word string) {
		t.Helper()
		for end := time.After(hang); ; {
			select {
			case said := <-heard:
				if strings.Contains(said, word) {
					return
				}
			case <-end:
				t.Fatalf("%q is not said", word)
			}
		}
	}
	w := startReal(t)
	wait("READY=1")
	wait("WATCHDOG=1")
	wait("WATCHDOG=1")
	bot := w.s.robots[0]
	release, held := make(chan struct{}), make(chan struct{})
	go bot.exec.View(func(*loop.Snapshot) { close(held); <-release })
	<-held
	w.until(http.StatusServiceUnavailable, "pump")
	for len(heard) > 0 { // from before
		<-heard
	}
	w.until(http.StatusServiceUnavailable, "pump")
	time.Sleep(500 * time.Millisecond)
	if len(heard) > 0 {
		t.Errorf("with a pump that hangs it says %q", <-heard)
	}
	close(release)
	wait("WATCHDOG=1")
	w.stop()
	wait("STOPPING=1")
	if err := <-w.ended; err != nil {
		t.Error(err)
	}
}
