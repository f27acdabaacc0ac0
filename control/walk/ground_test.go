package walk_test

import (
	"math"
	"strings"
	"testing"

	"poise/control"
	"poise/control/walk"
	"poise/gait"
	"poise/internal/rig"
	"poise/spatial"
)

// TestBoxesAreJudged: what no robot steps on is refused by its number and the limit; a record of the ground is read again.
func TestBoxesAreJudged(t *testing.T) {
	m := rig.Model(t, "pony")
	good := gait.Box{Length: 0.1, Width: 1, Height: 0.01}
	for _, c := range []struct {
		change func(b *gait.Box)
		want   string
	}{
		{func(b *gait.Box) { b.Length = 0 }, "0 m × 1 m is no box"},
		{func(b *gait.Box) { b.Height = -0.01 }, "a height of -0.01 m"},
		{func(b *gait.Box) { b.Height = 0.2 }, "a step of 0.19 m"},
		{func(b *gait.Box) { b.Height = 0.035 }, "a step of 0.025 m from the next lower one: this robot takes 0.0237 m"}, // higher it does not lift a foot
		{func(b *gait.Box) { b.At.X = 1e9 }, "x: 1e+09 m is not within -1000 … 1000 m"},
		{func(b *gait.Box) { b.Yaw = math.NaN() }, "yaw: NaN rad is not within -1000 … 1000 rad"},
	} {
		b := good
		c.change(&b)
		if _, err := walk.Boxes(m, []gait.Box{good, b}); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "boxes[1]") {
			t.Errorf("%+v: %v, it should say %q", b, err, c.want)
		}
	}
	if _, err := walk.Boxes(m, make([]gait.Box, gait.MostBoxes+1)); err == nil || !strings.Contains(err.Error(), "65 boxes") {
		t.Errorf("too many: %v", err)
	}
	g, err := walk.Boxes(m, []gait.Box{good, {Length: 0.1, Width: 1, Height: 0.02}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := g.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	again, err := walk.Decode(text)
	if err != nil || len(again.(*walk.Ground).Boxes) != 2 {
		t.Errorf("%v, %v", again, err)
	}
}

// TestEdgesEverywhere: where known boxes leave no place within reach that is away from edges, as a platform of small tiles, feet are put on edges
// rather than out of reach, and the walk goes on.
func TestEdgesEverywhere(t *testing.T) {
	for _, size := range []float64{0.02, 0.04, 0.05} {
		w := setup(t, "stand")
		var boxes []gait.Box
		for i := range 8 {
			for j := range 8 {
				boxes = append(boxes, gait.Box{At: gait.Point{X: 0.12 + size*float64(i), Y: size * (float64(j) - 3.5)}, Length: size, Width: size, Height: 1e-5})
			}
		}
		g, err := walk.Boxes(w.M, boxes)
		if err != nil {
			t.Fatal(err)
		}
		goal := w.begin()
		w.Feed("walk", g)
		w.run(5, &gait.Velocity{X: 0.05})
		if _, why, over := w.Ended(goal); over {
			t.Errorf("tiles of %g m: it ended after %g s: %+v", size, w.Seconds(), why)
		}
	}
}

// TestItArrivesBesideAnEdge: a foot whose place under the body is on the edge of a known box stands beside it, and has arrived there.
func TestItArrivesBesideAnEdge(t *testing.T) {
	for _, way := range []float64{0.2, 0.21, 0.22} {
		w := setup(t, "stand")
		g, err := walk.Boxes(w.M, []gait.Box{{At: gait.Point{X: 1.3}, Length: 2, Width: 3, Height: 1e-5}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := walk.Walk(w.M)
		if err != nil {
			t.Fatal(err)
		}
		base := w.at().P
		p.To = &walk.Target{At: gait.Point{X: base.X + way, Y: base.Y}, Near: 0.02, NearYaw: 0.05}
		goal := w.Start("walk", p)
		w.Feed("walk", g)
		if why := w.ends(goal, 30); why.Code != control.OK {
			t.Errorf("%g m ahead: %+v", way, why)
		}
	}
}

// TestItStaysOnAPlatform: known stairs lead up to a platform, behind which it is too deep to step down. The feet stay on it whatever is commanded, the
// robot stands when nothing is, and goes back the way it can.
func TestItStaysOnAPlatform(t *testing.T) {
	const rise, tread, end = 0.012, 0.1, 0.9
	w := setup(t, "stand")
	var boxes []gait.Box
	for i := range 4 {
		near := 0.2 + tread*float64(i)
		boxes = append(boxes, gait.Box{At: gait.Point{X: (near + end) / 2}, Length: end - near, Width: 1, Height: rise * float64(i+1)})
	}
	g, err := walk.Boxes(w.M, boxes)
	if err != nil {
		t.Fatal(err)
	}
	goal := w.begin()
	w.Feed("walk", g)
	base := func() spatial.Vec3 { return w.Now.Command.Base.Pose.P }
	low := base().Z
	lead := func(v gait.Velocity, seconds float64) {
		t.Helper()
		for end := w.Seconds() + seconds; w.Seconds() < end; {
			w.Feed("walk", &walk.Velocity{At: w.Tick().Time, Velocity: v})
			w.Run(1)
			if _, why, over := w.Ended(goal); over {
				t.Fatalf("%g s, the base at %v: it ended: %+v", w.Seconds(), base(), why)
			}
		}
	}
	lead(gait.Velocity{X: 0.055}, 22)
	at := base()
	if at.X < 0.7 || at.X > end-0.05 || at.Z-low < 1.5*rise {
		t.Errorf("it is at %v, %g m up", at, at.Z-low)
	}
	lead(gait.Velocity{X: 0.055}, 4)
	if d := base().X - at.X; d > 0.01 {
		t.Errorf("at the edge it goes on by %g m", d)
	}
	lead(gait.Velocity{}, 3)
	at = base()
	lead(gait.Velocity{}, 1)
	if d := base().Sub(at).Norm(); d > 1e-6 {
		t.Errorf("it does not stand: it moved by %g m", d)
	}
	lead(gait.Velocity{X: -0.055}, 6)
	if d := at.X - base().X; d < 0.15 {
		t.Errorf("back from the edge it makes %g m", d)
	}
}

// TestTheHighestStepIsTaken: a box as high as any that is accepted is walked onto, ahead and to the side.
func TestTheHighestStepIsTaken(t *testing.T) {
	const high = 0.0235
	for _, v := range []gait.Velocity{{X: 0.06}, {Y: 0.06}, {X: 0.12}} {
		w := setup(t, "stand")
		box := gait.Box{At: gait.Point{X: 1.2}, Length: 2, Width: 1, Height: high}
		if v.Y > 0 {
			box.At, box.Width = gait.Point{Y: 1.1}, 2
		}
		g, err := walk.Boxes(w.M, []gait.Box{box})
		if err != nil {
			t.Fatal(err)
		}
		goal := w.begin()
		w.Feed("walk", g)
		w.Run(100)
		low := w.Now.Command.Base.Pose.P.Z
		for w.Seconds() < 11 {
			w.Feed("walk", &walk.Velocity{At: w.Tick().Time, Velocity: v})
			w.Run(1)
		}
		if _, why, over := w.Ended(goal); over {
			t.Errorf("%v: it ended: %+v", v, why)
		}
		if up := w.Now.Command.Base.Pose.P.Z - low; math.Abs(up-high) > 0.001 {
			t.Errorf("%v: it is %g m up", v, up)
		}
	}
}

// TestGroundIsForgotten: a robot that stands on a box, of which nothing is known any more, walks on at that height.
func TestGroundIsForgotten(t *testing.T) {
	w := setup(t, "stand")
	w.begin()
	low := w.Now.Command.Base.Pose.P.Z
	g, err := walk.Boxes(w.M, []gait.Box{{At: gait.Point{X: 1.2}, Length: 2, Width: 1, Height: 0.02}})
	if err != nil {
		t.Fatal(err)
	}
	w.Feed("walk", g)
	for w.Seconds() < 15 {
		if w.Seconds() > 9 && len(g.Boxes) > 0 {
			g = &walk.Ground{}
			w.Feed("walk", g)
		}
		w.Feed("walk", &walk.Velocity{At: w.Tick().Time, Velocity: gait.Velocity{X: 0.055}})
		before := w.Now.Command.Base.Pose.P
		w.Run(1)
		if z := w.Now.Command.Base.Pose.P.Z; w.Seconds() > 9 && (math.Abs(z-before.Z) > 1e-5 || z < low-0.01) {
			t.Fatalf("%g s: its base goes from %g to %g m", w.Seconds(), before.Z, z)
		}
	}
	if x := w.Now.Command.Base.Pose.P.X; x < 0.6 {
		t.Errorf("it made %g m", x)
	}
}
