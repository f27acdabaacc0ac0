package loop

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"poise/arbiter"
	"poise/control"
	"poise/robot"
	"poise/servo"
	"poise/servo/sim"
)

// FuzzCycle turns bytes into orders, stops, late ticks, troubles and misbehaving
// controllers, and asks after every tick for what must always be true.
func FuzzCycle(f *testing.F) {
	f.Add([]byte("goals\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09"))
	f.Add([]byte{0, 9, 0, 20, 1, 3, 7, 7, 7, 2, 80, 11, 40, 12, 6, 13, 1, 5, 5, 10, 10})
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 200 {
			script = script[:200]
		}
		r := newRig(t, parts{robot: "arm6", period: busPeriod, controllers: 3, servo: sim.Servo{Lag: 0.02}, settings: Settings{Policy: arbiter.PolicyLast}})
		r.checks = true
		for i := 0; i+1 < len(script); i += 2 {
			r.play(script[i], script[i+1])
			r.invariants()
		}
	})
}

// TestRandomScripts is FuzzCycle with scripts from a seed, on one robot that is
// never made again.
func TestRandomScripts(t *testing.T) {
	steps := 20000
	switch {
	case testing.Short():
		steps = 500
	case soak:
		steps = 2000000
	}
	rng := rand.New(rand.NewPCG(31, 4))
	r := newRig(t, parts{robot: "arm6", period: busPeriod, controllers: 3, servo: sim.Servo{Lag: 0.02}, settings: Settings{Policy: arbiter.PolicyLast}})
	r.checks = true
	raised, stopped := 0, 0
	for range steps {
		r.play(byte(rng.IntN(256)), byte(rng.IntN(256)))
		for _, rep := range r.reports {
			switch rep.Kind {
			case FaultRaised:
				raised++
			case Stopped:
				stopped++
			}
		}
		r.invariants()
	}
	t.Logf("%d steps of a script, %d ticks, %d faults, %d stops", steps, r.n, raised, stopped)
	if raised == 0 || stopped == 0 {
		t.Error("too little happened")
	}
}

// play does one thing of a script.
func (r *rig) play(what, arg byte) {
	set := r.limb("manipulator")
	who := int(arg) % 3
	switch what % 18 {
	case 0, 1, 2:
		p := r.program(set, 0.05*float64(arg%4), 1+float64(arg%3)/2)
		if arg&1 != 0 { // one joint needed, the rest wanted
			p.Needs, p.Wants = robot.Leaf(robot.LeafID(arg%6)), set
		}
		r.goal(who, uint64(r.n), p)
	case 3:
		r.l.Send(Order{Kind: CancelGoal, Controller: arbiter.ClientID(who)})
	case 4:
		r.l.Stop(arg % 3)
	case 5:
		r.l.Send(Order{Kind: Reset})
		r.l.Send(Order{Kind: PowerOn})
	case 6:
		r.l.Send(Order{Kind: OrderKind(arg % 20), Controller: arbiter.ClientID(arg / 20), Value: float64(arg) / 100})
	case 7:
		r.swings[who].nan = arg&8 != 0
	case 8:
		r.swings[who].jump = arg&8 != 0
	case 9:
		r.swings[who].panics = [...]string{"", "Check", "Start", "Update", "Owned"}[arg%5]
		r.l.Send(Order{Kind: Run, Controller: arbiter.ClientID(who)})
	case 10:
		x := sim.Trouble{Joint: int(arg % 6), From: r.n, Until: r.n + 30 + uint64(arg)}
		x.Silent, x.Frozen, x.NonFinite = arg&16 != 0, arg&32 != 0, arg&64 != 0
		if arg&128 != 0 {
			x.Temperature, x.Fault = 99, servo.Overload
		}
		r.bus.Plan(x)
	case 11:
		r.l.Late(uint32(arg % 8))
	case 12:
		from := r.n
		r.bus.Down(func(n uint64) bool { return n >= from && n < from+uint64(arg%64) })
	case 13:
		r.l.Send(Order{Kind: SetRate, Value: float64(arg) / 100})
	case 14:
		r.run(int(arg) % 100)
	case 15:
		r.swings[who].limp = arg&8 != 0
	case 16:
		r.bus.PoseByHand(int(arg%6), float64(arg)/200-0.6)
	case 17:
		r.place(robot.JointID(arg%6), float64(arg)/200-0.6)
	}
	r.run(1)
}

// place puts a joint somewhere; what the rig remembers of it follows, if it is
// placed.
func (r *rig) place(j robot.JointID, q float64) {
	was := r.l.command.Q[j]
	r.l.Send(Order{Kind: Place, Program: &control.Placement{Joints: []robot.JointID{j}, Q: []float64{q}}})
	checks := r.checks
	r.checks = false
	r.run(1)
	r.checks = checks
	if placed := slices.ContainsFunc(r.reports, func(rep Report) bool { return rep.Kind == Placed }); placed && r.l.command.Q[j] == q {
		r.step[j] = 0
	} else if !placed && math.Abs(r.l.command.Q[j]-was) > 1 && r.l.mode[j].Powered() {
		r.t.Fatalf("joint %d went from %g to %g, and was not placed at %g", j, was, r.l.command.Q[j], q)
	}
}

// invariants hold after every tick.
func (r *rig) invariants() {
	r.t.Helper()
	l := r.l
	for leaf, who := range l.merge.Writer {
		if who != arbiter.NoClient && int(who) >= len(l.seats) {
			r.t.Fatalf("leaf %d is written by %d", leaf, who)
		}
	}
	for j := range l.setpoint {
		s := &l.setpoint[j]
		if math.IsNaN(s.Position) || math.IsInf(s.Position, 0) {
			r.t.Fatalf("joint %d is sent to %g", j, s.Position)
		}
		if !l.powered.torque() && s.Mode != servo.Off {
			r.t.Fatalf("joint %d is %v while power is %v", j, s.Mode, l.powered.state)
		}
		if l.faults.blocked.Has(robot.LeafID(j)) && l.merge.Writer[j] != arbiter.NoClient && l.faults.level[j] >= SeverityHold {
			// blocked in this very tick, after it was written, is for the next
			r.t.Fatalf("joint %d is blocked and written by %d", j, l.merge.Writer[j])
		}
	}
	active := 0
	for range l.faults.latch.all {
		active++
	}
	if active != l.faults.latch.active || l.lost != 0 {
		r.t.Fatalf("%d faults latched, %d counted; %d reports lost", active, l.faults.latch.active, l.lost)
	}
	for _, s := range l.seats {
		if s.program != nil && (l.stops.active && l.stops.category < 2 || !l.powered.torque()) {
			r.t.Fatalf("controller %d is active while power is %v", s.id, l.powered.state)
		}
	}
	for i := range r.reports {
		if e := r.reports[i].Last; e != nil {
			e.Release()
		}
	}
	r.reports = r.reports[:0]
}
