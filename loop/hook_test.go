package loop

import (
	"math"
	"slices"
	"testing"

	"poise/arbiter"
	"poise/control"
	"poise/control/swing"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/sim"
)

// eventful is a swing that lets an event leave every so many seconds of its own
// time.
type eventful struct {
	*swing.Controller
	every float64
}

func (c *eventful) Update(input *control.Input, out *control.Reference) (control.Status, control.Reason) {
	st, why := c.Controller.Update(input, out)
	out.Passed = uint32(out.Time / c.every)
	return st, why
}

// withEvents makes a controller of a rig eventful.
func (r *rig) withEvents(seat int, every float64) {
	r.l.seats[seat].controller = &eventful{r.swings[seat].Controller, every}
}

// TestEventsLeaveInTheirTick: each event is reported once, in order, in the tick
// in which the program's own clock passes it, also when that is slowed down, and
// before the end of its goal.
func TestEventsLeaveInTheirTick(t *testing.T) {
	const every = 0.25
	r := newRig(t, parts{robot: "arm6", controllers: 1})
	r.withEvents(0, every)
	p := r.program(r.limb("manipulator"), 0.2, 1)
	p.Duration = 3
	r.must(0, 7, p)
	next := uint32(0)
	for r.reports = nil; r.l.seats[0].program != nil; {
		if r.n == 1000 {
			r.l.Send(Order{Kind: SetRate, Value: 0.3})
		}
		before := r.l.seats[0].ref.Time
		r.reports = nil
		r.run(1)
		now := r.l.seats[0].ref.Time
		due := uint32(now/every) > uint32(before/every)
		left := r.told(EventsLeft)
		if due != (len(left) == 1) || len(left) > 1 {
			t.Fatalf("tick %d, own time %g: %+v", r.n, now, left)
		}
		for _, rep := range left {
			if rep.From != next || rep.To != next+1 || rep.Goal != 7 || rep.Tick.N != r.n-1 || rep.Time != now {
				t.Fatalf("%+v, want event %d at %g", rep, next, now)
			}
			next = rep.To
		}
	}
	if next != 12 {
		t.Errorf("%d events left, want 12", next)
	}
	if r.l.seats[0].told != 12 || r.n < 7000 {
		t.Errorf("%d events, %d ticks: the override did not slow them", r.l.seats[0].told, r.n)
	}
	// the next goal begins with its own first event
	r.must(0, 8, p)
	r.run(1000)
	if left := r.told(EventsLeft); len(left) == 0 || left[0].From != 0 || left[0].Goal != 8 {
		t.Errorf("%+v", left)
	}
}

// TestEventsAreNeverLost: while the reports are not read events gather; every one
// of them has left when its goal has ended, whatever ended it.
func TestEventsAreNeverLost(t *testing.T) {
	for name, end := range map[string]func(r *rig){
		"done":     func(r *rig) {},
		"stopped":  func(r *rig) { r.l.Stop(0) },
		"halted":   func(r *rig) { r.l.Stop(1) },
		"panicked": func(r *rig) { r.l.seats[0].controller = &unruly{Controller: r.swings[0].Controller, panics: "Update"} },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, parts{robot: "arm6", controllers: 1, reports: 2 * reserve})
			r.withEvents(0, period)
			p := r.program(r.limb("manipulator"), 0.01, 1)
			p.Duration = 2.5
			r.must(0, 1, p)
			told := uint32(0)
			for ; r.n < 3500 && r.l.seats[0].program != nil; r.n++ { // reports are not read
				if r.n == 2000 {
					end(r)
				}
				told = max(told, r.l.seats[0].ref.Passed)
				r.l.Step(servo.Tick{N: r.n, Time: int64(r.n) * 1e6, Dt: period})
			}
			if name == "done" {
				told = r.l.seats[0].ref.Passed
			}
			r.run(1)
			if s, _ := r.l.Snapshot(); s.Lost != 0 {
				t.Fatalf("%d reports lost", s.Lost)
			}
			next, ended := uint32(0), false
			for _, rep := range r.reports {
				switch {
				case rep.Kind == EventsLeft && (rep.From != next || ended):
					t.Fatalf("%+v after event %d, ended %v", rep, next, ended)
				case rep.Kind == EventsLeft:
					next = rep.To
				case rep.Kind == GoalEnded:
					ended = true
				}
			}
			if !ended || next < told || next < 1900 {
				t.Errorf("%d events were told, %d left; ended %v", next, told, ended)
			}
		})
	}
}

// TestSnapshotTellsWhatControllersDo is where feedback of goals comes from.
func TestSnapshotTellsWhatControllersDo(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", controllers: 2})
	set := r.limb("manipulator")
	p := r.program(set, 0.3, 1)
	p.Duration = 20
	look := func(i int) Activity {
		s, _ := r.l.Snapshot()
		return s.Active[i]
	}
	r.run(1)
	if a := look(0); !a.Running || a.Active || a.HandOver || !a.Own.Empty() {
		t.Errorf("%+v", a)
	}
	r.must(0, 5, p)
	r.run(100)
	if a := look(0); !a.Active || a.Goal != 5 || !a.HandOver || a.Own != set || a.Rate != 1 || math.Abs(a.Time-0.101) > 1e-9 {
		t.Errorf("%+v", a)
	}
	r.run(4000)
	r.l.Send(Order{Kind: GoalRate, Controller: 0, Value: 0.5})
	r.run(1000)
	if a := look(0); a.HandOver || a.Wanted != 0.5 || a.Rate != 0.5 {
		t.Errorf("%+v", a)
	}
	r.l.Send(Order{Kind: GoalPause, Controller: 0})
	r.run(1000)
	if a := look(0); !a.Paused || a.Rate != 0 || a.Wanted != 0 {
		t.Errorf("%+v", a)
	}
	r.l.Send(Order{Kind: CancelGoal, Controller: 0})
	r.l.Send(Order{Kind: Halt, Controller: 1})
	r.run(1)
	at := look(0).Time
	r.run(1)
	if a := look(0); a.Active || !a.Cancelled || a.Goal != 5 || a.Time != at || !a.Own.Empty() || look(1).Running {
		t.Errorf("%+v, %+v", a, look(1))
	}
}

// leader follows a stream: joints are where its last value says.
type leader struct {
	*swing.Controller
	set   robot.Set
	given int
	value float64
	heard float64
}

type streamed struct{ value float64 }

func (*streamed) Claim() (needs, wants robot.Set) { return }

func (c *leader) Feed(input *control.Input, p control.Program) control.Reason {
	v, ok := p.(*streamed)
	if !ok {
		return control.Because(control.BadProgram)
	}
	if v.value < 0 {
		panic("test")
	}
	c.given++
	c.value = v.value
	return control.Because(control.OK)
}

func (c *leader) Update(input *control.Input, out *control.Reference) (control.Status, control.Reason) {
	out.Has = c.set
	c.heard = c.value
	for leaf := range c.set.All {
		if int(leaf) < len(out.Q) {
			out.Q[leaf] = c.value
		}
	}
	return control.Going, control.Because(control.OK)
}

// TestNewestValueOfAStreamCounts: it is there in the Update of the same tick, and
// a controller that cannot take it says why.
func TestNewestValueOfAStreamCounts(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", controllers: 2})
	set := r.limb("manipulator")
	c := &leader{Controller: r.swings[0].Controller, set: set}
	s := r.l.seats[0]
	s.controller, s.stream = c, c
	feed := func(to int, p control.Program) {
		if !r.l.Send(Order{Kind: Feed, Controller: arbiter.ClientID(to), Goal: 3, Program: p}) {
			t.Fatal("no room")
		}
	}
	refused := func(want control.Code) {
		t.Helper()
		r.reports = nil
		r.run(1)
		if got := r.told(OrderRefused); len(got) != 1 || got[0].Reason.Code != want || got[0].Goal != 3 {
			t.Errorf("%+v, want %v", got, want)
		}
	}
	feed(0, &streamed{0.1})
	refused(control.NotActive)
	feed(1, &streamed{0.1})
	refused(control.BadProgram) // follows no stream
	feed(0, nil)
	refused(control.BadProgram)
	r.must(0, 1, r.program(set, 0.1, 1))
	for k := 1; k <= 5; k++ {
		feed(0, &streamed{float64(k) / 50})
	}
	r.run(1)
	if c.given != 1 || c.heard != 0.1 {
		t.Errorf("%d values were given, the last is %g", c.given, c.heard)
	}
	r.checks = true
	r.run(4000)
	feed(0, r.program(set, 0.1, 1))
	refused(control.BadProgram)
	feed(0, &streamed{-1})
	refused(control.Panicked)
	r.run(1)
	if s.running || s.program != nil {
		t.Errorf("running %v, program %v after a panic", s.running, s.program)
	}
	feed(0, &streamed{0.1})
	refused(control.NotRunning)
}

// TestPlace puts a virtual robot somewhere: servo, reading and command are there
// in the same tick, and nothing leads them away.
func TestPlace(t *testing.T) {
	for name, kind := range map[string]sim.Servo{"ideal": {}, "poor": {Lag: 0.05, Delay: 3, Loss: 0.3}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, parts{robot: "arm6", controllers: 1, servo: kind})
			r.run(50)
			p := &control.Placement{Joints: []robot.JointID{1, 3}, Q: []float64{-1.2, 1.4}}
			r.l.Send(Order{Kind: Place, Goal: 9, Program: p})
			r.reports = nil
			for range 500 {
				r.run(1)
				s, _ := r.l.Snapshot()
				for i, j := range p.Joints {
					if s.Command.Q[j] != p.Q[i] || s.Measured.Q[j] != p.Q[i] || s.Command.V[j] != 0 || s.Cut[j] != 0 {
						t.Fatalf("tick %d: joint %d commanded to %g (%g/s), measured at %g, cut %v", r.n, j, s.Command.Q[j], s.Command.V[j], s.Measured.Q[j], s.Cut[j])
					}
				}
			}
			if got := r.told(Placed); len(got) != 1 || got[0].Goal != 9 || got[0].Tick.N != r.n-500 {
				t.Errorf("%+v", got)
			}
			if r.l.faults.latch.active != 0 {
				t.Error("a robot that was placed has a fault")
			}
			r.checks = true
			r.must(0, 1, r.program(r.limb("manipulator"), 0.1, 1)) // from there on as ever
			r.run(3000)
		})
	}
}

// realBus is a robot that cannot be placed.
type realBus struct{ servo.Bus }

func TestPlaceRefuses(t *testing.T) {
	at := func(j robot.JointID, q float64) *control.Placement {
		return &control.Placement{Joints: []robot.JointID{0, j}, Q: []float64{0.1, q}}
	}
	type before func(r *rig)
	nothing := func(*rig) {}
	for _, tc := range []struct {
		name   string
		before before
		p      control.Program
		want   control.Reason
	}{
		{"no placement", nothing, &swing.Program{}, control.Because(control.BadProgram)},
		{"nothing at all", nothing, nil, control.Because(control.BadProgram)},
		{"too few numbers", nothing, &control.Placement{Joints: []robot.JointID{1}}, control.Because(control.BadProgram)},
		{"no such joint", nothing, at(99, 0), control.Because(control.BadProgram)},
		{"not a number", nothing, at(1, math.Inf(1)), control.Reason{Code: control.NonFinite, Joint: 1, Who: arbiter.NoClient, Value: math.Inf(1)}},
		{"beyond its limit", nothing, at(1, 9), control.Reason{Code: control.BeyondLimit, Joint: 1, Who: arbiter.NoClient, Value: 9, Max: 2.269}},
		{"moved by a goal", func(r *rig) {
			p := r.program(robot.Leaf(2), 0.1, 1)
			r.must(1, 1, p)
		}, at(2, 0.2), control.Reason{Code: control.NotGranted, Joint: 2, Who: 1, Value: 0.2}},
		{"after a stop", func(r *rig) { r.l.Stop(2) }, at(2, 0.2), control.Because(control.Stopping)},
		{"a limb that holds for a fault", func(r *rig) {
			r.bus.Plan(sim.Trouble{Joint: 2, From: r.n, Fault: servo.Overload})
			r.run(20)
		}, at(2, 0.2), control.Reason{Code: control.StoppedByFault, Joint: 0, Who: arbiter.NoClient, Value: 0}},
		{"a robot that cannot be placed", func(r *rig) { r.l.cfg.Bus = realBus{r.l.cfg.Bus} }, at(2, 0.2), control.Because(control.NotPlaceable)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, parts{robot: "arm6", controllers: 2})
			r.checks = true
			tc.before(r)
			r.reports = nil
			was := slices.Clone(r.l.command.Q[:2])
			r.l.Send(Order{Kind: Place, Goal: 4, Program: tc.p})
			r.run(1)
			got := r.told(OrderRefused)
			if len(got) != 1 || got[0].Reason != tc.want || got[0].Goal != 4 {
				t.Errorf("%+v, want %+v", got, tc.want)
			}
			if !slices.Equal(was, r.l.command.Q[:2]) {
				t.Error("a refused placement moved something")
			}
		})
	}
}

// TestPlaceWithoutPower: a robot without torque can be placed, too, and begins
// there when torque comes.
func TestPlaceWithoutPower(t *testing.T) {
	bot, err := load.Robot("arm6", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	bus := sim.New(sim.Config{Servos: make([]sim.Servo, len(bot.Model.Joints()))})
	l, err := New(Config{Model: bot.Model, Bus: bus})
	if err != nil {
		t.Fatal(err)
	}
	for n := range uint64(20) {
		switch n {
		case 3:
			l.Send(Order{Kind: Place, Program: &control.Placement{Joints: []robot.JointID{1}, Q: []float64{0.8}}})
		case 6:
			l.Send(Order{Kind: PowerOn})
		}
		l.Step(servo.Tick{N: n, Time: int64(n) * 1e6, Dt: period})
		if n >= 3 && (l.command.Q[1] != 0.8 || bus.Joint(1) != 0.8) {
			t.Fatalf("tick %d: command %g, joint at %g", n, l.command.Q[1], bus.Joint(1))
		}
	}
	if l.powered.state != Enabled {
		t.Errorf("power %v", l.powered.state)
	}
}

// TestEchoComesBack after everything that was ordered before it.
func TestEchoComesBack(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", controllers: 1})
	r.reports = nil
	for range 20 { // more than a tick takes
		r.l.Send(Order{Kind: SetRate, Value: 9})
	}
	r.l.Send(Order{Kind: Echo, Goal: 42})
	r.run(3)
	if n := len(r.reports); n != 21 || r.reports[n-1].Kind != Echoed || r.reports[n-1].Goal != 42 || r.reports[n-1].Controller != arbiter.NoClient {
		t.Errorf("%d reports: %+v", n, r.reports)
	}
	if first := r.reports[0]; first.Kind != OrderRefused || first.Order != SetRate || first.Controller != arbiter.NoClient || first.Value != 9 {
		t.Errorf("%+v", first)
	}
}

// TestHooksDoNotAllocate measures events, streams and placements.
func TestHooksDoNotAllocate(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", controllers: 2})
	r.withEvents(1, 2*period)
	c := &leader{Controller: r.swings[0].Controller, set: robot.Leaf(0)}
	r.l.seats[0].controller, r.l.seats[0].stream = c, c
	r.must(0, 1, r.program(robot.Leaf(0), 0.1, 1))
	r.must(1, 2, r.program(robot.Leaf(1), 0.1, 1))
	orders := []Order{{Kind: Feed, Program: &streamed{0.2}}, {Kind: Feed, Program: &streamed{0.1}},
		{Kind: Place, Program: &control.Placement{Joints: []robot.JointID{2, 3}, Q: []float64{0.1, 0.2}}},
		{Kind: Place, Program: &control.Placement{Joints: []robot.JointID{1}, Q: []float64{0.1}}}}
	var told [Echoed + 1]int
	if a := testing.AllocsPerRun(2000, func() {
		for _, o := range orders {
			r.l.Send(o)
		}
		r.l.Step(servo.Tick{N: r.n, Time: int64(r.n) * 1e6, Dt: period})
		r.n++
		for {
			rep, ok := r.l.Receive()
			if !ok {
				break
			}
			told[rep.Kind]++
		}
		r.l.Snapshot()
	}); a != 0 {
		t.Errorf("%v allocations a tick", a)
	}
	if told[EventsLeft] < 900 || told[Placed] < 2000 || told[OrderRefused] < 2000 || c.given < 2000 {
		t.Errorf("%v, %d values", told, c.given)
	}
}
