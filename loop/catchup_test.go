package loop_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/control"
	"poise/control/follow"
	"poise/control/stream"
	"poise/internal/rig"
	"poise/loop"
	"poise/robot"
	"poise/trajectory"
)

// following is a robot whose head is to go somewhere in some seconds, after some ticks of it.
func following(t *testing.T, seconds float64) (r *rig.Rig, goal uint64) {
	t.Helper()
	m := rig.Model(t, "pony")
	r = rig.New(t, m, rig.Options{}, loop.Registration{Name: "follow", Kind: "follow", Controller: follow.New(m)})
	at := r.Now.Command.Q[r.Joint("joint52")]
	p, err := follow.Compile(m, follow.Options{}, &r.Now.Command, &follow.Goal{Joints: []string{"joint52"}, Points: []trajectory.Point{
		{Time: 0, Position: []float64{at}}, {Time: seconds, Position: []float64{at + 0.2}}}})
	if err != nil {
		t.Fatal(err)
	}
	return r, r.Start("follow", p)
}

// miss leaves out the numbers of some ticks, as the runner does after a gap.
func miss(r *rig.Rig, periods int) {
	r.L.Late(uint32(periods))
	r.N += uint64(periods)
}

// TestMotionsCatchUp: after some missed ticks a motion ends when it would have; of a longer gap
// it catches up 20 ms, and a stream of gaps is a delay. Nothing jumps: the rig judges
// velocities and accelerations from tick to tick.
func TestMotionsCatchUp(t *testing.T) {
	end := func(gaps ...int) float64 {
		r, goal := following(t, 2)
		began := r.Seconds()
		r.For(0.5)
		for _, n := range gaps {
			miss(r, n)
			r.Run(5)
		}
		r.Until(goal, 4)
		return r.Seconds() - began
	}
	whole := end()
	for _, c := range []struct {
		gaps []int
		late float64
	}{{[]int{1}, 0}, {[]int{15}, 0}, {[]int{5, 5, 5}, 0}, {[]int{60}, 0.040}, {[]int{20, 20}, 0.020}} {
		if late := end(c.gaps...) - whole; math.Abs(late-c.late) > 0.0025 {
			t.Errorf("after gaps of %v ms the motion is %.1f ms late, want %.1f", c.gaps, late*1e3, c.late*1e3)
		}
	}
}

// TestMotionsEndAtTheirEndAfterAGap: wherever ticks are missed, the last one of a motion ends it at its end, and the joint stays
// there. A motion ends with an acceleration, and what took over with it would run back.
func TestMotionsEndAtTheirEndAfterAGap(t *testing.T) {
	for ticks := 460; ticks < 510; ticks++ {
		r, goal := following(t, 0.5003)
		end := r.Now.Command.Q[r.Joint("joint52")] + 0.2
		r.Run(ticks)
		miss(r, 50)
		r.Until(goal, 4)
		r.For(0.5)
		if q := r.Now.Command.Q[r.Joint("joint52")]; math.Abs(q-end) > 1e-9 {
			t.Fatalf("a gap after %d ticks: the joint stands %g rad beside the end of its motion", ticks, q-end)
		}
	}
}

// TestEventsLeaveWhenTheyShould: an event half a second after a gap of 15 ms leaves when it would
// have without.
func TestEventsLeaveWhenTheyShould(t *testing.T) {
	leaves := func(gap int) float64 {
		m := rig.Model(t, "pony")
		r := rig.New(t, m, rig.Options{}, loop.Registration{Name: "follow", Kind: "follow", Controller: follow.New(m)})
		at := r.Now.Command.Q[r.Joint("joint52")]
		p, err := follow.Compile(m, follow.Options{}, &r.Now.Command, &follow.Goal{Joints: []string{"joint52"},
			Points: []trajectory.Point{{Time: 0, Position: []float64{at}}, {Time: 2, Position: []float64{at + 0.2}}},
			Events: []follow.Event{{Time: 1, Type: "eyes/action", Command: "blink"}}})
		if err != nil {
			t.Fatal(err)
		}
		r.Start("follow", p)
		began := r.Seconds()
		r.For(0.5)
		miss(r, gap)
		for range 1000 {
			r.Run(1)
			for _, x := range r.Reports {
				if x.Kind == loop.EventsLeft {
					return float64(x.Tick.Time)*1e-9 - began
				}
			}
		}
		t.Fatal("it did not leave")
		return 0
	}
	if late := leaves(15) - leaves(0); math.Abs(late) > 0.0025 {
		t.Errorf("after a gap of 15 ms an event leaves %g s late", late)
	}
}

// TestAPauseForgetsWhatWasMissed: a pause ends what is to be caught up, and a motion that is
// paused does not move for it.
func TestAPauseForgetsWhatWasMissed(t *testing.T) {
	r, _ := following(t, 2)
	r.For(0.5)
	r.Send(loop.Order{Kind: loop.Pause})
	r.For(0.5)
	at := r.Now.Command.Q[r.Joint("joint52")]
	miss(r, 15)
	r.For(0.2)
	if q := r.Now.Command.Q[r.Joint("joint52")]; q != at {
		t.Errorf("a paused motion went on from %g to %g", at, q)
	}
	r.Send(loop.Order{Kind: loop.Resume})
	r.Run(3)
	if rate := r.Activity("follow").Rate; rate > 1 {
		t.Errorf("it goes on at %g times its speed", rate)
	}
}

// TestHandOversDoNotJumpAfterAGap: joints that are on their way to rest or to a new owner go
// on where they were; streams go on by the time of their stamps, within limits.
func TestHandOversDoNotJumpAfterAGap(t *testing.T) {
	m := rig.Model(t, "pony")
	c, err := stream.New(m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	r := rig.New(t, m, rig.Options{}, loop.Registration{Name: "stream", Kind: "stream", Controller: c})
	j := r.Joint("tail_joint1")
	for gap := range 40 {
		r.Start("stream", &stream.Program{Needs: r.Set("tail")})
		s := &stream.Sample{At: r.Tick().Time, Joints: robot.Leaf(robot.LeafID(j)), Q: make([]float64, len(m.Joints()))}
		s.Q[j] = 0.5 - float64(gap%2)
		r.Feed("stream", s)
		r.Run(80 + 3*gap)
		miss(r, gap)
		r.Run(20)
		r.L.Send(loop.Order{Kind: loop.CancelGoal})
		r.Run(30)
		miss(r, 40-gap) // the ramp to rest
		r.For(0.5)
		if v := r.Now.Command.V[j]; v != 0 {
			t.Errorf("the tail moves at %g", v)
		}
	}
}

// TestStreamsDoNotOvershootAfterGaps: a stream that says one value is followed there while ticks are
// missed again and again, by few and many periods, also by as many as in the tick before. The joint
// passes the value by no more than a few milliradians, within its limits, and is not led faster ever
// after. A reference that goes on by the time of ticks would leave the way on which it brakes behind
// in a gap, and pass the value by 0.35 rad.
func TestStreamsDoNotOvershootAfterGaps(t *testing.T) {
	m := rig.Model(t, "pony")
	c, err := stream.New(m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	r := rig.New(t, m, rig.Options{}, loop.Registration{Name: "stream", Kind: "stream", Controller: c})
	r.Start("stream", &stream.Program{Needs: r.Set("tail")})
	j := r.Joint("tail_joint1")
	random := rand.New(rand.NewPCG(1, 1))
	for n := range 60 {
		from, to := r.Now.Command.Q[j], 0.2-0.4*float64(n%2)
		least, span, gaps := 1+random.IntN(40), 1+random.IntN(60), []int{3, 20, 60, 100}[random.IntN(4)]
		for range 20 {
			s := &stream.Sample{At: r.Tick().Time, Joints: robot.Leaf(robot.LeafID(j)), Q: make([]float64, len(m.Joints()))}
			s.Q[j] = to
			r.Feed("stream", s)
			for range least + random.IntN(span) {
				if random.IntN(20) == 0 {
					for gap := 1 + random.IntN(gaps); ; {
						miss(r, gap)
						r.Run(1)
						if random.IntN(2) == 0 {
							break
						}
					}
				}
				r.Run(1)
				if past := (r.Now.Command.Q[j] - to) * math.Copysign(1, to-from); past > 0.005 {
					t.Fatalf("motion %d, gaps of %d ms: %g rad beyond the value", n, gaps, past)
				}
			}
		}
		r.For(0.5)
		if q := r.Now.Command.Q[j]; math.Abs(q-to) > 1e-3 {
			t.Errorf("motion %d: at %g, not at %g", n, q, to)
		}
	}
	if rate := r.Activity("stream").Rate; rate != 1 {
		t.Errorf("it is led at %g times its speed", rate)
	}
}
