package server

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"poise/executive"
	"poise/loop"
	"poise/problem"
)

// lockedLog is a log that timers write to, too.
type lockedLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedLog) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.FieldsFunc(l.b.String(), func(c rune) bool { return c == '\n' })
}

// TestABusyMachineGivesOneLineAndASummary: overruns that come and go for twelve minutes are
// one line at once and one when they are over; those until the end are summed up by the end;
// and one that holds the robot is told as any other fault.
func TestABusyMachineGivesOneLineAndASummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life, end := context.WithCancel(context.Background())
		defer end()
		var log lockedLog
		s := &Server{log: slog.New(slog.NewTextHandler(&log, nil)), life: life}
		bot := &servedRobot{s: s, name: "virtual"}
		s.robots = []*servedRobot{bot}
		overrun := func(kind string, severity loop.Severity) {
			bot.notice(executive.Notice{Kind: kind, Severity: severity, Explanation: problem.Problem{Code: overrunCode, Text: "overrun: the cycle missed 6"}})
		}
		bouts := func(n int) {
			for range n {
				overrun("fault", loop.SeverityWarn)
				time.Sleep(2 * time.Second)
				overrun("fault_cleared", 0)
				time.Sleep(3 * time.Second)
			}
		}
		expect := func(when string, want ...string) {
			t.Helper()
			got := log.lines()
			if len(got) != len(want) {
				t.Fatalf("%s: %d lines, want %d:\n%s", when, len(got), len(want), strings.Join(got, "\n"))
			}
			for i, text := range want {
				if !strings.Contains(got[i], text) || !strings.Contains(got[i], "level=WARN") || !strings.Contains(got[i], "robot=virtual") {
					t.Errorf("%s: line %d is %s, want %q", when, i, got[i], text)
				}
			}
		}
		bouts(144)
		expect("after twelve minutes", "overrun: the cycle missed 6")
		time.Sleep(3 * time.Minute)
		sum := "in 144 bouts within 11m55s"
		expect("once they are over", "overrun: the cycle missed 6", sum)
		if !strings.Contains(log.lines()[1], "--period") {
			t.Errorf("the sum does not say what helps: %s", log.lines()[1])
		}

		bouts(10)
		end()
		s.sumUpOverruns()
		s.sumUpOverruns()
		time.Sleep(5 * time.Minute)
		expect("at the end", "overrun: the cycle missed 6", sum, "overrun: the cycle missed 6", "in 10 bouts within 45s")
	})
}

// TestOverrunsThatHoldTheRobotAreTold: they are no matter of a summary.
func TestOverrunsThatHoldTheRobotAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life, end := context.WithCancel(context.Background())
		defer end()
		var log lockedLog
		bot := &servedRobot{s: &Server{log: slog.New(slog.NewTextHandler(&log, nil)), life: life}, name: "virtual"}
		for range 3 {
			bot.notice(executive.Notice{Kind: "fault", Severity: loop.SeverityHold, Explanation: problem.Problem{Code: overrunCode, Text: "held"}})
			time.Sleep(noticeEvery + time.Second)
			bot.notice(executive.Notice{Kind: "fault_cleared", Explanation: problem.Problem{Code: overrunCode, Text: "cleared"}})
			time.Sleep(noticeEvery + time.Second)
		}
		if got := log.lines(); len(got) != 6 || strings.Contains(strings.Join(got, ""), "bouts") {
			t.Errorf("%d lines, want 6:\n%s", len(got), strings.Join(got, "\n"))
		}
	})
}

// TestABusyTimeWithoutEndIsSummedUpEveryHour.
func TestABusyTimeWithoutEndIsSummedUpEveryHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o overruns
		lines, missed := 0, uint64(7)
		for at := 0; at < 5*60; at++ { // minutes
			o.add(missed)
			missed++
			time.Sleep(overrunQuiet)
			o.add(missed)
			if line, again := o.look(missed, false); !again {
				t.Fatalf("after %d minutes it is over", at)
			} else if line != "" {
				lines++
			}
		}
		if lines != 5 {
			t.Errorf("%d lines in five hours", lines)
		}
	})
}
