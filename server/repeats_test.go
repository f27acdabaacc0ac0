package server

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestRepeatsAreSaidOnceAndCounted: the first at once, the others as a number when the
// period is over, and after a quiet period the next one at once again.
func TestRepeatsAreSaidOnceAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life, end := context.WithCancel(context.Background())
		var r repeats
		var mu sync.Mutex // timers say things, too
		var said []int
		note := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, n)
		}
		say := func(times int) {
			for range times {
				r.say(life, "overrun", time.Second, note)
			}
		}
		say(5)
		r.say(life, "another", time.Second, func(leftOut int) { note(100 + leftOut) })
		time.Sleep(1500 * time.Millisecond)
		say(2) // still within the period that the count began
		time.Sleep(3 * time.Second)
		r.mu.Lock()
		if len(r.runs) > 0 {
			t.Errorf("after a quiet period %v is remembered", r.runs)
		}
		r.mu.Unlock()
		say(3)
		end()
		time.Sleep(3 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		if want := []int{0, 100, 4, 2, 0}; !slices.Equal(said, want) {
			t.Errorf("said %v, want %v", said, want)
		}
	})
}
