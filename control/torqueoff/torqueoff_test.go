package torqueoff_test

import (
	"math"
	"testing"

	"poise/control"
	"poise/control/pose"
	"poise/control/torqueoff"
	"poise/internal/rig"
	"poise/loop"
	"poise/robot"
	"poise/servo"
	"poise/servo/sim"
)

func setup(t *testing.T, o rig.Options) *rig.Rig {
	t.Helper()
	m := rig.Model(t, "pony")
	off, err := torqueoff.New(m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := pose.New(m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	return rig.New(t, m, o, loop.Registration{Name: "torque_off", Controller: off}, loop.Registration{Name: "pose", Controller: p})
}

// limp tells which joints have no torque.
func limp(r *rig.Rig, set ...string) (all, any bool) {
	all = true
	for leaf := range r.Set(set...).All {
		if int(leaf) < len(r.Now.Mode) {
			off := r.Now.Mode[leaf] == servo.Off
			all, any = all && off, any || off
		}
	}
	return all, any
}

// TestOneLimbIsLimpWhileTheRestHolds: the leg is posed by hand, command and
// measurement stay together, the other limbs hold. The end of the goal leaves it limp;
// when an order gives it torque nothing jumps.
func TestOneLimbIsLimpWhileTheRestHolds(t *testing.T) {
	r := setup(t, rig.Options{})
	before := append([]float64(nil), r.Now.Command.Q...)
	goal := r.Start("torque_off", &torqueoff.Program{Needs: r.Set("leg1")})
	r.Run(2)
	if all, _ := limp(r, "leg1"); !all {
		t.Fatal("the leg has torque")
	}
	if _, any := limp(r, "leg2", "leg3", "leg4", "head"); any {
		t.Fatal("another limb has none")
	}
	knee := r.Joint("joint13")
	for k := range 200 { // faster than any limit allows: a hand has none
		if !r.Bus.PoseByHand(knee, before[knee]+0.005*float64(k)) {
			t.Fatal("the knee holds itself")
		}
		r.Run(1)
	}
	r.Run(2)
	if q := r.Now.Command.Q[knee]; math.Abs(q-r.Bus.Joint(knee)) > 1e-12 || q < before[knee]+0.99 {
		t.Errorf("the knee is at %g, its command at %g", r.Bus.Joint(knee), q)
	}
	for j, q := range r.Now.Command.Q {
		if !r.Set("leg1").Has(robot.LeafID(j)) && q != before[j] {
			t.Errorf("%s moved from %g to %g", r.M.Joints()[j].Name, before[j], q)
		}
	}
	posed := r.Bus.Joint(knee)
	r.Cancel("torque_off")
	r.Until(goal, 1)
	r.Run(500)
	if all, _ := limp(r, "leg1"); !all {
		t.Fatal("the end of the goal gave the leg torque")
	}
	r.Send(loop.Order{Kind: loop.TorqueOn, Program: &control.Torque{Joints: r.Set("leg1")}})
	for range 500 {
		r.Run(1)
		if _, any := limp(r, "leg1"); any {
			t.Fatal("the torque does not come back")
		}
		if d := math.Abs(r.Bus.Joint(knee) - posed); d > 1e-9 {
			t.Fatalf("tick %d: the knee jumped by %g", r.N, d)
		}
	}
	if s := r.Now.Command.Stiff[knee]; s != 1 {
		t.Errorf("stiffness %g", s)
	}
}

// TestNextOwnerBeginsWhereTheHandLeftIt: a pose is refused while the leg is limp, and
// begins at the measured place once the leg has torque.
func TestNextOwnerBeginsWhereTheHandLeftIt(t *testing.T) {
	r := setup(t, rig.Options{})
	goal := r.Start("torque_off", &torqueoff.Program{Needs: r.Set("leg1")})
	r.Run(2)
	knee := r.Joint("joint13")
	r.Bus.PoseByHand(knee, 1.5)
	r.Run(3)
	p, err := pose.Named(r.M, "stand", 0)
	if err != nil {
		t.Fatal(err)
	}
	if why, refused := r.Refused(r.Ask("pose", p)); !refused || why.Code != control.PowerOff || !r.Set("leg1").Has(robot.LeafID(why.Joint)) {
		t.Errorf("a pose of a limp leg: %v %+v", refused, why)
	}
	if _, _, over := r.Ended(goal); over {
		t.Error("a goal that was refused has ended what lets the leg go")
	}
	r.Send(loop.Order{Kind: loop.TorqueOn, Program: &control.Torque{Joints: r.Set("leg1")}})
	r.Run(1)
	if st, why, over := r.Ended(goal); !over || st != control.Quit || why.Code != control.Energised {
		t.Errorf("torque off ended with %v %+v", st, why)
	}
	moved := r.Ask("pose", p)
	last := r.Bus.Joint(knee)
	for range 200 { // servo steps stay small: no snap from 1.5 to 0.649
		r.Run(1)
		if d := math.Abs(r.Bus.Joint(knee) - last); d > 1.6*r.Dt {
			t.Fatalf("tick %d: the knee went %g rad in a tick", r.N, d)
		}
		last = r.Bus.Joint(knee)
	}
	if st, _ := r.Until(moved, 5); st != control.Done {
		t.Error("the pose was not reached")
	}
}

// TestShutdownNeverReenergises is a failure of the original: its torque switch gave
// the torque back whenever it ended, also because the system went down. Stops of
// every category, power off and the end of the controller by either leave a limp
// limb limp.
func TestShutdownNeverReenergises(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); nothing in it is concurrent")
	}
	for _, c := range []struct {
		name string
		stop func(r *rig.Rig)
	}{
		{"category 0", func(r *rig.Rig) { r.L.Stop(0) }},
		{"category 1", func(r *rig.Rig) { r.L.Stop(1) }},
		{"category 2", func(r *rig.Rig) { r.L.Stop(2) }},
		{"power off", func(r *rig.Rig) { r.Send(loop.Order{Kind: loop.PowerOff}) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := setup(t, rig.Options{Servo: sim.Servo{Lag: 0.02}})
			crouch, err := pose.Named(r.M, "crouched", 0)
			if err != nil {
				t.Fatal(err)
			}
			legs := r.Set("leg1")
			crouch.Needs = crouch.Needs.Minus(legs)
			goal := r.Start("torque_off", &torqueoff.Program{Needs: legs})
			r.Start("pose", crouch) // something has to be stopped
			r.For(0.2)
			c.stop(r)
			for range 1500 {
				r.Run(1)
				if all, _ := limp(r, "leg1"); !all {
					t.Fatalf("tick %d: power %v, and the leg has torque again", r.N, r.Now.Power)
				}
			}
			if _, _, over := r.Ended(goal); !over {
				t.Error("the goal outlived the stop")
			}
		})
	}
}

// TestAResetGivesNoTorque: the limb is as limp after a stop and its reset as before.
func TestAResetGivesNoTorque(t *testing.T) {
	r := setup(t, rig.Options{})
	r.Start("torque_off", &torqueoff.Program{Needs: r.Set("leg1")})
	r.Run(5)
	r.L.Stop(2)
	r.For(1)
	knee := r.Joint("joint13")
	r.Bus.PoseByHand(knee, 1.2)
	r.Run(3)
	r.Send(loop.Order{Kind: loop.Reset})
	r.For(0.5)
	if all, _ := limp(r, "leg1"); !all {
		t.Error("torque after a reset")
	}
	r.Start("torque_off", &torqueoff.Program{Needs: r.Set("leg1", "head")}) // limp joints may be let go again
	r.For(0.1)
	if all, _ := limp(r, "leg1", "head"); !all || r.Bus.Joint(knee) != 1.2 {
		t.Errorf("the knee went to %g", r.Bus.Joint(knee))
	}
}

func TestProgramsAndRefusals(t *testing.T) {
	r := setup(t, rig.Options{})
	p := &torqueoff.Program{Needs: r.Set("head")}
	b, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := torqueoff.Decode(b); err != nil || *again.(*torqueoff.Program) != *p {
		t.Errorf("%v %v", again, err)
	}
	if _, err := torqueoff.Decode([]byte("x")); err == nil {
		t.Error("x is a program")
	}
	c, _ := torqueoff.New(r.M, control.Transition{})
	meas := control.NewMeasured(len(r.M.Joints()), 0, servo.Sensors{})
	meas.Age[r.Joint("joint52")] = servo.Never
	if why := c.Check(&control.Input{Meas: &meas}, p); why.Code != control.Stale || int(why.Joint) != r.Joint("joint52") {
		t.Errorf("a joint that was never read: %+v", why)
	}
}

func TestTorqueOffDoesNotAllocate(t *testing.T) {
	r := setup(t, rig.Options{})
	r.Start("torque_off", &torqueoff.Program{Needs: r.Set("leg1", "head")})
	if n := testing.AllocsPerRun(50, func() { r.L.Step(r.Tick()); r.N++ }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
