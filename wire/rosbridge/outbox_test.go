package rosbridge

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

// waiting returns how many messages and bytes wait.
func (b *outbox) waiting() (messages, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue) - b.dead, b.bytes
}

// drain takes out what is there without waiting.
func drain(b *outbox) (got []string) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for {
		if n, _ := b.waiting(); n == 0 {
			return got
		}
		item, ok := b.next(ctx)
		if !ok {
			return got
		}
		s := string(item.frames[0])
		if item.lost > 0 {
			s = fmt.Sprintf("%s(%d lost)", s, item.lost)
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
	b := newOutbox(1000, nil)
	x, y := b.newLane("x", 10, 0), b.newLane("y", 10, 0)
	x.put(frames("x1"), false)
	b.must(frames("a1"), false)
	y.put(frames("y1"), false)
	x.put(frames("x2"), false)
	b.must(frames("a2"), false)
	want(t, drain(b), "x1", "a1", "y1", "x2", "a2")
}

func TestALaneLosesItsOldestAndOthersNothing(t *testing.T) {
	b := newOutbox(1000, nil)
	x, y := b.newLane("x", 2, 0), b.newLane("y", 2, 0)
	y.put(frames("y1"), false)
	for i := range 5 {
		x.put(frames(fmt.Sprint("x", i)), false)
	}
	b.must(frames("a"), false)
	want(t, drain(b), "y1", "x3(3 lost)", "x4", "a")
	x.put(frames("x5"), false)
	want(t, drain(b), "x5")
}

func TestAFullBoxTakesFromTheLaneThatComes(t *testing.T) {
	b := newOutbox(13, nil) // a quarter is for answers
	x, y := b.newLane("x", 100, 0), b.newLane("y", 100, 0)
	for i := range 5 {
		x.put(frames(fmt.Sprint("x", i)), false) // 2 bytes each: full
	}
	y.put(frames("y0"), false) // no room, and nothing of its own to drop
	x.put(frames("x5"), false)
	want(t, drain(b), "x1(1 lost)", "x2", "x3", "x4", "x5")
	y.put(frames("y1"), false)
	want(t, drain(b), "y1(1 lost)")
}

func TestAnAnswerThatDoesNotFitEndsIt(t *testing.T) {
	b := newOutbox(10, nil)
	if !b.must(frames("0123456789"), false) || b.isFull() {
		t.Fatal("it fits")
	}
	if b.must(frames("x"), false) || !b.isFull() {
		t.Fatal("it does not fit")
	}
	if _, ok := b.next(t.Context()); ok {
		t.Error("Next goes on")
	}
}

func TestCloseWakesTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newOutbox(10, nil)
		done := make(chan bool)
		go func() { _, ok := b.next(context.Background()); done <- ok }()
		synctest.Wait()
		b.close()
		if <-done {
			t.Error("Next returned a message of a closed box")
		}
		if b.must(frames("x"), false) {
			t.Error("a closed box takes answers")
		}
	})
}

func TestThrottledLaneKeepsTheNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newOutbox(1000, nil)
		l := b.newLane("x", 1, 95*time.Millisecond)
		var got []string
		for i := range 25 { // every 10 ms, for 250 ms
			l.put(frames(fmt.Sprint(i)), false)
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

// TestThrottledLanesLeaveTogether: lanes whose intervals are multiples send at the same times,
// whenever they began, each at its rate, also when what they send comes late now and then.
func TestThrottledLanesLeaveTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newOutbox(1000, nil)
		began := time.Now()
		lanes := []*lane{b.newLane("a", 1, 50*time.Millisecond), b.newLane("b", 1, 50*time.Millisecond), b.newLane("c", 1, 100*time.Millisecond)}
		times := map[string]map[time.Duration]bool{"a": {}, "b": {}, "c": {}}
		for i := range 2000 { // every ms
			for j, l := range lanes {
				late := i%500 > 400 && i%500 < 420 // nothing comes
				if i >= 17*j && !late {
					l.put(frames(l.name), false)
				}
			}
			for _, name := range drain(b) {
				times[name][time.Since(began)] = true
			}
			time.Sleep(time.Millisecond)
			synctest.Wait()
			for _, name := range drain(b) {
				times[name][time.Since(began)] = true
			}
		}
		if a, b, c := len(times["a"]), len(times["b"]), len(times["c"]); a != 41 || b != 41 || c != 21 {
			t.Errorf("%d, %d and %d messages in 2 s with both ends, want 41, 41 and 21", a, b, c)
		}
		for _, name := range []string{"b", "c"} {
			alone := 0
			for at := range times[name] {
				if !times["a"][at] {
					alone++
				}
			}
			if alone > 1 { // its first
				t.Errorf("%d messages of %s leave alone", alone, name)
			}
		}
	})
}

func TestThrottledLaneWithAQueueKeepsSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newOutbox(1000, nil)
		l := b.newLane("x", 3, 100*time.Millisecond)
		for i := range 10 {
			l.put(frames(fmt.Sprint(i)), false)
		}
		want(t, drain(b), "0")
		time.Sleep(time.Second)
		synctest.Wait()
		want(t, drain(b), "7", "8", "9")
		l.put(frames("10"), false)
		l.put(frames("11"), false)
		l.close()
		time.Sleep(time.Second)
		synctest.Wait()
		want(t, drain(b)) // a closed lane is empty
	})
}

// TestRandomUse checks the bounds and the order of every lane under random use.
func TestRandomUse(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, 1))
	b := newOutbox(300, nil)
	lanes := make([]*lane, 5)
	next, sum := make([]int, 5), make([]int, 5)
	for i := range lanes {
		lanes[i] = b.newLane(fmt.Sprint(i), 1+r.IntN(8), 0)
	}
	seen := make([]int, 5)
	take := func() {
		item, ok := b.next(t.Context())
		if !ok {
			t.Fatalf("seed %d: closed", seed)
		}
		var lane, n int
		fmt.Sscan(string(item.frames[0]), &lane, &n)
		if n != seen[lane]+item.lost {
			t.Fatalf("seed %d: lane %d: message %d after %d with %d lost", seed, lane, n, seen[lane], item.lost)
		}
		seen[lane] = n + 1
		sum[lane] += 1 + item.lost
	}
	for range 20000 {
		if k, _ := b.waiting(); k > 0 && r.IntN(3) == 0 {
			take()
			continue
		}
		i := r.IntN(5)
		lanes[i].put(frames(fmt.Sprintf("%d %d", i, next[i])), false)
		next[i]++
		k, bytes := b.waiting()
		if bytes > 300 || k > 40 {
			t.Fatalf("seed %d: %d messages, %d bytes wait", seed, k, bytes)
		}
		if len(b.queue) > 2*k+130 {
			t.Fatalf("seed %d: queue of %d for %d messages: dead ones pile up", seed, len(b.queue), k)
		}
	}
	for k, _ := b.waiting(); k > 0; k, _ = b.waiting() {
		take()
	}
}

func TestManyWriters(t *testing.T) {
	b := newOutbox(1<<16, nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			l := b.newLane(fmt.Sprint(i), 4, time.Duration(i%2)*time.Millisecond)
			for range 500 {
				l.put(frames("xxxx"), false)
				b.must(frames("a"), true)
			}
			l.close()
		})
	}
	answers := 0
	for answers < 8*500 {
		item, ok := b.next(t.Context())
		if !ok {
			t.Fatal("closed")
		}
		if item.binary {
			answers++
		}
	}
	wg.Wait()
}

func BenchmarkPut(b *testing.B) {
	box := newOutbox(1<<20, nil)
	l := box.newLane("x", 100, 0)
	f := frames("0123456789")
	b.ReportAllocs()
	for b.Loop() {
		l.put(f, false)
	}
}

// TestAwaitHoldsUntilAnswersAreRead fills an outbox with answers: the next message of the
// client waits until some are written, or the connection ends.
func TestAwaitHoldsUntilAnswersAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newOutbox(8*mostUnread, nil)
		half := string(make([]byte, mostUnread/2))
		for range 3 {
			b.must(frames(half), false)
		}
		b.newLane("x", 10, 0).put(frames(half), false) // a stream's messages may wait
		waiting := func(ctx context.Context) chan struct{} {
			over := make(chan struct{})
			go func() {
				b.await(ctx)
				close(over)
			}()
			return over
		}
		held := func(over chan struct{}) bool {
			synctest.Wait()
			select {
			case <-over:
				return false
			default:
				return true
			}
		}
		over := waiting(t.Context())
		if !held(over) {
			t.Fatal("1.5 times the limit is unread, and the next message does not wait")
		}
		item, _ := b.next(t.Context())
		if !held(over) {
			t.Error("an answer that is being written counts as read")
		}
		b.sent(&item)
		if held(over) {
			t.Error("an answer was read, and the next message waits still")
		}
		b.must(frames(half), false)
		ctx, cancel := context.WithCancel(t.Context())
		over = waiting(ctx)
		if !held(over) {
			t.Fatal("the next message does not wait")
		}
		cancel()
		if held(over) {
			t.Error("the connection has ended")
		}
		over = waiting(t.Context())
		b.close()
		if held(over) {
			t.Error("the outbox is closed")
		}
	})
}
