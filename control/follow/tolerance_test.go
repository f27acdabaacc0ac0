package follow

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"poise/control"
	"poise/loop"
	"poise/servo/sim"
	"poise/trajectory"
)

// badServos are those whose joints are not where they were told to be.
var badServos = []struct {
	name  string
	servo sim.Servo
}{
	{"lagging", sim.Servo{Lag: 0.08}},
	{"delayed", sim.Servo{Delay: 40}},
	{"lossy", sim.Servo{Loss: 0.3, Lag: 0.02}},
	{"quantised and noisy", sim.Servo{Quantum: 0.005, Noise: 0.002, Lag: 0.03}},
}

// patient lets servos be far off and silent without a fault: tolerances shall find
// them.
func patient() loop.Settings {
	rules := loop.DefaultFaultRules()
	rules[loop.TrackingError].Severity = loop.SeverityIgnore
	rules[loop.StaleReading].Severity = loop.SeverityIgnore
	return loop.Settings{Faults: rules}
}

func bend() *Goal {
	return arm(0.6, []float64{0, 0, 0, 0, 0, 0}, []float64{0.3, -0.15, 0.2, 0.6, -0.3, 0.6}, []float64{0.1, 0.1, 0.3, -0.3, -0.1, 0.2})
}

// deviation is how far the worst joint was off in a tick.
type deviation struct {
	joint int
	off   float64
}

// worstOf plays a goal without tolerances, and measures from outside how far each
// joint's reading was from the command of the time when it was taken. It goes up to
// the last tick in which the motion is judged.
func worstOf(t *testing.T, p parts, g *Goal) (worst float64, series []deviation) {
	t.Helper()
	r := newRig(t, p)
	goal := r.must(0, g)
	series = []deviation{{}}
	var commands [][]float64
	for {
		commands = append(commands, append([]float64(nil), r.s.Command.Q...))
		r.run(1)
		if r.s.Active[0].Time >= g.Points[len(g.Points)-1].Time {
			break
		}
		var d deviation
		for j := range 6 {
			// what a tick sees was measured at the end of the one before
			i := len(commands) - 1 - int(r.s.Measured.Age[j])
			if i < 0 {
				continue
			}
			if off := math.Abs(r.s.Measured.Q[j] - commands[i][j]); off > d.off {
				d = deviation{j, off}
			}
		}
		series, worst = append(series, d), max(worst, d.off)
	}
	ended(t, r.finish(goal, 3), control.Done, control.OK)
	return worst, series
}

// TestPathTolerance meets every threshold from both sides, and names joint, time
// and amount. What is a little more than the worst deviation passes; a little less
// breaks at the very tick.
func TestPathTolerance(t *testing.T) {
	for _, tc := range badServos {
		for _, dt := range []float64{busPeriod, period} {
			if testing.Short() && dt == period {
				continue
			}
			t.Run(fmt.Sprintf("%s at %g ms", tc.name, dt*1e3), func(t *testing.T) {
				p := parts{robot: "arm6", period: dt, servo: tc.servo, settings: patient()}
				if dt == busPeriod {
					p.servo.Delay /= 10
				}
				worst, series := worstOf(t, p, bend())
				if worst < 1e-3 {
					t.Fatalf("these servos are only %g off", worst)
				}
				r := newRig(t, p)
				goal := r.must(0, within(bend(), worst*1.001, 0))
				ended(t, r.finish(goal, 3), control.Done, control.OK)

				r = newRig(t, p)
				goal = r.must(0, within(bend(), worst*0.999, 0))
				first := r.n - 1
				rep := r.finish(goal, 3)
				ended(t, rep, control.Failed, control.ToleranceBroken)
				why := rep.Reason
				at := uint64(slices.IndexFunc(series, func(d deviation) bool { return d.off > worst*0.999 }))
				if d := series[at]; int(why.Joint) != d.joint || math.Abs(why.Value-d.off) > 1e-12 || why.Max != worst*0.999 {
					t.Errorf("joint %d is %g off, %g allowed; want %+v", why.Joint, why.Value, why.Max, d)
				}
				if rep.Tick.N-first != at || math.Abs(why.At-float64(at)*dt) > 1e-9 {
					t.Errorf("broken in tick %d at %g s, want tick %d", rep.Tick.N-first, why.At, at)
				}
				r.run(500) // and it stops: the rig judges the limits
				if speed := maxSpeed(r); speed > 1e-6 {
					t.Errorf("still moves with %g after the abort", speed)
				}
			})
		}
	}
}

// maxSpeed returns the speed of the fastest joint's command.
func maxSpeed(r *rig) (v float64) {
	for _, x := range r.v {
		v = max(v, math.Abs(x))
	}
	return v
}

// TestLostReadingsAreNoDeviation: a servo that follows exactly and answers seldom
// is never off, since an old reading is compared with what was asked for then.
func TestLostReadingsAreNoDeviation(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", settings: patient()})
	r.bus.Plan(sim.Trouble{Joint: 0, From: r.n + 100, Until: r.n + 140, Silent: true})
	goal := r.must(0, within(bend(), 1e-6, 1e-6))
	ended(t, r.finish(goal, 3), control.Done, control.OK)
}

// TestVelocityTolerance: a frozen joint breaks it while it should move, one that
// follows does not.
func TestVelocityTolerance(t *testing.T) {
	for _, frozen := range []bool{false, true} {
		r := newRig(t, parts{robot: "arm6", settings: patient()})
		if frozen {
			r.bus.Plan(sim.Trouble{Joint: 2, From: 50, Frozen: true})
		}
		g := bend()
		g.Path = []Tolerance{{Joint: "joint_3", Tolerance: trajectory.Tolerance{Position: -1, Velocity: 0.1}}}
		for _, name := range g.Joints {
			if name != "joint_3" {
				g.Path = append(g.Path, Tolerance{Joint: name, Tolerance: trajectory.Tolerance{Position: -1}})
			}
		}
		rep := r.finish(r.must(0, g), 3)
		if !frozen {
			ended(t, rep, control.Done, control.OK)
			continue
		}
		ended(t, rep, control.Failed, control.ToleranceBroken)
		if rep.Reason.Joint != 2 || rep.Reason.Max != 0.1 || rep.Reason.Value < 0.1 || rep.Reason.Value > 0.12 {
			t.Errorf("%+v", rep.Reason)
		}
	}
}

// TestTolerancesAgainstTheCommand: by choice the measured pose does not matter.
func TestTolerancesAgainstTheCommand(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", servo: sim.Servo{Lag: 0.3}, settings: patient()})
	g := within(bend(), 1e-5, 1e-5)
	g.Commanded = true
	ended(t, r.finish(r.must(0, g), 3), control.Done, control.OK)
	g = within(bend(), 1e-5, 1e-5)
	g.Approach = 1
	rep := r.finish(r.must(0, g), 9)
	ended(t, rep, control.Failed, control.ToleranceBroken)
}

// TestGoalTimeTolerance: lagging joints come within the goal tolerance some time
// after the end. That time, measured without a limit, is enough, and a little less
// is not.
func TestGoalTimeTolerance(t *testing.T) {
	for _, servo := range []sim.Servo{{Lag: 0.15}, {Delay: 120}, {Lag: 0.1, Loss: 0.3}} {
		p := parts{robot: "arm6", servo: servo, settings: patient()}
		play := func(allowed float64) (loop.Report, float64) {
			r := newRig(t, p)
			g := within(bend(), 0, 0.01)
			g.GoalTime = allowed
			goal := r.must(0, g)
			first := r.n - 1
			rep := r.finish(goal, 9)
			return rep, float64(rep.Tick.N-first) * period
		}
		rep, took := play(-1)
		ended(t, rep, control.Done, control.OK)
		settle := took - 1.2
		if settle < 0.02 {
			t.Fatalf("%+v: settled after %g s, too little to tell", servo, settle)
		}
		if rep, _ = play(settle + 0.002); rep.Status != control.Done {
			t.Errorf("%+v: %g s were enough, and a little more was not: %+v", servo, settle, rep.Reason)
		}
		rep, took = play(settle - 0.002)
		ended(t, rep, control.Failed, control.GoalMissed)
		if math.Abs(took-(1.2+settle-0.002)) > 0.0035 || math.Abs(rep.Reason.At-took) > 0.002 {
			t.Errorf("%+v: given up after %g s, at %g s; want %g s", servo, took, rep.Reason.At, 1.2+settle)
		}
		if rep.Reason.Value <= 0.01 || rep.Reason.Value > 0.02 || rep.Reason.Max != 0.01 {
			t.Errorf("%+v: %+v", servo, rep.Reason)
		}
	}
}

// TestGoalToleranceOfASaggingJoint: one joint hangs below its command for good.
func TestGoalToleranceOfASaggingJoint(t *testing.T) {
	const sag = 0.04
	p := parts{robot: "arm6", servo: sim.Servo{Stiffness: 100}, settings: patient(), load: func(dst, q []float64) {
		clear(dst)
		dst[1] = 100 * sag
	}}
	for _, tc := range []struct {
		allowed float64
		status  control.Status
	}{{sag * 1.001, control.Done}, {sag * 0.999, control.Failed}} {
		r := newRig(t, p)
		g := line("joint_2", 0.5, 0.1, 0.3)
		g.Final = []Tolerance{{Joint: "joint_2", Tolerance: trajectory.Tolerance{Position: tc.allowed}}}
		g.Approach, g.GoalTime = 0.5, 0.3
		rep := r.finish(r.must(0, g), 9)
		if rep.Status != tc.status {
			t.Fatalf("allowed %g: %+v", tc.allowed, rep.Reason)
		}
		if rep.Status == control.Failed {
			if why := rep.Reason; why.Code != control.GoalMissed || why.Joint != 1 || math.Abs(why.Value-sag) > 1e-6 {
				t.Errorf("%+v", why)
			}
		}
	}
	// for ever is for ever
	r := newRig(t, p)
	g := line("joint_2", 0.5, 0.1, 0.3)
	g.Final = []Tolerance{{Joint: "joint_2", Tolerance: trajectory.Tolerance{Position: sag / 2}}}
	g.Approach, g.GoalTime = 0.5, -1
	goal := r.must(0, g)
	r.run(8000)
	if _, over := r.report(loop.GoalEnded, goal); over {
		t.Error("it ended")
	}
}
