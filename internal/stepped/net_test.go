package stepped

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func pair(t *testing.T) (here, there net.Conn) {
	t.Helper()
	var n Net
	l, err := n.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	come := make(chan net.Conn)
	go func() { c, _ := l.Accept(); come <- c }()
	here, err = n.Dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return here, <-come
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := pair(t)
		want := bytes.Repeat([]byte("0123456789"), room/5) // twice what fits
		go func() {
			if n, err := here.Write(want); n != len(want) || err != nil {
				t.Errorf("wrote %d of %d bytes: %v", n, len(want), err)
			}
			here.Close()
		}()
		synctest.Wait() // the writer waits for a reader
		got, err := io.ReadAll(there)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("read %d of %d bytes: %v", len(got), len(want), err)
		}
		if _, err := there.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("writing to an end that is closed: %v", err)
		}
		if _, err := here.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("reading from the own closed end: %v", err)
		}
	})
}

func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, _ := pair(t)
		begin := time.Now()
		here.SetReadDeadline(begin.Add(time.Minute))
		here.SetReadDeadline(begin.Add(time.Second))
		if _, err := here.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		here.SetDeadline(time.Now().Add(time.Second))
		if _, err := here.Write(make([]byte, 2*room)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begin) != 2*time.Second {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
	})
}

func TestAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n Net
		l, err := n.Listen("tcp", "127.0.0.1:80")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Listen("tcp", "127.0.0.1:80"); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("taken twice: %v", err)
		}
		l.Close()
		if _, err := n.Dial(context.Background(), "tcp", "127.0.0.1:80"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("no listener: %v", err)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a closed listener: %v", err)
		}
	})
}

func TestHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n Net
		l, err := n.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Hour)
			io.WriteString(w, "at last")
		})}
		go web.Serve(l)
		answer, err := n.Client().Get("http://" + l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || string(body) != "at last" {
			t.Errorf("%q, %v", body, err)
		}
		web.Close()
	})
}
