package outbox

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func frames(s string) [][]byte { return [][]byte{[]byte(s)} }

// drain takes out what is there without waiting.
func drain(b *Box) (got []string) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for {
		if n, _ := b.Waiting(); n == 0 {
			return got
		}
		item, ok := b.Next(ctx)
		if !ok {
			return got
		}
		s := string(item.Frames[0])
		if item.Lost > 0 {
			s = fmt.Sprintf("%s(%d lost)", s, item.Lost)
		}
		got = append(got, s)
	}
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("left %v, want %v", got, want)
	}
}

func TestOrderIsThatOfArrival(t *testing.T) {
	b := New(1000)
	x, y := b.Lane("x", 10, 0), b.Lane("y", 10, 0)
	x.Put(frames("x1"), false)
	b.Must(frames("a1"), false)
	y.Put(frames("y1"), false)
	x.Put(frames("x2"), false)
	b.Must(frames("a2"), false)
	want(t, drain(b), "x1", "a1", "y1", "x2", "a2")
}

func TestALaneLosesItsOldestAndOthersNothing(t *testing.T) {
	b := New(1000)
	x, y := b.Lane("x", 2, 0), b.Lane("y", 2, 0)
	y.Put(frames("y1"), false)
	for i := range 5 {
		x.Put(frames(fmt.Sprint("x", i)), false)
	}
	b.Must(frames("a"), false)
	want(t, drain(b), "y1", "x3(3 lost)", "x4", "a")
	x.Put(frames("x5"), false)
	want(t, drain(b), "x5")
}

func TestAFullBoxTakesFromTheLaneThatComes(t *testing.T) {
	b := New(10)
	x, y := b.Lane("x", 100, 0), b.Lane("y", 100, 0)
	for i := range 5 {
		x.Put(frames(fmt.Sprint("x", i)), false) // 2 bytes each: full
	}
	y.Put(frames("y0"), false) // no room, and nothing of its own to drop
	x.Put(frames("x5"), false)
	want(t, drain(b), "x1(1 lost)", "x2", "x3", "x4", "x5")
	y.Put(frames("y1"), false)
	want(t, drain(b), "y1(1 lost)")
}

func TestAnAnswerThatDoesNotFitEndsIt(t *testing.T) {
	b := New(10)
	if !b.Must(frames("0123456789"), false) || b.Full() {
		t.Fatal("it fits")
	}
	if b.Must(frames("x"), false) || !b.Full() {
		t.Fatal("it does not fit")
	}
	if _, ok := b.Next(t.Context()); ok {
		t.Error("Next goes on")
	}
}

func TestCloseWakesTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(10)
		done := make(chan bool)
		go func() { _, ok := b.Next(context.Background()); done <- ok }()
		synctest.Wait()
		b.Close()
		if <-done {
			t.Error("Next returned a message of a closed box")
		}
		if b.Must(frames("x"), false) {
			t.Error("a closed box takes answers")
		}
	})
}

func TestThrottledLaneKeepsTheNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(1000)
		l := b.Lane("x", 1, 95*time.Millisecond)
		var got []string
		for i := range 25 { // every 10 ms, for 250 ms
			l.Put(frames(fmt.Sprint(i)), false)
			time.Sleep(10 * time.Millisecond)
			synctest.Wait()
			got = append(got, drain(b)...)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		// at 0 ms, at 95 ms what came at 90 ms, at 190 ms what came then, and, so
		// that the last word is not lost, at 285 ms; nothing counts as lost
		want(t, append(got, drain(b)...), "0", "9", "18", "24")
	})
}

func TestThrottledLaneWithAQueueKeepsSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(1000)
		l := b.Lane("x", 3, 100*time.Millisecond)
		for i := range 10 {
			l.Put(frames(fmt.Sprint(i)), false)
		}
		want(t, drain(b), "0")
		time.Sleep(time.Second)
		synctest.Wait()
		want(t, drain(b), "7", "8", "9")
		l.Put(frames("10"), false)
		l.Put(frames("11"), false)
		l.Close()
		time.Sleep(time.Second)
		synctest.Wait()
		want(t, drain(b)) // a closed lane is empty
	})
}

// TestRandomUse checks the bounds and the order of every lane under random use.
func TestRandomUse(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, 1))
	b := New(300)
	lanes := make([]*Lane, 5)
	next, sum := make([]int, 5), make([]int, 5)
	for i := range lanes {
		lanes[i] = b.Lane(fmt.Sprint(i), 1+r.IntN(8), 0)
	}
	seen := make([]int, 5)
	take := func() {
		item, ok := b.Next(t.Context())
		if !ok {
			t.Fatalf("seed %d: closed", seed)
		}
		var lane, n int
		fmt.Sscan(string(item.Frames[0]), &lane, &n)
		if n != seen[lane]+item.Lost {
			t.Fatalf("seed %d: lane %d: message %d after %d with %d lost", seed, lane, n, seen[lane], item.Lost)
		}
		seen[lane] = n + 1
		sum[lane] += 1 + item.Lost
	}
	for range 20000 {
		if k, _ := b.Waiting(); k > 0 && r.IntN(3) == 0 {
			take()
			continue
		}
		i := r.IntN(5)
		lanes[i].Put(frames(fmt.Sprintf("%d %d", i, next[i])), false)
		next[i]++
		k, bytes := b.Waiting()
		if bytes > 300 || k > 40 {
			t.Fatalf("seed %d: %d messages, %d bytes wait", seed, k, bytes)
		}
		if len(b.queue) > 2*k+130 {
			t.Fatalf("seed %d: queue of %d for %d messages: dead ones pile up", seed, len(b.queue), k)
		}
	}
	for k, _ := b.Waiting(); k > 0; k, _ = b.Waiting() {
		take()
	}
}

func TestManyWriters(t *testing.T) {
	b := New(1 << 16)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			l := b.Lane(fmt.Sprint(i), 4, time.Duration(i%2)*time.Millisecond)
			for range 500 {
				l.Put(frames("xxxx"), false)
				b.Must(frames("a"), true)
			}
			l.Close()
		})
	}
	answers := 0
	for answers < 8*500 {
		item, ok := b.Next(t.Context())
		if !ok {
			t.Fatal("closed")
		}
		if item.Binary {
			answers++
		}
	}
	wg.Wait()
}

func BenchmarkPut(b *testing.B) {
	box := New(1 << 20)
	l := box.Lane("x", 100, 0)
	f := frames("0123456789")
	b.ReportAllocs()
	for b.Loop() {
		l.Put(f, false)
	}
}
