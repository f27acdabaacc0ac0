package server_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"poise/internal/stepped"
	"poise/msgs/poisemsgs"
	"poise/server"
	"poise/server/config"
)

// stalled is the pipe of a log whose reader does not read until it is let go.
type stalled struct {
	notebook
	once sync.Once
	flow chan struct{}
}

func (s *stalled) Write(p []byte) (int, error) {
	<-s.flow
	return s.notebook.Write(p)
}

// TestAStalledLogReaderDelaysNothing: with a log pipe that is not read, hundreds of
// commands, a stop, a state, and the end of the server take no longer than with one that is
// read; what was dropped is counted in the metrics and told when lines flow again.
func TestAStalledLogReaderDelaysNothing(t *testing.T) {
	t.Parallel()
	times := map[bool]time.Duration{}
	for _, read := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			log := &stalled{flow: make(chan struct{})}
			release := func() { log.once.Do(func() { close(log.flow) }) }
			defer release()
			if read {
				release()
			}
			b := startWith(t, log)
			began := time.Now()
			for range 100 {
				b.call("/pause", &poisemsgs.PauseRequest{}, &poisemsgs.PauseResponse{})
				b.call("/resume", &poisemsgs.ResumeRequest{}, &poisemsgs.ResumeResponse{})
				time.Sleep(20 * time.Millisecond) // within a client's share of the log
			}
			b.must("/stop", &poisemsgs.StopRequest{Category: 2})
			b.call("/get_state", &poisemsgs.GetStateRequest{}, &poisemsgs.GetStateResponse{})
			b.stop()
			err := <-b.ended
			b.ended <- err
			if err != nil {
				t.Error(err)
			}
			times[read] = time.Since(began)
		})
	}
	if slower := times[false] - times[true]; slower > 500*time.Millisecond { // the last lines get 300 ms
		t.Errorf("with a log that is not read all takes %v longer than %v", slower, times[true])
	}
}

// TestDroppedLogLinesAreCounted in the metrics, and told in the log when it flows again.
func TestDroppedLogLinesAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := &stalled{flow: make(chan struct{})}
		release := func() { log.once.Do(func() { close(log.flow) }) }
		defer release()
		b := startWith(t, log)
		var all sync.WaitGroup
		for range 20 { // each within its share
			c := b.dial()
			all.Go(func() {
				for range 480 {
					if _, err := c.Call(b.ctx, "/pause", []byte(`{}`)); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		if _, text := b.get("/metrics", nil); strings.Contains(text, "poise_log_lines_dropped_total 0\n") || !strings.Contains(text, "poise_log_lines_dropped_total ") {
			t.Error("the metrics count no dropped lines")
		}
		release()
		synctest.Wait()
		b.call("/pause", &poisemsgs.PauseRequest{}, &poisemsgs.PauseResponse{})
		if len(log.lines("log lines are missing here", "dropped=")) == 0 {
			t.Error("the log does not say that lines are missing")
		}
	})
}

// TestAClientHasItsShareOfTheLog: one that sends commands as fast as it can is logged for
// its burst, and then in a line a second with a count; its stop is always logged.
func TestAClientHasItsShareOfTheLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		began := time.Now()
		var all sync.WaitGroup
		for range 30 {
			all.Go(func() {
				for range 100 {
					if _, err := b.c.Call(b.ctx, "/resume", []byte(`{}`)); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		allowed := 500 + int(51*time.Since(began).Seconds()) + 2
		b.must("/stop", &poisemsgs.StopRequest{Category: 2})
		time.Sleep(3 * time.Second)
		if n := len(b.log.lines("msg=audit", "what=resume")); n < 500 || n > allowed || allowed > 1500 {
			t.Errorf("%d lines about 3000 commands, %d are allowed", n, allowed)
		}
		if len(b.log.lines("left_out=")) == 0 {
			t.Error("nothing says how many lines were left out")
		}
		if len(b.log.lines("msg=audit", `what="stop 2"`)) != 1 {
			t.Error("the stop is not in the log")
		}
	})
}

// TestAStatusOf8MBIsCutInTheLog, on the wire's status operation.
func TestAStatusOf8MBIsCutInTheLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		talker, err := b.stranger()
		if err != nil {
			t.Fatal(err)
		}
		defer talker.Close()
		say := func(text string) {
			if err := talker.frame(textFrame, fmt.Appendf(nil, `{"op":"status","level":"info","msg":%q}`, text)); err != nil {
				t.Fatal(err)
			}
		}
		say(strings.Repeat("x", 7<<20))
		b.until("it is logged", func() bool { return len(b.log.lines("client says")) > 0 })
		if line := b.log.lines("client says")[0]; len(line) > 2000 || !strings.Contains(line, "bytes=73400") {
			t.Errorf("a line of %d bytes: %.300s", len(line), line)
		}
		for range 500 {
			say("again")
		}
		b.call("/get_state", &poisemsgs.GetStateRequest{}, &poisemsgs.GetStateResponse{})
		if n := len(b.log.lines("client says")); n > 60 {
			t.Errorf("%d lines of one client", n)
		}
	})
}

// startWith runs a server with a log of its own.
func startWith(t *testing.T, log *stalled) *bed {
	t.Helper()
	c := config.Default()
	c.Listen, c.Motions, c.Loop.Period = "127.0.0.1:0", t.TempDir(), 0.005
	network := &stepped.Net{}
	b := &bed{t: t, net: network, log: &log.notebook, ended: make(chan error, 1)}
	b.serve(c, server.Options{Log: log, Clock: stepped.Clock{}, Listen: network.Listen, HTTP: network.Client()})
	b.c = b.dial()
	return b
}
