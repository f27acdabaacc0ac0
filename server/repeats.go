package server

import (
	"context"
	"sync"
	"time"
)

// repeats keeps the log readable: a line that comes again and again is logged once, and
// then once per period with the number of those left out. The zero value is ready.
type repeats struct {
	mu   sync.Mutex
	runs map[string]int // how many lines of a key were left out since the last one
}

// say calls log at once if the key was not logged within the last period. Otherwise it
// counts, and log is called with the count when the period is over.
func (r *repeats) say(life context.Context, key string, period time.Duration, log func(leftOut int)) {
	r.mu.Lock()
	if n, running := r.runs[key]; running {
		r.runs[key] = n + 1
		r.mu.Unlock()
		return
	}
	if r.runs == nil {
		r.runs = map[string]int{}
	}
	r.runs[key] = 0
	r.mu.Unlock()
	log(0)
	time.AfterFunc(period, func() { r.over(life, key, period, log) })
}

// over ends a period: if lines were left out, it logs how many and starts another one.
func (r *repeats) over(life context.Context, key string, period time.Duration, log func(leftOut int)) {
	r.mu.Lock()
	n := r.runs[key]
	if n == 0 || life.Err() != nil {
		delete(r.runs, key)
		r.mu.Unlock()
		return
	}
	r.runs[key] = 0
	r.mu.Unlock()
	log(n)
	time.AfterFunc(period, func() { r.over(life, key, period, log) })
}
