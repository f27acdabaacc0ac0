package loop

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"poise/control"
	"poise/control/swing"
	"poise/servo"
	"poise/servo/sim"
)

// stopStats sums up stops of one category.
type stopStats struct {
	count              int
	longest, time, way float64
}

func (s *stopStats) add(r Report) {
	s.count++
	s.longest, s.time, s.way = max(s.longest, r.Time), s.time+r.Time, max(s.way, r.Way)
}

// stopNow stops the robot in whatever it does, and asks for all that a stop
// promises: within limits on the way, reported, held, and no restart without a
// separate act. Then it makes the robot ready for the next.
func (r *rig) stopNow(category uint8, stats *stopStats) {
	r.t.Helper()
	r.reports = nil
	r.l.Stop(category)
	limit := int((defaultStopDeadline + 1) / r.dt)
	for range limit {
		r.run(1)
		if !r.l.stops.active && r.l.shaper.AtRest() {
			break
		}
	}
	stopped := r.told(Stopped)
	if len(stopped) != 1 || stopped[0].Value != float64(category) || stopped[0].Time > defaultStopDeadline+2*r.dt {
		r.t.Fatalf("tick %d, category %d: %+v", r.n, category, stopped)
	}
	stats.add(stopped[0])
	held := slices.Clone(r.l.command.Q)
	r.goal(0, 99, r.program(r.limb("manipulator"), 0.01, 1))
	r.run(3)
	if !slices.Equal(held, r.l.command.Q) {
		r.t.Fatalf("tick %d, category %d: not held", r.n, category)
	}
	want := servo.Position
	if category < 2 {
		want = servo.Off
	}
	for j := range r.l.setpoint {
		if got := r.l.setpoint[j].Mode; got != want {
			r.t.Fatalf("tick %d, category %d: servo %d is %v, want %v", r.n, category, j, got, want)
		}
	}
	if rej := r.told(GoalRejected); len(rej) != 1 || rej[0].Reason.Code != control.Stopping {
		r.t.Fatalf("tick %d, category %d: a goal was taken after a stop: %+v", r.n, category, rej)
	}
	r.l.Send(Order{Kind: Reset})
	r.l.Send(Order{Kind: PowerOn})
	r.run(2)
	if r.l.powered.state != Enabled {
		r.t.Fatalf("tick %d: power is %v after reset and power on", r.n, r.l.powered.state)
	}
}

// TestStopsAtEveryCycle stops three motions of the arm, on a bus of 11.2 ms, at
// each of their cycles, with each category.
func TestStopsAtEveryCycle(t *testing.T) {
	motions := []struct{ amplitude, ω, duration float64 }{{0.3, 2, 2}, {0.05, 8, 1.5}, {0.6, 1, 2.5}}
	stride := 1
	if testing.Short() {
		stride = 25
	}
	for category := uint8(0); category <= 2; category++ {
		var stats stopStats
		r := newRig(t, parts{robot: "arm6", period: busPeriod, controllers: 1})
		r.checks = true
		for _, m := range motions {
			p := r.program(r.limb("manipulator"), m.amplitude, m.ω)
			cycles := int(m.duration / busPeriod)
			for k := 1; k <= cycles; k += stride {
				r.must(0, 1, p)
				r.run(k - 1)
				r.stopNow(category, &stats)
			}
		}
		t.Logf("category %d: %d stops at every cycle of 3 motions, mean %.3f s, longest %.3f s, largest way %.4f rad",
			category, stats.count, stats.time/float64(stats.count), stats.longest, stats.way)
	}
}

// TestRandomStops stops at random instants of random motions with random speed
// overrides, in the middle of hand-overs too.
func TestRandomStops(t *testing.T) {
	count := 10000
	switch {
	case testing.Short():
		count = 100
	case soak:
		count = 200000
	}
	rng := rand.New(rand.NewPCG(12, 7))
	var stats [3]stopStats
	r := newRig(t, parts{robot: "arm6", period: busPeriod, controllers: 2})
	r.checks = true
	for n := range count {
		p := r.program(r.limb("manipulator"), 0.02+0.3*rng.Float64(), 0.3+2*rng.Float64())
		for j := range p.Centre {
			p.Centre[j] *= rng.Float64()
		}
		r.l.Send(Order{Kind: SetRate, Value: 2 * rng.Float64()})
		r.goal(rng.IntN(2), uint64(n+1), p)
		r.run(1 + rng.IntN(60))
		if rng.IntN(4) == 0 {
			r.goal(rng.IntN(2), uint64(n+1), p)
			r.run(rng.IntN(10))
		}
		category := uint8(rng.IntN(3))
		r.stopNow(category, &stats[category])
	}
	for c, s := range stats {
		t.Logf("category %d: %d stops at random instants, mean %.3f s, longest %.3f s, largest way %.4f rad", c, s.count, s.time/float64(s.count), s.longest, s.way)
	}
}

func TestCancelRampsDown(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", controllers: 1})
	r.checks = true
	r.must(0, 1, r.program(r.limb("manipulator"), 0.3, 2))
	r.run(2500)
	r.l.Send(Order{Kind: CancelGoal, Controller: 0})
	r.run(3000)
	ended := r.told(GoalEnded)
	if len(ended) != 1 || ended[0].Reason.Code != control.Cancelled {
		t.Fatalf("%+v", ended)
	}
	if !r.l.shaper.AtRest() {
		t.Error("not at rest")
	}
}

// onPath is how far the command of a joint is from the path of a swing: a
// straight line in joint space, on which all joints are equally far along.
func onPath(r *rig, p *swing.Program) (off float64) {
	along := r.l.command.Q[0] - p.Centre[0]
	for leaf := range p.Needs.All {
		if j := int(leaf); j < r.l.dof {
			off = max(off, math.Abs(r.l.command.Q[j]-p.Centre[j]-along))
		}
	}
	return off
}

// TestPauseAndSpeedKeepThePath pauses, resumes and changes speed: the path stays,
// the limits hold, the achieved rate is told, and a rate that the limits cannot
// bear is not reached.
func TestPauseAndSpeedKeepThePath(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", controllers: 1})
	r.checks = true
	p := r.program(r.limb("manipulator"), 0.3, 1)
	r.must(0, 1, p)
	r.run(4000) // the bridge is over
	rate := func(want float64) {
		t.Helper()
		r.run(1500)
		s, _ := r.l.Snapshot()
		if math.Abs(s.Rate-want) > 1e-9 {
			t.Errorf("achieved rate %g, want %g", s.Rate, want)
		}
		if off := onPath(r, p); off > 1e-9 {
			t.Errorf("%g off the path", off)
		}
	}
	rate(1)
	r.l.Send(Order{Kind: Pause})
	rate(0)
	if !r.l.shaper.AtRest() {
		t.Error("not at rest in a pause")
	}
	r.l.Send(Order{Kind: Resume})
	rate(1)
	r.l.Send(Order{Kind: SetRate, Value: 0.25})
	rate(0.25)
	r.l.Send(Order{Kind: SetRate, Value: 2})
	fastest := 2.0
	for leaf := range p.Needs.All {
		l := r.limits[leaf]
		fastest = min(fastest, l.VelMax/0.3, math.Sqrt(l.AccMax/0.3))
	}
	rate(fastest)
	r.l.Send(Order{Kind: GoalPause, Controller: 0})
	rate(0)
	r.l.Send(Order{Kind: GoalResume, Controller: 0})
	r.l.Send(Order{Kind: GoalRate, Controller: 0, Value: 0.5})
	r.l.Send(Order{Kind: SetRate, Value: 0.5})
	rate(0.25)
}

// TestRateAboveWhatLimitsBearIsCapped asks for 200 % of a motion that is near its
// limits already.
func TestRateAboveWhatLimitsBearIsCapped(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", controllers: 1})
	r.checks = true
	p := r.program(r.limb("manipulator"), 0.2, 4)
	r.must(0, 1, p)
	r.run(3000)
	r.l.Send(Order{Kind: SetRate, Value: 2})
	r.run(4000)
	s, _ := r.l.Snapshot()
	if s.Wanted != 2 || s.Rate >= 2 || s.Rate < 1 {
		t.Errorf("wanted %g, achieved %g: %+v", s.Wanted, s.Rate, r.reports)
	}
	t.Logf("200 %% asked for, %.0f %% achieved", 100*s.Rate)
}

// TestStopThatDoesNotSlowDownIsTakenAway: a motion that ignores category 2 is
// taken away at the deadline.
func TestStopThatDoesNotSlowDownIsTakenAway(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", controllers: 1})
	r.checks = true
	r.swings[0].stubborn = true
	r.must(0, 1, r.program(r.limb("manipulator"), 0.3, 2))
	r.run(2000)
	r.l.Stop(2)
	r.run(int(defaultStopDeadline/period) - 10)
	if r.l.seats[0].program == nil || !r.l.stops.active {
		t.Fatal("taken away before its deadline")
	}
	r.run(1000)
	if r.l.seats[0].program != nil || r.l.stops.active || !r.l.shaper.AtRest() {
		t.Error("not stopped")
	}
}

// TestCategoryOneHasADeadline: joints that cannot stop in time lose their torque
// all the same.
func TestCategoryOneHasADeadline(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", controllers: 1, settings: Settings{StopDeadline: 0.05}})
	r.must(0, 1, r.program(r.limb("manipulator"), 0.4, 2))
	r.run(3100)
	if r.l.shaper.AtRest() {
		t.Fatal("nothing moves")
	}
	r.l.Stop(1)
	r.run(52)
	if r.l.powered.state != Ready || r.l.setpoint[0].Mode != servo.Off {
		t.Errorf("power is %v after the deadline", r.l.powered.state)
	}
	if s := r.told(Stopped); len(s) != 1 {
		t.Errorf("%+v", s)
	}
}

// TestMoreSevereStopWins stops a stop.
func TestMoreSevereStopWins(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", controllers: 1})
	r.must(0, 1, r.program(r.limb("manipulator"), 0.3, 2))
	r.run(2100)
	r.l.Stop(2)
	r.l.Stop(1)
	r.l.Stop(2) // comes too late to soften
	r.run(5)
	if r.l.stops.category != 1 || r.l.powered.state != Stopping {
		t.Errorf("category %d, power %v", r.l.stops.category, r.l.powered.state)
	}
	r.l.Stop(0)
	r.run(1)
	if r.l.powered.state != Ready {
		t.Errorf("power %v", r.l.powered.state)
	}
}

// TestStandstillIsWatched: a joint that is moved after a stop of category 2 is a
// fault, and takes the torque away.
func TestStandstillIsWatched(t *testing.T) {
	for _, pushed := range []bool{false, true} {
		r := newRig(t, parts{robot: "arm6", controllers: 1, servo: sim.Servo{Lag: 0.02, Stiffness: 20}})
		r.must(0, 1, r.program(r.limb("manipulator"), 0.2, 2))
		r.run(2000)
		r.l.Stop(2)
		r.run(3000)
		if r.raised(StandstillMoved) || r.l.powered.state != Enabled {
			t.Fatalf("a robot that stands still has a fault: %+v", r.reports)
		}
		if pushed {
			r.bus.Push(2, 4) // N·m: sags by 0.2 rad
		}
		r.run(1000)
		if got := r.raised(StandstillMoved); got != pushed {
			t.Errorf("pushed %v, fault %v", pushed, got)
		}
		if torque := r.l.powered.torque(); torque == pushed {
			t.Errorf("pushed %v, torque %v, power %v", pushed, torque, r.l.powered.state)
		}
		if pushed && r.l.powered.state != Faulted {
			t.Errorf("power %v", r.l.powered.state)
		}
	}
}

func TestRestartAfterAStopIsASeparateAct(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", controllers: 1})
	r.l.Stop(1)
	r.run(50)
	r.l.Send(Order{Kind: PowerOn})
	r.run(2)
	if r.l.powered.state == Enabled {
		t.Error("power came back without a reset")
	}
	r.l.Send(Order{Kind: Reset})
	r.run(1)
	if r.l.powered.state == Enabled {
		t.Error("power came back by a reset alone")
	}
	r.l.Send(Order{Kind: PowerOn})
	r.run(3)
	if r.l.powered.state != Enabled {
		t.Errorf("power %v after reset", r.l.powered.state)
	}
}

// TestPowerOffAndOnAreOrdersLikeOthers: who orders power off may order it on
// again; a stop in between makes it a stop.
func TestPowerOffAndOnAreOrdersLikeOthers(t *testing.T) {
	for _, stop := range []bool{false, true} {
		r := newRig(t, parts{robot: "arm6", controllers: 1})
		r.checks = true
		r.must(0, 1, r.program(r.limb("manipulator"), 0.3, 2))
		r.run(2000)
		r.l.Send(Order{Kind: PowerOff})
		r.run(2)
		if stop {
			r.l.Stop(1)
		}
		r.run(1000)
		if r.l.powered.state != Ready {
			t.Fatalf("power %v", r.l.powered.state)
		}
		r.l.Send(Order{Kind: PowerOn})
		r.run(2)
		if on := r.l.powered.state == Enabled; on == stop {
			t.Errorf("stop %v: power %v", stop, r.l.powered.state)
		}
	}
}
