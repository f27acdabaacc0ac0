package stop_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"poise/loop"
	"poise/stop"
)

// cycle is a robot whose stops get as far as the test lets them.
type cycle struct{ asked, taken, over atomic.Uint64 }

func (c *cycle) Stop(uint8) uint64 { return c.asked.Add(1) }

func (c *cycle) StopState() loop.StopState {
	return loop.StopState{Asked: c.asked.Load(), Taken: c.taken.Load(), Over: c.over.Load(), Time: 0.25}
}

func TestServiceNames(t *testing.T) {
	line := stop.New(t.Context(), []stop.Robot{{Name: "virtual", Cycle: &cycle{}}, {Name: "real", Cycle: &cycle{}}}, nil)
	for name, want := range map[string]bool{"stop": true, "/stop": true, "virtual/stop": true, "/real/stop": true,
		"//stop": true, "stop/": true, "virtual//stop": true, "/real/stop//": true, " /stop ": true, "///stop///": true,
		"": false, "/": false, "/stop/x": false, "other/stop": false, "virtual": false, "virtualstop": false, "nonstop": false} {
		if _, ok := line.Service(name); ok != want {
			t.Errorf("Service(%q) is %v, want %v", name, ok, want)
		}
	}
	var none *stop.Line
	if _, ok := none.Service("stop"); ok {
		t.Error("no line stops something")
	}
}

// TestAStopIsToldAsFarAsItIs: set, taken, over.
func TestAStopIsToldAsFarAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		told := make(chan stop.Done, 1)
		c := &cycle{}
		line := stop.New(ctx, []stop.Robot{{Name: "virtual", Cycle: c}}, func(d stop.Done) { told <- d })
		asked := line.All().Stop("me", 7)
		soon, end := context.WithTimeout(ctx, time.Second)
		defer end()
		if a := asked.Taken(soon); a.Success || !strings.Contains(a.Text, "has not taken it yet") {
			t.Errorf("answer %+v", a)
		}
		c.taken.Store(1)
		if a := asked.Taken(ctx); !a.Success || !strings.Contains(a.Text, "does not stand yet") {
			t.Errorf("answer %+v", a)
		}
		time.AfterFunc(time.Second, func() { c.over.Store(1) })
		if a := asked.Over(ctx); !a.Success || a.Text != "stands after 0.250 s" {
			t.Errorf("answer %+v", a)
		}
		if d := <-told; d != (stop.Done{Robot: "virtual", Who: "me", Category: 2, Result: "ok"}) {
			t.Errorf("told %+v", d)
		}
	})
}

// TestAFloodOfStopsIsBounded: every one is set; who is told of them hears how many were
// left out.
func TestAFloodOfStopsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var told, leftOut atomic.Int64
		c := &cycle{}
		line := stop.New(ctx, []stop.Robot{{Name: "virtual", Cycle: c}}, func(d stop.Done) { told.Add(1); leftOut.Add(int64(d.LeftOut)) })
		const n = 10000
		for range n {
			line.All().Stop("flood", 2)
		}
		c.taken.Store(n)
		c.over.Store(n)
		time.Sleep(time.Second)
		if c.asked.Load() != n || told.Load()+leftOut.Load() != n || told.Load() > 1000 {
			t.Errorf("%d set, %d told, %d left out", c.asked.Load(), told.Load(), leftOut.Load())
		}
	})
}
