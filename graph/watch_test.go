package graph

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"poise/msgs"
)

// take returns what waits for a watcher.
func take(w *Watcher) (got []string) {
	for {
		c, ok := w.Poll()
		if !ok {
			return got
		}
		if c.All {
			got = append(got, "all")
			continue
		}
		got = append(got, c.Kind.String()+" "+c.Name)
	}
}

func wantChanges(t *testing.T, w *Watcher, want ...string) {
	t.Helper()
	if got := take(w); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("changes %q, want %q", got, want)
	}
}

func TestAWatcherHearsOfEveryChange(t *testing.T) {
	g := newGraph(t)
	if err := g.Alias("virtual/joints", "joints"); err != nil {
		t.Fatal(err)
	}
	early := must[Publisher[msgs.Int32]](t)(Topic[msgs.Int32](g, "early", TopicOptions{}))
	w := g.Watch(nil)
	wantChanges(t, w, "topic /early") // what exists has just changed

	pub := must[Publisher[msgs.Int32]](t)(Topic[msgs.Int32](g, "joints", TopicOptions{}))
	wantChanges(t, w, "topic /virtual/joints", "topic /joints")
	sub := must[*Subscription](t)(g.Subscribe("virtual/joints", SubscribeOptions{}))
	wantChanges(t, w, "topic /virtual/joints", "topic /joints")
	pub.Publish(new(msgs.Int32))
	wantChanges(t, w) // messages are not changes
	sub.Close()
	pub.Close()
	wantChanges(t, w, "topic /virtual/joints", "topic /joints")
	if _, ok := g.TopicInfo("joints"); ok {
		t.Error("the topic is still there")
	}

	s := setBool(t, g, "set", ServiceOptions{}, func(context.Context, *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) { return nil, nil })
	wantChanges(t, w, "service /set")
	if i, ok := g.ServiceInfo("set"); !ok || i.Node != "/poise" || i.Type.String() != "std_srvs/srv/SetBool" {
		t.Errorf("%+v", i)
	}
	s.Close()
	wantChanges(t, w, "service /set")
	if _, ok := g.ServiceInfo("set"); ok {
		t.Error("the service is still there")
	}

	a := (&keeper{}).serve(t, g)
	wantChanges(t, w, "topic /play_motion/status", "topic /play_motion/feedback", "topic /play_motion/result", "topic /play_motion/goal", "topic /play_motion/cancel", "action /play_motion")
	if i, ok := g.ActionInfo("play_motion"); !ok || i.Name != "/play_motion" || i.Goals != 0 {
		t.Errorf("%+v", i)
	}
	a.Close()
	if got := take(w); len(got) != 6 || got[5] != "action /play_motion" {
		t.Errorf("the end of an action: %q", got)
	}
	early.Close()
	w.Close()
	wantChanges(t, w)
	if _, err := w.Next(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed watcher: %v", err)
	}
}

// TestChangesAreToldOnce however often they happen before the watcher looks.
func TestChangesAreToldOnce(t *testing.T) {
	g := newGraph(t)
	woken := 0
	w := g.Watch(func() { woken++ })
	for range 100 {
		must[*Subscription](t)(g.Subscribe("a", SubscribeOptions{})).Close()
		must[*Subscription](t)(g.Subscribe("b", SubscribeOptions{})).Close()
	}
	wantChanges(t, w, "topic /a", "topic /b")
	if woken != 1 {
		t.Errorf("woken %d times for one filling", woken)
	}
}

// TestASlowWatcherIsBounded: names that come and go do not pile up.
func TestASlowWatcherIsBounded(t *testing.T) {
	g := New(Options{MaxNames: 4})
	defer g.Close()
	w := g.Watch(nil)
	for i := range 1000 {
		must[*Subscription](t)(g.Subscribe(fmt.Sprint("t", i), SubscribeOptions{})).Close()
	}
	wantChanges(t, w, "all")
	must[*Subscription](t)(g.Subscribe("x", SubscribeOptions{}))
	wantChanges(t, w, "topic /x")
}

func TestASecondNameIsAChange(t *testing.T) {
	g := newGraph(t)
	must[*Subscription](t)(g.Subscribe("arm/joints", SubscribeOptions{}))
	must[*Subscription](t)(g.Subscribe("armour", SubscribeOptions{}))
	w := g.Watch(nil)
	take(w)
	if err := g.Alias("virtual/arm", "arm"); err != nil {
		t.Fatal(err)
	}
	wantChanges(t, w, "topic /virtual/arm/joints", "topic /arm/joints")
}

// TestAWatcherCanRebuildTheGraph under random use by many: what it knows in the end is
// what is there.
func TestAWatcherCanRebuildTheGraph(t *testing.T) {
	const seed = 4
	g := New(Options{MaxNames: 64})
	defer g.Close()
	w := g.Watch(nil)
	known := map[string]bool{}
	done := make(chan struct{})
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	follow := func(c Change) {
		if c.All {
			clear(known)
			for _, i := range g.Topics() {
				known[i.Name] = true
			}
			return
		}
		if _, ok := g.TopicInfo(c.Name); ok {
			known[c.Name] = true
		} else {
			delete(known, c.Name)
		}
	}
	go func() {
		defer close(done)
		for {
			c, err := w.Next(ctx)
			if err != nil || c.Name == "/end" {
				return
			}
			follow(c)
		}
	}()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			var open []*Subscription
			for range 2000 {
				if len(open) > 5 || len(open) > 0 && r.IntN(2) == 0 {
					open[0].Close()
					open = open[1:]
				} else if s, err := g.Subscribe(fmt.Sprint("t", r.IntN(40)), SubscribeOptions{}); err == nil {
					open = append(open, s)
				}
			}
		})
	}
	wg.Wait()
	must[*Subscription](t)(g.Subscribe("end", SubscribeOptions{}))
	<-done
	for { // what came after the end's own change was marked
		c, ok := w.Poll()
		if !ok {
			break
		}
		follow(c)
	}
	want := g.Topics()
	delete(known, "/end")
	if len(known) != len(want)-1 {
		t.Errorf("seed %d: knows %d topics of %d", seed, len(known), len(want)-1)
	}
	for _, i := range want {
		if i.Name != "/end" && !known[i.Name] {
			t.Errorf("seed %d: %s is not known", seed, i.Name)
		}
	}
}

func TestAClosedGraphEndsWatching(t *testing.T) {
	g := New(Options{})
	w := g.Watch(nil)
	ended := make(chan error)
	go func() {
		for {
			if _, err := w.Next(context.Background()); err != nil {
				ended <- err
				return
			}
		}
	}()
	g.Close()
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	w.Close() // twice is no harm
}

// TestChangesWithoutWatchersCostNothing.
func TestChangesWithoutWatchersCostNothing(t *testing.T) {
	g := newGraph(t)
	if n := testing.AllocsPerRun(100, func() { g.changed(TopicKind, "/t") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
