package scenario

import (
	"fmt"
	"math"
	"testing"

	"poise/internal/onfeet"
	"poise/loop"
	"poise/robot/load"
	"poise/servo/physics"
	"poise/spatial"
)

// soften makes the servos that the cycle knows as stiff as a share of what they can be; they have
// no steps, and dry friction only if they are to.
func soften(p *Plant, share float64, friction bool) {
	for i, m := range p.models {
		if m == nil {
			continue
		}
		own := *m
		own.Quantum, own.Stiffness = 0, share*own.FullStiffness(own.Voltage)
		if !friction {
			own.A[2] = 0
		}
		p.models[i], p.motors[i] = &own, physics.FromModel(&own)
	}
}

// TestForcesDeflectByStiffnessInContact: a force on the body of a robot that stands on four feet
// moves joints and body as springs at the joints let them, K·δ = Jᵀ·F with feet that stay where
// they are, within 20 % at three stiffnesses; dry friction takes what it can hold.
func TestForcesDeflectByStiffnessInContact(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); nothing in it is concurrent")
	}
	for _, c := range []struct {
		friction bool
		force    float64 // N, downwards
	}{{false, 8}, {true, 30}} {
		for _, share := range []float64{1, 0.5, 0.25} {
			p := prepare(t, loaded(t, "pony", load.Options{}), fmt.Sprintf("duration: 4\nstart: {pose: stand}\nmodel: {kp: 230}\n"+inCycle1+"do: [{at: 1, push: {link: base_link, point: [0, 0, 0], force: [0, 0, -%g], for: 10}}]\nexpect: [{what: fallen, is: false}]", c.force))
			soften(p, share, c.friction)
			before, after := pushedDown(t, p)
			s := onfeet.Springs{Model: p.m, Q: before, Stiffness: make([]float64, len(p.m.Joints()))}
			for i, m := range p.models {
				if s.Stiffness[i] = 1e4; m != nil {
					s.Stiffness[i] = share * m.FullStiffness(m.Voltage)
				}
			}
			want := s.Deflection(t, spatial.Vec3{}, spatial.Vec3{Z: -c.force})
			down, sink := before[2]-after[2], -want[2]
			// what friction holds of the force, by the work of both: f·|δq| = F·δz
			held := 0.0
			for i, m := range p.models {
				if m != nil {
					held += m.A[2] / m.A[3] * math.Abs(want[p.m.Joints()[i].V]) / sink
				}
			}
			t.Logf("%.2f N·m/rad: %g N sink it by %.2f mm, springs by %.2f mm; friction holds up to %.1f N", s.Stiffness[0], c.force, 1e3*down, 1e3*sink, held)
			if down < 0.8*sink*(1-held/c.force) || down > 1.2*sink {
				t.Errorf("share %g: it sank by %g m, springs by %g m, of %g N friction holds %g N", share, down, sink, c.force, held)
			}
			judged := 0
			for i, j := range p.m.Joints() {
				moved, by := after[j.Q]-before[j.Q], want[j.V]
				if c.friction || math.Abs(by)*s.Stiffness[i] < 0.02 {
					continue
				}
				judged++
				if math.Abs(moved-by) > 0.2*math.Abs(by) {
					t.Errorf("share %g, %s: it moved by %g rad, want %g", share, j.Name, moved, by)
				}
			}
			if !c.friction && judged < 8 {
				t.Errorf("share %g: %d joints are judged", share, judged)
			}
		}
	}
}

// pushedDown runs a plant and returns where the robot is before the first second is over, and in
// the end.
func pushedDown(t *testing.T, p *Plant) (before, after []float64) {
	t.Helper()
	r, err := p.Run(1, Watch{Frame: func(f *Frame) {
		after = append(append(append([]float64(nil), f.Base.Position[:]...), f.Base.Orientation[:]...), f.Q...)
		if f.T < 0.995 {
			before = after
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Pass() {
		t.Fatalf("%+v", r.Criteria)
	}
	return before, after
}

// TestAnUnevenFloorIsSharedMoreEvenly: with 3 mm under one hoof the loads of a robot that squats,
// and of one that stands after it, are nearer to those that balance it than in cycle 0 at the same
// gain; softer ones are nearer still.
func TestAnUnevenFloorIsSharedMoreEvenly(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); nothing in it is concurrent")
	}
	for _, under := range []struct {
		foot string
		x, y float64
	}{{"leg1", 0.1024, 0.0386}, {"leg4", -0.0584, -0.0386}} {
		loads := func(text string, stiffness float64) (moving, standing float64) {
			p := prepare(t, loaded(t, "pony", load.Options{}), fmt.Sprintf("duration: 5\nperiod: 0.01\nstart: {pose: stand}\nmodel: {kp: 100}\nworld: {boxes: [{size: [0.06, 0.06, 0.003], at: [%g, %g, 0.0015]}]}\n", under.x, under.y)+
				text+"expect: [{what: force_error, of: rms, max: 100, from: 1, to: 4.5}, {what: force_error, of: last, max: 100}]")
			for i, m := range p.models {
				if m != nil {
					own := *m
					own.Stiffness = stiffness
					p.models[i] = &own
				}
			}
			res := squatting(t, p).result()
			return *res.Criteria[0].Value, *res.Criteria[1].Value
		}
		was, rested := loads("", 0)
		now, rests := loads(inCycle1, 0)
		soft, soften := loads(inCycle1, 2.5)
		t.Logf("3 mm under %s: loads are off by %.2f N, then %.2f N; in cycle 0 %.2f N and %.2f N; at 2.5 N·m/rad %.2f N and %.2f N", under.foot, now, rests, was, rested, soft, soften)
		if now > 0.9*was || rests > 0.9*rested || soft > 0.6*was || soften > 0.6*rested {
			t.Errorf("3 mm under %s: off by %g and %g N, soft %g and %g N, in cycle 0 %g and %g N", under.foot, now, rests, soft, soften, was, rested)
		}
	}
}

// TestAnUnevenFloorAtRest: with 3 mm under a hoof from the start, and nothing that ever moves, loads are
// several times more even than in cycle 0, with the friction of servos and without it, soft or not. What is
// uneven is by how much one diagonal carries more: the part of the loads that no balance asks for.
func TestAnUnevenFloorAtRest(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); nothing in it is concurrent")
	}
	uneven := func(x, y float64, text string, friction bool, stiffness float64) float64 {
		p := prepare(t, loaded(t, "pony", load.Options{}), fmt.Sprintf("duration: 3\nperiod: 0.01\nstart: {pose: stand}\nmodel: {kp: 100}\nworld: {boxes: [{size: [0.06, 0.06, 0.003], at: [%g, %g, 0.0015]}]}\n", x, y)+text)
		if !friction {
			soften(p, 1, false)
		}
		for i, m := range p.models {
			if m != nil {
				own := *m
				own.Stiffness = stiffness
				p.models[i] = &own
			}
		}
		p.plays = true
		r, err := p.begin(1, Watch{})
		if err != nil {
			t.Fatal(err)
		}
		for r.look(0); r.step < p.s.steps(); {
			if err := r.cycle.tick(min(10, p.s.steps()-r.step)); err != nil {
				t.Fatal(err)
			}
		}
		sum := 0.0
		for _, f := range r.observed.feet {
			switch p.m.Frames()[f.link].Name {
			case "bone15", "bone45":
				sum += f.vertical
			default:
				sum -= f.vertical
			}
		}
		return math.Abs(sum / 4)
	}
	for _, under := range []struct {
		foot     string
		x, y     float64
		friction bool
	}{{"leg1", 0.1024, 0.0386, true}, {"leg4", -0.0584, -0.0386, true}, {"leg1", 0.1024, 0.0386, false}} {
		was, now := uneven(under.x, under.y, "", under.friction, 0), uneven(under.x, under.y, inCycle1, under.friction, 0)
		soft := uneven(under.x, under.y, inCycle1, under.friction, 2.5)
		t.Logf("3 mm under %s, friction %t: each foot of a diagonal carries %.2f N more, at 2.5 N·m/rad %.2f N; in cycle 0 %.2f N", under.foot, under.friction, now, soft, was)
		if now > 0.4*was || soft > 0.4*was {
			t.Errorf("3 mm under %s, friction %t: uneven by %g N, soft %g N, in cycle 0 %g N", under.foot, under.friction, now, soft, was)
		}
	}
}

// TestElectricalEnergy: standing in cycle 1 costs what the torques of inverse dynamics cost, whose
// contact forces are as even as can be. Cycle 0 costs less: springs of one stiffness settle where
// the squares of their torques, and with them the heat, are least, the soles turned against each other,
// and friction holds a part. In a squat cycle 1 also pays for friction and rotors, which cycle 0
// leaves out of its motion.
func TestElectricalEnergy(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); nothing in it is concurrent")
	}
	power := func(text string, friction bool) (mean, needed float64) {
		p := prepare(t, loaded(t, "pony", load.Options{}), "duration: 3\nstart: {pose: stand}\nmodel: {kp: 100}\n"+text)
		soften(p, 1, friction)
		p.plays = true
		r, err := p.begin(1, Watch{})
		if err != nil {
			t.Fatal(err)
		}
		for r.look(0); r.step < p.s.steps(); {
			if err := r.cycle.tick(min(10, p.s.steps()-r.step)); err != nil {
				t.Fatal(err)
			}
		}
		r.cycle.exec.View(func(s *loop.Snapshot) {
			for i, x := range s.Needed {
				needed += r.motors[i].Power(x, 0)
			}
		})
		return r.result().Figures["power"].Mean, needed
	}
	now, needed := power(inCycle1, true)
	was, _ := power("", true)
	smooth, _ := power(inCycle1, false)
	smoothly, _ := power("", false)
	squat := func(text string) float64 {
		p := prepare(t, loaded(t, "pony", load.Options{}), ownServos+"model: {kp: 100}\n"+text)
		return squatting(t, p).result().Figures["power"].Mean
	}
	moving, moved := squat(inCycle1), squat("")
	t.Logf("stand: %.2f W, by inverse dynamics %.2f W, in cycle 0 %.2f W; without friction %.2f W and %.2f W; squat: %.2f W, in cycle 0 %.2f W", now, needed, was, smooth, smoothly, moving, moved)
	if math.Abs(now/needed-1) > 0.05 || math.Abs(smooth/needed-1) > 0.05 || smooth > 2*smoothly {
		t.Errorf("stand: %g W, without friction %g W, by inverse dynamics %g W; in cycle 0 %g W, without friction %g W", now, smooth, needed, was, smoothly)
	}
	if moving > 2*moved {
		t.Errorf("squat: %g W, in cycle 0 %g W", moving, moved)
	}
}
