package mujoco

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"poise/action"
	"poise/control/follow"
	"poise/control/lookat"
	"poise/control/stance"
	"poise/executive"
	"poise/internal/onfeet"
	"poise/robot"
	"poise/spatial"
	"poise/trajectory"
	"poise/wholebody"
	"poise/wholebody/stage"
)

var hooves = []string{"leg1", "leg2", "leg3", "leg4"}

// hard runs a motion in cycle 2 and returns what was seen.
func hard(t *testing.T, e engine, p plant, goal *follow.Goal, seconds float64) (*driven, *balance) {
	t.Helper()
	d := drive(t, pony(t), p, e, 2, 0)
	if goal != nil {
		d.submit(*goal)
	}
	b := newBalance(d, "leg1")
	d.run(seconds, b.look)
	return d, b
}

// TestContactsThatSwitchInBothEngines: every 100 ms another hoof is told to be free or to stand, while the body sways: no effort
// jumps, the measured zero-moment point keeps half the margin, and the robot stands.
func TestContactsThatSwitchInBothEngines(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	seconds := 2.0
	if long() {
		seconds = 20
	}
	rng := rand.New(rand.NewPCG(23, 14))
	keys := []onfeet.Key{{At: 0}}
	for at := 0.3; at < seconds-0.5; at += 0.1 {
		keys = append(keys, onfeet.Key{At: at, Shift: onfeet.Over(bot.Model, "leg1").Scale(0.3 * math.Sin(2*at)), Free: []string{hooves[rng.IntN(4)]}})
	}
	keys = append(keys, onfeet.Key{At: seconds})
	goal := onfeet.Lift(t, bot.Model, hooves, keys...)
	for _, e := range engines {
		p := servosAt(bot, 100, 12, 0)
		_, b := hard(t, e.of(t, bot, p), p, &goal, seconds+0.5)
		f := &b.figures
		t.Logf("%s: tilt %.2f°, margin %.1f mm, below half of it in %d of %d samples, efforts change by %.3f N·m in a tick, a hoof carries %.2f N at least, %v at worst", e.name, f.tilt*180/math.Pi, 1e3*f.least, f.below, f.samples, f.jump, b.lightest, f.worst)
		if f.tilt > math.Pi/180 || !f.carried() || f.jump > 0.15+1e-9 || f.steep > 200 || f.worst != stage.Served || long() && b.lightest > 0.1*9.81*bot.Model.Mass() {
			t.Errorf("%s: %+v", e.name, *f)
		}
	}
}

// TestStraightKneesInBothEngines: legs that are told to stretch until they are straight stop before, smoothly, and come back.
func TestStraightKneesInBothEngines(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	m := bot.Model
	goal := follow.Goal{GoalTime: -1}
	var from, to []float64
	for _, leg := range []string{"1", "2", "3", "4"} {
		for k := 2; k <= 4; k++ {
			name := "joint" + leg + string(rune('0'+k))
			j, ok := m.Joint(name)
			if !ok {
				t.Fatalf("no joint %s", name)
			}
			goal.Joints = append(goal.Joints, name)
			from, to = append(from, m.RestPositions()[j]), append(to, 0.1*m.RestPositions()[j])
		}
	}
	zero := make([]float64, len(from))
	for _, x := range []struct {
		at float64
		q  []float64
	}{{0.2, from}, {1.0, to}, {1.3, to}, {2.1, from}} {
		goal.Points = append(goal.Points, trajectory.Point{Time: x.at, Position: x.q, Velocity: zero, Acceleration: zero})
	}
	for _, e := range engines {
		p := servosAt(bot, 100, 12, 0)
		engine := e.of(t, bot, p)
		d, b := hard(t, engine, p, &goal, 2.5)
		f := &b.figures
		t.Logf("%s: tilt %.2f°, margin %.1f mm, below half of it in %d of %d samples, accelerations up to %.0f rad/s², efforts change by %.3f N·m in a tick, %v at worst", e.name, f.tilt*180/math.Pi, 1e3*f.least, f.below, f.samples, f.steep, f.jump, f.worst)
		if f.tilt > math.Pi/180 || !f.carried() || f.steep > 200 || f.jump > 0.15 || f.worst != stage.Served || math.Abs(d.e.base().P.Z-0.223) > 0.01 {
			t.Errorf("%s: %+v, %g m high at the end", e.name, *f, d.e.base().P.Z)
		}
	}
}

// TestTorquesThatSaturateInBothEngines: with servos of 0.3 N·m the pony is commanded to dip by 9 mm within a quarter of a
// second and to rise again, which needs more. No command exceeds the limit, the active torque rows and the residual are
// reported, the measured zero-moment point keeps half the margin, and in the end it stands as before.
func TestTorquesThatSaturateInBothEngines(t *testing.T) {
	t.Parallel()
	const most = 0.3
	bot := pony(t)
	low := spatial.Vec3{Z: -0.009}
	goal := onfeet.Lift(t, bot.Model, hooves, onfeet.Key{At: 0}, onfeet.Key{At: 0.3}, onfeet.Key{At: 0.55, Shift: low}, onfeet.Key{At: 0.8}, onfeet.Key{At: 1})
	for _, e := range engines {
		p := servosAt(bot, 100, 12, 0)
		for i, known := range p.models {
			if known != nil {
				weak := *known
				weak.Effort = most
				p.models[i] = &weak
			}
		}
		engine := e.of(t, bot, p)
		over, at, told, held := math.Inf(-1), 0, 0, 0.0
		d := drive(t, bot, p, engine, 2, 0)
		high := engine.base().P.Z
		d.submit(goal)
		b := newBalance(d, "leg1")
		names, missed := wholebody.NewNames(d.m), 0
		d.run(2, func(now float64) {
			b.look(now)
			if now < 0.25 {
				held = math.Max(held, math.Abs(engine.base().P.Z-high))
			}
			s, _ := d.l.Snapshot()
			full, c := false, d.l.Command()
			for j, tau := range s.Needed {
				if known := p.models[j]; known != nil && !d.m.Joints()[robot.JointID(j)].Virtual {
					// friction and rotor take their part of the 0.3 N·m, or give it back
					least, most := known.Range(c.V[j], c.A[j], 12)
					by := math.Max(tau-most, least-tau)
					over, full = math.Max(over, by), full || by > -5e-3 // the supply sags a little
				}
			}
			if missing(names, s.WholeBody.Levels) {
				missed++
			}
			if full {
				at++
			}
			if w := &s.WholeBody.State; !w.Feasible || w.Status != stage.Served || w.Base < 0.9 {
				told++
			}
		})
		sunk := high - engine.base().P.Z
		f := &b.figures
		t.Logf("%s: stands within %.2f mm; beyond the limit by %.1e N·m, at it in %d ticks, told in %d, rows and what is missing in %d; %.2f mm low at the end, tilt %.2f°, margin %.1f mm, below half of it in %d of %d samples, %v at worst", e.name, 1e3*held, over, at, told, missed, 1e3*sunk, f.tilt*180/math.Pi, 1e3*f.least, f.below, f.samples, f.worst)
		if held > 0.002 || over > 1e-6 || at < 5 || told == 0 || missed == 0 || !f.carried() || math.Abs(sunk) > 0.002 || f.tilt > math.Pi/180 || f.worst != stage.Served {
			t.Errorf("%s: stands within %g m, beyond the limit by %g N·m, %d ticks at it, told in %d, %g m low, %+v", e.name, held, over, at, told, sunk, *f)
		}
	}
}

// missing reports whether torques at their limits are told as active rows, and below them what of a request they leave out.
func missing(names *wholebody.Names, levels []stage.LevelState) bool {
	held := false
	for _, l := range levels {
		for _, r := range l.Active {
			held = held || l.Safety && strings.HasPrefix(names.Row(r), "tau_")
		}
		if held && !l.Safety && l.Name != "regularisation" && l.Residual > 0.1 {
			return true
		}
	}
	return false
}

// TestASlipperyFloorInBothEngines: on a floor of 0.3, of which cycle 2 knows 0.25, a body that is to move by up to 1 m/s² and by more than
// friction gives does not slip, and does not fall: what friction does not give comes later.
func TestASlipperyFloorInBothEngines(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	far := spatial.Vec3{X: -0.03}
	for _, e := range engines {
		for _, takes := range []float64{0.42, 0.2} { // s: peaks of 1 and 4.3 m/s²
			goal := onfeet.Lift(t, bot.Model, hooves, onfeet.Key{At: 0}, onfeet.Key{At: 0.1}, onfeet.Key{At: 0.1 + takes, Shift: far}, onfeet.Key{At: 0.5 + takes, Shift: far})
			p := servosAt(bot, 100, 12, 0)
			p.friction = 0.3
			engine := e.of(t, bot, p)
			d, b := hard(t, engine, p, &goal, 1+takes)
			slip := engine.base().P.Sub(d.l.Command().Base.Pose.P)
			slip.Z = 0
			f := &b.figures
			t.Logf("%s, 30 mm in %g s: slipped by %.2f mm, tilt %.2f°, margin %.1f mm, %v at worst", e.name, takes, 1e3*slip.Norm(), f.tilt*180/math.Pi, 1e3*f.least, f.worst)
			if slip.Norm() > 0.003 || f.tilt > 2*math.Pi/180 || !f.carried() || f.worst != stage.Served || f.steep > 200 {
				t.Errorf("%s, 30 mm in %g s: slipped by %g m, %+v", e.name, takes, slip.Norm(), *f)
			}
		}
	}
}

// TestStanceAndGazeByTheWholeBody: in cycle 2 the body goes where the stance leads it and the head follows a point, at once: accelerations
// of both are served, the measured body is there, and nothing is prevented.
func TestStanceAndGazeByTheWholeBody(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	for _, e := range engines {
		p := servosAt(bot, 100, 12, 0)
		engine := e.of(t, bot, p)
		d := drive(t, bot, p, engine, 2, 0)
		for _, name := range []string{"stance", "look_at"} {
			if _, err := d.exec.Submit("test", action.ID(name), 0, &executive.Operational{Controller: name, On: true}, executive.Watch{Changed: func(c executive.Change) {
				if c.To.Terminal() {
					t.Errorf("%s: %s ended: %v: %s", e.name, name, c.To, c.Result.Text())
				}
			}}); err != nil {
				t.Fatal(err)
			}
		}
		d.run(0.2, nil)
		from, turned, steep, worst := engine.base(), 0.0, 0.0, stage.Idle
		neck, _ := d.m.Joint("joint52")
		was := d.l.Command().Q[neck]
		by := spatial.Vec3{X: 0.008, Y: 0.015, Z: -0.01}
		for range 150 {
			now := int64(math.Round(float64(d.n) * d.period * 1e9))
			d.exec.Lead("stance", &stance.Target{At: now, Body: spatial.Pose{R: spatial.Identity3, P: by}, Relative: true})
			d.exec.Lead("look_at", &lookat.Target{At: now, Point: spatial.Vec3{X: 1, Y: 0.6, Z: 0.4}})
			d.run(d.period, func(float64) {
				c := d.l.Command()
				s, _ := d.l.Snapshot()
				worst = max(worst, s.WholeBody.State.Status)
				turned, steep = math.Max(turned, math.Abs(c.Q[neck]-was)), math.Max(steep, c.Base.Acceleration.Linear.Norm())
				if s.WholeBody.State.Prevented {
					t.Fatalf("%s: a tip-over is prevented", e.name)
				}
			})
		}
		off := engine.base().P.Sub(from.P).Sub(by)
		t.Logf("%s: the body is %.2f mm off after %.0f mm, accelerated by %.2f m/s², the neck turned by %.2f rad, %v at worst", e.name, 1e3*off.Norm(), 1e3*by.Norm(), steep, turned, worst)
		if off.Norm() > 0.002 || turned < 0.2 || steep < 0.05 || worst != stage.Served {
			t.Errorf("%s: the body is %g m off, %g m/s², neck %g rad, %v", e.name, off.Norm(), steep, turned, worst)
		}
	}
}

// TestPushesByTheWholeBodyInBothEngines: in cycle 2, as in cycle 1, the pony withstands a push of 0.4 N·s on a floor of
// friction 0.3 that it takes for 0.25.
func TestPushesByTheWholeBodyInBothEngines(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	for _, e := range engines {
		for name, along := range map[string]spatial.Vec3{"left": {Y: 1}, "forward": {X: 1}} {
			p := servosAt(bot, 100, 12, 0)
			p.friction = 0.3
			d := drive(t, bot, p, e.of(t, bot, p), 2, 0)
			d.run(0.3, nil)
			worst := stage.Idle
			d.e.push(along.Scale(0.4 / pushLasts))
			d.run(pushLasts, nil)
			d.e.push(spatial.Vec3{})
			f := d.measured(1.6, 0)
			s, _ := d.l.Snapshot()
			worst = max(worst, s.WholeBody.State.Status)
			t.Logf("%s: pushed %s by 0.4 N·s it tilts by %.1f°, %v at the end", e.name, name, f.tilt*180/math.Pi, worst)
			if f.tilt > math.Pi/9 || worst != stage.Served {
				t.Errorf("%s: pushed %s it tilts by %g rad: %v", e.name, name, f.tilt, worst)
			}
		}
	}
}

// TestLiftsWithoutAShiftInBothEngines: a hoof that is commanded to lift before the body is over the others stays, which is
// reported; levels above the limbs keep their rows (residual below 1e-5), and no joint accelerates by more than
// 200 rad/s².
func TestLiftsWithoutAShiftInBothEngines(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	for _, e := range engines {
		for _, leg := range []string{"1", "3"} {
			p := servosAt(bot, 100, 12, 0)
			d := drive(t, bot, p, e.of(t, bot, p), 2, 0)
			d.submit(lifted(t, bot.Model, leg))
			b := newBalance(d, "leg"+leg)
			residual, slack := 0.0, 0.0
			d.run(3, func(at float64) {
				b.look(at)
				s, _ := d.l.Snapshot()
				for _, l := range s.WholeBody.Levels {
					if l.Name == "limbs" {
						break
					}
					slack = math.Max(slack, l.Slack)
					if l.Safety { // what is asked for may be out of reach of a leg that stays
						residual = math.Max(residual, l.Residual)
					}
				}
			})
			f := &b.figures
			t.Logf("%s, leg%s: kept for %.2f s, tilt %.2f°, residual of safety %.1e, slack above limbs %.1e, accelerations up to %.0f rad/s²", e.name, leg, float64(f.prevented)*cyclePeriod, f.tilt*180/math.Pi, residual, slack, f.steep)
			if f.prevented < 100 || f.tilt > math.Pi/180 || residual > 1e-5 || slack > 1e-5 || f.steep > 200 || f.worst != stage.Served || !f.carried() {
				t.Errorf("%s, leg%s: residual %g, slack %g, %+v", e.name, leg, residual, slack, *f)
			}
		}
	}
}
