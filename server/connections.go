package server

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"poise/internal/budget"
)

// Bounds of HTTP, besides those of the wires: how many connections are open, how long one
// may do nothing, and how fast figures are asked for.
const (
	maxConnections = 256
	headerWithin   = 5 * time.Second
	idleWithin     = 30 * time.Second
	maxHeader      = 64 << 10

	metricsRate   = 50 // per second, of all who ask
	metricsWithin = time.Second
)

// connections bounds the HTTP connections that are open. A new one always gets in, so that
// an operator does whatever others hold: when there are too many, the one is closed that
// has been idle longest; then the one that has been silent longest since it came; then
// the oldest. Sockets of a wire are the wire's and do not count here.
type connections struct {
	max int

	mu   sync.Mutex
	all  map[net.Conn]connection
	next uint64
}

type connection struct {
	state http.ConnState
	since uint64 // order of changes
}

// newConnections bounds them to max.
func newConnections(max int) *connections {
	return &connections{max: max, all: map[net.Conn]connection{}}
}

// changed is the ConnState of an http.Server.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	if gone := c.note(conn, state); gone != nil {
		gone.Close()
	}
}

// note takes a change and returns the connection that has to go, if any.
func (c *connections) note(conn net.Conn, state http.ConnState) net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state == http.StateClosed || state == http.StateHijacked {
		delete(c.all, conn)
		return nil
	}
	c.next++
	c.all[conn] = connection{state, c.next}
	if len(c.all) <= c.max {
		return nil
	}
	for _, s := range []http.ConnState{http.StateIdle, http.StateNew, http.StateActive} {
		if oldest := c.oldest(s, conn); oldest != nil {
			delete(c.all, oldest)
			return oldest
		}
	}
	return nil
}

// oldest returns the connection that has been in a state longest, but not the one that
// just changed.
func (c *connections) oldest(state http.ConnState, but net.Conn) (found net.Conn) {
	var since uint64
	for conn, one := range c.all {
		if one.state == state && conn != but && (found == nil || one.since < since) {
			found, since = conn, one.since
		}
	}
	return found
}

// limitRate lets so many requests through per second, one at a time; others wait a little
// and are then refused.
func limitRate(rate int, within time.Duration, h http.HandlerFunc) http.HandlerFunc {
	turn := budget.NewTurns(1)
	var next time.Time // with the turn
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), within)
		defer cancel()
		if !turn.Take(ctx) {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many ask for this at once", http.StatusTooManyRequests)
			return
		}
		defer turn.Done()
		now := time.Now()
		if ahead := next.Sub(now); ahead > 0 {
			time.Sleep(ahead)
		}
		// some may come at once after a pause
		if next = next.Add(time.Second / time.Duration(rate)); next.Before(now.Add(-within)) {
			next = now.Add(-within)
		}
		h(w, r)
	}
}
