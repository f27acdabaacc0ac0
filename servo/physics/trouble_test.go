package physics

import (
	"math"
	"testing"

	"poise/servo"
	"poise/sim"
)

// TestServosFail: a silent servo keeps what it was told and answers nothing, one that is limp
// gives way, a jammed one stays, and a fault is reported; all of them recover.
func TestServosFail(t *testing.T) {
	b, dst, src := standing(t, Config{})
	id, _ := b.model.Robot().Joint("joint51")
	i := int(id)
	at := func() float64 { return b.state.Q[b.model.Robot().Joints()[i].Q] }
	run(t, b, dst, src, 0.5)
	began := at()

	b.SetTrouble(i, Trouble{Silent: true})
	src[i].Position += 0.2
	run(t, b, dst, src, 0.5)
	if r := dst.Joints[i]; math.Abs(at()-began) > 0.01 || r.Fault != servo.NoAnswer || r.Age < 20 {
		t.Errorf("silent: it went from %g to %g and says %+v", began, at(), r)
	}
	b.SetTrouble(i, Trouble{Jammed: true})
	run(t, b, dst, src, 0.5)
	if r := dst.Joints[i]; math.Abs(at()-began) > 0.01 || r.Fault != 0 || r.Age != 0 {
		t.Errorf("jammed: it went from %g to %g and says %+v", began, at(), r)
	}
	b.SetTrouble(i, Trouble{Fault: servo.Overload})
	run(t, b, dst, src, 0.5)
	if r := dst.Joints[i]; math.Abs(at()-began-0.2) > 0.05 || r.Fault != servo.Overload {
		t.Errorf("a fault: it went from %g to %g and says %+v", began, at(), r)
	}
	b.SetTrouble(i, Trouble{Limp: true})
	run(t, b, dst, src, 0.5)
	if r := dst.Joints[i]; math.Abs(at()-began-0.2) < 0.05 || math.Abs(r.Effort) > 1e-9 {
		t.Errorf("limp: it is at %g still, with %g N·m", at(), r.Effort)
	}
	b.SetTrouble(i, Trouble{})
	run(t, b, dst, src, 1)
	if r := dst.Joints[i]; math.Abs(at()-began-0.2) > 0.05 || r.Fault != 0 || b.Broken() != sim.OK {
		t.Errorf("whole again: it is at %g and says %+v", at(), r)
	}
}

// TestDelaysBetweenSteps: a setpoint whose delay is no whole number of steps ends its ramp when
// it should.
func TestDelaysBetweenSteps(t *testing.T) {
	b, _, src := standing(t, Config{Line: Line{Delay: 0.0105}})
	for i := range b.joints {
		b.Aim(i, src[i].Position)
	}
	const head = 26
	from := src[head].Position
	src[head].Position, src[head].PlayTime = from+40*0.005672, 0.02
	b.Send(src)
	to := b.motors[head].quantise(src[head].Position)
	for n := 1; n <= 31; n++ {
		b.Step()
		// after n steps it is n ms; 10.5 ms are the delay
		want := from + (to-from)*math.Max(0, math.Min(1, (float64(n)-10.5)/20))
		if got := b.Target(head); math.Abs(got-want) > 0.026*(to-from) || n == 31 && got != to {
			t.Errorf("after %d ms it is at %g, want %g", n, got, want)
		}
	}
}
