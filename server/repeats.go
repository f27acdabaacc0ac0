package server

import (
	"context"
	"sync"
	"time"
)

// repeats keeps the log readable: what is said again and again is said once, and
// then every so often with how many times it was left out. The zero value is ready.
type repeats struct {
	mu   sync.Mutex
	runs map[string]int // how often each was left out since it was last said
}

// say calls log now if this was not said within the last period, and otherwise
// counts it; when the period is over log is called with that count.
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

// over ends a period: a run that went on is told about, and has another one.
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
