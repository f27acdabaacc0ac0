package walk

import (
	"math"
	"testing"

	"poise/control"
	"poise/gait"
	"poise/spatial"
)

// TestAPushedWalkBraces: in any phase of a trot and of a crawl, a capture point that is off by a tenth of the height changes nothing; by a fifth, all feet stand within
// 0.14 s, joints keep their limits of speed and acceleration, nothing is allocated, and a second after it is calm it walks on.
func TestAPushedWalkBraces(t *testing.T) {
	for _, walk := range []struct {
		gait  string
		speed float64
	}{{"trot", 0.1}, {"crawl", 0.05}} {
		steep, fast := 0.0, 0.0
		const phases = 5
		for k := range phases {
			c, input, _ := tippedPony(t)
			m := c.data.Model()
			z := c.height + c.above
			tick := func(off float64) {
				input.Meas.Base.Pose.R = spatial.Identity3
				input.Meas.IMU[0].Rate = spatial.Vec3{X: -off / math.Sqrt(z/c.gravity)} // to the left
				c.plan.Command(gait.Velocity{X: walk.speed})
				c.plan.Stop(c.braced.on || c.catch.steps.On())
				c.plan.Advance(input.Tick.Dt)
				c.feedback(input)
				c.braces(input)
				c.recover(input)
				if _, why := c.follow(); why.Code != control.OK {
					t.Fatalf("%s: %v", walk.gait, why)
				}
				for i := range c.legs {
					for _, j := range c.legs[i].joints {
						if l := &m.Joints()[j].Limits; l.Acceleration.Has {
							steep, fast = max(steep, math.Abs(c.a[j])/l.Acceleration.Value), max(fast, math.Abs(c.v[j])/l.Velocity.Value)
						}
					}
				}
			}
			for i := range c.gaits {
				if c.gaits[i].Name == walk.gait {
					if err := c.plan.SetGait(&c.gaits[i]); err != nil {
						t.Fatal(err)
					}
				}
			}
			n := int((3 + float64(k)/phases*c.plan.Gait().Period) / input.Tick.Dt)
			for range n {
				tick(0)
			}
			for range 20 {
				tick(0.1)
			}
			if c.plan.Phase() != gait.Walks || c.braced.on {
				t.Fatalf("%s, %d: it is braced by a tenth of its height", walk.gait, k)
			}
			for range 12 {
				tick(-0.2)
			}
			if p := c.plan.Phase(); p != gait.Settles && p != gait.Stands {
				t.Errorf("%s, %d: 0.14 s after a push it %v", walk.gait, k, p)
			}
			for range 40 {
				tick(0)
			}
			if k == 0 {
				if allocs := testing.AllocsPerRun(20, func() { tick(-0.2) }); allocs > 0 {
					t.Errorf("%g allocations", allocs)
				}
			}
			for range int(4 / input.Tick.Dt) {
				tick(0)
			}
			if c.plan.Phase() != gait.Walks || c.braced.on || c.plan.Com(0).V.X < walk.speed/4 {
				t.Errorf("%s, %d: calm again it %v at %g m/s", walk.gait, k, c.plan.Phase(), c.plan.Com(0).V.X)
			}
		}
		t.Logf("%s: accelerations %.2f and speeds %.2f of their limits", walk.gait, steep, fast)
		if steep > 1 || fast > 1 {
			t.Errorf("%s: joints use %g of their accelerations and %g of their speeds", walk.gait, steep, fast)
		}
	}
}

// TestFootstepsThatAPushMoved: footsteps that were taken are done; a foot that is put down on its way, because the robot was pushed, ends them with its leg's joint and how
// far it is from its footstep, and no foot is led to its place under the body instead.
func TestFootstepsThatAPushMoved(t *testing.T) {
	for _, pushed := range []bool{false, true} {
		c, input, _ := tippedPony(t)
		z := c.height + c.above
		c.run.program = &Program{Steps: make([]Step, 2)}
		c.run.steps = []gait.Footstep{{Leg: 0, At: gait.Point{X: c.nominal[0].X + 0.04, Y: c.nominal[0].Y}}, {Leg: 1, At: gait.Point{X: c.nominal[1].X + 0.04, Y: c.nominal[1].Y}}}
		c.choose(input.Tick.Dt)
		c.plan.Footsteps(c.run.steps)
		over, done := 0.0, false
		for range int(12 / input.Tick.Dt) {
			swings, _, height := c.plan.Aloft(1)
			off := 0.0
			if pushed && over == 0 && swings && height > 0.0003 {
				over = 0.1
			}
			if over > 0 {
				over, off = over-input.Tick.Dt, -0.3
			}
			input.Meas.Base.Pose.R = spatial.Identity3
			input.Meas.IMU[0].Rate = spatial.Vec3{X: -off / math.Sqrt(z/c.gravity)}
			c.plan.Stop(c.braced.on || c.catch.steps.On())
			c.plan.Advance(input.Tick.Dt)
			c.feedback(input)
			c.braces(input)
			if done = c.over(input) && !c.braced.on; done {
				break
			}
			if over < 0 {
				over = math.Inf(-1) // one push
			}
		}
		why := c.missed()
		switch {
		case !done:
			t.Errorf("pushed %v: it does not end; it %v, %d steps are left", pushed, c.plan.Phase(), c.plan.Left())
		case !pushed && why.Code != control.OK:
			t.Errorf("steps that nothing disturbed end with %v", why)
		case pushed && (why.Code != control.LimbUnreachable || why.Joint != c.legs[1].joints[0] || why.Value < stepNear || why.Value > 0.05):
			t.Errorf("a foot that came down early ends with %+v", why)
		}
	}
}

// TestAWalkThatEndsComesToRest: once it stands and is to end, what is learnt of the ground and offsets of the body do not keep it moving.
func TestAWalkThatEndsComesToRest(t *testing.T) {
	c, input, _ := tippedPony(t)
	for i := range c.soles {
		c.soles[i].floor = 0.001 * float64(i)
		input.Meas.Support[c.legs[i].chain].Weight = 1
	}
	floors := append([]sole(nil), c.soles...)
	c.slope.x, c.sway.y, input.Rate = shift{p: 0.01, v: 0.02}, shift{p: 0.01, v: 0.05}, 0
	input.Meas.Base.Pose.R = spatial.AxisAngle(spatial.Vec3{Y: 1}, 0.03) // steeper than flat
	for range int(0.8 / input.Tick.Dt) {
		c.plan.Advance(input.Tick.Dt)
		c.feel(input)
		c.feedback(input)
		c.uphill(input)
	}
	if v := math.Abs(c.slope.x.v) + math.Abs(c.slope.y.v) + math.Abs(c.sway.x.v) + math.Abs(c.sway.y.v); v > 1e-6 {
		t.Errorf("offsets still move by %g m/s", v)
	}
	for i := range floors {
		if c.soles[i].floor != floors[i].floor {
			t.Errorf("the floor of foot %d went from %g to %g", i, floors[i].floor, c.soles[i].floor)
		}
	}
	if c.slope.x.p < 0.01 || c.slope.x.p > 0.013 {
		t.Errorf("it came to rest %g m uphill", c.slope.x.p)
	}
}

// TestAFootThatRisesHasNotLanded: a foot that is put down at once goes on upwards for a moment. What is felt of the ground that it leaves is not taken for ground that
// is higher.
func TestAFootThatRisesHasNotLanded(t *testing.T) {
	c, input := crawling(t)
	braced, rising := false, 0
	for range int(5 / input.Tick.Dt) {
		c.plan.Advance(input.Tick.Dt)
		m, _, _, _ := c.plan.Foot(0, 0)
		if swings, _, height := c.plan.Aloft(0); !braced && swings && height > 0.001 && m.V.Z > 0 {
			braced = true
			c.plan.Brace(braceWithin*c.catch.unit, braceMost*c.gravity)
		}
		for i := range c.legs {
			weight := 1.0
			if swings, _, _ := c.plan.Aloft(i); i == 0 && swings && !(m.V.Z > 0) {
				weight = 0
			}
			input.Meas.Support[c.legs[i].chain].Weight = weight
		}
		if c.feel(input); braced && m.V.Z > 0 {
			rising++
		}
		if s := &c.soles[0]; braced && s.floor > 1e-3 {
			t.Fatalf("a foot that rises by %g m/s has its ground %g m higher", m.V.Z, s.floor)
		}
	}
	if rising < 2 {
		t.Errorf("it rises for %d ticks after it is put down", rising)
	}
}
