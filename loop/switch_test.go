package loop

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"poise/arbiter"
	"poise/control"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/sim"
)

// TestRandomSwitches hands the arm from controller to controller at random
// instants, with cancels, pauses and changes of speed in between: every command
// is within position, velocity and acceleration limits, and when a bridge has
// ended the command is the reference, bit for bit.
func TestRandomSwitches(t *testing.T) {
	switches := 100000
	if testing.Short() {
		switches = 500
	}
	rng := rand.New(rand.NewPCG(5, 5))
	r := newRig(t, parts{robot: "arm6", period: busPeriod, controllers: 3, settings: Settings{Policy: arbiter.PolicyLast}})
	r.checks = true
	set := r.limb("manipulator")
	p := r.program(set, 0, 0)
	equal, started := 0, 0
	for n := range switches {
		// programs are never written again once sent, so each is new
		q := *p
		q.Amplitude, q.Frequency = 0.3*rng.Float64(), 0.5+2*rng.Float64()
		q.Centre = make([]float64, r.l.dof)
		for j := range q.Centre {
			q.Centre[j] = p.Centre[j] + 0.4*(rng.Float64()-0.5)
		}
		r.goal(rng.IntN(3), uint64(n+1), &q)
		switch rng.IntN(20) {
		case 0:
			r.l.Send(Order{Kind: CancelGoal, Controller: arbiter.ClientID(rng.IntN(3))})
		case 1:
			r.l.Send(Order{Kind: SetRate, Value: 2 * rng.Float64()})
		}
		length := 1 + rng.IntN(10)
		if rng.IntN(200) == 0 {
			length = 300 // long enough for its bridge to end
		}
		for range length {
			r.run(1)
			equal += r.onReference()
		}
		for i := range r.reports {
			if r.reports[i].Kind == GoalStarted {
				started++
			}
		}
		r.reports = r.reports[:0]
	}
	if started != switches {
		t.Errorf("%d of %d switches took place", started, switches)
	}
	t.Logf("%d switches, %d joint samples after the end of their bridges, all on their references", switches, equal)
	if equal == 0 {
		t.Error("no bridge ever ended")
	}
}

// onReference counts joints whose bridge is over, and asks that they are where
// their reference is unless the gate had to cut it.
func (r *rig) onReference() (count int) {
	for j, who := range r.l.merge.Writer[:r.l.dof] {
		if who == arbiter.NoClient || r.l.shaper.HandingOver(j) || r.l.shaper.Cut[j] != 0 {
			continue
		}
		count++
		if ref := r.l.seats[who].ref; r.l.command.Q[j] != ref.Q[j] || r.l.command.V[j] != ref.V[j] {
			r.t.Fatalf("tick %d, joint %d: command %v, reference %v, and no bridge", r.n, j, r.l.command.Q[j], ref.Q[j])
		}
	}
	return count
}

func TestNonFiniteStopsItsController(t *testing.T) {
	r := newRig(t, parts{robot: "pony", controllers: 2})
	r.checks = true
	r.must(0, 1, r.program(r.limb("leg1"), 0.1, 2))
	r.must(1, 2, r.program(r.limb("leg2"), 0.1, 2))
	r.run(900)
	r.swings[0].nan = true
	r.run(500)
	if ended := r.told(GoalEnded); len(ended) != 1 || ended[0].Goal != 1 || ended[0].Status != control.Failed || ended[0].Reason.Code != control.NonFinite {
		t.Errorf("%+v", ended)
	}
}

// ponyLimits gives the pony acceleration limits, so that hand-overs on it can be
// judged by them.
func ponyLimits(t testing.TB) load.Options {
	t.Helper()
	if limited.Limits != "" {
		return limited
	}
	text := "joint_limits:\n"
	for _, j := range model(t, "pony", load.Options{}).Joints() {
		text += "  " + j.Name + ":\n    has_acceleration_limits: true\n    max_acceleration: 8.0\n"
	}
	file := filepath.Join(t.TempDir(), "joint_limits.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	limited = load.Options{Limits: file}
	model(t, "pony", limited) // while the file is there
	return limited
}

var limited load.Options

// TestRandomSwitchesOfThePony is TestRandomSwitches for a whole body on a poor
// bus: six controllers that fight for limbs.
func TestRandomSwitchesOfThePony(t *testing.T) {
	switches := 2000
	switch {
	case testing.Short():
		switches = 50
	case soak:
		switches = 100000
	}
	rng := rand.New(rand.NewPCG(6, 6))
	r := newRig(t, parts{robot: "pony", period: busPeriod, controllers: 6, options: ponyLimits(t),
		servo: sim.Servo{Lag: 0.02, Loss: 0.1, Delay: 1}, settings: Settings{Policy: arbiter.PolicyLast}})
	r.checks = true
	groups := []string{"leg1", "leg2", "leg3", "leg4", "head", "tail", "ears", "eyes"}
	for n := range switches {
		p := r.program(r.limb(groups[rng.IntN(len(groups))]).Union(r.limb(groups[rng.IntN(len(groups))])), 0.1*rng.Float64(), 0.5+2*rng.Float64())
		p.Wants = r.limb(groups[rng.IntN(len(groups))]).Minus(p.Needs)
		p.Duration = 0.1 + rng.Float64()
		r.goal(rng.IntN(6), uint64(n+1), p)
		for range 1 + rng.IntN(20) {
			r.run(1)
			r.onReference()
		}
		r.reports = r.reports[:0]
	}
	t.Logf("%d switches of a body of %d joints", switches, r.l.dof)
}

// TestStepDoesNotAllocate measures on the pony with goals, hand-overs, faults, a
// stop, a panic, a recorder and subscribers active.
func TestStepDoesNotAllocate(t *testing.T) {
	var hash uint64
	tap := tapFunc(func(f *TickRecord) { hash ^= f.Hash })
	r := newRig(t, parts{robot: "pony", controllers: 3, servo: sim.Servo{Lag: 0.02, Loss: 0.05}, tap: tap})
	r.bus.Plan(sim.Trouble{Joint: int(first(r.limb("leg3"))), From: r.n + 700, Temperature: 99})
	programs := []control.Program{r.program(r.limb("leg1"), 0.1, 2), r.program(r.limb("leg1"), 0.1, 3), r.program(r.limb("head"), 0.05, 1)}
	n, reports, raised := 0, 0, 0
	if a := testing.AllocsPerRun(3000, func() {
		if n%50 == 0 {
			r.l.Send(Order{Kind: StartGoal, Controller: arbiter.ClientID(n / 50 % 3), Goal: uint64(n + 1), Program: programs[n/50%3]})
		}
		switch n {
		case 1500:
			r.swings[2].panics = "Update"
		case 1600:
			r.swings[2].panics = ""
			r.l.Send(Order{Kind: Run, Controller: 2})
		case 2500:
			r.l.Stop(2)
		}
		r.l.Step(servo.Tick{N: r.n, Time: int64(r.n) * 1e6, Dt: period})
		r.n++
		n++
		for {
			rep, ok := r.l.Receive()
			if !ok {
				break
			}
			reports++
			if rep.Kind == FaultRaised {
				raised++
			}
			if rep.Last != nil {
				rep.Last.Release()
			}
		}
		r.l.Snapshot()
	}); a != 0 {
		t.Errorf("%v allocations a tick", a)
	}
	t.Logf("%d ticks, %d reports, %d faults, hash %x: no allocation", n, reports, raised, hash)
	if reports == 0 || raised < 2 || math.Abs(float64(n-3001)) > 1 {
		t.Errorf("%d reports, %d faults in %d ticks", reports, raised, n)
	}
}

// BenchmarkStep is a tick of the pony with six active controllers.
func BenchmarkStep(b *testing.B) {
	for _, tc := range []struct {
		name string
		tap  Tap
	}{{"pony", nil}, {"recorded", tapFunc(func(*TickRecord) {})}} {
		b.Run(tc.name, func(b *testing.B) {
			r := newRig(b, parts{robot: "pony", controllers: 6, tap: tc.tap})
			for i, g := range []string{"leg1", "leg2", "leg3", "leg4", "head", "tail"} {
				r.must(i, uint64(i+1), r.program(r.limb(g), 0.05, 1))
			}
			b.ReportAllocs()
			for b.Loop() {
				r.l.Step(servo.Tick{N: r.n, Time: int64(r.n) * 1e6, Dt: period})
				r.n++
			}
			for _, s := range r.l.seats {
				if s.program == nil {
					b.Fatal("not all controllers were active")
				}
			}
		})
	}
}

// TestExponentialHandOvers takes the other decay: the gate keeps it within limits,
// and it ends on the reference too.
func TestExponentialHandOvers(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", controllers: 2, settings: Settings{Policy: arbiter.PolicyLast,
		Bridge: control.BridgeConfig{Decay: control.Exponential, TimeConstant: 0.05}}})
	r.checks = true
	equal, times := 0, 8
	if testing.Short() {
		times = 2
	}
	for n := range times {
		r.must(n%2, uint64(n+1), r.program(r.limb("manipulator"), 0.2, 1+float64(n)/8))
		for range 3000 {
			r.run(1)
			equal += r.onReference()
		}
	}
	if equal < times*1000 {
		t.Errorf("on the reference in %d joint samples", equal)
	}
}
