package budget

import "context"

// Turns lets a bounded number of jobs run at a time; others wait, first come first served.
// A client whose jobs come one after the other so gets every n-th turn among n of its kind,
// however large they are.
type Turns struct{ free chan struct{} }

// NewTurns lets n jobs run at a time, at least one.
func NewTurns(n int) *Turns { return &Turns{free: make(chan struct{}, max(n, 1))} }

// Take waits for a turn; false if ctx ended before it came. Done ends the turn.
func (t *Turns) Take(ctx context.Context) bool {
	select {
	case t.free <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// Done ends a turn.
func (t *Turns) Done() { <-t.free }
