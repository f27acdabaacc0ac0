package stage

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/contact"
	"poise/control"
	"poise/qp"
	"poise/robot"
	"poise/robot/load"
	"poise/servo/model"
	"poise/spatial"
)

const period = 0.01 // s

// rig is a stage with a command that tests move.
type rig struct {
	t      testing.TB
	m      *robot.Model
	s      *Stage
	want   control.Motion // asked for
	c      control.Motion // led
	a      []float64
	off    map[int]bool // joints without torque
	servos Servos
	models []*model.Model
}

func newRig(t testing.TB, name string, cfg Config) *rig {
	t.Helper()
	l, err := load.Robot(name, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := l.Model
	_, bounds, err := control.JointLimits(m, control.Transition{Acceleration: 8})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(m, bounds, cfg)
	if err != nil {
		t.Fatal(err)
	}
	n := len(m.Joints())
	r := &rig{t: t, m: m, s: s, want: control.NewMotion(n, len(m.Chains()), 0), c: control.NewMotion(n, len(m.Chains()), 0), a: make([]float64, n), off: map[int]bool{}, models: make([]*model.Model, n)}
	r.servos = Servos{Powered: func(j int) bool { return !r.off[j] }, Model: func(j int) *model.Model { return r.models[j] }}
	copy(r.want.Q, m.RestPositions())
	g, err := contact.NewGround(m)
	if err != nil {
		t.Fatal(err)
	}
	X, _ := g.Settle(r.want.Q, g.DefaultFeetTo(nil))
	r.want.Base = control.BaseRef{Pose: X, Has: true}
	for i, chain := range m.Chains() {
		r.want.Support[i].Contact = chain.Contact
		if chain.Contact != robot.NoContact {
			r.want.Support[i].Weight = 1
		}
	}
	r.c.Copy(&r.want)
	return r
}

// tick leads the command by a period.
func (r *rig) tick() bool {
	r.c.Copy(&r.want)
	return r.s.Update(&r.c, r.a, &r.servos, period)
}

func (r *rig) chain(name string) robot.ChainID {
	id, ok := r.m.Chain(name)
	if !ok {
		r.t.Fatalf("no chain %s", name)
	}
	return id
}

// steady fails unless what was led is finite, within its bounds, and moves by what velocity allows.
func (r *rig) steady(was []float64) {
	r.t.Helper()
	for j, q := range r.c.Q {
		b := &r.s.bounds[j]
		if !(q >= b.Lower-1e-6 && q <= b.Upper+1e-6) || !(math.Abs(q-was[j]) <= min(b.Velocity, 50)*period*1.01+1e-9) {
			r.t.Fatalf("joint %s goes from %g to %g, within %g … %g at %g rad/s", r.m.Joints()[j].Name, was[j], q, b.Lower, b.Upper, b.Velocity)
		}
		if !(math.Abs(r.s.Tau[j]) < 100) {
			r.t.Fatalf("joint %s has %g N·m", r.m.Joints()[j].Name, r.s.Tau[j])
		}
		if k := r.m.Joints()[j].V - 6; !r.m.Joints()[j].Virtual && !r.off[j] {
			if tau := r.s.Tau[j]; r.s.State.Status <= Weighed && (tau > r.s.r.MaxTorque[k]+1e-6 || tau < r.s.r.MinTorque[k]-1e-6) {
				r.t.Fatalf("joint %s has %g N·m, limits are %g … %g", r.m.Joints()[j].Name, tau, r.s.r.MinTorque[k], r.s.r.MaxTorque[k])
			}
			if a := r.s.A[j]; math.Abs(a) > max(most(b.Acceleration), most(b.Deceleration))*(1+1e-6) && r.s.State.Status == Served {
				r.t.Fatalf("joint %s accelerates by %g", r.m.Joints()[j].Name, a)
			}
		}
	}
}

// TestStandingStands: at rest nothing moves, feet carry the weight, and levels are all served.
func TestStandingStands(t *testing.T) {
	for _, order := range []string{"default", "seed"} {
		r := newRig(t, "pony", Config{Order: order})
		for range 300 {
			if !r.tick() {
				t.Fatalf("%s: %+v", order, r.s.State)
			}
		}
		up := 0.0
		for _, f := range r.s.Forces(nil) {
			up += f.Force.Z
		}
		if w := 9.81 * r.m.Mass(); math.Abs(up-w) > 1e-3*w {
			t.Errorf("%s: feet carry %g N of %g", order, up, w)
		}
		for j, q := range r.c.Q {
			if math.Abs(q-r.want.Q[j]) > 1e-6 {
				t.Errorf("%s: joint %d is at %g, was to be at %g", order, j, q, r.want.Q[j])
			}
		}
		for _, l := range r.s.Levels {
			if l.Status != qp.Optimal || l.Slack > 1e-9 || l.Safety && l.Residual > 1e-9 {
				t.Errorf("%s: %+v", order, l)
			}
		}
	}
}

// TestAFootStaysWhereItIsNeeded: legs that are to leave the ground without a shift of the weight
// stay, and that is told; with the body over the others they leave and come back.
func TestAFootStaysWhereItIsNeeded(t *testing.T) {
	r := newRig(t, "pony", Config{})
	r.tick()
	leg := r.chain("leg1")
	r.want.Support[leg].Weight = 0
	for range 100 {
		was := append([]float64{}, r.c.Q...)
		r.tick()
		r.steady(was)
		if !r.s.Limbs[leg].Kept || !r.s.State.Prevented || r.c.Support[leg].Weight != 1 {
			t.Fatalf("%+v %+v, weight %g", r.s.Limbs[leg], r.s.State, r.c.Support[leg].Weight)
		}
	}
	r.want.Support[leg].Weight = 1
	start := r.want.Base.Pose.P
	move := func(to spatial.Vec3, ticks int) {
		from := r.want.Base.Pose.P
		for k := range ticks {
			was := append([]float64{}, r.c.Q...)
			x := float64(k+1) / float64(ticks)
			x = x * x * (3 - 2*x)
			r.want.Base.Pose.P = from.Add(to.Sub(from).Scale(x))
			r.tick()
			r.steady(was)
		}
	}
	move(start.Add(spatial.Vec3{X: -0.02, Y: -0.02}), 150)
	r.want.Support[leg].Weight = 0
	for range 60 {
		r.tick()
	}
	if r.s.Limbs[leg].Kept || r.c.Support[leg].Weight != 0 || r.s.State.Prevented {
		t.Errorf("after the shift: %+v %+v", r.s.Limbs[leg], r.s.State)
	}
	knee, _ := r.m.Joint("joint13")
	hip, _ := r.m.Joint("joint12")
	for range 60 {
		r.want.Q[knee] += 0.01
		r.want.Q[hip] -= 0.005
		r.tick()
	}
	for range 60 {
		r.tick()
	}
	if off := math.Abs(r.c.Q[knee] - r.want.Q[knee]); off > 0.01 || r.s.Limbs[leg].Point {
		t.Errorf("the knee in the air is %g rad off", off)
	}
	r.want.Support[leg].Weight = 1
	tip := r.s.kin.Pose(r.s.kin.At(r.m.Chains()[leg].Tip)).Apply(r.s.origin(&r.s.feet[leg]))
	t.Logf("the hoof is %.1f mm above the ground", 1e3*(tip.Z-r.s.ground))
	lands := 0
	for range 300 {
		was := append([]float64{}, r.c.Q...)
		r.tick()
		r.steady(was)
		if r.s.Limbs[leg].Lands {
			lands++
		}
	}
	if r.c.Support[leg].Weight != 1 || lands == 0 || lands > 250 {
		t.Errorf("it carries %g of 1 after %d ticks on its way down", r.c.Support[leg].Weight, lands)
	}
}

// TestTheBodyStopsOverItsFeet: a base that is asked to go beyond its feet, or beyond the reach of its
// legs, stops before, slowly or fast, and comes back when it is asked to.
func TestTheBodyStopsOverItsFeet(t *testing.T) {
	for _, order := range []string{"default", "seed"} {
		for _, speed := range []float64{0.1, 0.5} {
			for _, along := range []spatial.Vec3{{Y: 1}, {X: 1}, {X: -1, Y: -1}} {
				if testing.Short() && (along.X == 0 || speed != 0.5) {
					continue
				}
				r := newRig(t, "pony", Config{Order: order})
				for range 20 {
					r.tick()
				}
				start, prevented, least, farthest := r.want.Base.Pose.P, false, math.Inf(1), 0.0
				for k := range int(0.12/speed/period) + 50 {
					was := append([]float64{}, r.c.Q...)
					by := along.Scale(math.Min(speed*float64(k)*period, 0.12))
					r.want.Base.Pose.P = start.Add(by)
					r.tick()
					r.steady(was)
					prevented = prevented || r.s.State.Prevented
					least, farthest = math.Min(least, r.s.State.Margin), math.Max(farthest, r.c.Base.Pose.P.Sub(start).Norm())
				}
				for range 250 {
					r.want.Base.Pose.P = start
					r.tick()
				}
				back := r.c.Base.Pose.P.Sub(start).Norm()
				if !prevented && along.X == 0 || // on the diagonal legs are too short first
					farthest > 0.13 || least < 0.005 || back > 1e-3 || r.s.State.Status != Served {
					t.Errorf("%s, along %v at %g m/s: prevented %v, %.4f m far, margin %.4f, back within %.4f m, %v", order, along, speed, prevented, farthest, least, back, r.s.State.Status)
				}
			}
		}
	}
}

// TestUpdatesDoNotAllocate, whatever is asked for.
func TestUpdatesDoNotAllocate(t *testing.T) {
	r := newRig(t, "pony", Config{})
	rng := rand.New(rand.NewPCG(23, 1))
	for range 20 {
		r.tick()
	}
	if n := testing.AllocsPerRun(200, func() {
		j := rng.IntN(len(r.want.Q))
		r.want.Q[j] += 0.01 * rng.NormFloat64()
		i := rng.IntN(len(r.want.Support))
		if r.m.Chains()[i].Contact != robot.NoContact {
			r.want.Support[i].Weight = float64(rng.IntN(2))
		}
		r.want.Base.Pose.P.X += 0.005 * rng.NormFloat64()
		r.tick()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
