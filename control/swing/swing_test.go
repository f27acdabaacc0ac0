package swing

import (
	"math"
	"testing"

	"poise/control"
	"poise/robot"
	"poise/servo"
	"poise/trajectory/move"
)

func rig() (*Controller, *Program, *control.Input, *control.Reference) {
	limits := []move.Limits{move.Symmetric(2, 8, 80), move.Symmetric(2, 8, 80)}
	p := &Program{Needs: robot.Leaf(0), Wants: robot.Leaf(1), Centre: []float64{0.1, -0.2}, Amplitude: 0.3, Frequency: 2, Duration: 1}
	return New(limits), p, &control.Input{Tick: servo.Tick{Dt: 1e-3}, Rate: 1}, control.NewReference(2, 0, 0)
}

// TestReferenceAgreesWithItself: velocity and acceleration are the differences of
// position, while the rate changes too.
func TestReferenceAgreesWithItself(t *testing.T) {
	c, p, input, out := rig()
	if why := c.Start(input, p); why.Code != control.OK {
		t.Fatalf("%+v", why)
	}
	var q, v [3]float64
	for k := range 900 {
		if k == 300 {
			input.Rate = 0.3
		}
		out.Reset()
		if st, _ := c.Update(input, out); st != control.Going {
			t.Fatalf("tick %d: ended", k)
		}
		q[0], q[1], q[2] = q[1], q[2], out.Q[0]
		v[0], v[1], v[2] = v[1], v[2], out.V[0]
		if k < 3 {
			continue
		}
		if d := (q[2] - q[0]) / 2e-3; math.Abs(d-v[1]) > 2e-2 {
			t.Fatalf("tick %d: velocity %g, difference %g", k, v[1], d)
		}
		if math.Abs(out.A[0]) > 8 {
			t.Fatalf("tick %d: acceleration %g", k, out.A[0])
		}
	}
	if math.Abs(out.Rate-0.3) > 1e-12 {
		t.Errorf("rate %g", out.Rate)
	}
}

func TestSwingEndsByItsOwnTime(t *testing.T) {
	c, p, input, out := rig()
	c.Start(input, p)
	ticks := 0
	for {
		out.Reset()
		ticks++
		if st, _ := c.Update(input, out); st == control.Done {
			break
		}
		if ticks > 5000 {
			t.Fatal("never ends")
		}
	}
	if ticks != 1000 && ticks != 1001 {
		t.Errorf("%d ticks of 1 ms for 1 s", ticks)
	}
}

func TestRefusalsNameJointAndLimit(t *testing.T) {
	c, p, input, _ := rig()
	fast := *p
	fast.Amplitude, fast.Frequency = 0.1, 8 // 6.4 rad/s², 4 are its share
	if why := c.Check(input, &fast); why.Code != control.BeyondLimit || why.Joint != 0 || why.Max != 4 {
		t.Errorf("%+v", why)
	}
	short := *p
	short.Centre = nil
	if why := c.Check(input, &short); why.Code != control.BadProgram {
		t.Errorf("%+v", why)
	}
	nan := *p
	nan.Amplitude = math.NaN()
	if why := c.Check(input, &nan); why.Code != control.BeyondLimit {
		t.Errorf("%+v", why)
	}
}

func TestOwnedLivesOnWithWhatItNeeds(t *testing.T) {
	c, p, input, _ := rig()
	c.Start(input, p)
	if c.Owned(input, robot.Leaf(0)) != control.Going || c.Owned(input, robot.Leaf(1)) != control.Quit {
		t.Error("needs and wants are mixed up")
	}
}

func TestProgramsSurvive(t *testing.T) {
	_, p, _, _ := rig()
	b, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	q, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := q.(*Program).MarshalBinary(); string(again) != string(b) {
		t.Errorf("%s\n%s", b, again)
	}
	if _, err := Decode([]byte("{")); err == nil {
		t.Error("half a program is one")
	}
}

func TestUpdateDoesNotAllocate(t *testing.T) {
	c, p, input, out := rig()
	c.Start(input, p)
	if n := testing.AllocsPerRun(100, func() {
		out.Reset()
		c.Update(input, out)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
