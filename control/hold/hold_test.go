package hold_test

import (
	"math"
	"testing"

	"poise/control"
	"poise/control/hold"
	"poise/control/pose"
	"poise/internal/rig"
	"poise/loop"
)

func setup(t *testing.T) *rig.Rig {
	t.Helper()
	m := rig.Model(t, "pony")
	h, err := hold.New(m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := pose.New(m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	return rig.New(t, m, rig.Options{}, loop.Registration{Name: "hold", Controller: h}, loop.Registration{Name: "pose", Controller: p})
}

// TestHoldStopsAMovingLimb: hold takes a leg in the middle of a motion; it stops
// within its limits (the rig judges) and stays where it came to rest.
func TestHoldStopsAMovingLimb(t *testing.T) {
	r := setup(t)
	p, err := pose.Named(r.M, "crouched", 0)
	if err != nil {
		t.Fatal(err)
	}
	goal := r.Start("pose", p)
	r.For(0.3)
	r.Start("hold", &hold.Program{Needs: r.Set("leg1")})
	if _, why, over := r.Ended(goal); !over || why.Code != control.ResourceLost || why.Who != r.Controller("hold") {
		t.Errorf("the pose lost a leg and ended with %+v", why)
	}
	r.For(1)
	j := r.Joint("joint13")
	at := r.Now.Command.Q[j]
	if at <= 0.7 || at >= 1.2 {
		t.Errorf("the knee stopped at %g, between 0.649 and 1.185", at)
	}
	r.For(1)
	if r.Now.Command.Q[j] != at || r.Now.Command.V[j] != 0 {
		t.Errorf("the knee went from %v to %v while held", at, r.Now.Command.Q[j])
	}
}

// TestHoldLivesOnWithASubset of what it wants, and takes the rest back.
func TestHoldLivesOnWithASubset(t *testing.T) {
	r := setup(t)
	goal := r.Start("hold", &hold.Program{Needs: r.Set("head"), Wants: r.Set("tail")})
	tail, err := pose.To(r.M, r.M.Groups()[group(t, r, "tail")].Joints, []float64{0.5, 0.5, 0.5}, 0)
	if err != nil {
		t.Fatal(err)
	}
	moved := r.Start("pose", tail)
	r.Until(moved, 5)
	r.Run(2)
	if _, why, over := r.Ended(goal); over {
		t.Fatalf("hold ended: %+v", why)
	}
	if !r.Activity("hold").Own.Contains(r.Set("head", "tail")) {
		t.Error("the tail did not come back")
	}
	if q := r.Now.Command.Q[r.Joint("tail_joint1")]; math.Abs(q-0.5) > 1e-9 {
		t.Errorf("the tail is held at %g", q)
	}
}

func TestHoldDoesNotAllocate(t *testing.T) {
	r := setup(t)
	r.Start("hold", &hold.Program{Needs: r.Set("leg1", "leg2", "head")})
	if n := testing.AllocsPerRun(50, func() { r.L.Step(r.Tick()); r.N++ }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestPrograms(t *testing.T) {
	r := setup(t)
	p := &hold.Program{Needs: r.Set("leg1"), Wants: r.Set("tail")}
	b, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	again, err := hold.Decode(b)
	if err != nil || *again.(*hold.Program) != *p {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := hold.Decode([]byte("{")); err == nil {
		t.Error("half a program is one")
	}
	if why, refused := r.Refused(r.Ask("hold", &hold.Program{Needs: r.Set("base")})); !refused || why.Code != control.BadProgram {
		t.Errorf("a program without joints: %+v", why)
	}
}

func group(t *testing.T, r *rig.Rig, name string) int {
	t.Helper()
	id, ok := r.M.Group(name)
	if !ok {
		t.Fatalf("no group %q", name)
	}
	return int(id)
}

// TestHoldCarriesTheLoad: what a joint carried when it is taken, it goes on carrying.
func TestHoldCarriesTheLoad(t *testing.T) {
	r := setup(t)
	h, err := hold.New(r.M, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	j := r.Joint("joint13")
	cmd := control.NewMotion(len(r.M.Joints()), len(r.M.Chains()), 1)
	cmd.Tau[j] = 0.7
	input := &control.Input{Tick: r.Tick(), Cmd: &cmd}
	if why := h.Start(input, &hold.Program{Needs: r.Set("leg1")}); why.Code != control.OK {
		t.Fatalf("%+v", why)
	}
	cmd.Tau[j] = 0.2 // only what it was at the beginning counts
	out := control.NewReference(len(r.M.Joints()), len(r.M.Chains()), 1)
	for range 3 {
		out.Reset()
		h.Update(input, out)
		if out.Tau[j] != 0.7 {
			t.Fatalf("carries %g N·m, carried 0.7", out.Tau[j])
		}
	}
}
