package stage

import (
	"math"
	"testing"

	"poise/control"
	"poise/dynamics"
	"poise/robot"
	"poise/servo"
	"poise/spatial"
)

// sense tells the stage what is measured: joints where the command is, the base tilted.
func (r *rig) sense(change func(m *control.Measured)) {
	m := control.NewMeasured(len(r.want.Q), len(r.want.Support), servo.Sensors{})
	copy(m.Q, r.c.Q)
	m.Base = control.BaseRef{Pose: r.c.Base.Pose, Has: true}
	change(&m)
	r.s.Sense(&m)
}

// tilt is the angle between the motion's vertical and the world's.
func (r *rig) tilt() float64 { return math.Acos(min(1, r.s.kin.BodyPose(1).R[8])) }

// TestTheTiltLeaksToTheMeasured: of a base that is measured tilted the motion takes over 1 − exp(−dt/2 s) of the rest in a
// tick, about both axes and not more than 0.1 rad of it; yaw does not count, and level it stays level.
func TestTheTiltLeaksToTheMeasured(t *testing.T) {
	share := -math.Expm1(-period / leakTime)
	for name, c := range map[string]struct {
		R    spatial.Mat3
		want float64
	}{
		"roll":  {spatial.ExpRotation(spatial.Vec3{X: 0.05}).Matrix(), 0.05 * share},
		"pitch": {spatial.ExpRotation(spatial.Vec3{Y: -0.05}).Matrix(), 0.05 * share},
		"yaw":   {spatial.TurnZ(1), 0},
		"lies":  {spatial.ExpRotation(spatial.Vec3{X: 1}).Matrix(), mostLeak * share},
		"upset": {spatial.ExpRotation(spatial.Vec3{X: 3}).Matrix(), 0},
	} {
		r := newRig(t, "pony", Config{})
		r.watch(10, nil)
		before := r.tilt()
		r.sense(func(m *control.Measured) { m.Base.Pose.R = c.R })
		r.s.leak(period)
		r.s.kin.UpdatePosition(r.s.q)
		if got := r.tilt(); math.Abs(got-before-c.want) > 1e-6 {
			t.Errorf("%s: the motion tilts by %g rad in a tick, want %g", name, got-before, c.want)
		}
		up := r.s.kin.BodyPose(1).R.Transpose().MulVec(spatial.Vec3{Z: 1})
		if is := c.R.Transpose().MulVec(spatial.Vec3{Z: 1}); c.want > 0 && up.X*is.X+up.Y*is.Y <= 0 {
			t.Errorf("%s: it tilts the other way", name)
		}
		r.watch(300, func(int) { r.sense(func(m *control.Measured) { m.Base.Pose.R = c.R }) })
		if r.s.State.Status != Served || r.tilt() > 0.01 {
			t.Errorf("%s: %+v, tilted by %g rad: the base is to be level", name, r.s.State, r.tilt())
		}
	}
}

// TestAHeldJointDoesNotRunAway: the motion of a joint that is measured far behind stays as near as the servo can pull with all
// that it has, and joins it when it is let go. What is old does not count.
func TestAHeldJointDoesNotRunAway(t *testing.T) {
	r := newRig(t, "pony", Config{})
	j, _ := r.m.Joint("joint52")
	model := r.m.Servo(j).Model
	if model == nil {
		t.Fatal("the pony's neck has no model")
	}
	r.models[j] = model
	r.watch(10, nil)
	_, torque := model.Range(0, 0, model.Voltage)
	reach := min(torque, r.s.bounds[j].Effort) / model.FullStiffness(model.Voltage)
	held := r.want.Q[j]
	farthest := 0.0
	lead := func(age uint32) {
		r.watch(200, func(k int) {
			r.want.Q[j] = held + math.Min(0.005*float64(k), 0.8)
			r.sense(func(m *control.Measured) { m.Q[j], m.Age[j] = held, age })
			farthest = math.Max(farthest, math.Abs(r.c.Q[j]-held))
		})
	}
	lead(0)
	t.Logf("held, the neck is led %.3f rad away, the servo pulls with all it has at %.3f", farthest, reach)
	if most := reach + lately*period*r.s.bounds[j].Velocity; farthest > most || farthest < reach/2 { // a reading may be late by some ticks
		t.Errorf("a held joint is led %g rad away, want up to %g", farthest, most)
	}
	r.watch(200, func(int) { r.sense(func(m *control.Measured) {}) })
	if off := math.Abs(r.c.Q[j] - r.want.Q[j]); off > 1e-3 {
		t.Errorf("let go, it stays %g rad behind", off)
	}
	r.want.Q[j] = held
	r.watch(200, func(int) { r.sense(func(m *control.Measured) {}) })
	farthest = 0
	lead(freshness + 1)
	if farthest < 0.5 {
		t.Errorf("what is old holds it at %g rad", farthest)
	}
}

// TestAnImpactIsTakenUp: velocities of feet that stand are gone after the projection, those of joints that no servo moves are as
// they were, kinetic energy does not grow, and twice is as once.
func TestAnImpactIsTakenUp(t *testing.T) {
	r := newRig(t, "pony", Config{})
	r.watch(10, nil)
	s := r.s
	for i := range s.v {
		s.v[i] = 0.3 * math.Sin(float64(7*i+1))
	}
	for i, j := range r.m.Joints() {
		if s.fixed[i] {
			s.v[j.V] = 0
		}
	}
	before := append([]float64{}, s.v...)
	energy := func() float64 {
		s.kin.UpdatePosition(s.q)
		s.kin.UpdateVelocity(s.v)
		n, sum := len(s.v), 0.0
		M, armature := make([]float64, n*n), make([]float64, n)
		copy(armature[6:], s.r.Armature)
		dynamics.NewData(r.m).MassMatrixTo(M, s.q, dynamics.Load{Armature: armature})
		for i, v := range s.v {
			for k, w := range s.v {
				sum += v * M[i*n+k] * w / 2
			}
		}
		return sum
	}
	was := energy()
	if !s.solver.Project(s.v, s.q, &s.r) {
		t.Fatal("not projected")
	}
	now := energy()
	worst := 0.0
	for i := range s.feet {
		if f := &s.feet[i]; f.share > 0 {
			tip := s.kin.At(r.m.Chains()[i].Tip)
			tw := s.kin.Twist(tip.Offset(spatial.Pose{R: spatial.Identity3, P: s.origin(f)}))
			worst = max(worst, tw.Linear.Norm())
		}
	}
	changed := 0.0
	for i := range s.v {
		changed = max(changed, math.Abs(s.v[i]-before[i]))
	}
	t.Logf("feet move at %.1e m/s, energy from %.4f to %.4f J", worst, was, now)
	if worst > 1e-6 || now > was || !(now > 0) || changed < 0.01 {
		t.Errorf("feet move at %g m/s, energy from %g to %g J, velocities changed by %g", worst, was, now, changed)
	}
	once := append([]float64{}, s.v...)
	s.solver.Project(s.v, s.q, &s.r)
	for i, v := range s.v {
		if math.Abs(v-once[i]) > 1e-6 {
			t.Fatalf("velocity %d changes from %g to %g the second time", i, once[i], v)
		}
	}
	if n := testing.AllocsPerRun(20, func() { s.solver.Project(s.v, s.q, &s.r) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestPlannedStepsOnTwoFeet: where the owner of the supports plans the balance, two feet leave as they are told, it is said that no
// zero-moment point is kept, no row of it is there, and they stand again where they are put down.
func TestPlannedStepsOnTwoFeet(t *testing.T) {
	for _, order := range []string{"default", "seed"} {
		r := newRig(t, "pony", Config{Order: order})
		r.watch(20, nil)
		pair := []string{"leg1", "leg4"}
		set := func(planned bool, weight float64) {
			for _, leg := range pair {
				r.want.Support[r.chain(leg)].Weight = weight
			}
			for i := range r.want.Support {
				r.want.Support[i].Planned, r.want.Support[i].Fade = planned, 0.02
			}
		}
		set(false, 0)
		r.watch(10, nil)
		if !r.s.State.Prevented || r.s.State.Supports != Area {
			t.Errorf("%s: not planned, two feet leave: %+v", order, r.s.State)
		}
		set(true, 0)
		r.watch(8, func(k int) {
			if k < 4 {
				return
			}
			if r.s.State.Supports != Line || r.s.State.Status != Served || r.s.State.Prevented {
				t.Fatalf("%s, tick %d on two feet: %+v", order, k, r.s.State)
			}
			for _, f := range r.s.Forces(nil) {
				if name := r.m.Chains()[f.Chain].Name; name == pair[0] || name == pair[1] || f.Force.Z < 0 {
					t.Fatalf("%s: %s carries %g N", order, name, f.Force.Z)
				}
			}
		})
		set(true, 1)
		r.watch(20, nil)
		if r.s.State.Supports != Area || r.c.Support[r.chain("leg1")].Weight != 1 {
			t.Errorf("%s: on four feet again: %+v", order, r.s.State)
		}
		set(false, 1)
		r.watch(200, nil)
		if r.s.State.Status != Served || r.s.State.Margin < 0.01 {
			t.Errorf("%s: at the end: %+v", order, r.s.State)
		}
	}
}

// TestVirtualJointsAreWelded: joints that no servo moves are where they are commanded to be in every tick, accelerate as they are
// told while the body sways, and have no torque.
func TestVirtualJointsAreWelded(t *testing.T) {
	for _, order := range []string{"default", "seed"} {
		r := newRig(t, "pony", Config{Order: order})
		start, count := r.want.Base.Pose.P, 0
		rest := append([]float64{}, r.want.Q...)
		r.watch(150, func(k int) {
			at := float64(k) * period
			r.want.Base.Pose.P = start.Add(spatial.Vec3{X: 0.01 * math.Sin(2*at), Y: 0.01 * math.Sin(3*at)})
			if k > 0 {
				for i, j := range r.m.Joints() {
					if !j.Virtual {
						continue
					}
					count++
					if r.c.Q[i] != r.want.Q[i] || r.s.Tau[i] != 0 || math.Abs(r.s.answer.Acceleration[j.V]-r.a[i]) > 1e-6 {
						t.Fatalf("%s: virtual joint %s is at %g of %g, has %g N·m and accelerates by %g of %g", order, j.Name, r.c.Q[i], r.want.Q[i], r.s.Tau[i], r.s.answer.Acceleration[j.V], r.a[i])
					}
				}
			}
			for i, j := range r.m.Joints() {
				if j.Virtual {
					r.want.Q[i], r.want.V[i], r.a[i] = rest[i]+0.02*(1-math.Cos(3*at)), 0.06*math.Sin(3*at), 0.18*math.Cos(3*at)
				}
			}
		})
		if count == 0 || r.s.State.Status != Served {
			t.Errorf("%s: %d virtual joints, %+v", order, count, r.s.State)
		}
	}
}

// TestMotorLimitsFollowTheSpeed: what a servo can give falls with its speed; a joint whose reference is faster than its motor does not
// get faster than that, and torques keep the limit of their tick.
func TestMotorLimitsFollowTheSpeed(t *testing.T) {
	r := newRig(t, "pony", Config{})
	j, _ := r.m.Joint("joint52")
	known := r.m.Servo(j).Model
	if known == nil {
		t.Fatal("the pony's neck has no model")
	}
	weak := *known
	weak.Effort, weak.Saturation = 0.1*known.Effort, 0.1*known.Saturation
	r.models[j] = &weak
	at := weak.AtJoint()
	free := (weak.Limit(weak.Voltage) - at.A[2]) / at.A[1] // no torque is left at this speed
	k := r.m.Joints()[j].V - 6
	slowest, fastest, least := math.Inf(1), 0.0, math.Inf(1)
	start := r.want.Q[j]
	r.watch(20, nil)
	for n := range 60 {
		r.want.Q[j] = start + math.Min(3*free*period*float64(n), 1.2)
		r.tick()
		v := r.s.v[r.m.Joints()[j].V]
		fastest, slowest = math.Max(fastest, math.Abs(v)), math.Min(slowest, r.s.r.MaxTorque[k])
		least = math.Min(least, r.s.r.MaxTorque[k]-r.s.answer.Torque[k])
	}
	_, rest := weak.Range(0, 0, weak.Voltage)
	t.Logf("the neck gets %.2f rad/s of a motor's %.2f, its torque falls from %.3f to %.3f N·m", fastest, free, rest, slowest)
	if fastest > 1.05*free || fastest < 0.5*free || slowest > rest/2 || least < -1e-6 {
		t.Errorf("%g rad/s of %g, torque from %g to %g N·m, %g beyond its limit", fastest, free, rest, slowest, -least)
	}
}

// TestALimbThatIsHeldBackAsksForTime: the pace falls to what the limb can do, and comes back; one that is kept for the balance asks
// for none.
func TestALimbThatIsHeldBackAsksForTime(t *testing.T) {
	r := newRig(t, "pony", Config{})
	j, _ := r.m.Joint("joint52")
	head := r.chain("head")
	r.watch(20, nil)
	r.s.bounds[j].Velocity = 0.5
	clock, lag, paced, ratio := 0.0, 0.0, 1.0, 1.0
	start := r.want.Q[j]
	r.watch(300, func(int) { // a reference that would be twice as fast as the joint
		clock += period * r.s.Limbs[head].Pace
		r.want.Q[j] = start + math.Min(clock, 1)
		lag, paced = math.Max(lag, math.Abs(r.want.Q[j]-r.c.Q[j])), math.Min(paced, r.s.Limbs[head].Pace)
		ratio = math.Min(ratio, r.s.Limbs[head].Ratio)
	})
	t.Logf("pace %.2f, %.3f rad behind at most, %.2f of the velocity asked for", paced, lag, ratio)
	if ratio > 0.6 || r.s.Limbs[r.chain("leg1")].Ratio != 1 {
		t.Errorf("%g of the velocity asked for, of a leg at rest %g", ratio, r.s.Limbs[r.chain("leg1")].Ratio)
	}
	if paced > 0.6 || paced < 0.3 || lag > 0.15 || r.s.State.Pace != 1 {
		t.Errorf("pace %g, %g rad behind, the base's pace %g", paced, lag, r.s.State.Pace)
	}
	r.watch(500, nil)
	if p := r.s.Limbs[head].Pace; p != 1 {
		t.Errorf("pace %g at rest", p)
	}
	r.want.Support[r.chain("leg1")].Weight = 0
	r.watch(50, nil)
	if l := r.s.Limbs[r.chain("leg1")]; !l.Kept || l.Pace != 1 {
		t.Errorf("a leg that is kept: %+v", l)
	}
}

// TestAStandThatCannotBeIsDoubted: where a foot is not known yet and the robot would fall without it, the motion does not begin; it does
// when the foot is known, at rest, or after a while, if that is said all the time.
func TestAStandThatCannotBeIsDoubted(t *testing.T) {
	doubts := 0
	for chain, c := range newRig(t, "pony", Config{}).m.Chains() {
		if c.Contact == robot.NoContact {
			continue
		}
		for _, known := range []bool{true, false} {
			r := newRig(t, "pony", Config{})
			at := append([]float64{}, r.want.Q...)
			r.want.Support[chain].Weight = 0
			r.watch(2, nil)
			if r.s.State.Margin >= 0 {
				continue // it stands without this one
			}
			if r.s.State.Status != Baseless || r.s.State.Why != Outside {
				t.Fatalf("without %s: %+v", c.Name, r.s.State)
			}
			doubts++
			if !known {
				r.watch(doubted+1, nil)
				if r.s.State.Status == Baseless {
					t.Errorf("without %s it is doubted for ever: %+v", c.Name, r.s.State)
				}
				continue
			}
			r.want.Support[chain].Weight = 1
			r.watch(20, nil)
			for j := range at {
				if math.Abs(r.c.Q[j]-at[j]) > 1e-3 || r.s.State.Status != Served {
					t.Fatalf("%s moved by %g rad, %+v", r.m.Joints()[j].Name, r.c.Q[j]-at[j], r.s.State)
				}
			}
		}
	}
	if doubts < 2 {
		t.Errorf("only %d stands were doubted", doubts)
	}
}
