package queue_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"poise/planner/queue"
)

// step is how long work takes until it asks whether it is still wanted.
const step = time.Millisecond

// steps returns work of so many steps.
func steps(n int) func(context.Context) {
	return func(ctx context.Context) {
		for range n {
			time.Sleep(step)
			if ctx.Err() != nil {
				return
			}
		}
	}
}

// took runs work for a client and returns how long that took.
func took(t *testing.T, q *queue.Queue, name string, size queue.Size, n int) time.Duration {
	t.Helper()
	begin := time.Now()
	if err := q.Do(t.Context(), name, size, steps(n)); err != nil {
		t.Fatal(err)
	}
	return time.Since(begin)
}

// A short plan is answered in its own time beside 64 long ones, be they of one client or
// of 64, also again and again.
func TestAShortPlanIsAnsweredInItsOwnTimeBeside64LongOnes(t *testing.T) {
	for _, clients := range []int{1, 64} {
		synctest.Test(t, func(t *testing.T) {
			ctx, hangUp := context.WithCancel(t.Context())
			q := queue.New(1)
			var long sync.WaitGroup
			for i := range 64 {
				long.Go(func() { _ = q.Do(ctx, fmt.Sprint("long ", i%clients), queue.Long, steps(10_000)) })
			}
			for range 10 {
				time.Sleep(100 * time.Millisecond)
				if d := took(t, q, "short", queue.Short, 20); d > 22*step {
					t.Errorf("beside long plans of %d clients 20 steps took %v", clients, d)
				}
			}
			hangUp()
			long.Wait()
		})
	}
}

// Clients have equal shares, however many plans each of them has.
func TestClientsHaveEqualShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, hangUp := context.WithCancel(t.Context())
		q := queue.New(1)
		var many sync.WaitGroup
		for range 64 {
			many.Go(func() { _ = q.Do(ctx, "many", queue.Long, steps(10_000)) })
		}
		time.Sleep(time.Second)
		if d := took(t, q, "one", queue.Long, 1000); d < 1990*step || d > 2020*step {
			t.Errorf("1000 steps beside one other client took %v", d)
		}
		hangUp()
		many.Wait()
	})
}

// A client that asks for one short plan after the other takes no more than its share in
// the end.
func TestShortPlansDoNotStarveLongOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, hangUp := context.WithCancel(t.Context())
		q := queue.New(1)
		var short sync.WaitGroup
		short.Go(func() {
			for ctx.Err() == nil {
				_ = q.Do(ctx, "short", queue.Short, steps(20))
			}
		})
		time.Sleep(10 * time.Second)
		if d := took(t, q, "long", queue.Long, 5000); d > 10_000*step+queue.Credit+100*step {
			t.Errorf("5000 steps beside short plans took %v", d)
		}
		hangUp()
		short.Wait()
	})
}

// Who hangs up while it waits is not planned for, and who hangs up while it is planned
// for is not after the next step.
func TestWorkWhoseClientHungUpEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(1)
		ctx, hangUp := context.WithCancel(t.Context())
		var ran atomic.Int64
		var all sync.WaitGroup
		for i := range 64 {
			all.Go(func() {
				err := q.Do(ctx, fmt.Sprint(i%8), queue.Long, func(ctx context.Context) {
					for ctx.Err() == nil {
						ran.Add(1)
						time.Sleep(step)
					}
				})
				if err == nil && ctx.Err() == nil {
					t.Error("it ended by itself")
				}
			})
		}
		time.Sleep(50 * step)
		hangUp()
		begin, before := time.Now(), ran.Load()
		all.Wait()
		if d := time.Since(begin); d > step {
			t.Errorf("work went on for %v", d)
		}
		if n := ran.Load() - before; n > 1 {
			t.Errorf("%d steps after all hung up", n)
		}
		if d := took(t, q, "next", queue.Short, 10); d != 10*step {
			t.Errorf("afterwards 10 steps took %v", d)
		}
	})
}

// A deadline counts from when the work is given to the queue.
func TestTimeInTheQueueCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(1)
		var first sync.WaitGroup
		first.Go(func() { _ = q.Do(t.Context(), "same", queue.Long, steps(1000)) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 100*step)
		defer cancel()
		begin := time.Now()
		err := q.Do(ctx, "same", queue.Short, func(context.Context) { t.Error("it ran") })
		if err != context.DeadlineExceeded || time.Since(begin) != 100*step {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		first.Wait()
	})
}

// There are never more workers than allowed, and no client has two; a processor is left
// to the cycle.
func TestNeverMoreWorkersThanAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers, clients = 3, 7
		q := queue.New(workers)
		r := rand.New(rand.NewPCG(1, 2))
		var busy, ended atomic.Int64
		var of [clients]atomic.Int64
		var all sync.WaitGroup
		for range 500 {
			name, n, patience := r.IntN(clients), r.IntN(60), time.Duration(r.IntN(3000))*step
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), patience+1)
				defer cancel()
				_ = q.Do(ctx, fmt.Sprint(name), queue.Size(n > 30), func(ctx context.Context) {
					for range n {
						if k := busy.Add(1); k > workers {
							t.Errorf("%d plans at once", k)
						}
						if k := of[name].Add(1); k > 1 {
							t.Errorf("%d plans of one client at once", k)
						}
						time.Sleep(step)
						busy.Add(-1)
						of[name].Add(-1)
						if ctx.Err() != nil {
							return
						}
					}
					ended.Add(1)
				})
			})
		}
		all.Wait()
		if ended.Load() < 100 {
			t.Errorf("%d plans ended", ended.Load())
		}
		for i := range clients {
			if d := took(t, q, fmt.Sprint(i), queue.Short, 1); d != step {
				t.Errorf("afterwards a step took %v", d)
			}
		}
	})
	before := runtime.GOMAXPROCS(0)
	if want := max(1, before-1); queue.New(0).Workers() != want {
		t.Errorf("%d workers on %d processors, want %d", queue.New(0).Workers(), before, want)
	}
}
