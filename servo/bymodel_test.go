package servo

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/servo/model"
)

func strong() *model.Model {
	return &model.Model{Kp: 100, Voltage: 12, Gear: 1, Saturation: 37, DeadZone: 0.02, A: [6]float64{2.1095, 53.9546, 12.5499, 234.9008}}
}

func weak() *model.Model {
	return &model.Model{Kp: 100, Voltage: 12, Gear: 1, Saturation: 37, DeadZone: 0.02, Lead: 0.01, A: [6]float64{1.3887, 52.0818, 7.0933, 212.2978}}
}

func byModel(t testing.TB, c InversionConfig) *ByModel {
	t.Helper()
	c.Name = "model"
	inv, err := NewInverter(c)
	if err != nil {
		t.Fatal(err)
	}
	return inv.(*ByModel)
}

// loaded is a command that carries a torque at rest, with torque on.
func loaded(tau, dt float64) Command {
	return Command{Position: 0.3, Effort: tau, Stiffness: 1, Dt: dt, Torque: true, ByModel: true}
}

func run(b *ByModel, c *Command, seconds float64) (s Setpoint) {
	for range int(math.Ceil(seconds / c.Dt)) {
		b.InvertTo(&s, c)
	}
	return s
}

// given is the torque that a servo makes of a setpoint at the place of a command, if it passes
// efforts on by a share.
func given(m *model.Model, s *Setpoint, c *Command, u, passes float64) float64 {
	return s.Stiffness*m.FullStiffness(u)*(s.Position-c.Position) + passes*s.Effort
}

// TestByModelIsTheModelOnceBlendedIn: first what lead gives, then the goal of the model; effort
// and lead are in the position.
func TestByModelIsTheModelOnceBlendedIn(t *testing.T) {
	m := weak()
	b := byModel(t, InversionConfig{Lead: Lead{0.02}, Models: []*model.Model{m, nil}})
	c := Command{Position: 0.1, Velocity: 0.7, Acceleration: -3, Effort: 0.4, Stiffness: 1, Dt: 0.01, Torque: true, ByModel: true}
	var s, plain Setpoint
	b.lead.InvertTo(&plain, &c)
	other := c
	other.Joint = 1
	c.ByModel = false
	b.InvertTo(&s, &c)
	if s != plain {
		t.Errorf("not by model: %+v, want %+v", s, plain)
	}
	c.ByModel = true
	run(b, &c, 3)
	b.InvertTo(&s, &c)
	ahead := *m
	ahead.Lead += 0.02
	want := ahead.Invert(model.Motion{Position: 0.1, Velocity: 0.7, Acceleration: -3, Effort: 0.4}, 12)
	if math.Abs(s.Position-want.Position) > 1e-12 || s.Effort != 0 || s.PlayTime != 0.03 || s.Stiffness != 1 {
		t.Errorf("%+v, want position %g", s, want.Position)
	}
	b.InvertTo(&s, &other)
	b.lead.InvertTo(&plain, &other)
	if s != plain {
		t.Errorf("without a model: %+v, want %+v", s, plain)
	}
	if st := b.State(); st.Modelled != 1 || st.Blending || st.Voltage != 12 || st.Measured || st.Stale {
		t.Errorf("%+v", st)
	}
}

// TestNothingSteps: torque on, the choice of a cycle back and forth, models that come and go while
// others still come, on a loaded joint: torque changes by a bounded amount per tick, whether
// servos heed efforts or not.
func TestNothingSteps(t *testing.T) {
	for _, dt := range []float64{0.001, 0.0112, 0.056} {
		for _, passes := range []float64{0, 1} {
			rng := rand.New(rand.NewPCG(3, 4))
			soft := weak()
			soft.Stiffness, soft.A[3] = 2, 400 // far from the others: half of a blend is a step, too
			sets := []*model.Model{strong(), weak(), soft}
			b := byModel(t, InversionConfig{Models: []*model.Model{strong()}})
			c := loaded(1.1, dt)
			var s Setpoint
			b.InvertTo(&s, &c)
			last, worst, changes := given(strong(), &s, &c, 12, passes), 0.0, 0
			for n := range int(30 / dt) {
				if rng.IntN(int(0.4/dt)) == 0 {
					c.ByModel = rng.IntN(3) > 0
					b.SetModels(&ModelSet{Version: uint64(n), Joints: []*model.Model{sets[rng.IntN(3)]}})
					changes++
				}
				b.InvertTo(&s, &c)
				// all three are the same servo to who looks from outside
				now := given(strong(), &s, &c, 12, passes)
				worst = math.Max(worst, math.Abs(now-last))
				last = now
			}
			const most = 0.1 // N·m: weight and gain change together
			if worst > most || changes < 20 {
				t.Errorf("period %g, passing %g of efforts: torque steps by %g N·m, %g at most; %d changes", dt, passes, worst, most, changes)
			}
			t.Logf("period %g, passing %g of efforts: at most %.3f N·m in a tick, %d changes", dt, passes, worst, changes)
		}
	}
}

// TestTorqueOffBeginsAnew: a joint that was let go gets its correction gradually again.
func TestTorqueOffBeginsAnew(t *testing.T) {
	b := byModel(t, InversionConfig{Models: []*model.Model{strong()}})
	c := loaded(1, 0.01)
	full := run(b, &c, 5).Position
	c.Torque = false
	run(b, &c, 0.01)
	c.Torque = true
	if s := run(b, &c, 0.01); math.Abs(s.Position-c.Position) > 0.06*(full-c.Position) {
		t.Errorf("at torque-on the goal is %g of the way", (s.Position-c.Position)/(full-c.Position))
	}
}

// TestVersionsAndBack: another model is in force after a while, and the first again.
func TestVersionsAndBack(t *testing.T) {
	b := byModel(t, InversionConfig{Models: []*model.Model{strong()}})
	c := loaded(1, 0.01)
	first := run(b, &c, 5).Position
	b.SetModels(&ModelSet{Version: 7, Joints: []*model.Model{weak()}})
	run(b, &c, 0.05)
	if !b.State().Blending || b.State().Version != 7 {
		t.Errorf("after 50 ms %+v", b.State())
	}
	second := run(b, &c, 5).Position
	if want := 0.3 + 212.2978/1200; math.Abs(second-want) > 1e-12 || b.State().Blending {
		t.Errorf("second at %g, want %g, %+v", second, want, b.State())
	}
	// one that comes while another is being taken over waits, and is in force in the end
	b.SetModels(&ModelSet{Version: 8, Joints: []*model.Model{{Kp: 50, Voltage: 12, A: [6]float64{3: 200}}}})
	run(b, &c, 0.05)
	b.SetModels(&ModelSet{Version: 9, Joints: []*model.Model{strong()}})
	if again := run(b, &c, 8).Position; math.Abs(again-first) > 1e-12 || b.State().Version != 9 {
		t.Errorf("back at %g, want %g, %+v", again, first, b.State())
	}
	b.SetModels(&ModelSet{Version: 10, Joints: []*model.Model{nil}})
	if same := run(b, &c, 1).Position; math.Abs(same-first) > 1e-12 {
		t.Errorf("a set without the joint's model changes it to %g", same)
	}
}

// TestVoltageIsFilteredClippedAndStale: goals follow the supply slowly; one that is no more measured
// is nominal again; NaN is not a measurement, and what no supply can have is clipped and said.
func TestVoltageIsFilteredClippedAndStale(t *testing.T) {
	b := byModel(t, InversionConfig{Models: []*model.Model{strong()}})
	c := loaded(1, 0.01)
	run(b, &c, 5)
	c.Voltage = 10
	var s Setpoint
	b.InvertTo(&s, &c)
	if st := b.State(); st.Voltage < 11.97 || !st.Measured || st.Stale {
		t.Errorf("a step of the voltage: %+v", st)
	}
	run(b, &c, 8)
	if st := b.State(); math.Abs(st.Voltage-10) > 0.01 {
		t.Errorf("after 8 s %+v", st)
	}
	if s := run(b, &c, 5); math.Abs(s.Position-0.3-234.9008/1000) > 1e-3 {
		t.Errorf("at 10 V the goal is %g", s.Position)
	}
	c.Voltage = math.NaN()
	run(b, &c, 1.5)
	if st := b.State(); st.Stale || math.Abs(st.Voltage-10) > 0.01 {
		t.Errorf("1.5 s without a measurement: %+v", st)
	}
	run(b, &c, 8)
	if st := b.State(); !st.Stale || math.Abs(st.Voltage-12) > 0.02 {
		t.Errorf("9.5 s without one: %+v", st)
	}
	c.Voltage = 740 // in hundredths
	run(b, &c, 8)
	if st := b.State(); !st.Absurd || st.Stale || math.Abs(st.Voltage-15) > 0.02 {
		t.Errorf("740 V: %+v", st)
	}
}

// TestSoftJointsGiveTheSameTorque: half of the gain takes twice the correction; N·m/rad of the
// model become a share of the gain, at every voltage.
func TestSoftJointsGiveTheSameTorque(t *testing.T) {
	soft := strong()
	soft.Stiffness = 2
	for _, m := range []*model.Model{strong(), soft} {
		for _, share := range []float64{1, 0.5, 0.2} {
			for _, u := range []float64{12, 10} {
				b := byModel(t, InversionConfig{Models: []*model.Model{m}})
				c := loaded(0.5, 0.01)
				c.Stiffness, c.Voltage = share, u
				s := run(b, &c, 20)
				if tau := given(m, &s, &c, u, 0); math.Abs(tau-0.5) > 1e-3 {
					t.Errorf("share %g at %g V: %g N·m", share, u, tau)
				}
				if k := s.Stiffness * m.FullStiffness(u); m == soft && math.Abs(k-2*share) > 1e-3 {
					t.Errorf("stiffness %g N·m/rad, want %g", k, 2*share)
				}
			}
		}
	}
	// servos that keep their gain whatever they are told
	b := byModel(t, InversionConfig{Models: []*model.Model{soft}, FixedGain: true})
	c := loaded(0.5, 0.01)
	c.Stiffness = 0.5
	if s := run(b, &c, 5); math.Abs(s.Position-0.3-0.5*234.9008/1200) > 1e-9 || s.Stiffness != 0.5 {
		t.Errorf("with gains that stay: %+v", s)
	}
	// a joint that is let go by its stiffness is not pushed
	b = byModel(t, InversionConfig{Models: []*model.Model{strong()}})
	c.Stiffness = 0
	if s := run(b, &c, 5); s.Stiffness != 0 {
		t.Errorf("stiffness 0 became %g", s.Stiffness)
	}
}

// TestWhatIsNotFiniteIsCounted: a joint whose command is not finite has what lead gives, for the
// guard to judge, and others go on.
func TestWhatIsNotFiniteIsCounted(t *testing.T) {
	b := byModel(t, InversionConfig{Models: []*model.Model{strong(), strong()}})
	good, bad := loaded(1, 0.01), loaded(1, 0.01)
	bad.Joint, bad.Acceleration = 1, math.NaN()
	var s Setpoint
	for range 300 {
		b.InvertTo(&s, &good)
		first := s
		b.InvertTo(&s, &bad)
		if !s.Finite() || !first.Finite() {
			t.Fatalf("%+v, %+v", first, s)
		}
	}
	if st := b.State(); st.Failed != 1 || st.Modelled != 1 {
		t.Errorf("%+v", st)
	}
	if s.Position != 0.3 {
		t.Errorf("the joint that failed is told %g", s.Position)
	}
}

func TestAbsurdModelsAreRefusedByJoint(t *testing.T) {
	for _, c := range []InversionConfig{
		{Name: "model", Models: []*model.Model{{Kp: math.NaN(), Voltage: 12, A: [6]float64{3: 1}}}},
		{Name: "model", Models: []*model.Model{{Kp: 100, A: [6]float64{3: 1}}}},
		{Name: "modle"},
		{Name: "model", Lead: Lead{-1}},
	} {
		if _, err := NewInverter(c); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	wrong := (&ModelSet{Joints: []*model.Model{strong(), nil, {Kp: -1, Voltage: 12, A: [6]float64{3: 1}}}}).Check()
	if len(wrong) != 1 || wrong[2] == nil {
		t.Errorf("%v", wrong)
	}
}

func TestByModelAllocatesNothing(t *testing.T) {
	b := byModel(t, InversionConfig{Models: []*model.Model{strong(), weak()}})
	set := &ModelSet{Version: 1, Joints: []*model.Model{weak(), strong()}}
	c := loaded(1, 0.01)
	var s Setpoint
	if n := testing.AllocsPerRun(200, func() {
		b.SetModels(set)
		for c.Joint = range 2 {
			b.InvertTo(&s, &c)
		}
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
