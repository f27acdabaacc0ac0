package executive

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"poise/control/follow"
	"poise/internal/stepped"
	"poise/loop"
	"poise/loop/runner"
	"poise/robot/load"
	"poise/servo/sim"
	"poise/trajectory"
)

// rested is a robot with its cycle and its executive, which run by themselves in stepped time.
type rested struct {
	e      *Executive
	l      *loop.Loop
	began  time.Time
	states atomic.Int64
	events chan Event
	told   chan time.Duration // when a notice came
}

// newRested runs a robot whose sink of states wants one every so often.
func newRested(t *testing.T, wants time.Duration) *rested {
	t.Helper()
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := bot.Model
	r := &rested{events: make(chan Event, 100), told: make(chan time.Duration, 100)}
	bus := sim.New(sim.Config{Servos: make([]sim.Servo, len(m.Joints())), Seed: 1})
	if r.l, err = loop.New(loop.Config{Model: m, Bus: bus, Settings: loop.Settings{Policy: 1}, Controllers: []loop.Registration{
		{Name: "a", Kind: "follow", Controller: follow.New(m)}}}); err != nil {
		t.Fatal(err)
	}
	next := int64(0)
	r.e, err = New(Config{Model: m, Loop: r.l, Controllers: []Controller{{Name: "a", Kind: "follow"}},
		Event:  func(e Event) { r.events <- e },
		Notice: func(Notice) { r.told <- time.Since(r.began) },
		Snapshot: func(s *loop.Snapshot) time.Duration {
			if s.Tick.Time >= next {
				next += int64(wants)
				r.states.Add(1)
			}
			return time.Duration(next - s.Tick.Time)
		}})
	if err != nil {
		t.Fatal(err)
	}
	run, err := runner.New(runner.Config{Clock: stepped.Clock{}, Members: []runner.Member{{Loop: r.l}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	r.began = time.Now()
	go func() { ended <- run.Run(ctx) }()
	go r.e.Run(ctx)
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	time.Sleep(50 * time.Millisecond)
	if o := done(r.e.Power("test", true)); !o.OK() {
		t.Fatal(o.Text())
	}
	time.Sleep(time.Second)
	for len(r.told) > 0 {
		<-r.told
	}
	return r
}

// done waits for an answer.
func done(a *Answer) Outcome {
	<-a.Done()
	o, _ := a.Outcome()
	return o
}

// TestAnIdleExecutiveRests: with nothing to do it looks when its sink wants a state, and
// every sink gets its rate; while a goal goes on it looks every 2 ms.
func TestAnIdleExecutiveRests(t *testing.T) {
	for _, c := range []struct {
		wants time.Duration
		most  int // looks in 10 s
	}{{10 * time.Millisecond, 1010}, {50 * time.Millisecond, 610}, {4 * time.Millisecond, 2600}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRested(t, c.wants)
			looks, states := r.e.Pumps(), r.states.Load()
			time.Sleep(10 * time.Second)
			if n := int(r.e.Pumps() - looks); n > c.most || n < c.most*3/4 {
				t.Errorf("states every %v: it looked %d times in 10 s, want at most %d", c.wants, n, c.most)
			}
			if n, want := int(r.states.Load()-states), int(10*time.Second/c.wants); n < want-2 || n > want+2 {
				t.Errorf("states every %v: %d in 10 s, want %d", c.wants, n, want)
			}
		})
	}
}

// TestARestDelaysNothing: of a robot that rests, a goal starts, an event leaves, and a stop,
// a fault and their answers are told as soon as of one that is busy.
func TestARestDelaysNothing(t *testing.T) {
	const soon = 4 * time.Millisecond // a tick takes the order, a look finds the report
	synctest.Test(t, func(t *testing.T) {
		r := newRested(t, 10*time.Millisecond)
		for offset := range 12 { // wherever in its rest it is
			time.Sleep(time.Second + time.Duration(offset)*time.Millisecond + 300*time.Microsecond)
			began := time.Now()
			if o := done(r.e.SetSpeed("test", 1, "")); !o.OK() || time.Since(began) > soon {
				t.Errorf("speed after %v: %s", time.Since(began), o.Text())
			}
			time.Sleep(time.Second)
			r.plays(t, soon)
			time.Sleep(time.Second)
			began = time.Now()
			if o := done(r.e.Stop("test", 2)); !o.OK() || time.Since(began) > soon {
				t.Errorf("stop after %v: %s", time.Since(began), o.Text())
			}
			time.Sleep(time.Second)
			began = time.Now()
			if o := done(r.e.Reset("test")); !o.OK() || time.Since(began) > soon {
				t.Errorf("reset after %v: %s", time.Since(began), o.Text())
			}
			for len(r.told) > 0 {
				<-r.told
			}
			time.Sleep(time.Second)
			asked := time.Since(r.began)
			r.l.Stop(2) // past the executive, as wires do
			if at := <-r.told; at-asked > idlePeriod+soon {
				t.Errorf("a stop that it was not asked for is told after %v", at-asked)
			}
			if o := done(r.e.Reset("test")); !o.OK() {
				t.Error(o.Text())
			}
		}
	})
}

// plays plays a motion with an event from rest.
func (r *rested) plays(t *testing.T, soon time.Duration) {
	t.Helper()
	const due = 0.2
	joint := r.e.model.Joints()[0].Name
	q := 0.0
	r.e.View(func(s *loop.Snapshot) { q = s.Command.Q[0] })
	g := follow.Goal{Joints: []string{joint}, Points: []trajectory.Point{{Time: 0.5, Position: []float64{q}}}, Events: []follow.Event{{Time: due, Type: "say", Command: "hello"}}}
	began, started := time.Now(), make(chan time.Duration, 1)
	over := make(chan time.Duration, 1)
	if _, err := r.e.Submit("test", "", 0, &Follow{Goal: g}, Watch{
		Feedback: func(Feedback) {
			select {
			case started <- time.Since(began):
			default:
			}
		},
		Changed: func(c Change) {
			if c.To.Terminal() {
				over <- time.Since(began)
			}
		}}); err != nil {
		t.Fatal(err)
	}
	if at := <-started; at > soon {
		t.Errorf("a goal starts after %v", at)
	}
	<-r.events
	if at := time.Since(began); at > soon+time.Duration(due*float64(time.Second)) {
		t.Errorf("an event for %g s leaves after %v", due, at)
	}
	<-over
}

// TestAnOrderIsAnsweredSoonAfterItsTick: a client learns that its goal has begun a quarter of a
// millisecond after the tick that began it, however busy the executive was before, and a flood of
// orders does not make it look more often than quickRate beyond its period.
func TestAnOrderIsAnsweredSoonAfterItsTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRested(t, 10*time.Millisecond)
		const tick, most = time.Millisecond, time.Millisecond + 2*quickPeriod
		joint := r.e.model.Joints()[0].Name
		q := 0.0
		r.e.View(func(s *loop.Snapshot) { q = s.Command.Q[0] })
		for i := range 20 { // from rest, and one after the other
			if time.Sleep(time.Duration(i)*70*time.Microsecond + 100*time.Microsecond); i < 5 {
				time.Sleep(time.Second)
			}
			began, accepted, over := time.Now(), make(chan time.Duration, 1), make(chan bool, 1)
			g := follow.Goal{Joints: []string{joint}, Points: []trajectory.Point{{Time: 0.05, Position: []float64{q}}}}
			if _, err := r.e.Submit("test", "", 0, &Follow{Goal: g}, Watch{Feedback: func(Feedback) {}, Changed: func(c Change) {
				if c.To.Running() {
					accepted <- time.Since(began)
				} else if c.To.Terminal() {
					over <- true
				}
			}}); err != nil {
				t.Fatal(err)
			}
			if at := <-accepted; at > most {
				t.Errorf("goal %d is accepted after %v, want at most a tick of %v and twice %v", i, at, tick, quickPeriod)
			}
			<-over
		}
		looks, began := r.e.Pumps(), time.Now()
		for time.Since(began) < 2*time.Second {
			r.e.SetSpeed("test", 1, "")
			time.Sleep(100 * time.Microsecond)
		}
		if n, most := float64(r.e.Pumps()-looks), time.Since(began).Seconds()*(quickRate+float64(time.Second/pumpPeriod))+quickPumps+1; n > most {
			t.Errorf("it looked %v times in %v, want at most %v", n, time.Since(began), most)
		}
	})
}
