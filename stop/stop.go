// Package stop is the way of a stop into the robots, separate from everything else.
//
// A stop sets a word that the cycle of a robot reads each tick. On the way to that word
// there is no lock, queue, slot, limit, log, disk or goroutine of anything else, so
// nothing that a client does can refuse or delay it. What comes after it (an answer, a
// line in the audit) may wait, and holds nothing up.
//
//	line := stop.New(ctx, robots, told)
//	if target, ok := line.Service("/stop"); ok {    // as a wire hears it
//		asked := target.Stop(who, stop.Mildest)      // done
//		answer := asked.Over(ctx)                    // when the robots stand
//	}
//
// A wire asks Service before its own limits apply to a call, and takes a call whose
// arguments it cannot read for a stop of the mildest category: who calls stop wants the
// robot to stop, and a slip must not cost a robot its torque.
package stop

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"poise/loop"
)

// Mildest is the category of a stop that names none: ramp down, and hold.
const Mildest = 2

// Cycle is a loop as a stop needs it; *loop.Loop is one.
type Cycle interface {
	Stop(category uint8) (number uint64)
	StopState() loop.StopState
}

// Robot is a robot that can be stopped.
type Robot struct {
	Name  string
	Cycle Cycle
}

// Line leads to the robots of a server. It does not change, and all that it does is safe
// for concurrent use.
type Line struct {
	life     context.Context
	robots   []Robot
	told     func(Done)
	watching atomic.Int32
	leftOut  atomic.Int64
}

// Done is what became of a stop of one robot.
type Done struct {
	Robot, Who string
	Category   uint8
	Result     string // ok, or what is amiss
	LeftOut    int    // stops before it that were not told, because so many came
}

// New makes the line of some robots; names without a robot's mean the first. Until life is
// over told is called after each stop, by a goroutine of its own. It may be nil.
func New(life context.Context, robots []Robot, told func(Done)) *Line {
	if told == nil {
		told = func(Done) {}
	}
	return &Line{life: life, robots: slices.Clone(robots), told: told}
}

// Target is what a stop is for.
type Target struct {
	line   *Line
	robots []Robot
}

// Service finds what a call of a service stops: NAME/stop one robot, stop the first. It
// is false for all other services.
func (l *Line) Service(name string) (Target, bool) {
	name = strings.TrimPrefix(name, "/")
	if l == nil || len(l.robots) == 0 {
		return Target{}, false
	}
	if name == "stop" {
		return Target{l, l.robots[:1]}, true
	}
	robot, ok := strings.CutSuffix(name, "/stop")
	if !ok {
		return Target{}, false
	}
	return l.Robot(robot)
}

// Robot is one robot.
func (l *Line) Robot(name string) (Target, bool) {
	for i := range l.robots {
		if l.robots[i].Name == name {
			return Target{l, l.robots[i : i+1]}, true
		}
	}
	return Target{}, false
}

// All are all robots.
func (l *Line) All() Target { return Target{l, l.robots} }

// Asked is a stop that was asked for.
type Asked struct {
	target   Target
	who      string
	category uint8
	numbers  []uint64 // by robot
}

// mostWatched bounds the stops that wait to be told.
const mostWatched = 256

// Stop stops the robots, and returns at once. A category beyond the mildest is that.
func (t Target) Stop(who string, category uint8) *Asked {
	a := &Asked{target: t, who: who, category: min(category, Mildest), numbers: make([]uint64, len(t.robots))}
	for i, r := range t.robots {
		a.numbers[i] = r.Cycle.Stop(a.category)
	}
	if t.line.watching.Add(1) > mostWatched {
		t.line.watching.Add(-1)
		t.line.leftOut.Add(1)
		return a
	}
	go func() {
		defer t.line.watching.Add(-1)
		ctx, cancel := context.WithTimeout(t.line.life, Patience)
		defer cancel()
		a.await(ctx, over)
		if t.line.life.Err() != nil {
			return // no client is left to answer
		}
		for i, r := range t.robots {
			result := "ok"
			if !over(r.Cycle.StopState(), a.numbers[i]) {
				result = a.word(i)
			}
			t.line.told(Done{Robot: r.Name, Who: who, Category: a.category, Result: result, LeftOut: int(t.line.leftOut.Swap(0))})
		}
	}()
	return a
}

// Patience is how long a stop may take before it is told that the robot does not stand.
const Patience = 10 * time.Second

// look is how often the cycle is looked at: it notifies no goroutine, since it
// waits for none.
const look = time.Millisecond

func taken(s loop.StopState, number uint64) bool { return s.Taken >= number }
func over(s loop.StopState, number uint64) bool  { return s.Over >= number }

// await waits until all robots are as wanted, or ctx is over, and reports whether they are.
func (a *Asked) await(ctx context.Context, wanted func(loop.StopState, uint64) bool) bool {
	var tick *time.Ticker
	for i := 0; i < len(a.numbers); {
		if wanted(a.target.robots[i].Cycle.StopState(), a.numbers[i]) {
			i++
			continue
		}
		if tick == nil {
			tick = time.NewTicker(look)
			defer tick.Stop()
		}
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return true
}

// Answer is what a stop came to.
type Answer struct {
	Success bool
	Text    string // for people
}

// Over waits until the robots stand.
func (a *Asked) Over(ctx context.Context) Answer {
	ok := a.await(ctx, over)
	return Answer{ok, a.Now()}
}

// Taken waits until the cycles have taken the stop.
func (a *Asked) Taken(ctx context.Context) Answer {
	ok := a.await(ctx, taken)
	return Answer{ok, a.Now()}
}

// Now says how far the stop is.
func (a *Asked) Now() string {
	words := make([]string, len(a.numbers))
	for i := range words {
		if words[i] = a.word(i); len(words) > 1 {
			words[i] = a.target.robots[i].Name + " " + words[i]
		}
	}
	return strings.Join(words, ", ")
}

// word says how far the stop of one robot is.
func (a *Asked) word(i int) string {
	switch s := a.target.robots[i].Cycle.StopState(); {
	case over(s, a.numbers[i]):
		return fmt.Sprintf("stands after %.3f s", s.Time)
	case taken(s, a.numbers[i]):
		return fmt.Sprintf("stops by category %d, and does not stand yet", a.category)
	}
	return fmt.Sprintf("is told to stop by category %d; its cycle has not taken it yet", a.category)
}
