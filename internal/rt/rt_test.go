package rt

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

func TestRingKeepsOrderAndRefusesWhenFull(t *testing.T) {
	r := NewRing[int](3)
	if r.Cap() != 4 {
		t.Fatalf("Cap = %d, want the next power of two", r.Cap())
	}
	for round := range 5 {
		for i := range 4 {
			if !r.TrySend(10*round + i) {
				t.Fatalf("refused value %d of %d", i, r.Cap())
			}
		}
		if r.TrySend(99) || r.Len() != 4 {
			t.Fatal("a full ring took one more")
		}
		for i := range 4 {
			if v, ok := r.TryReceive(); !ok || v != 10*round+i {
				t.Fatalf("got %d, %v, want %d", v, ok, 10*round+i)
			}
		}
		if _, ok := r.TryReceive(); ok {
			t.Fatal("an empty ring gave something")
		}
	}
}

func TestRingForgetsWhatItGaveAway(t *testing.T) {
	r := NewRing[*int](1)
	r.TrySend(new(int))
	r.TryReceive()
	if r.slots[0] != nil {
		t.Error("the slot keeps the value alive")
	}
}

// TestRingBetweenGoroutines sends from several goroutines into one receiver, and
// from one sender to several: nothing is lost, nothing comes twice, and the order
// of each sender is kept.
func TestRingBetweenGoroutines(t *testing.T) {
	const senders, each = 4, 2000
	r := NewRing[[2]int](16)
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := range each {
				for !r.Send([2]int{s, i}) {
				}
			}
		})
	}
	next := [senders]int{}
	for n := 0; n < senders*each; {
		v, ok := r.TryReceive()
		if !ok {
			continue
		}
		if v[1] != next[v[0]] {
			t.Fatalf("sender %d: got %d, want %d", v[0], v[1], next[v[0]])
		}
		next[v[0]]++
		n++
	}
	wg.Wait()
}

func TestLatestIsNewestAndNeverTorn(t *testing.T) {
	type pair struct{ a, b []int }
	l := NewLatest(func(p *pair) { p.a, p.b = make([]int, 8), make([]int, 8) })
	if _, unseen := l.Load(); unseen {
		t.Error("nothing was published, and something is new")
	}
	const n = 20000
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 1; i <= n; i++ {
			s := l.Slot()
			for k := range s.a {
				s.a[k], s.b[k] = i, -i
			}
			l.Publish()
		}
	})
	last := 0
	for last < n {
		v, unseen := l.Load()
		if !unseen {
			continue
		}
		for k := range v.a {
			if v.a[k] != v.a[0] || v.b[k] != -v.a[0] {
				t.Fatalf("torn: %v %v", v.a, v.b)
			}
		}
		if v.a[0] <= last {
			t.Fatalf("got %d after %d", v.a[0], last)
		}
		last = v.a[0]
	}
	wg.Wait()
	if v, unseen := l.Load(); unseen || v.a[0] != n {
		t.Errorf("seen twice: %v %d", unseen, v.a[0])
	}
}

func TestHistogramAgreesWithSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	var h Histogram
	var all []int64
	for range 20000 {
		v := int64(rng.ExpFloat64() * 1e5)
		all = append(all, v)
		h.Add(v)
	}
	slices.Sort(all)
	for _, p := range []float64{0.5, 0.99, 0.999, 1} {
		exact := all[min(int(p*float64(len(all))), len(all)-1)]
		got := h.Quantile(p)
		if d := float64(got - exact); d < -0.13*float64(exact)-1 || d > 0.13*float64(exact)+1 {
			t.Errorf("quantile %g: %d, exactly %d", p, got, exact)
		}
	}
	if h.Max() != all[len(all)-1] || h.Count() != 20000 {
		t.Errorf("max %d count %d", h.Max(), h.Count())
	}
	if (&Histogram{}).Quantile(0.5) != 0 || (&Histogram{}).Mean() != 0 {
		t.Error("an empty histogram has values")
	}
}

func TestEveryBinHoldsItsOwn(t *testing.T) {
	for b := range 61 * 8 {
		if bin(lowest(b)) != b || (b > 0 && bin(lowest(b)-1) != b-1) {
			t.Fatalf("bin %d: lowest %d falls into %d, the one below into %d", b, lowest(b), bin(lowest(b)), bin(lowest(b)-1))
		}
	}
	var h Histogram
	h.Add(-5)
	h.Add(1<<62 + 5)
	if h.bins[0] != 1 || h.Max() != 1<<62+5 {
		t.Error("the ends are not counted")
	}
}

func TestCycleSideDoesNotAllocate(t *testing.T) {
	r, l := NewRing[[64]byte](8), NewLatest[[64]byte](nil)
	var h Histogram
	if n := testing.AllocsPerRun(100, func() {
		r.TrySend([64]byte{})
		r.TryReceive()
		l.Slot()[0]++
		l.Publish()
		l.Load()
		h.Add(12345)
		SleepUntil(Now())
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestSleepUntilIsNeverEarly(t *testing.T) {
	for _, ahead := range []int64{-1e6, 0, 1e5, 2e6} {
		deadline := Now() + ahead
		SleepUntil(deadline)
		if now := Now(); now < deadline {
			t.Errorf("woke %d ns early", deadline-now)
		}
	}
}

func TestRealtimeSaysWhatItGot(t *testing.T) {
	said, granted := Realtime(0) // priority 0 is none for SCHED_FIFO: refused everywhere
	if said == "" || granted {
		t.Errorf("Realtime(0) = %q, %v", said, granted)
	}
}
