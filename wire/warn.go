package wire

import (
	"log/slog"
	"sync"
	"time"
)

// warnEvery is the least time between two warnings about peers.
const warnEvery = time.Second / 5

// Warner logs warnings about what peers do, at most five a second, so that they cannot
// fill the log. It is safe for concurrent use.
type Warner struct {
	Log *slog.Logger

	mu      sync.Mutex
	last    time.Time // when the last one was logged
	leftOut int       // since then
}

// Warn logs a line, with the number of those that were left out before it.
func (w *Warner) Warn(text string, args ...any) {
	w.mu.Lock()
	now := time.Now()
	if now.Sub(w.last) < warnEvery {
		w.leftOut++
		w.mu.Unlock()
		return
	}
	if w.leftOut > 0 {
		args = append(args, "left_out", w.leftOut)
	}
	w.last, w.leftOut = now, 0
	w.mu.Unlock()
	w.Log.Warn(text, args...)
}
