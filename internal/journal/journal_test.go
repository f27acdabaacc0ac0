package journal

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// pipe is a destination whose reader a test stops, lets go on, or closes.
type pipe struct {
	mu   sync.Mutex
	text bytes.Buffer
	err  error
	stop chan struct{} // a write waits until it is closed; nil lets all pass
}

func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	stop := p.stop
	p.mu.Unlock()
	if stop != nil {
		<-stop
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return 0, p.err
	}
	return p.text.Write(b)
}

func (p *pipe) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

func (p *pipe) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func TestLinesComeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipe{}
		w := New(p)
		want := ""
		for i := range 1000 {
			fmt.Fprintln(w, i)
			want += fmt.Sprintln(i)
			if i%100 == 0 {
				synctest.Wait()
			}
		}
		if err := w.Close(time.Second); err != nil || p.String() != want || w.Dropped() != 0 {
			t.Errorf("%v, %d dropped, %d bytes, want %d", err, w.Dropped(), len(p.String()), len(want))
		}
	})
}

// TestAStalledReaderDelaysNoWriter: writers return without time passing, what waits stays
// bounded, and the count of what is missing is told when lines flow again.
func TestAStalledReaderDelaysNoWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipe{stop: make(chan struct{})}
		w := New(p)
		const lines = 3 * MaxLines
		began := time.Now()
		for i := range lines {
			fmt.Fprintf(w, "line %d\n", i)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("writers waited %v", took)
		}
		if d := w.Dropped(); d != lines-MaxLines {
			t.Errorf("%d of %d lines dropped, %d have room", d, lines, MaxLines)
		}
		w.mu.Lock()
		if w.bytes > MaxBytes || w.count > MaxLines {
			t.Errorf("%d lines and %d bytes wait", w.count, w.bytes)
		}
		w.mu.Unlock()
		p.set(func() { close(p.stop); p.stop = nil })
		synctest.Wait()
		fmt.Fprintln(w, "flows again")
		if err := w.Close(time.Second); err != nil {
			t.Error(err)
		}
		if want := fmt.Sprintf("dropped=%d\nflows again\n", w.Dropped()); !strings.HasSuffix(p.String(), want) {
			t.Errorf("it ends with %q, want %q", p.String()[max(0, len(p.String())-200):], want)
		}
	})
}

func TestCloseWaitsOnlySoLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipe{stop: make(chan struct{})}
		w := New(p)
		fmt.Fprintln(w, "one")
		began := time.Now()
		if err := w.Close(time.Second); err == nil || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		close(p.stop)
	})
}

func TestAClosedReaderIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New(&pipe{err: fmt.Errorf("write: %w", syscall.EPIPE)})
		for range 10 {
			fmt.Fprintln(w, "line")
		}
		<-w.Gone()
		fmt.Fprintln(w, "later")
		synctest.Wait()
		if err := w.Close(time.Second); !errors.Is(err, ErrGone) || w.Dropped() != 11 {
			t.Errorf("%v, %d dropped", err, w.Dropped())
		}
	})
}

// TestAFullDiskLosesLinesAndNothingElse: it goes on when there is room again, and says
// how many lines are missing.
func TestAFullDiskLosesLinesAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipe{err: syscall.ENOSPC}
		w := New(p)
		fmt.Fprintln(w, "one")
		fmt.Fprintln(w, "two")
		synctest.Wait()
		if !errors.Is(w.Err(), syscall.ENOSPC) {
			t.Error(w.Err())
		}
		p.set(func() { p.err = nil })
		fmt.Fprintln(w, "three")
		if err := w.Close(time.Second); err != nil || !strings.Contains(p.String(), "dropped=2\nthree\n") {
			t.Errorf("%v: %q", err, p.String())
		}
	})
}

func TestALongLineIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipe{}
		w := New(p)
		fmt.Fprintln(w, strings.Repeat("ü", MaxBytes))
		if err := w.Close(time.Second); err != nil || len(p.String()) > MaxLine+64 || !strings.HasSuffix(p.String(), "ü… (2097153 bytes in all)\n") {
			t.Errorf("%v, %d bytes: …%q", err, len(p.String()), p.String()[max(0, len(p.String())-60):])
		}
	})
}
