package admission_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
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

// TestSilentConnectionsKeepNobodyOut: a thousand that say nothing are open or come anew;
// who asks is served.
func TestSilentConnectionsKeepNobodyOut(t *testing.T) {
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
