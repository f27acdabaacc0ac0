// Package stop delivers stops to robots, separately from all other calls.
//
// A stop sets a word that the cycle of a robot reads each tick. Setting it needs no lock,
// queue, slot, limit, log, disk or goroutine that anything else uses, so no client can
// make a stop fail or wait. What follows (the answer, the line in the audit) may wait
// without delaying the stop.
//
//	line := stop.New(ctx, robots, told)
//	if target, ok := line.Service("/stop"); ok {    // as a wire hears it
//		asked := target.Stop(who, stop.Mildest)      // done
//		answer := asked.Over(ctx)                    // when the robots stand
//	}
//
// A wire asks Service before its own limits apply to a call. A call whose arguments
// cannot be read is a stop of the mildest category: the caller wants the robot to stop,
// and a typing error must not take the robot's torque away.
package stop

import (
	"context"
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
	Name    string
	Cycle   Cycle
	Confirm loop.Confirmer // nil: what its cycle has done is done
}

// Line leads to the robots of a server, and of the servers that it mirrors. It does not
// change, and all that it does is safe for concurrent use.
type Line struct {
	life     context.Context
	robots   []Robot
	remotes  []Remote
	told     func(Done)
	watching atomic.Int32
	leftOut  atomic.Int64
}

// Done is what became of a stop of one robot, or of a remote.
type Done struct {
	Robot, Who string
	Category   uint8
	Result     string // "ok", or what is wrong
	LeftOut    int    // stops before it that were not told, because so many came
}

// New makes the line of some robots; names without a robot's mean the first. Until life is
// over told is called after each stop, by a goroutine of its own. It may be nil.
func New(life context.Context, robots []Robot, told func(Done), remotes ...Remote) *Line {
	if told == nil {
		told = func(Done) {}
	}
	return &Line{life: life, robots: slices.Clone(robots), told: told, remotes: remotes}
}

// Target is what a stop is for.
type Target struct {
	line    *Line
	robots  []Robot
	remotes []Remote
	service string // of the remotes; empty for all their robots
	hops    int
}

// Service finds what a call of a service stops: NAME/stop one robot, stop the first,
// REMOTE/stop and REMOTE/NAME/stop those of a remote. It is false for all other services.
// Slashes and spaces too many do not keep a robot from being stopped.
func (l *Line) Service(name string) (Target, bool) {
	if l == nil {
		return Target{}, false
	}
	name = strings.Trim(name, surplus)
	if !strings.HasSuffix(name, "stop") {
		return Target{}, false // most calls
	}
	if name = plain(name); name == "stop" && len(l.robots) > 0 {
		return Target{line: l, robots: l.robots[:1]}, true
	}
	robot, ok := strings.CutSuffix(name, "/stop")
	if !ok {
		return Target{}, false
	}
	if t, ok := l.own(robot); ok {
		return t, true
	}
	for i, r := range l.remotes {
		service, ok := strings.CutPrefix(name, plain(r.Name())+"/")
		if ok && r.Stops(service) {
			return Target{line: l, remotes: l.remotes[i : i+1], service: service}, true
		}
	}
	return Target{}, false
}

// surplus is what a name does not need at its ends.
const surplus = "/ \t\r\n"

// plain is a name without the slashes and spaces that it does not need.
func plain(name string) string {
	name = strings.Trim(name, surplus)
	for strings.Contains(name, "//") {
		name = strings.ReplaceAll(name, "//", "/")
	}
	return name
}

// Robot is one robot: of this server, or behind a remote. The name of a remote means all
// of its robots.
func (l *Line) Robot(name string) (Target, bool) {
	name = plain(name)
	if t, ok := l.own(name); ok {
		return t, true
	}
	for i, r := range l.remotes {
		if plain(r.Name()) == name {
			return Target{line: l, remotes: l.remotes[i : i+1]}, true
		}
	}
	if strings.Contains(name, "/") {
		return l.Service(name + "/stop")
	}
	return Target{}, false
}

// own is a robot of this server.
func (l *Line) own(name string) (Target, bool) {
	for i := range l.robots {
		if l.robots[i].Name == name {
			return Target{line: l, robots: l.robots[i : i+1]}, true
		}
	}
	return Target{}, false
}

// All are all robots, those of remotes included.
func (l *Line) All() Target { return Target{line: l, robots: l.robots, remotes: l.remotes} }

// maxHops is how many servers a stop is passed on by: two that mirror each other must not
// pass it on for ever.
const maxHops = 4

// Via is the target of a stop that so many servers have passed on already.
func (t Target) Via(hops int) Target {
	if t.hops = max(0, hops); t.hops >= maxHops {
		t.remotes = nil
	}
	return t
}

// Asked is a stop that was asked for.
type Asked struct {
	target   Target
	who      string
	category uint8
	parts    []part
}

// mostWatched bounds the stops that wait to be told.
const mostWatched = 256

// Stop stops the robots, and returns at once. A category beyond the mildest is that. The
// robots of this server come first: remotes are asked by goroutines of their own.
func (t Target) Stop(who string, category uint8) *Asked {
	a := &Asked{target: t, who: who, category: min(category, Mildest), parts: make([]part, 0, len(t.robots)+len(t.remotes))}
	for _, r := range t.robots {
		a.parts = append(a.parts, part{r.Name, &local{robot: r, number: r.Cycle.Stop(a.category), category: a.category}})
	}
	for _, r := range t.remotes {
		name := r.Name()
		if robot, ok := strings.CutSuffix(t.service, "/stop"); ok {
			name += "/" + robot
		}
		a.parts = append(a.parts, part{name, r.Stop(t.service, a.category, t.hops+1)})
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
		a.await(ctx, Progress.Over)
		if t.line.life.Err() != nil {
			return // no client is left to answer
		}
		for _, p := range a.parts {
			result := "ok"
			if !p.Over() {
				result = p.String()
			}
			t.line.told(Done{Robot: p.name, Who: who, Category: a.category, Result: result, LeftOut: int(t.line.leftOut.Swap(0))})
		}
	}()
	return a
}

// Patience is how long a stop may take before it is told that the robot does not stand.
const Patience = 10 * time.Second

// look is how often the cycle is looked at: it notifies no goroutine, since it
// waits for none.
const look = time.Millisecond

// await waits until all robots are as wanted, or ctx is over, and reports whether they are.
func (a *Asked) await(ctx context.Context, wanted func(Progress) bool) bool {
	var tick *time.Ticker
	all := true
	for i := 0; i < len(a.parts); {
		p := a.parts[i]
		if failed := p.Failed(); wanted(p) || failed {
			all = all && wanted(p)
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
	return all
}

// Answer is what a stop came to.
type Answer struct {
	Success bool
	Text    string // for people
}

// Over waits until the robots stand, and servos that can be silent have answered since: not for long.
func (a *Asked) Over(ctx context.Context) Answer {
	ok := a.await(ctx, Progress.Over)
	return Answer{ok, a.now()}
}

// Taken waits until the cycles have taken the stop, and servos that can be silent have answered since.
func (a *Asked) Taken(ctx context.Context) Answer {
	ok := a.await(ctx, Progress.Taken)
	return Answer{ok, a.now()}
}

// Set says how far the stop is, without waiting. Robots of this server are as good as
// stopped; of those elsewhere it is only true once they have answered.
func (a *Asked) Set() Answer {
	ok := true
	for _, p := range a.parts {
		_, here := p.Progress.(*local)
		ok = ok && (here || p.Taken())
	}
	return Answer{ok, a.now()}
}

// now says how far the stop is.
func (a *Asked) now() string {
	words := make([]string, len(a.parts))
	for i, p := range a.parts {
		words[i] = p.String()
		if _, here := p.Progress.(*local); !here {
			words[i] = p.name + ": " + words[i]
		} else if len(words) > 1 {
			words[i] = p.name + " " + words[i]
		}
	}
	return strings.Join(words, ", ")
}
