package runner

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"poise/loop"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/sim"
)

// fakeClock is simulated time: sleeping jumps, and work takes what the test says.
type fakeClock struct {
	now   int64
	late  func(deadline int64) int64 // how much too late SleepUntil returns
	stamp int64
	slept int
}

func (c *fakeClock) Now() int64 { return c.now }
func (c *fakeClock) SleepUntil(ns int64) {
	c.slept++
	c.now = max(c.now, ns)
	if c.late != nil {
		c.now += c.late(ns)
	}
}
func (c *fakeClock) Stamp() int64 { return c.stamp + c.now }

// spyBus is a simulated bus that tells of its ticks.
type spyBus struct {
	*sim.Bus
	name  string
	tell  func(name string, t servo.Tick, on bool)
	panic uint64 // at this tick
}

func (b *spyBus) Exchange(t servo.Tick, dst *servo.Measurement, src []servo.Setpoint) servo.Fault {
	if b.panic != 0 && t.N == b.panic {
		panic("bus")
	}
	b.tell(b.name, t, src[0].Mode != servo.Off)
	return b.Bus.Exchange(t, dst, src)
}

// newLoop makes a loop that is left without torque.
func newLoop(t *testing.T, name string, tell func(string, servo.Tick, bool)) (*loop.Loop, *spyBus) {
	t.Helper()
	return newLoopThat(t, name, loop.Leaving{Do: loop.LeaveOff}, tell)
}

func newLoopThat(t *testing.T, name string, leaves loop.Leaving, tell func(string, servo.Tick, bool)) (*loop.Loop, *spyBus) {
	t.Helper()
	bot, err := load.Robot("arm6", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	bus := &spyBus{Bus: sim.New(sim.Config{Servos: make([]sim.Servo, len(bot.Model.Joints()))}), name: name, tell: tell}
	l, err := loop.New(loop.Config{Model: bot.Model, Bus: bus, Settings: loop.Settings{Leave: leaves}})
	if err != nil {
		t.Fatal(err)
	}
	return l, bus
}

// TestLoopsShareAThread runs two loops with different periods: ticks are
// consecutive, time is N·period exactly, and deadlines are kept in order.
func TestLoopsShareAThread(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	clock := &fakeClock{}
	last := map[string]servo.Tick{}
	var order []string
	tell := func(name string, x servo.Tick, _ bool) {
		if before, seen := last[name]; seen && x.N != before.N+1 {
			t.Errorf("%s: tick %d after %d", name, x.N, before.N)
		}
		period := map[string]int64{"fast": 1e6, "slow": 11200000}[name]
		if x.Time != int64(x.N)*period || x.Dt != float64(period)*1e-9 {
			t.Errorf("%s: %+v", name, x)
		}
		last[name] = x
		order = append(order, name)
		if name == "slow" && x.N == 49 {
			cancel()
		}
	}
	fast, _ := newLoop(t, "fast", tell)
	slow, _ := newLoop(t, "slow", tell)
	r, err := New(Config{Clock: clock, Probe: true, Members: []Member{
		{Name: "fast", Loop: fast}, {Name: "slow", Loop: slow, Period: HerkuleXTick, Unit: HerkuleXTick}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if n := last["fast"].N; n < 558 || n > 562 || last["slow"].N < 49 {
		t.Errorf("ticks: fast %d, slow %d", n, last["slow"].N)
	}
	if slices.Index(order, "slow") != 11 {
		t.Errorf("the slow loop had its first turn at %d", slices.Index(order, "slow"))
	}
	stats, said, realtime := r.Stats()
	if len(stats) != 2 || stats[0].Ticks < 558 || stats[0].Overruns != 0 || stats[0].Missed != 0 || realtime || said == "" {
		t.Errorf("%+v, %q", stats[0].Ticks, said)
	}
	if stats[0].Stages[loop.Write].Count() != stats[0].Ticks {
		t.Errorf("%d of %d ticks were probed", stats[0].Stages[loop.Write].Count(), stats[0].Ticks)
	}
}

// TestLateTicksAreCountedAndTold: a tick that is late by some periods is run once, with
// the number that it would have had, the periods are counted, and the loop knows.
func TestLateTicksAreCountedAndTold(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	clock := &fakeClock{}
	calls := 0
	clock.late = func(int64) int64 {
		if calls++; calls%50 == 0 {
			return 3_400_000 // 3.4 periods
		}
		return 40_000
	}
	ticks := uint64(0)
	l, _ := newLoop(t, "one", func(_ string, x servo.Tick, _ bool) {
		if ticks = x.N + 1; ticks >= 1000 {
			cancel()
		}
		if x.Time != int64(x.N)*1_000_000 {
			t.Errorf("tick %d at %d ns", x.N, x.Time)
		}
	})
	r, err := New(Config{Clock: clock, Members: []Member{{Loop: l}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(ctx); err != nil {
		t.Fatal(err)
	}
	stats, _, _ := r.Stats()
	s := &stats[0]
	if s.Missed < 50 || s.Missed%3 != 0 || ticks < 1000 || s.Ticks+s.Missed != ticks || s.Lateness.Max() != 3_400_000 || s.Lateness.Quantile(0.5) < 40_000 {
		t.Errorf("missed %d of %d, lateness p50 %d max %d", s.Missed, s.Ticks, s.Lateness.Quantile(0.5), s.Lateness.Max())
	}
	raised := false
	for {
		rep, ok := l.Receive()
		if !ok {
			break
		}
		raised = raised || rep.Kind == loop.FaultRaised && rep.Fault == loop.Overrun
	}
	if !raised {
		t.Error("the fault monitor does not know")
	}
}

// TestShutDownHasAnOrder: ramp, torque off, bus, of a robot that is left without torque.
func TestShutDownHasAnOrder(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var story []string
	say := func(s string) {
		if len(story) == 0 || story[len(story)-1] != s {
			story = append(story, s)
		}
	}
	l, _ := newLoop(t, "one", func(_ string, x servo.Tick, on bool) {
		if x.N == 100 {
			cancel()
		}
		say(map[bool]string{false: "off", true: "on"}[on])
	})
	l.Send(loop.Order{Kind: loop.PowerOn}) // refused: nothing was read yet
	r, err := New(Config{Clock: &fakeClock{}, Members: []Member{{Loop: l, Close: func() error { say("closed"); return errors.New("stuck") }}}})
	if err != nil {
		t.Fatal(err)
	}
	l.Send(loop.Order{Kind: loop.SetRate, Value: 1})
	// orders are taken a few at a time: these come in later ticks
	for range 40 {
		l.Send(loop.Order{Kind: loop.PowerOn})
	}
	err = r.Run(ctx)
	if err == nil || !strings.Contains(err.Error(), "stuck") {
		t.Errorf("%v", err)
	}
	if !slices.Equal(story, []string{"off", "on", "off", "closed"}) {
		t.Errorf("%v", story)
	}
}

// TestRobotsAreLeftAsDeclared: one holds, one is let go, one goes to its rest pose first,
// slowly, and one that does not get there is let go when its time is over. Their buses
// are closed after that.
func TestRobotsAreLeftAsDeclared(t *testing.T) {
	rest := []loop.RestPlace{{Joint: 0, Position: 0.5}, {Joint: 1, Position: -0.25}}
	for _, c := range []struct {
		name    string
		leaves  loop.Leaving
		torque  bool
		at      float64 // of joint 0
		seconds float64 // that it takes at most
	}{
		{"holds", loop.Leaving{}, true, 0, 0.1},
		{"lets go", loop.Leaving{Do: loop.LeaveOff}, false, 0, 0.1},
		{"rests", loop.Leaving{Do: loop.LeaveRest, Rest: rest, Speed: 0.1}, false, 0.5, 10},
		{"has no time to rest", loop.Leaving{Do: loop.LeaveRest, Rest: rest, Speed: 0.01, Deadline: 0.2}, false, math.NaN(), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			torque, began, at, fastest := false, int64(0), 0.0, 0.0
			var bus *spyBus
			l, bus := newLoopThat(t, "one", c.leaves, func(_ string, x servo.Tick, on bool) {
				if torque = on; x.N == 100 {
					began = x.Time
					cancel()
				}
				if bus != nil {
					q := bus.Joint(0)
					fastest, at = max(fastest, math.Abs(q-at)/x.Dt), q
				}
			})
			for range 40 {
				l.Send(loop.Order{Kind: loop.PowerOn})
			}
			closed, clock := false, &fakeClock{}
			r, err := New(Config{Clock: clock, Members: []Member{{Loop: l, Close: func() error { closed = true; return nil }}}})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Run(ctx); err != nil {
				t.Fatal(err)
			}
			if torque != c.torque || !closed || !l.Left() {
				t.Errorf("torque %v, closed %v, left %v", torque, closed, l.Left())
			}
			if q := bus.Joint(0); q != c.at && c.at == c.at || c.at != c.at && (q <= 0 || q >= 0.1) {
				t.Errorf("joint at %g, want %g", q, c.at)
			}
			if took := float64(clock.now-began) * 1e-9; took > c.seconds {
				t.Errorf("it took %g s, want %g", took, c.seconds)
			}
			// 4 rad/s is the limit of the joint
			if m := l.Leaving(); fastest > 4*m.Speed+1e-9 {
				t.Errorf("%g rad/s at a share of %g of the limits", fastest, m.Speed)
			}
		})
	}
}

// TestLoopsOfOnePeriodTakeTurns: a virtual and a real robot with the same period
// tick in the order in which they were given; when they stop, all have lost their
// torque before the first bus is closed.
func TestLoopsOfOnePeriodTakeTurns(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	clock := &fakeClock{}
	var order []string
	torque := map[string]bool{}
	tell := func(name string, x servo.Tick, on bool) {
		order, torque[name] = append(order, name), on
		if x.N == 200 {
			if name == "real" && !torque["virtual"] {
				t.Error("nothing has torque")
			}
			cancel()
		}
	}
	var closed []string
	member := func(name string) Member {
		l, _ := newLoop(t, name, tell)
		for range 40 {
			l.Send(loop.Order{Kind: loop.PowerOn})
		}
		return Member{Name: name, Loop: l, Period: 2 * time.Millisecond, Close: func() error {
			if torque["virtual"] || torque["real"] {
				t.Errorf("%s is closed while a robot has torque: %v", name, torque)
			}
			closed = append(closed, name)
			return nil
		}}
	}
	r, err := New(Config{Clock: clock, Members: []Member{member("virtual"), member("real")}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(ctx); err != nil {
		t.Fatal(err)
	}
	for i, name := range order[:400] {
		if want := [2]string{"virtual", "real"}[i%2]; name != want {
			t.Fatalf("turn %d is %s's", i, name)
		}
	}
	if !slices.Equal(closed, []string{"virtual", "real"}) {
		t.Errorf("closed %v", closed)
	}
	stats, _, _ := r.Stats()
	if len(stats) != 2 || stats[0].Name != "virtual" || stats[1].Name != "real" || stats[1].Ticks < 200 || stats[1].Lateness.Count() != stats[1].Ticks {
		t.Errorf("%d members", len(stats))
	}
}

// TestPanicOfOneLoopStopsTheOthersInOrder: they ramp down.
func TestPanicOfOneLoopStopsTheOthersInOrder(t *testing.T) {
	torque := map[string]bool{}
	tell := func(name string, _ servo.Tick, on bool) { torque[name] = on }
	good, _ := newLoop(t, "good", tell)
	bad, bus := newLoop(t, "bad", tell)
	bus.panic = 60
	for range 40 {
		good.Send(loop.Order{Kind: loop.PowerOn})
		bad.Send(loop.Order{Kind: loop.PowerOn})
	}
	r, err := New(Config{Clock: &fakeClock{}, Members: []Member{{Name: "good", Loop: good}, {Name: "bad", Loop: bad}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "bad: tick 60") {
		t.Errorf("%v", err)
	}
	if torque["good"] || torque["bad"] { // both are left without
		t.Errorf("torque: %v", torque)
	}
	stopped := false
	for {
		rep, ok := good.Receive()
		if !ok {
			break
		}
		stopped = stopped || rep.Kind == loop.Stopped && rep.Value == 1
	}
	if !stopped {
		t.Error("the other loop did not ramp down")
	}
}

// TestPanicOfTheCycleTakesTheTorqueAway: a mistake of the program itself ends the
// run, without torque, and says where.
func TestPanicOfTheCycleTakesTheTorqueAway(t *testing.T) {
	last := true
	l, bus := newLoop(t, "one", func(_ string, _ servo.Tick, on bool) { last = on })
	bus.panic = 50
	for range 40 {
		l.Send(loop.Order{Kind: loop.PowerOn})
	}
	closed := false
	r, err := New(Config{Clock: &fakeClock{}, Members: []Member{{Name: "one", Loop: l, Close: func() error { closed = true; return nil }}}})
	if err != nil {
		t.Fatal(err)
	}
	err = r.Run(context.Background())
	if err == nil || !strings.Contains(err.Error(), "tick 50") {
		t.Errorf("%v", err)
	}
	if last || !closed {
		t.Errorf("torque %v, closed %v", last, closed)
	}
}

func TestBadConfigurationsAreRefused(t *testing.T) {
	l, _ := newLoop(t, "one", func(string, servo.Tick, bool) {})
	_, err := New(Config{Priority: 100, Members: []Member{
		{Loop: l, Period: 20 * time.Millisecond, Unit: HerkuleXTick}, {Loop: l, Period: -1}}})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"priority 100", "no multiple of 11.2ms", "22.4ms would be", "period -1ns"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %v", want, err)
		}
	}
	if _, err := New(Config{}); err == nil {
		t.Error("nothing to run is accepted")
	}
}

// TestRealClock runs a loop on the clock of the machine, for as many ticks as it takes.
func TestRealClock(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	ticks, last := 0, uint64(0)
	l, _ := newLoop(t, "one", func(_ string, x servo.Tick, _ bool) {
		if ticks == 0 || x.N != last { // numbers of ticks that were missed are left out
			ticks, last = ticks+1, x.N
		}
		if ticks == 20 {
			cancel()
		}
	})
	r, err := New(Config{Members: []Member{{Loop: l}}})
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := r.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if stats, _, _ := r.Stats(); stats[0].Ticks < 20 {
		t.Errorf("%d ticks, want 20 and more", stats[0].Ticks)
	}
	// a tick may be late, and none is early
	if took := time.Since(begin); took < 20*time.Millisecond {
		t.Errorf("20 ticks of 1 ms in %v", took)
	}
}
