package loop

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/control"
	"poise/robot"
	"poise/trajectory"
	"poise/trajectory/clock"
	"poise/trajectory/spline"
)

// track is a program for the test's own follower: a compiled spline of some
// joints.
type track struct {
	set    robot.Set
	joints []int
	track  *clock.Track
}

func (p *track) Claim() (needs, wants robot.Set) { return p.set, robot.Set{} }

// follower plays tracks on the path clock, as a trajectory controller does.
type follower struct {
	p       *track
	clock   clock.Clock
	q, v, a []float64
}

func (c *follower) Check(_ *control.Input, p control.Program) control.Reason {
	if _, ok := p.(*track); !ok {
		return control.Because(control.BadProgram)
	}
	return control.Because(control.OK)
}

func (c *follower) Start(input *control.Input, p control.Program) control.Reason {
	if why := c.Check(input, p); why.Code != control.OK {
		return why
	}
	c.p = p.(*track)
	if _, ok := c.clock.Start(c.p.track, 0, 0); !ok {
		return control.Because(control.BadProgram)
	}
	return control.Because(control.OK)
}

func (c *follower) Update(input *control.Input, out *control.Reference) (control.Status, control.Reason) {
	s := c.clock.Step(input.Tick.Dt, input.Rate)
	n := len(c.p.joints)
	c.clock.StateTo(c.q[:n], c.v[:n], c.a[:n])
	out.Peak, out.Rate = 0.5, s.Rate
	for i, j := range c.p.joints {
		out.Has = out.Has.With(robot.LeafID(j))
		out.Q[j], out.V[j], out.A[j] = c.q[i], c.v[i], c.a[i]
	}
	if s.Done {
		return control.Done, control.Because(control.OK)
	}
	return control.Going, control.Because(control.OK)
}

func (c *follower) Owned(*control.Input, robot.Set) control.Status { return control.Going }

// followRig puts a follower in place of the first swing.
func followRig(t *testing.T, dt float64) (*rig, *follower) {
	t.Helper()
	r := newRig(t, parts{robot: "arm6", period: dt, controllers: 1})
	f := &follower{q: make([]float64, r.l.dof), v: make([]float64, r.l.dof), a: make([]float64, r.l.dof)}
	r.l.seats[0].controller = f
	return r, f
}

// randomTrack makes a smooth motion within half the limits that begins where the
// command is, at rest.
func (r *rig) randomTrack(rng *rand.Rand) *track {
	r.t.Helper()
	p := &track{set: r.limb("manipulator")}
	var limits trajectory.Limits
	for leaf := range p.set.All {
		p.joints = append(p.joints, int(leaf))
		limits.Velocity = append(limits.Velocity, r.limits[leaf].VelMax)
		limits.Acceleration = append(limits.Acceleration, 0.98*r.limits[leaf].AccMax)
	}
	times, keys := []float64{0, 0.7, 1.3, 2.1}, make([][]float64, 4)
	for k := range keys {
		keys[k] = make([]float64, len(p.joints))
		for i, j := range p.joints {
			keys[k][i] = r.l.command.Q[j]
			if k > 0 {
				keys[k][i] = 0.2*rng.Float64() - 0.3
			}
		}
	}
	zero := make([][]float64, 4)
	for k := range zero {
		zero[k] = make([]float64, len(p.joints))
	}
	motion, err := spline.Quintic(times, keys, zero, zero)
	if err != nil {
		r.t.Fatal(err)
	}
	if p.track, err = clock.Compile(motion, &limits, clock.Options{}); err != nil {
		r.t.Fatal(err)
	}
	return p
}

// pathSlack is how far from the path the gate may lead: changes of rate are within
// limits at every instant, and their steps of one period a little less so, rad.
const pathSlack = 1e-5

// offPath is how far the command is from the place on the path where the
// follower's clock stands.
func (r *rig) offPath(f *follower) (off float64) {
	n := len(f.p.joints)
	f.clock.StateTo(f.q[:n], f.v[:n], f.a[:n])
	for i, j := range f.p.joints {
		off = max(off, math.Abs(r.l.command.Q[j]-f.q[i]))
	}
	return off
}

// TestPathClockStopsAtEveryCycle plays splines on the path clock and stops them
// along their paths at every cycle, by category 2, pause and cancel: the command
// never leaves the path, and keeps its limits.
func TestPathClockStopsAtEveryCycle(t *testing.T) {
	stride := 1
	if testing.Short() {
		stride = 25
	}
	rng := rand.New(rand.NewPCG(2, 11))
	r, f := followRig(t, busPeriod)
	r.checks = true
	stops, worst := 0, 0.0
	for motion := range 3 {
		for k := 1; k < 180; k += stride {
			r.must(0, 1, r.randomTrack(rng))
			r.run(k - 1)
			if r.l.seats[0].program == nil {
				break
			}
			switch motion {
			case 0:
				r.l.Stop(2)
			case 1:
				r.l.Send(Order{Kind: Pause})
			case 2:
				r.l.Send(Order{Kind: CancelGoal})
			}
			stops++
			for n := 0; n < 400 && (n < 2 || r.l.stops.active || !r.l.shaper.AtRest()); n++ {
				r.run(1)
				worst = max(worst, r.offPath(f))
			}
			if !r.l.shaper.AtRest() {
				t.Fatalf("motion %d, cycle %d: does not come to rest", motion, k)
			}
			r.l.Send(Order{Kind: Reset})
			r.l.Send(Order{Kind: Resume})
			r.l.Send(Order{Kind: Halt})
			r.l.Send(Order{Kind: Run})
			r.run(2)
		}
	}
	t.Logf("%d stops at every cycle, at most %.2g rad off the path", stops, worst)
	if worst > pathSlack {
		t.Errorf("%g rad off the path", worst)
	}
}

// TestPathClockAtAnySpeed changes the speed at random between 0 and 200 %: limits
// hold, the path stays, and what was achieved is told.
func TestPathClockAtAnySpeed(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 12))
	r, f := followRig(t, period)
	r.checks = true
	held, ended, motions := 0, 0, 20
	if testing.Short() {
		motions = 2
	}
	for range motions {
		r.must(0, 1, r.randomTrack(rng))
		for n := 0; r.l.seats[0].program != nil && n < 40; n++ {
			r.l.Send(Order{Kind: SetRate, Value: 0.2 + 1.8*rng.Float64()})
			for range 150 {
				r.run(1)
				if r.l.seats[0].program == nil {
					ended++
					break
				}
				if off := r.offPath(f); off > pathSlack {
					t.Fatalf("tick %d: %g rad off the path", r.n, off)
				}
				if s, _ := r.l.Snapshot(); s.Rate < s.Wanted {
					held++
				}
			}
		}
	}
	if ended != motions {
		t.Errorf("%d of %d motions ended", ended, motions)
	}
	t.Logf("%d motions, %d ticks in which limits held the rate back", motions, held)
}
