package follow

import (
	"testing"

	"poise/control"
	"poise/servo"
)

// TestTheWholeBodyStaysBesideAMotion: the command of cycle 2 is its own, and stays beside the reference where balance or feet that
// stand ask for it. The motion ends all the same, by the tolerances of its goal; not before a hand-over has ended, and it
// goes gently until then.
func TestTheWholeBodyStaysBesideAMotion(t *testing.T) {
	const beside, most = 0.002, 5 // rad, s
	play := func(whole bool, bridge float64, until int) (ended int, status control.Status) {
		r := newRig(t, parts{robot: "arm6"})
		p := r.compile(arm(0.6, []float64{0, 0, 0, 0, 0, 0}, []float64{0.3, -0.15, 0.2, 0.6, -0.3, 0.6}))
		c := New(r.m)
		joints, chains := len(r.m.Joints()), len(r.m.Chains())
		cmd := control.NewMotion(joints, chains, 0)
		cmd.Copy(&r.s.Command)
		in := &control.Input{Tick: r.tick(), Cmd: &cmd, Meas: &r.s.Measured, Own: p.needs, Rate: 1, Whole: whole}
		if why := c.Start(in, p); why.Code != control.OK {
			t.Fatal(why)
		}
		ref := control.NewReference(joints, chains, 0)
		for n := range int(most / period) {
			in.Bridge = 0
			if n < until {
				in.Bridge = bridge
			}
			in.Tick = servo.Tick{N: r.n + uint64(n), Time: int64(float64(n) * period * 1e9), Dt: period}
			ref.Reset()
			status, why := c.Update(in, ref)
			if status != control.Going {
				if status == control.Failed {
					t.Errorf("it failed: %+v", why)
				}
				return n, status
			}
			for _, j := range p.r.Joints {
				cmd.Q[j], in.Meas.Q[j] = ref.Q[j]+beside, ref.Q[j]+beside
			}
		}
		return -1, control.Going
	}
	free, status := play(true, 0, 0)
	if status != control.Done {
		t.Fatalf("beside a whole body it does not end: %v", status)
	}
	if n, _ := play(false, 0, 0); n >= 0 {
		t.Errorf("without a whole body it ended %g rad from its reference, after %d ticks", beside, n)
	}
	handed := free + 500
	if n, status := play(true, 0.05, handed); status != control.Done || n < handed {
		t.Errorf("it ended after %d ticks as %v, and was handed over until %d", n, status, handed)
	}
}
