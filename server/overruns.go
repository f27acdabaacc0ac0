package server

import (
	"fmt"
	"sync"
	"time"

	"poise/executive/explain"
	"poise/loop"
)

// overrunCode is the code of the fault, and overrunHelp what helps against it.
var overrunCode = "fault_" + explain.Underscored(loop.Overrun.String())

const overrunHelp = "poise serve with a longer --period, or with --priority for real time, helps"

// overruns keeps the log readable on a busy machine: the first time that the cycle misses
// too many periods is logged, the following ones are counted, and one line sums them up
// when they are over. The zero value is ready.
type overruns struct {
	mu    sync.Mutex
	bouts int       // since the first line; 0 while the cycle keeps its periods
	fresh bool      // a bout came since the last look
	began time.Time // the first one
	last  time.Time // the latest one
	told  time.Time // the last line
	from  uint64    // periods that were missed until then
}

const (
	overrunQuiet = time.Minute // without a bout: then a busy time is over
	overrunEvery = time.Hour   // a busy time that does not end is summed up so often
)

// add counts a bout. Of the first one of a busy time it returns true: that is logged at
// once, and look is to be called overrunQuiet later.
func (o *overruns) add(missed uint64) (first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bouts++
	o.last = time.Now()
	if o.fresh = o.bouts > 1; o.fresh {
		return false
	}
	o.began, o.told, o.from = o.last, o.last, missed
	return true
}

// busy reports whether a busy time is going on.
func (o *overruns) busy() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bouts > 0
}

// look returns the line that sums a busy time up, "" if it is not time for it, and whether
// the busy time goes on and look is to be called again. At the end of the server it is over
// in any case.
func (o *overruns) look(missed uint64, end bool) (line string, again bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.bouts == 0 {
		return "", false
	}
	again = o.fresh && !end
	o.fresh = false
	now := time.Now()
	if again && now.Sub(o.told) < overrunEvery {
		return "", true
	}
	line = fmt.Sprintf("overrun, in all: the cycle missed %d periods", missed-o.from)
	if o.bouts > 1 {
		line += fmt.Sprintf(" in %d bouts within %v", o.bouts, o.last.Sub(o.began).Round(time.Second))
	}
	o.told = now
	if !again {
		o.bouts = 0
	}
	return line, again
}

// missedPeriods is how many periods the cycle of the robot missed since the start.
func (bot *servedRobot) missedPeriods() uint64 {
	if bot.s.runner == nil {
		return 0
	}
	stats, _ := bot.s.cycleStats(bot.name)
	return stats.Missed
}

// sumUpOverruns logs a busy time that is over, and looks again later at one that is not.
func (bot *servedRobot) sumUpOverruns(end bool) {
	if bot.s.life.Err() != nil && !end {
		return // the end of the server sums up
	}
	line, again := bot.overruns.look(bot.missedPeriods(), end)
	if line != "" {
		bot.s.log.Warn(line+"; "+overrunHelp, "robot", bot.name, "kind", "fault", "code", string(overrunCode))
	}
	if again {
		time.AfterFunc(overrunQuiet, func() { bot.sumUpOverruns(false) })
	}
}

// sumUpOverruns logs the busy times that last until the end.
func (s *Server) sumUpOverruns() {
	for _, bot := range s.robots {
		bot.sumUpOverruns(true)
	}
}
