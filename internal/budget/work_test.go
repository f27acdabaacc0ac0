package budget

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// one returns a ledger with one place for work.
func one() *Ledger {
	l := New(small)
	l.work = newWorkshop(1)
	return l
}

// TestWorkRunsOneByOneAndEveryClientGetsItsTurn lets a client ask for a hundred things and
// another for one: no two run at a time, and the other waits for one of the hundred.
func TestWorkRunsOneByOneAndEveryClientGetsItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := one()
		greedy, modest := l.Open(), l.Open()
		var running, most atomic.Int32
		var done []string // one at a time: by the ledger
		work := func(name string) func(context.Context) {
			return func(context.Context) {
				most.Store(max(most.Load(), running.Add(1)))
				time.Sleep(time.Millisecond)
				done = append(done, name)
				running.Add(-1)
			}
		}
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() { greedy.Work(t.Context(), work("greedy")) })
		}
		synctest.Wait()
		all.Go(func() { modest.Work(t.Context(), work("modest")) })
		all.Wait()
		if most.Load() != 1 {
			t.Errorf("%d ran at a time", most.Load())
		}
		if at := slices.Index(done, "modest"); len(done) != 101 || at > 2 {
			t.Errorf("of %d the modest client's was number %d", len(done), at)
		}
	})
}

// TestWorkThatWaitsHoldsUpNoOther has work that waits for an hour: others go on at once if
// it says so, and soon if it does not.
func TestWorkThatWaitsHoldsUpNoOther(t *testing.T) {
	for _, says := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			l := one()
			slow, other := l.Open(), l.Open()
			go slow.Work(t.Context(), func(ctx context.Context) {
				if says {
					Waits(ctx)
				}
				time.Sleep(time.Hour)
			})
			synctest.Wait()
			began := time.Now()
			for range 3 {
				other.Work(t.Context(), func(context.Context) {})
				slow.Work(t.Context(), func(context.Context) {}) // its own next work, too
			}
			if took, limit := time.Since(began), map[bool]time.Duration{true: 0, false: turnLimit}[says]; took > limit {
				t.Errorf("says %v: others waited %v, at most %v is expected", says, took, limit)
			}
			time.Sleep(2 * time.Hour)
		})
	}
}

// TestWorkWithoutEndGetsItsShareOfTheTime counts how much is done in ten seconds.
func TestWorkWithoutEndGetsItsShareOfTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := one().Open()
		began, done := time.Now(), time.Duration(0)
		for time.Since(began) < 10*time.Second {
			a.Work(t.Context(), func(context.Context) { time.Sleep(time.Millisecond) })
			done += time.Millisecond
		}
		if share := done.Seconds() / 10; share < workShare-0.01 || share > workShare+0.02 {
			t.Errorf("%.3f of the time was worked, want %.3f", share, workShare)
		}
	})
}

// TestWorkOfTheServerItselfIsDoneAtOnce has no account.
func TestWorkOfTheServerItselfIsDoneAtOnce(t *testing.T) {
	done := false
	(*Account)(nil).Work(t.Context(), func(ctx context.Context) {
		Waits(ctx)
		done = true
	})
	if !done {
		t.Error("it was not done")
	}
}
