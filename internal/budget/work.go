package budget

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"poise/internal/rt"
)

// Work of clients runs on as many goroutines at a time as there are cores but one: Go's
// scheduler knows no priorities, and with a hundred goroutines ready to run the cycle's
// would wait for its turn among them. Work that goes on and on gets half of that.
//
// A client waits for at most one turn at a time, so among n clients each gets every n-th,
// however much it asks for.
const (
	turnLimit = 2 * time.Millisecond  // then others get theirs: what takes longer, waits most of it
	workShare = 0.5                   // of the time, in the long run
	workBurst = 20 * time.Millisecond // that is done without a rest
)

// workshop is where work is done.
type workshop struct {
	places chan struct{}

	mu   sync.Mutex
	debt time.Duration // work that was done beyond the share
	last time.Time
}

func newWorkshop(places int) *workshop {
	return &workshop{places: make(chan struct{}, max(1, places))}
}

// done notes work and frees its place, after a rest if there was much of it.
func (w *workshop) done(took time.Duration) {
	w.mu.Lock()
	now := time.Now()
	paid := time.Duration(workShare * float64(cap(w.places)) * float64(now.Sub(w.last)))
	w.debt = max(0, w.debt-paid) + took
	w.last = now
	rests := w.debt > workBurst
	w.mu.Unlock()
	if rests {
		time.AfterFunc(time.Duration(float64(took)*(1/workShare-1)), func() { <-w.places })
		return
	}
	<-w.places
}

// Work does something for the client when it is its turn, and returns when it is done. The
// context of the work is for Waits. Of the server itself (nil) it is done at once.
func (a *Account) Work(ctx context.Context, do func(ctx context.Context)) {
	if a == nil {
		do(ctx)
		return
	}
	a.turn <- struct{}{}
	a.ledger.work.places <- struct{}{}
	t := &turn{account: a, began: time.Now()}
	limit := time.AfterFunc(turnLimit, t.end)
	defer func() {
		limit.Stop()
		t.end()
	}()
	do(context.WithValue(ctx, turnKey{}, t))
}

// Waits ends the turn of the work whose context it is: what follows waits for something
// else than a core.
func Waits(ctx context.Context) {
	if t, ok := ctx.Value(turnKey{}).(*turn); ok {
		t.end()
	}
}

type turnKey struct{}

// turn is one piece of work under way.
type turn struct {
	account *Account
	began   time.Time
	over    atomic.Bool
}

func (t *turn) end() {
	if t.over.Swap(true) {
		return
	}
	t.account.ledger.work.done(min(time.Since(t.began), turnLimit))
	<-t.account.turn
}

// workPlaces is how many pieces of work run at a time.
func workPlaces() int { return rt.Cores() - 1 }
