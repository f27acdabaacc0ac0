package server

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestThreeThousandIdleKeepAlives: the newest always get in, the oldest idle ones go, and
// what is open stays within its bound.
func TestThreeThousandIdleKeepAlives(t *testing.T) {
	c := newConnections(maxConnections)
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }))
	web.Config.ConnState = c.changed
	web.Start()
	defer web.Close()
	const clients = 1000 // each leaves a descriptor here too
	conns := make([]net.Conn, 0, clients)
	for range clients {
		conn, err := net.Dial("tcp", web.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns = append(conns, conn)
		fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		if n, err := conn.Read(make([]byte, 4096)); n == 0 {
			t.Fatalf("connection %d: %v", len(conns), err)
		}
		if n := c.open(); n > maxConnections {
			t.Fatalf("%d are open, at most %d may be", n, maxConnections)
		}
	}
	last := conns[clients-1]
	fmt.Fprintf(last, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if n, err := last.Read(make([]byte, 4096)); n == 0 {
		t.Errorf("the last one was closed: %v", err)
	}
	if n, err := conns[0].Read(make([]byte, 1)); n != 0 || err == nil {
		t.Error("the first one is still open")
	}
}

func TestBusyConnectionsGoLast(t *testing.T) {
	c := newConnections(3)
	conn := func() net.Conn { a, _ := net.Pipe(); return a }
	busy, silent, idle := conn(), conn(), conn()
	c.note(busy, http.StateActive)
	c.note(idle, http.StateActive)
	c.note(idle, http.StateIdle)
	c.note(silent, http.StateNew)
	for i, want := range []net.Conn{idle, silent} {
		next := conn()
		if gone := c.note(next, http.StateNew); gone != want {
			t.Errorf("%d: another was closed", i)
		}
		c.note(next, http.StateActive)
	}
	if gone := c.note(conn(), http.StateNew); gone != busy {
		t.Error("the oldest busy one stays")
	}
	wire := conn()
	c.note(wire, http.StateHijacked)
	if n := c.open(); n != 3 {
		t.Errorf("%d are open", n)
	}
}

// TestMetricsFlood: figures are made at a bounded rate, one at a time, and who asks once
// a second gets them.
func TestMetricsFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made, running, most atomic.Int32
		h := limitRate(metricsRate, metricsWithin, func(http.ResponseWriter, *http.Request) {
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(time.Millisecond)
			running.Add(-1)
			made.Add(1)
		})
		end := time.Now().Add(10 * time.Second)
		var flood sync.WaitGroup
		for range 40 {
			flood.Go(func() {
				for time.Now().Before(end) {
					h(httptest.NewRecorder(), httptest.NewRequest("GET", "/metrics", nil))
				}
			})
		}
		for time.Now().Before(end) {
			time.Sleep(time.Second)
			w := httptest.NewRecorder()
			h(w, httptest.NewRequest("GET", "/metrics", nil))
			if w.Code != http.StatusOK {
				t.Errorf("who asks once a second gets %d", w.Code)
			}
		}
		flood.Wait()
		if n := made.Load(); n > 12*metricsRate || n < 8*metricsRate || most.Load() != 1 {
			t.Errorf("%d in 10 s, %d at a time", n, most.Load())
		}
	})
}

// open returns how many there are.
func (c *connections) open() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.all)
}
