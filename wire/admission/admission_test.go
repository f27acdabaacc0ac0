package admission_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"poise/internal/stepped"
	"poise/wire/admission"
)

// failing is a listener without descriptors for some time.
type failing struct {
	net.Listener
	fails atomic.Int32
}

func (f *failing) Accept() (net.Conn, error) {
	if f.fails.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return f.Listener.Accept()
}

// serve runs a server of two connections on a network in memory.
func serve(t *testing.T, fails int) (network *stepped.Net, address string) {
	t.Helper()
	network = &stepped.Net{}
	l, err := network.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &failing{Listener: l}
	f.fails.Store(int32(fails))
	say := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, text) })
	}
	a := admission.Listen(f, admission.Config{Most: 2, Urgent: say("urgent")})
	web := &http.Server{Handler: say("all")}
	go web.Serve(a)
	t.Cleanup(func() {
		web.Close()
		time.Sleep(time.Second) // net/http takes half of it to close connections
	})
	return network, l.Addr().String()
}

// ask sends a request on a new connection and leaves it open.
func ask(t *testing.T, network *stepped.Net, address string) string {
	t.Helper()
	c, err := network.Dial(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(res.Body)
	return string(text)
}

func TestBeyondTheBoundOneRequestIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, address := serve(t, 0)
		for i, want := range []string{"all", "all", "urgent", "urgent", "urgent"} {
			if got := ask(t, network, address); got != want {
				t.Errorf("connection %d: %q, want %q", i, got, want)
			}
		}
	})
}

// TestSilentConnectionsKeepNoClientOut: a thousand that say nothing are open or come anew;
// who asks is served.
func TestSilentConnectionsKeepNoClientOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, address := serve(t, 0)
		for range 1000 {
			c, err := network.Dial(t.Context(), "tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
		}
		if got := ask(t, network, address); got != "urgent" {
			t.Errorf("%q", got)
		}
	})
}

func TestAPlaceIsGivenFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, address := serve(t, 0)
		for range 10 {
			c, err := network.Dial(t.Context(), "tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			c.Close()
			synctest.Wait()
		}
		if got := ask(t, network, address); got != "all" {
			t.Errorf("%q", got)
		}
	})
}

// scarce is a listener of a process that has so many descriptors: accepting one more
// connection fails until another is closed.
type scarce struct {
	net.Listener
	left atomic.Int32
}

func (s *scarce) Accept() (net.Conn, error) {
	if s.left.Add(-1) < 0 {
		s.left.Add(1)
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	c, err := s.Listener.Accept()
	if err != nil {
		s.left.Add(1)
		return nil, err
	}
	return &scarceConn{Conn: c, s: s}, nil
}

type scarceConn struct {
	net.Conn
	s    *scarce
	once sync.Once
}

func (c *scarceConn) Close() error {
	c.once.Do(func() { c.s.left.Add(1) })
	return c.Conn.Close()
}

// TestAStopBehindAQueueOfSilentConnectionsIsServedAtOnce: thousands that say nothing wait to
// be accepted, there are ten descriptors, and the stop comes after them. In stepped time
// nothing but waiting takes time: they are given up without any.
func TestAStopBehindAQueueOfSilentConnectionsIsServedAtOnce(t *testing.T) {
	for _, silent := range []int{200, 1000, 3000} {
		synctest.Test(t, func(t *testing.T) {
			network := &stepped.Net{}
			l, err := network.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			few := &scarce{Listener: l}
			few.left.Store(10)
			var served atomic.Int32
			a := admission.Listen(few, admission.Config{Most: 2, Urgent: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served.Add(1) })})
			web := &http.Server{Handler: http.NotFoundHandler()}
			began := time.Now()
			var come sync.WaitGroup
			for range silent {
				come.Go(func() {
					c, err := network.Dial(t.Context(), "tcp", l.Addr().String())
					if err == nil {
						t.Cleanup(func() { c.Close() })
					}
				})
			}
			synctest.Wait() // all of them wait to be accepted
			come.Go(func() {
				c, err := network.Dial(t.Context(), "tcp", l.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				t.Cleanup(func() { c.Close() })
				fmt.Fprint(c, "POST /stop HTTP/1.1\r\nHost: localhost\r\n\r\n")
			})
			synctest.Wait()
			go web.Serve(a)
			synctest.Wait()
			time.Sleep(10 * time.Millisecond)
			synctest.Wait()
			if served.Load() != 1 {
				t.Errorf("behind %d silent connections: %d stops served after %v", silent, served.Load(), time.Since(began))
			}
			web.Close()
			come.Wait()
			time.Sleep(time.Second)
		})
	}
}

// TestSilentConnectionsAreClosedFirst: with all places beyond the bound taken by some that
// have asked for something, one that asks for a stop stays, and is served.
func TestSilentConnectionsAreClosedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, address := serve(t, 0)
		begin := func(text string) net.Conn {
			c, err := network.Dial(t.Context(), "tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			fmt.Fprint(c, text)
			synctest.Wait()
			return c
		}
		for range 2 { // the server's own
			begin("GET / HTTP/1.1\r\n")
		}
		stop := begin("POST /stop HTTP/1.1\r\nHost: localhost\r\n")
		other := begin("GET / HTTP/1.1\r\nHost: localhost\r\n")
		for range 500 {
			begin("")
		}
		for range 70 {
			begin("G")
		}
		fmt.Fprint(stop, "\r\n")
		if res, err := http.ReadResponse(bufio.NewReader(stop), nil); err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("the stop: %v", err)
		}
		fmt.Fprint(other, "\r\n")
		if _, err := http.ReadResponse(bufio.NewReader(other), nil); err == nil {
			t.Error("the oldest of those that ask for something else was not given up")
		}
	})
}

// TestWithoutDescriptorsRequestsAreServed from the reserve, and no client waits for long.
func TestWithoutDescriptorsRequestsAreServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, address := serve(t, 20)
		began := time.Now()
		if got := ask(t, network, address); !strings.Contains("all urgent", got) {
			t.Errorf("%q", got)
		}
		if took := time.Since(began); took > 100*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}
