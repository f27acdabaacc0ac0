package mujoco

import (
	"math"
	"testing"

	"poise/internal/onfeet"
	"poise/robot/load"
	"poise/servo/physics"
	"poise/sim"
	"poise/spatial"
)

// judged are the engines of the rows below: the short run leaves out ours, in which package scenario
// judges the same rows.
func judged() []judge {
	if long() {
		return engines
	}
	return engines[1:]
}

// TestWrongMassesInBothEngines: all masses a tenth more or less than the cycle knows: a stand at a
// gain of 100 keeps its joints within 0.005 rad, in cycle 0 they are several times as far off.
func TestWrongMassesInBothEngines(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	seconds, factors := 1.0, []float64{1.1}
	if long() {
		seconds, factors = 20, []float64{0.9, 1.1}
	}
	for _, e := range judged() {
		for _, factor := range factors {
			p := servosAt(bot, 100, 12, 0)
			for i := range p.masses {
				p.masses[i] = factor
			}
			was := drive(t, bot, p, e.of(t, bot, p), 0, 0).measured(seconds, 0)
			now := drive(t, bot, p, e.of(t, bot, p), 1, 0).measured(seconds, 0)
			t.Logf("%s, masses by %g, %g s: cycle 1 %.4f rad, sag %.2f mm; cycle 0 %.4f rad, %.2f mm", e.name, factor, seconds, now.joints, 1e3*now.sag, was.joints, 1e3*was.sag)
			if now.joints > 0.005 || now.sag > 0.001 || now.joints > 0.3*was.joints {
				t.Errorf("%s, masses by %g: %+v, in cycle 0 %+v", e.name, factor, now, was)
			}
		}
	}
}

// TestLostPacketsInBothEngines: a tenth of the setpoints and of the readings lost, each setpoint up
// to 5 ms late: a squat that is led by two periods is off by half as much again at most as without
// it, and so is a stand (in the long run). Cycle 0 is at its best lead.
func TestLostPacketsInBothEngines(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	const stands, lead = 20, 0.02
	squats := 2.0
	if long() {
		squats = 4
	}
	for _, e := range judged() {
		run := func(cycle int, lead float64, lossy, moves bool) figures {
			p := servosAt(bot, 100, 12, 0)
			if lossy {
				p.line = physics.Line{Loss: 0.1, Jitter: 0.005}
			}
			d := drive(t, bot, p, e.of(t, bot, p), cycle, lead)
			if !moves {
				return d.measured(stands, 0)
			}
			d.submit(onfeet.Squat(t, bot.Model, squats))
			return d.measured(squats+0.6, 1)
		}
		nominal, led, worse := run(1, lead, false, true), run(1, lead, true, true), run(0, 0.06, true, true)
		t.Logf("%s, squat: cycle 1 led by 20 ms %.4f rad, loads within %.2f N, without loss %.4f rad; cycle 0 at a lead of 60 ms %.4f rad", e.name, led.joints, led.force, nominal.joints, worse.joints)
		if led.joints > 1.5*nominal.joints || led.joints > 0.006 || led.joints > worse.joints/5 || led.sag < 0.025 {
			t.Errorf("%s: joints are %g rad off, without loss %g, in cycle 0 %g; the body went down by %g m", e.name, led.joints, nominal.joints, worse.joints, led.sag)
		}
		if !long() {
			continue
		}
		still, shaken, was := run(1, 0, false, false), run(1, 0, true, false), run(0, 0, true, false)
		t.Logf("%s, stand: cycle 1 %.4f rad, without loss %.4f rad; cycle 0 %.4f rad", e.name, shaken.joints, still.joints, was.joints)
		if shaken.joints > 1.5*still.joints || shaken.joints > was.joints/5 {
			t.Errorf("%s: joints are %g rad off, without loss %g, in cycle 0 %g", e.name, shaken.joints, still.joints, was.joints)
		}
		plain, exact := run(1, 0, true, true), run(1, 0, false, true)
		t.Logf("%s, squat without a lead: %.4f rad, without loss %.4f rad", e.name, plain.joints, exact.joints)
		if plain.joints > 0.006 {
			t.Errorf("%s: without a lead joints are %g rad off", e.name, plain.joints)
		}
	}
}

// springs returns the plant on servos without friction and steps, as stiff as a share of what a gain
// of 230 gives: by its setpoints where the cycle knows the servos, by its gain in cycle 0.
func springs(bot *load.Loaded, cycle int, share float64) (p plant, stiffness []float64) {
	p = servosAt(bot, 230, 12, 0)
	for i, known := range p.models {
		stiffness = append(stiffness, 1e4)
		if known == nil {
			continue
		}
		own := *known
		own.Quantum, own.A[2] = 0, 0
		stiffness[i] = share * own.FullStiffness(own.Voltage)
		if cycle == 0 {
			own.Kp *= share
		} else {
			own.Stiffness = stiffness[i]
		}
		p.models[i], p.motors[i] = &own, physics.FromModel(&own)
	}
	return p, stiffness
}

// TestForcesDeflectInBothEngines: a force on the body sinks it as springs at the joints let it, K·δ =
// Jᵀ·F with feet that stay where they are, within 20 % at three stiffnesses. In cycle 0 springs as
// soft give way to the weight too; cycle 1 holds it up.
func TestForcesDeflectInBothEngines(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	m := bot.Model
	const force = 8 // N
	settle, shares := 0.5, []float64{0.25}
	if long() {
		settle, shares = 3, []float64{1, 0.5, 0.25}
	}
	for _, e := range judged() {
		for _, share := range shares {
			sink := func(cycle int) (sag, down, want float64) {
				p, stiffness := springs(bot, cycle, share)
				d := drive(t, bot, p, e.of(t, bot, p), cycle, 0)
				high := d.e.base().P.Z
				d.run(settle, nil)
				before := d.configuration()
				d.e.push(spatial.Vec3{Z: -force})
				d.run(settle, nil)
				after := d.configuration()
				s := onfeet.Springs{Model: m, Q: before, Stiffness: stiffness}
				return high - before[2], before[2] - after[2], -s.Deflection(t, m.Bodies()[trunk].Inertia.Com, spatial.Vec3{Z: -force})[2]
			}
			sag, down, want := sink(1)
			sagged, downs, _ := sink(0)
			t.Logf("%s, %.0f %% of the stiffness: %g N sink it by %.2f mm, springs by %.2f mm, its weight by %.2f mm; in cycle 0 %.2f mm, its weight %.2f mm", e.name, 100*share, float64(force), 1e3*down, 1e3*want, 1e3*sag, 1e3*downs, 1e3*sagged)
			if math.Abs(down-want) > 0.2*want || math.Abs(sag) > 0.2*sagged {
				t.Errorf("%s, %g: it sank by %g m, springs by %g m; its weight sank it by %g m, in cycle 0 by %g m", e.name, share, down, want, sag, sagged)
			}
		}
	}
}

// configuration is that of the robot as the engine has it.
func (d *driven) configuration() []float64 {
	X, q, joints := d.e.base(), make([]float64, d.m.NumQ()), make([]float64, len(d.m.Joints()))
	R := X.R.Quat()
	copy(q, []float64{X.P.X, X.P.Y, X.P.Z, R.X, R.Y, R.Z, R.W})
	d.e.truth(joints)
	for i, j := range d.m.Joints() {
		q[j.Q] = joints[i]
	}
	return q
}

// TestAnUnevenFloorInBothEngines: with 3 mm under a hoof loads are more even than in cycle 0 at the
// same gain, at rest from the start, and after a squat. What is uneven is by how much each hoof
// of a diagonal carries more: the part of the loads that no balance asks for.
func TestAnUnevenFloorInBothEngines(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	feet := []string{"leg1"}
	rests, squats := 1.5, 0.0
	if long() {
		feet, rests, squats = []string{"leg1", "leg4"}, 3, 4
	}
	for _, e := range judged() {
		for _, foot := range feet {
			p := servosAt(bot, 100, 12, 0)
			p.boxes = []sim.Box{under(t, bot, foot, 0.003)}
			run := func(cycle int, lead float64) (rest, after float64) {
				d := drive(t, bot, p, e.of(t, bot, p), cycle, lead)
				rest = d.uneven(rests)
				if squats > 0 {
					d.submit(onfeet.Squat(t, bot.Model, squats))
					after = d.uneven(squats + 1.5)
				}
				return rest, after
			}
			was, wasAfter := run(0, 0)
			now, after := run(1, 0)
			t.Logf("%s, 3 mm under %s: each hoof of a diagonal carries %.2f N more, after a squat %.2f N; in cycle 0 %.2f and %.2f N", e.name, foot, now, after, was, wasAfter)
			if now > 0.5*was || squats > 0 && after > 0.5*wasAfter || was < 0.5 {
				t.Errorf("%s, 3 mm under %s: uneven by %g N, after a squat %g N; in cycle 0 %g and %g N", e.name, foot, now, after, was, wasAfter)
			}
		}
	}
}

// under is a plate below a hoof of the pony at rest, some metres thick.
func under(t *testing.T, bot *load.Loaded, foot string, thick float64) sim.Box {
	t.Helper()
	for _, at := range soles(t, bot) {
		if bot.Model.Chains()[at.chain].Name == foot {
			return sim.Box{Pose: spatial.Pose{R: spatial.Identity3, P: spatial.Vec3{X: at.middle.X, Y: at.middle.Y, Z: thick / 2}}, Half: spatial.Vec3{X: 0.03, Y: 0.03, Z: thick / 2}}
		}
	}
	t.Fatalf("no foot %s", foot)
	return sim.Box{}
}

// uneven runs for some seconds and returns by how much each hoof of a diagonal carries more than is
// even, in the mean of the last half of a second.
func (d *driven) uneven(seconds float64) float64 {
	const last = 0.5
	sign := map[string]float64{"leg1": 1, "leg2": -1, "leg3": -1, "leg4": 1}
	load, sum, n := make([]float64, len(feetOf(d.m))), 0.0, 0.0
	d.run(seconds, func(at float64) {
		if at <= seconds-last {
			return
		}
		d.e.loads(load)
		n++
		for k, id := range feetOf(d.m) {
			sum += sign[d.m.Chains()[id].Name] * load[k]
		}
	})
	return math.Abs(sum / n / 4)
}
