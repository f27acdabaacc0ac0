// Package queue shares the processors fairly among the clients that plan: no client
// waits until a long plan of another is finished.
//
//	plans := queue.New(0)
//	err := plans.Do(ctx, client, queue.Long, func(ctx context.Context) { … ctx.Err() … })
//
// A client has at most one plan under way at a time, the rest of its plans wait in the
// order in which they came. Among clients the one with the least computing time so far
// goes first. A new client starts with the least time of the others, and a short plan
// with Credit less, so that it goes ahead of all long ones. A plan that calls Err of the
// context that it was given, to see whether it is cancelled, yields there to a client
// that goes before it, and continues when it is its turn again. This is start-time
// fair queueing [Goyal] with turns that are given back.
//
// One processor is left to the cycle, if there is more than one.
//
//   - [Goyal] P. Goyal, H. M. Vin, H. Cheng, Start-time fair queueing, IEEE/ACM
//     Transactions on Networking 5 (1997).
package queue

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"poise/internal/budget"
	"poise/internal/rt"
)

const (
	// Credit is how much less than the others a client with a short plan has had.
	Credit = 500 * time.Millisecond
	// Slice is how long a turn lasts at least beside clients that have had as much.
	Slice = 5 * time.Millisecond
)

// Size is what is known of a plan before it is made.
type Size bool

// The sizes of plans.
const (
	Short Size = false
	Long  Size = true
)

// Queue shares workers among clients. Make one with New; it is safe for concurrent use.
type Queue struct {
	workers int
	waits   atomic.Int64 // jobs that wait for a turn

	mu      sync.Mutex // all below
	running int
	clients map[string]*client
	floor   time.Duration // the least that a client with plans has had
	turns   uint64        // that were given
}

// client has plans in the queue, or has had more than its share.
type client struct {
	name    string
	had     time.Duration // of the processors, counted from nowhere
	running *job
	waiting []*job
	last    uint64 // number of its last turn
}

// job is one plan.
type job struct {
	client *client
	turn   chan struct{} // gets a value when it is its turn
	since  time.Time     // of its turn, what is charged already excluded
	begun  time.Time     // of its turn
}

// New makes a queue with so many workers; 0 is one less than there are processors, but
// at least one.
func New(workers int) *Queue {
	if workers <= 0 {
		workers = max(1, rt.Cores()-1)
	}
	return &Queue{workers: workers, clients: map[string]*client{}}
}

// Do runs work in turns of a client and returns when it is over. If the context ends
// before the first of them, the work is not run and the error is that of the context.
// Work is to call Err of the context that it gets now and then, and to end when that
// returns an error.
func (q *Queue) Do(ctx context.Context, name string, size Size, work func(ctx context.Context)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	budget.Waits(ctx)
	j := q.enter(name, size)
	if err := q.await(ctx, j); err != nil {
		return err
	}
	defer q.leave(j)
	work(&turn{Context: ctx, queue: q, job: j})
	return nil
}

// enter lets a job wait for its first turn.
func (q *Queue) enter(name string, size Size) *job {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.settle()
	c := q.clients[name]
	if c == nil {
		c = &client{name: name, had: q.floor - Credit}
		q.clients[name] = c
	}
	if c.idle() {
		least := q.floor
		if size == Short {
			least -= Credit
		}
		c.had = max(c.had, least)
	}
	j := &job{client: c, turn: make(chan struct{}, 1)}
	c.waiting = append(c.waiting, j)
	q.waits.Add(1)
	q.schedule()
	return j
}

func (c *client) idle() bool { return c.running == nil && len(c.waiting) == 0 }

// await waits for a turn of a job that waits.
func (q *Queue) await(ctx context.Context, j *job) error {
	select {
	case <-j.turn:
		return nil
	case <-ctx.Done():
		q.withdraw(j)
		return ctx.Err()
	}
}

// withdraw takes a job that need not go on out of the queue.
func (q *Queue) withdraw(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := j.client
	if c.running == j { // its turn came at the same time
		q.end(j)
		return
	}
	for i, x := range c.waiting {
		if x == j {
			c.waiting = append(c.waiting[:i], c.waiting[i+1:]...)
			q.waits.Add(-1)
			break
		}
	}
	q.tidy(c)
}

// leave ends a job that may have its turn.
func (q *Queue) leave(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if j.client.running == j {
		q.end(j)
	}
}

// end takes the turn of a job, charged to its client.
func (q *Queue) end(j *job) {
	c := j.client
	q.charge(j)
	c.running = nil
	q.running--
	q.schedule()
	q.tidy(c)
}

// charge adds the time since the last charge to what the client has had.
func (q *Queue) charge(j *job) {
	now := time.Now()
	j.client.had += now.Sub(j.since)
	j.since = now
}

// schedule gives turns while there are workers for them.
func (q *Queue) schedule() {
	for q.running < q.workers {
		c := q.next()
		if c == nil {
			return
		}
		j := c.waiting[0]
		c.waiting = c.waiting[1:]
		q.waits.Add(-1)
		q.running++
		q.turns++
		c.running, c.last = j, q.turns
		j.since = time.Now()
		j.begun = j.since
		j.turn <- struct{}{}
	}
}

// next returns the client whose turn it is: of those that have none, the one that has
// had the least; of equals, the one whose last turn is the longest ago.
func (q *Queue) next() (first *client) {
	for _, c := range q.clients {
		if c.running != nil || len(c.waiting) == 0 {
			continue
		}
		if first == nil || c.had < first.had || c.had == first.had && (c.last < first.last || c.last == first.last && c.name < first.name) {
			first = c
		}
	}
	return first
}

// settle charges the turns so far and raises the floor to what the least of the clients
// with plans has had. It reports whether there is one.
func (q *Queue) settle() (busy bool) {
	var least time.Duration
	for _, c := range q.clients {
		if c.running != nil {
			q.charge(c.running)
		}
		if !c.idle() && (!busy || c.had < least) {
			least, busy = c.had, true
		}
	}
	if busy {
		q.floor = max(q.floor, least)
	}
	return busy
}

// tidy forgets clients without plans that would begin at the floor anyway.
func (q *Queue) tidy(left *client) {
	if !q.settle() {
		clear(q.clients) // no client waits for another
		return
	}
	for name, c := range q.clients {
		if c.idle() && c.had <= q.floor-Credit {
			delete(q.clients, name)
		}
	}
	if left.idle() && len(q.clients) > mostClients {
		delete(q.clients, left.name)
	}
}

// mostClients is how many are remembered.
const mostClients = 4096

// turn is the context of work that has its turns.
type turn struct {
	context.Context
	queue *Queue
	job   *job
}

// Err returns why the work is to end, nil if it is to go on. If another client is before
// this one, it returns when it is its turn again.
func (t *turn) Err() error {
	if err := t.Context.Err(); err != nil {
		return err
	}
	if t.queue.waits.Load() == 0 || !t.queue.yield(t.job) {
		return nil
	}
	return t.queue.await(t.Context, t.job)
}

// yield takes the turn of a job if another client is before its own.
func (q *Queue) yield(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	c, other := j.client, q.next()
	if c.running != j {
		return false
	}
	q.charge(j)
	if other == nil || other.had >= c.had || j.since.Sub(j.begun) < Slice && other.had >= c.had-Slice {
		return false
	}
	c.running = nil
	c.waiting = append([]*job{j}, c.waiting...)
	q.waits.Add(1)
	q.running--
	q.schedule()
	return true
}

// Workers returns how many plans are made at the same time.
func (q *Queue) Workers() int { return q.workers }
