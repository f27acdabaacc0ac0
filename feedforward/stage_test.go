package feedforward

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/contact"
	"poise/control"
	"poise/dynamics"
	"poise/robot"
	"poise/robot/load"
	"poise/spatial"
)

const period = 0.001 // s

func model(t testing.TB, name string) *robot.Model {
	t.Helper()
	r, err := load.Robot(name, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Model
}

func stage(t testing.TB, m *robot.Model) *Stage {
	t.Helper()
	s, err := New(m, make([]float64, len(m.Joints())))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// standing is a command of a robot at rest on all its feet.
func standing(t testing.TB, m *robot.Model) *control.Motion {
	t.Helper()
	c := control.NewMotion(len(m.Joints()), len(m.Chains()), 0)
	copy(c.Q, m.RestPositions())
	g, err := contact.NewGround(m)
	if err != nil {
		t.Fatal(err)
	}
	X, _ := g.Settle(c.Q, g.DefaultFeetTo(nil))
	c.Base = control.BaseRef{Pose: X, Has: true}
	for i, chain := range m.Chains() {
		c.Support[i] = control.Support{Weight: 1, Contact: chain.Contact}
	}
	return &c
}

func all(int) bool { return true }

func (s *Stage) tick(c *control.Motion) {
	s.Accelerate(c, all, period)
	s.Update(c, period)
}

// TestABoltedArmHasInverseDynamics: of a smooth motion, whose accelerations are claimed as they
// are, the torques are those of inverse dynamics, from the first tick on.
func TestABoltedArmHasInverseDynamics(t *testing.T) {
	m := model(t, "arm6")
	s, d := stage(t, m), dynamics.NewData(m)
	n := len(m.Joints())
	c := control.NewMotion(n, len(m.Chains()), 0)
	q, v, a, want := make([]float64, m.NumQ()), make([]float64, m.NumV()), make([]float64, m.NumV()), make([]float64, m.NumV())
	for k := range 2000 {
		at := float64(k) * period
		for i, j := range m.Joints() {
			w := 1 + 0.3*float64(i)
			sin, cos := math.Sincos(w * at)
			c.Q[i], c.V[i], c.A[i] = 0.5*sin, 0.5*w*cos, -0.5*w*w*sin
			q[j.Q], v[j.V], a[j.V] = c.Q[i], c.V[i], c.A[i]
		}
		s.tick(&c)
		d.InverseTo(want, q, v, a, dynamics.Load{})
		for i, j := range m.Joints() {
			if s.Tau[i] != want[j.V] {
				t.Fatalf("tick %d: joint %s gets %g, inverse dynamics has %g", k, j.Name, s.Tau[i], want[j.V])
			}
		}
	}
}

// TestStandingIsCarried: at rest the feet carry the weight, nothing is left over, and no joint of
// a symmetrical robot pulls to one side.
func TestStandingIsCarried(t *testing.T) {
	m := model(t, "pony")
	s, c := stage(t, m), standing(t, m)
	for range 10 {
		s.tick(c)
	}
	weight := m.Mass() * m.Gravity().Norm()
	up := 0.0
	for _, f := range s.Forces(nil) {
		up += f.Force.Z
	}
	if math.Abs(up-weight) > 1e-6*weight || s.State.Residual.Force.Norm() > 1e-6*weight || s.State.Failed || s.State.Contradicts {
		t.Errorf("feet carry %g N of %g: %+v", up, weight, s.State)
	}
	largest := 0.0
	for _, x := range s.Tau {
		largest = max(largest, math.Abs(x))
	}
	if largest < 0.05 || largest > 1 {
		t.Errorf("the largest torque is %g N·m", largest)
	}
}

// TestFlightNeedsNoFeet: without supports the residual is the whole weight, and torques are finite.
func TestFlightNeedsNoFeet(t *testing.T) {
	m := model(t, "pony")
	s, c := stage(t, m), standing(t, m)
	clear(c.Support)
	s.tick(c)
	if weight := m.Mass() * m.Gravity().Norm(); math.Abs(s.State.Residual.Force.Z-weight) > 1e-9*weight || s.State.Failed {
		t.Errorf("%+v, weight %g", s.State, weight)
	}
}

// TestSupportsFadeWhateverIsCommanded: feet that are commanded away and back at once change no
// torque by more than 0.1 N·m in a millisecond.
func TestSupportsFadeWhateverIsCommanded(t *testing.T) {
	m := model(t, "pony")
	s, c := stage(t, m), standing(t, m)
	s.tick(c)
	rng := rand.New(rand.NewPCG(21, 30))
	was := append([]float64{}, s.Tau...)
	worst, moved, changes := 0.0, 0.0, 0
	first := append([]float64{}, s.Tau...)
	for k := range 3000 {
		if k%130 == 0 {
			leg := []string{"leg1", "leg2", "leg3", "leg4"}[rng.IntN(4)]
			id, _ := m.Chain(leg)
			c.Support[id].Weight = 1 - c.Support[id].Weight
			changes++
		}
		s.tick(c)
		for j, x := range s.Tau {
			worst, moved = max(worst, math.Abs(x-was[j])), max(moved, math.Abs(x-first[j]))
		}
		copy(was, s.Tau)
	}
	t.Logf("%d changes move torques by %.2f N·m, by %.4f in a tick", changes, moved, worst)
	if worst > 0.1 || moved < 0.1 {
		t.Errorf("torques change by up to %g N·m in a tick, by %g in all", worst, moved)
	}
}

// TestAllFeetGoAndCome: a robot whose feet are all commanded away, and back, has its torques change
// by 0.1 N·m in a tick of 10 ms at most, though in between they cannot carry it, and leaning a little.
func TestAllFeetGoAndCome(t *testing.T) {
	m := model(t, "pony")
	for _, lean := range []float64{0, 1e-4, 0.02} {
		s, c := stage(t, m), standing(t, m)
		c.Base.Pose.R = spatial.ExpRotation(spatial.Vec3{Y: lean}).Matrix().Mul(c.Base.Pose.R)
		const dt = 0.01
		tick := func() {
			s.Accelerate(c, all, dt)
			s.Update(c, dt)
		}
		tick()
		was, worst, moved := append([]float64{}, s.Tau...), 0.0, 0.0
		first := append([]float64{}, s.Tau...)
		for k := range 120 {
			if k%40 == 0 {
				for i := range c.Support {
					if m.Chains()[i].Contact != robot.NoContact {
						c.Support[i].Weight = float64(k / 40 % 2)
					}
				}
			}
			tick()
			for j, x := range s.Tau {
				worst, moved = max(worst, math.Abs(x-was[j])), max(moved, math.Abs(x-first[j]))
			}
			copy(was, s.Tau)
		}
		t.Logf("leaning by %g: torques move by %.2f N·m, by %.4f in a tick", lean, moved, worst)
		if worst > 0.1 || moved < 0.1 {
			t.Errorf("leaning by %g: torques change by up to %g N·m in a tick, by %g in all", lean, worst, moved)
		}
	}
}

// TestAContradictionIsTold: a leg that moves while it is said to stand is corrected, and that
// is told; one that may move is not.
func TestAContradictionIsTold(t *testing.T) {
	m := model(t, "pony")
	s, c := stage(t, m), standing(t, m)
	knee, _ := m.Joint("joint13")
	leg, _ := m.Chain("leg1")
	move := func(k int) {
		sin, cos := math.Sincos(10 * float64(k) * period)
		c.Q[knee], c.V[knee], c.A[knee] = m.RestPositions()[knee]+0.1*sin, cos, -10*sin
		s.tick(c)
	}
	told := false
	for k := range 400 {
		move(k)
		told = told || s.State.Contradicts
	}
	if !told {
		t.Errorf("a standing leg that moves is not told: %+v", s.State)
	}
	c.Support[leg].Weight = 0
	for k := 400; k < 1000; k++ {
		if move(k); k > 600 && s.State.Contradicts {
			t.Fatalf("a free leg that moves is told at tick %d: %+v", k, s.State)
		}
	}
}

// TestASlowContradictionIsTold: a leg that creeps while it is said to stand is named in every
// tick, although its acceleration is 0, and for a second after; feet that stand are not.
func TestASlowContradictionIsTold(t *testing.T) {
	m := model(t, "pony")
	s, c := stage(t, m), standing(t, m)
	knee, _ := m.Joint("joint13")
	leg, _ := m.Chain("leg1")
	for range 100 {
		if s.tick(c); s.State.Contradicts || s.State.Recent.Contradicted > 0 {
			t.Fatalf("a robot that stands contradicts itself: %+v", s.State)
		}
	}
	for k := range 400 {
		c.Q[knee], c.V[knee] = m.RestPositions()[knee]+0.0003*float64(k+1), 0.3
		s.tick(c)
		if r := s.State.Recent; !s.State.Contradicts || r.Contradicted != recently || r.Chain != leg || r.Speed < slides {
			t.Fatalf("tick %d: %+v", k, s.State)
		}
	}
	c.V[knee] = 0
	for k := range 1200 { // accelerations settle within some ticks
		s.tick(c)
		if told := s.State.Recent.Contradicted > 0; k < 990 && !told || k > 1050 && told {
			t.Fatalf("tick %d after it: %+v", k, s.State)
		}
	}
}

// TestAFootThatCreepsIsTold: a leg that is said to stand and goes away by millimetres, slower than
// what is called sliding, is named, and forgotten when it has stood for a while.
func TestAFootThatCreepsIsTold(t *testing.T) {
	m := model(t, "pony")
	s, c := stage(t, m), standing(t, m)
	knee, _ := m.Joint("joint13")
	leg, _ := m.Chain("leg1")
	const speed = 0.05 // rad/s: some mm/s of the hoof
	k := 0
	for ; !s.State.Contradicts; k++ {
		if k > 3000 {
			t.Fatalf("a foot that moved for 3 s is not told: %+v", s.State)
		}
		c.Q[knee], c.V[knee] = m.RestPositions()[knee]+speed*period*float64(k+1), speed
		s.tick(c)
	}
	if r := s.State.Recent; r.Chain != leg || r.Way < creeps || r.Speed != 0 || r.Aloft || k < 300 {
		t.Errorf("after %d ticks: %+v", k, r)
	}
	c.V[knee] = 0
	for range 4000 {
		s.tick(c)
	}
	if s.State.Contradicts || s.State.Recent.Contradicted > 0 {
		t.Errorf("it has stood for 4 s: %+v", s.State)
	}
}

// TestAFootThatDoesNotTouchPressesGently: its sensor is believed after a while, it is named, the
// others carry the most of its load, and it has all of it again when it touches. A short loss of
// touch changes nothing; at the beginning a sensor is believed at once.
func TestAFootThatDoesNotTouchPressesGently(t *testing.T) {
	m := model(t, "pony")
	s, c := stage(t, m), standing(t, m)
	leg, _ := m.Chain("leg1")
	load := func() (of, all float64) {
		for _, w := range s.Forces(nil) {
			if all += w.Force.Z; w.Chain == leg {
				of = w.Force.Z
			}
		}
		return of, all
	}
	ticks := func(n int) {
		for range n {
			s.tick(c)
		}
	}
	for i := range s.Touch {
		s.Touch[i] = Touching
	}
	ticks(10)
	before, weight := load()
	s.Touch[leg] = Aloft
	ticks(250)
	if of, _ := load(); of != before || s.State.Contradicts {
		t.Errorf("after a quarter of a second %v N instead of %v N: %+v", of, before, s.State)
	}
	ticks(300)
	const most = searches / (1 - searches)
	if of, all := load(); of > before/2 || of > most*weight || math.Abs(all-weight) > 1e-3*weight || !s.State.Contradicts || s.State.Recent.Chain != leg || !s.State.Recent.Aloft {
		t.Errorf("in the air it carries %v of %v N: %+v", of, all, s.State)
	}
	s.Touch[leg] = Touching
	ticks(1300)
	if of, _ := load(); math.Abs(of-before) > 1e-6 || s.State.Recent.Contradicted > 0 {
		t.Errorf("it touches again, and carries %v instead of %v N: %+v", of, before, s.State)
	}
	for i := range s.Touch {
		s.Touch[i] = Aloft
	}
	s.Begin()
	s.tick(c)
	if of, all := load(); of > 1.001*most*weight || all > 4.001*most*weight || !s.State.Recent.Aloft {
		t.Errorf("a robot in the air begins with %v N on a foot, %v N on all: %+v", of, all, s.State)
	}
}

// TestAFootThatTouchesAgainTakesItsLoadGradually: of a robot that crouches far to one side, whose feet
// came off the ground and touch it one after the other, no torque changes by more than 0.1 N·m a tick.
func TestAFootThatTouchesAgainTakesItsLoadGradually(t *testing.T) {
	m := model(t, "pony")
	s, c := stage(t, m), standing(t, m)
	c.Base.Acceleration.Linear = spatial.Vec3{X: 3, Y: 2} // one leg needs more than the others
	for i := range s.Touch {
		s.Touch[i] = Aloft
	}
	const dt = 0.0112
	run := func(ticks int) (worst float64) {
		before := make([]float64, len(s.Tau))
		for range ticks {
			copy(before, s.Tau)
			s.Accelerate(c, func(int) bool { return true }, dt)
			s.Update(c, dt)
			for j, x := range s.Tau {
				worst = max(worst, math.Abs(x-before[j]))
			}
		}
		return worst
	}
	run(2)
	for _, leg := range []string{"leg4", "leg2", "leg3", "leg1"} {
		at, _ := m.Chain(leg)
		s.Touch[at] = Touching
		if worst := run(7); worst > changeBy+1e-9 {
			t.Errorf("%s touches again, and a torque changes by %.3f N·m in a tick", leg, worst)
		}
	}
	run(60)
	if worst := run(5); worst > 1e-9 {
		t.Errorf("it stands, and a torque changes by %v N·m in a tick", worst)
	}
}

// TestWeightThatNothingCarriesIsTold: in the air, and where coefficients are too small, in the
// tick itself and for a second after; of a robot that stands it is not.
func TestWeightThatNothingCarriesIsTold(t *testing.T) {
	m := model(t, "pony")
	weight := m.Mass() * m.Gravity().Norm()
	s, c := stage(t, m), standing(t, m)
	if s.tick(c); s.State.Lacks || s.State.Recent.Lacked > 0 {
		t.Errorf("a robot that stands: %+v", s.State)
	}
	for i := range c.Support {
		c.Support[i].Weight = 0.1
	}
	for range 300 {
		s.tick(c)
	}
	if !s.State.Lacks || math.Abs(s.State.Recent.Missing-5*weight/9) > 1e-3*weight {
		t.Errorf("feet of 0.1 carry 4/9 of the weight: %+v", s.State)
	}
	for i := range c.Support {
		c.Support[i].Weight = 0
	}
	for range 300 {
		s.tick(c)
	}
	if !s.State.Lacks || math.Abs(s.State.Recent.Missing-weight) > 1e-6*weight {
		t.Errorf("in the air: %+v", s.State)
	}
	for i := range c.Support {
		c.Support[i].Weight = 1
	}
	for k := range 1400 {
		s.tick(c)
		if lacks := s.State.Recent.Lacked > 0; k > 250 && s.State.Lacks || k < 1000 && !lacks || k > 1250 && lacks {
			t.Fatalf("tick %d on the ground: %+v", k, s.State)
		}
	}
}

// TestWhatCannotBeComputedFades: a command without a base, or one that is not finite, lets the
// last torques fade, and they come back.
func TestWhatCannotBeComputedFades(t *testing.T) {
	m := model(t, "pony")
	s, c := stage(t, m), standing(t, m)
	s.tick(c)
	knee, _ := m.Joint("joint13")
	began := s.Tau[knee]
	for _, spoil := range []func(on bool){
		func(on bool) { c.Base.Has = !on },
		func(on bool) {
			if c.V[knee] = 0; on {
				c.V[knee] = math.NaN()
			}
		},
	} {
		spoil(true)
		last := s.Tau[knee]
		for range 2000 {
			s.tick(c)
			if math.Abs(s.Tau[knee]-last) > 0.01 || !s.State.Failed {
				t.Fatalf("from %g to %g in a tick, failed %v", last, s.Tau[knee], s.State.Failed)
			}
			last = s.Tau[knee]
		}
		if math.Abs(last) > 1e-3*math.Abs(began) {
			t.Errorf("%g of %g N·m is left", last, began)
		}
		spoil(false)
		s.tick(c)
		if s.State.Failed || math.Abs(s.Tau[knee]-began) > 1e-9 {
			t.Errorf("it does not come back: %g of %g", s.Tau[knee], began)
		}
	}
}

// TestChoosingIsGradual: whatever a joint's torque and the period, taking it up and leaving it
// changes it by 0.05 N·m a tick at most, and ends at all of it and at nothing.
func TestChoosingIsGradual(t *testing.T) {
	m := model(t, "pony")
	for _, dt := range []float64{0.001, 0.0112, 0.056} {
		s := stage(t, m)
		for j := range s.Tau {
			s.Tau[j] = 0.3 * float64(j-10)
		}
		for _, on := range []bool{true, false} {
			for range 3000 {
				for j := range s.Tau {
					was := s.Share[j] * s.Tau[j]
					if now := s.Effort(j, on, dt); math.Abs(now-was) > torqueBy+1e-12 {
						t.Fatalf("period %g: from %g to %g N·m", dt, was, now)
					}
				}
			}
			for j, share := range s.Share {
				if want := map[bool]float64{true: 1}[on]; share != want {
					t.Errorf("period %g: joint %d uses %g of its torque, want %g", dt, j, share, want)
				}
			}
		}
	}
}

// TestMassesAreNeeded: a robot of which no mass is known has no stage, and the reason names it.
func TestMassesAreNeeded(t *testing.T) {
	m := model(t, "pony")
	light := m.WithInertias(make([]spatial.Inertia, len(m.Bodies())))
	if _, err := New(light, make([]float64, len(m.Joints()))); err == nil {
		t.Error("a robot without mass has torques")
	} else {
		t.Log(err)
	}
}

func TestUpdatesDoNotAllocate(t *testing.T) {
	m := model(t, "pony")
	s, c := stage(t, m), standing(t, m)
	rng := rand.New(rand.NewPCG(21, 31))
	sets := m.Contacts()
	if n := testing.AllocsPerRun(1000, func() {
		j := rng.IntN(len(c.Q))
		c.Q[j] += 1e-4 * rng.NormFloat64()
		c.A[j] = rng.NormFloat64()
		i := rng.IntN(len(c.Support))
		c.Support[i].Weight = float64(rng.IntN(2))
		s.Feel(robot.ChainID(rng.IntN(len(c.Support))), 10*rng.Float64())
		if c.Support[i].Contact != robot.NoContact {
			c.Support[i].Contact = robot.ContactID(rng.IntN(len(sets)))
		}
		s.tick(c)
		for j := range s.Tau {
			s.Effort(j, true, period)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkCycle1 is all of cycle 1 for the pony that stands, as a multiple of inverse dynamics in
// the same run.
func BenchmarkCycle1(b *testing.B) {
	m := model(b, "pony")
	s, c := stage(b, m), standing(b, m)
	d := dynamics.NewData(m)
	tau := make([]float64, m.NumV())
	b.Run("inverse dynamics", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			d.InverseTo(tau, s.q, s.v, s.a, dynamics.Load{})
		}
	})
	b.Run("cycle 1", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.tick(c)
			for j := range s.Tau {
				s.Effort(j, true, period)
			}
		}
	})
}

// TestAnotherContactSet: a foot that is said to stand by another set of points does so from then on;
// the original went on with the points of the old set, and forgot the name of the new one.
func TestAnotherContactSet(t *testing.T) {
	m := model(t, "pony")
	tau := func(sets ...string) []float64 {
		s, c := stage(t, m), standing(t, m)
		c.Base.Acceleration.Linear.X = 1 // flat hooves have moments, centres have none
		for _, name := range sets {
			set, ok := m.Contact(name)
			if !ok {
				t.Fatalf("no contact set %s", name)
			}
			for i := range c.Support {
				if m.Chains()[i].Contact != robot.NoContact {
					c.Support[i].Contact = set
				}
			}
			for range 3 {
				s.tick(c)
			}
		}
		return append([]float64(nil), s.Tau...)
	}
	flat, centre := tau("hoof_flat"), tau("hoof_center")
	differ := 0.0
	for j, x := range tau("hoof_flat", "hoof_center") {
		differ = math.Max(differ, math.Abs(flat[j]-centre[j]))
		if math.Abs(x-centre[j]) > 1e-9 {
			t.Errorf("joint %d has %g N·m, want %g; with flat hooves %g", j, x, centre[j], flat[j])
		}
	}
	for j, x := range tau("hoof_center", "hoof_flat") {
		if math.Abs(x-flat[j]) > 1e-9 {
			t.Errorf("back: joint %d has %g N·m, want %g", j, x, flat[j])
		}
	}
	if differ < 1e-3 {
		t.Errorf("the sets differ by %g N·m: nothing is told apart", differ)
	}
}
