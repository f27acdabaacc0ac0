package feedforward

import (
	"math"
	"slices"
	"testing"

	"poise/control"
	"poise/robot"
)

// shared is a pony that stands, whose feet feel loads that balance it, and a part that is free besides.
type shared struct {
	t    *testing.T
	m    *robot.Model
	s    *Stage
	c    *control.Motion
	even []float64 // [chains] loads of inverse dynamics
}

func newShared(t *testing.T) *shared {
	m := model(t, "pony")
	p := &shared{t: t, m: m, s: stage(t, m), c: standing(t, m), even: make([]float64, len(m.Chains()))}
	for range 10 {
		p.s.tick(p.c)
	}
	for _, w := range p.s.Forces(nil) {
		p.even[w.Chain] = w.Force.Z
	}
	return p
}

// feels lets the feet of one diagonal feel more, and those of the other less.
func (p *shared) feels(more float64) {
	for i := range p.even {
		k, _, _ := p.sign(robot.ChainID(i))
		p.s.Feel(robot.ChainID(i), p.even[i]+k*more)
	}
}

// sign is that of a foot in the pattern: leg1 and leg4 are a diagonal.
func (p *shared) sign(c robot.ChainID) (sign float64, name string, foot bool) {
	name = p.m.Chains()[c].Name
	switch name {
	case "leg1", "leg4":
		return 1, name, true
	case "leg2", "leg3":
		return -1, name, true
	}
	return 0, name, false
}

func (p *shared) ticks(seconds float64) {
	for range int(seconds/period + 0.5) {
		p.s.tick(p.c)
	}
}

// TestLoadsAreShared: feet that press more than others of the same pattern press less and less, within a
// bound, slowly, and with torques of that very force; what is even, or has a sum or a moment, changes nothing.
func TestLoadsAreShared(t *testing.T) {
	p := newShared(t)
	plain := slices.Clone(p.s.Tau)
	p.feels(0.3)
	p.ticks(2)
	if !slices.Equal(p.s.Tau, plain) {
		t.Error("loads that are even enough change torques")
	}
	for i := range p.even { // heavier, and tilted: that is no matter of the floor
		if _, name, foot := p.sign(robot.ChainID(i)); foot {
			load := 1.5 * p.even[i]
			if name == "leg1" || name == "leg3" {
				load += 2
			}
			p.s.Feel(robot.ChainID(i), load)
		}
	}
	p.ticks(1)
	for i, x := range p.s.share.extra {
		if math.Abs(x) > 1e-9 {
			t.Errorf("%s presses with %g N more", p.m.Chains()[i].Name, x)
		}
	}
	p.feels(3)
	before, step := slices.Clone(p.s.Tau), 0.0
	for range 250 {
		p.s.tick(p.c)
		for j, x := range p.s.Tau {
			step, before[j] = max(step, math.Abs(x-before[j])), x
		}
	}
	if step > 0.001 {
		t.Errorf("a torque changes by %g N·m in a millisecond", step)
	}
	sum := 0.0
	for i, x := range p.s.share.extra {
		sign, name, _ := p.sign(robot.ChainID(i))
		if sum += x; math.Abs(x+sign*3*0.25/sharesIn) > 0.2 {
			t.Errorf("%s presses with %g N more after a quarter of a second", name, x)
		}
	}
	if math.Abs(sum) > 1e-9 {
		t.Errorf("all of them press with %g N more", sum)
	}
	// the torques are those of the forces: inverse dynamics with the same force on a foot
	for _, w := range p.s.Forces(nil) {
		if sign, name, _ := p.sign(w.Chain); math.Abs(w.Force.Z-p.even[w.Chain]) > 1e-6 || sign == 0 {
			t.Errorf("%s is told to carry %g N instead of %g N", name, w.Force.Z, p.even[w.Chain])
		}
	}
	p.ticks(10)
	most := 0.0
	for _, x := range p.s.share.extra {
		most = max(most, math.Abs(x))
	}
	if bound := sharesMost * p.m.Mass() * p.m.Gravity().Norm(); math.Abs(most-bound) > 1e-9 {
		t.Errorf("a foot presses with %g N more, at most %g N", most, bound)
	}
}

// TestAbsurdLoadsAreNotShared: a spike changes torques by little, and a load that no foot of the robot
// can carry by nothing, however large it is; afterwards loads are shared as before.
func TestAbsurdLoadsAreNotShared(t *testing.T) {
	p := newShared(t)
	plain := slices.Clone(p.s.Tau)
	leg, _ := p.m.Chain("leg1")
	weight := p.m.Mass() * p.m.Gravity().Norm()
	p.s.Feel(leg, 0.99*believed*weight)
	p.s.tick(p.c)
	for j, x := range p.s.Tau {
		if math.Abs(x-plain[j]) > 0.01 {
			t.Errorf("a spike of a millisecond changes the torque of joint %d by %g N·m", j, x-plain[j])
		}
	}
	for _, absurd := range []float64{1000, 1e6, math.MaxFloat64, math.Inf(1), math.NaN()} {
		p.s.Feel(leg, absurd)
		p.ticks(1)
		for j, x := range p.s.Tau {
			if x != plain[j] {
				t.Fatalf("a load of %g N changes the torque of joint %d by %g N·m", absurd, j, x-plain[j])
			}
		}
	}
	p.feels(3)
	p.ticks(1)
	if p.s.State.Failed || p.s.share.extra[leg] == 0 {
		t.Errorf("loads are not shared any more: %+v", p.s.State)
	}
}

// TestSharingEndsWithItsReasons: a foot that is lifted, loads that are not felt and a new beginning end it.
func TestSharingEndsWithItsReasons(t *testing.T) {
	for name, end := range map[string]func(p *shared){
		"a foot is lifted": func(p *shared) { p.c.Support[0].Weight = 0 },
		"a foot stays in the air": func(p *shared) {
			p.s.Touch[0] = Aloft
			p.ticks(givesUp)
		},
		"a foot is unloaded": func(p *shared) { p.c.Support[0].Weight = 0.5 },
		"one is not felt":    func(p *shared) { p.s.Feel(0, math.NaN()) },
		"it begins anew":     func(p *shared) { p.feels(0); p.s.Begin() },
	} {
		p := newShared(t)
		if _, _, foot := p.sign(0); !foot {
			t.Fatal("the first chain is no foot")
		}
		p.feels(4)
		p.ticks(1)
		if p.s.share.extra[0] == 0 {
			t.Fatal("nothing is shared")
		}
		end(p)
		before := slices.Clone(p.s.share.extra)
		p.ticks(0.25)
		for i, x := range p.s.share.extra {
			if x != 0 {
				t.Errorf("%s: chain %d pressed with %g N more, and still does with %g N", name, i, before[i], x)
			}
		}
	}
}
