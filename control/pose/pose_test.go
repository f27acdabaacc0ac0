package pose_test

import (
	"math"
	"strings"
	"testing"

	"poise/control"
	"poise/control/pose"
	"poise/internal/rig"
	"poise/loop"
	"poise/robot"
	"poise/servo"
)

func setup(t *testing.T, name string, o rig.Options) *rig.Rig {
	t.Helper()
	m := rig.Model(t, name)
	var regs []loop.Registration
	for _, n := range []string{"pose", "other"} {
		c, err := pose.New(m, control.Transition{})
		if err != nil {
			t.Fatal(err)
		}
		regs = append(regs, loop.Registration{Name: n, Controller: c})
	}
	return rig.New(t, m, o, regs...)
}

func named(t *testing.T, r *rig.Rig, name string, speed float64) *pose.Program {
	t.Helper()
	p, err := pose.Named(r.M, name, speed)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPoseIsReachedTogether: all joints arrive in the same tick, exactly, as fast
// as the slowest of them may, and stay.
func TestPoseIsReachedTogether(t *testing.T) {
	for _, period := range rig.Periods() {
		r := setup(t, "pony", rig.Options{Period: period})
		p := named(t, r, "crouched", 0)
		goal := r.Start("pose", p)
		began := r.N
		st, why := r.Until(goal, 10)
		if st != control.Done {
			t.Fatalf("%v %+v", st, why)
		}
		// the knee has 0.509 rad to go: with a = 8, j = 80 and v = π/2 that is about
		// half a second
		if took := float64(r.N-began) * period; took < 0.4 || took > 0.9 {
			t.Errorf("took %g s", took)
		}
		r.Run(3)
		for leaf := range p.Needs.All {
			if q := r.Now.Command.Q[leaf]; q != p.Target[leaf] {
				t.Errorf("%s is at %v, not %v", r.M.Joints()[leaf].Name, q, p.Target[leaf])
			}
		}
	}
}

// TestPosePausesAndResumes on its path: a pause stops within the limits, nothing
// moves, and the pose is reached all the same. At half speed it takes twice as
// long.
func TestPosePausesAndResumes(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); nothing in it is concurrent")
	}
	r := setup(t, "pony", rig.Options{})
	p := named(t, r, "crouched", 0)
	full := r.N
	r.Until(r.Start("pose", p), 5)
	full = r.N - full

	half := r.N
	r.Until(r.Start("pose", named(t, r, "stand", 0.5)), 5)
	half = r.N - half
	if ratio := float64(half) / float64(full); math.Abs(ratio-2) > 0.02 {
		t.Errorf("half speed takes %.3f times as long", ratio)
	}

	goal := r.Start("pose", p)
	r.For(0.25)
	r.Send(loop.Order{Kind: loop.GoalPause, Controller: r.Controller("pose")})
	r.For(0.5)
	at, rate := r.Now.Command.Q[r.Joint("joint13")], r.Activity("pose").Rate
	if rate != 0 || at < 0.7 || at > 1.2 {
		t.Errorf("paused at rate %g with the knee at %g", rate, at)
	}
	r.For(0.5)
	if q := r.Now.Command.Q[r.Joint("joint13")]; q != at {
		t.Errorf("the knee moves in a pause: %v → %v", at, q)
	}
	r.Send(loop.Order{Kind: loop.GoalResume, Controller: r.Controller("pose")})
	if st, why := r.Until(goal, 5); st != control.Done {
		t.Errorf("%v %+v", st, why)
	}
	// a cancel stops on the path too, and ends
	goal = r.Start("pose", named(t, r, "stand", 0))
	r.For(0.2)
	r.Cancel("pose")
	if st, why := r.Until(goal, 2); st != control.Quit || why.Code != control.Cancelled {
		t.Errorf("%v %+v", st, why)
	}
}

// TestPoseBeginsFromAnyMotion: another goal takes over in mid-flight, with a pose
// back and forth; the rig judges that velocity is continuous within limits.
func TestPoseBeginsFromAnyMotion(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); nothing in it is concurrent")
	}
	r := setup(t, "pony", rig.Options{})
	for k := range 12 {
		r.Start([]string{"pose", "other"}[k%2], named(t, r, []string{"crouched", "bow", "stand"}[k%3], 0))
		r.For(0.08 + 0.03*float64(k))
	}
}

// TestNoWayToGo: a pose that is there already is reached at once. Goals without
// duration crashed the original.
func TestNoWayToGo(t *testing.T) {
	r := setup(t, "pony", rig.Options{Pose: "crouched"})
	began := r.N
	if st, why := r.Until(r.Start("pose", named(t, r, "crouched", 0)), 1); st != control.Done || r.N-began > 2 {
		t.Errorf("%v %+v after %d ticks", st, why, r.N-began)
	}
}

// TestSpeedOverrideIsHeldByLimits: at full limits 200 % is not had, and the rate
// says so; at half speed it is.
func TestSpeedOverrideIsHeldByLimits(t *testing.T) {
	r := setup(t, "pony", rig.Options{})
	r.Send(loop.Order{Kind: loop.SetRate, Value: 2})
	r.Start("pose", named(t, r, "crouched", 0))
	r.For(0.2)
	if rate := r.Activity("pose").Rate; math.Abs(rate-1) > 0.02 {
		t.Errorf("rate %g at full limits", rate)
	}
	r.For(2)
	r.Start("pose", named(t, r, "stand", 0.5))
	r.For(0.3)
	if rate := r.Activity("pose").Rate; rate < 1.9 {
		t.Errorf("rate %g at half speed", rate)
	}
}

func TestRefusals(t *testing.T) {
	r := setup(t, "pony", rig.Options{})
	knee := robot.JointID(r.Joint("joint13"))
	far, _ := pose.To(r.M, []robot.JointID{knee}, []float64{2.5}, 0)
	why, refused := r.Refused(r.Ask("pose", far))
	if !refused || why.Code != control.BeyondLimit || why.Joint != knee || why.Value != 2.5 || why.Max != 1.9 {
		t.Errorf("%+v", why)
	}
	if _, err := pose.Named(r.M, "crouch", 0); err == nil || !strings.Contains(err.Error(), "crouched") {
		t.Errorf("no near match: %v", err)
	}
	if _, err := pose.To(r.M, []robot.JointID{knee, knee}, []float64{math.NaN(), 0}, 2); err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("speed, a joint twice and no number: %v", err)
	}
	slow, _ := pose.Named(r.M, "stand", 0)
	slow.Speed = math.NaN()
	if why, refused := r.Refused(r.Ask("pose", slow)); !refused || why.Code != control.BadValue {
		t.Errorf("%+v", why)
	}
}

func TestProgramsSurvive(t *testing.T) {
	r := setup(t, "pony", rig.Options{})
	p := named(t, r, "bow", 0.3)
	b, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	q, err := pose.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := q.(*pose.Program).MarshalBinary(); string(again) != string(b) {
		t.Errorf("%s\n%s", b, again)
	}
	if _, err := pose.Decode([]byte("[")); err == nil {
		t.Error("half a program is one")
	}
}

func TestPoseDoesNotAllocate(t *testing.T) {
	m := rig.Model(t, "pony")
	c, err := pose.New(m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := pose.Named(m, "stand", 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd, meas := control.NewMotion(len(m.Joints()), len(m.Chains()), 1), control.NewMeasured(len(m.Joints()), 0, servo.Sensors{})
	input := &control.Input{Cmd: &cmd, Meas: &meas, Rate: 1}
	input.Tick.Dt = 0.001
	out := control.NewReference(len(m.Joints()), len(m.Chains()), 1)
	if n := testing.AllocsPerRun(50, func() {
		c.Start(input, p)
		for range 10 {
			out.Reset()
			c.Update(input, out)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPose(b *testing.B) {
	m := rig.Model(b, "pony")
	c, _ := pose.New(m, control.Transition{})
	p, _ := pose.Named(m, "crouched", 0)
	cmd, meas := control.NewMotion(len(m.Joints()), len(m.Chains()), 1), control.NewMeasured(len(m.Joints()), 0, servo.Sensors{})
	input := &control.Input{Cmd: &cmd, Meas: &meas, Rate: 1}
	input.Tick.Dt = 0.001
	out := control.NewReference(len(m.Joints()), len(m.Chains()), 1)
	b.Run("start", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c.Start(input, p)
		}
	})
	b.Run("update", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c.Update(input, out)
		}
	})
}
