package budget

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// TestLongMessagesAreKeptAtAPace: some at once, then all clients together so many bytes per
// second, in equal shares, and a client that leaves gives its share back.
func TestLongMessagesAreKeptAtAPace(t *testing.T) {
	ledger := New(Standard)
	pace := ledger.Pace
	now := time.Unix(100, 0)
	clients := make([]*Account, 4)
	sent := make([]int, len(clients))
	const size, seconds = 1 << 20, 60
	for i := range clients {
		clients[i] = ledger.Open()
	}
	for step := now; step.Before(now.Add(seconds * time.Second)); step = step.Add(10 * time.Millisecond) {
		for i, c := range clients {
			for range 10 {
				if c.KeepLong(step) == nil {
					c.LongCame(size)
					sent[i] += size
				}
			}
		}
	}
	sum := 0
	for i, n := range sent {
		sum += n
		if share := pace.Keep * seconds / float64(len(clients)); float64(n) < 0.9*share || float64(n) > 1.1*share+pace.Burst {
			t.Errorf("client %d sent %d bytes, its share is %g", i, n, share)
		}
	}
	if most, least := pace.BurstAll+4*size+61*pace.Keep, pace.BurstAll+55*pace.Keep; float64(sum) > most || float64(sum) < least {
		t.Errorf("%d bytes in a minute, want %g to %g", sum, least, most)
	}
	// beside them one that has sent nothing may send one message, and no second
	fresh := ledger.Open()
	now = now.Add(seconds * time.Second)
	if err := fresh.KeepLong(now); err != nil {
		t.Errorf("the first message: %v", err)
	}
	fresh.LongCame(6 << 20)
	var beyond *PaceError
	if err := fresh.KeepLong(now); !errors.As(err, &beyond) || beyond.Limit != pace.Keep/5 {
		t.Errorf("the next: %v", err)
	}
	for _, c := range append(clients, fresh) {
		c.Close()
		if err := c.KeepLong(now); err == nil {
			t.Error("an account that is closed keeps a message")
		}
	}
	if len(ledger.active) != 0 {
		t.Errorf("%d shares at the end", len(ledger.active))
	}
}

// TestALongMessageWaitsForThePace: until there is room for it, or for the end.
func TestALongMessageWaitsForThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := New(Standard)
		a := ledger.Open()
		began := time.Now()
		if err := a.KeepLong(began); err != nil {
			t.Fatal(err)
		}
		a.LongCame(int(2 * ledger.Pace.Burst))
		if err := a.KeepLong(began); err == nil {
			t.Fatal("it is kept at once")
		}
		if err := a.AwaitLong(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took, want := time.Since(began).Seconds(), ledger.Pace.Burst/ledger.Pace.Keep; took < want || took > want+0.02 {
			t.Errorf("it waited %g s, want %g", took, want)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		a.LongCame(int(2 * ledger.Pace.Burst))
		if err := a.AwaitLong(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("after the end: %v", err)
		}
	})
}

// TestDiscardedBytesComeAtARate: a burst at once, then so many per second of all clients
// together.
func TestDiscardedBytesComeAtARate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := New(Standard)
		ledger.Pace.DiscardBurst, ledger.Pace.Discard = 4<<20, 1<<20
		began := time.Now()
		discardAll := func(total uint64) {
			a := ledger.Open()
			defer a.Close()
			client, server := net.Pipe()
			defer server.Close()
			go func() {
				defer client.Close()
				_, _ = client.Write(make([]byte, total))
			}()
			for left := total; left > 0; {
				n, err := a.Discard(server, left)
				if err != nil {
					t.Errorf("%d are left: %v", left, err)
					return
				}
				left -= uint64(n)
			}
			if _, err := a.Discard(server, 1); !errors.Is(err, io.EOF) {
				t.Errorf("after the last: %v", err)
			}
		}
		discardAll(4 << 20)
		if took := time.Since(began); took != 0 {
			t.Errorf("the burst took %v", took)
		}
		done := make(chan bool)
		for range 2 {
			go func() { discardAll(5 << 20); done <- true }()
		}
		<-done
		<-done
		if took := time.Since(began); took < 9500*time.Millisecond || took > 10500*time.Millisecond {
			t.Errorf("10 MiB at 1 MiB per second took %v", took)
		}
	})
}
