package walk

import (
	"math"
	"testing"

	"poise/control"
	"poise/gait"
	"poise/internal/rig"
	"poise/servo"
	"poise/spatial"
)

// tippedPony stands ready to walk in its plan alone; lean is told by its inertial unit.
func tippedPony(t *testing.T) (*Controller, *control.Input, func(to gait.Point, lean, rate float64)) {
	t.Helper()
	m := rig.Model(t, "pony")
	c, err := build(m)
	if err != nil {
		t.Fatal(err)
	}
	now := control.NewMeasured(len(m.Joints()), len(m.Chains()), servo.Sensors{IMU: 1})
	input := &control.Input{Tick: servo.Tick{Dt: 0.0112}, Meas: &now}
	c.ready = true
	copy(c.q, c.way)
	c.plan.Place(gait.Point{}, 0, c.nominal, gait.Point{})
	c.run.com = spatial.Vec3{X: -c.walking.P.X, Y: -c.walking.P.Y}
	now.Base.Has = true
	return c, input, func(to gait.Point, lean, rate float64) {
		n := spatial.Vec3{X: -to.Y, Y: to.X}
		now.Base.Pose.R = spatial.AxisAngle(n, lean)
		now.IMU[0] = servo.Inertial{Rate: n.Scale(rate)}
		c.plan.Stop(c.catch.steps.On())
		c.plan.Step(input.Tick.Dt)
		c.recover(input)
	}
}

// TestItCatchesItself: over each of its four edges, a push that soles withstand begins no step. One that they do not, and a lean that stays near the edge,
// put both feet ahead one after the other; joints keep their limits of speed and acceleration, nothing else is begun meanwhile, and in the end it stands
// with its feet at their places.
func TestItCatchesItself(t *testing.T) {
	for _, to := range []gait.Point{{X: 1}, {X: -1}, {Y: 1}, {Y: -1}} {
		for _, slow := range []bool{false, true} {
			c, _, tick := tippedPony(t)
			if len(c.catch.edges) != 4 {
				t.Fatalf("%d edges", len(c.catch.edges))
			}
			angle := c.catch.edges[0].angle
			if to.X == 0 {
				angle = c.catch.edges[2].angle
			}
			for range 100 {
				tick(to, 0, 0)
			}
			for k := range 20 { // tips by up to a third, and comes back
				tick(to, angle/3*math.Sin(float64(k)/20*math.Pi), 0.5*math.Cos(float64(k)/20*math.Pi))
			}
			if c.catch.steps.On() {
				t.Fatalf("%v: a third of the way to the edge begins a step", to)
			}
			ticks, steep, fast := 0, 0.0, 0.0
			aloft := map[int]int{}
			for lean := 0.6 * angle; ticks < 1200; ticks++ {
				rate := 0.0
				if !slow && ticks < 20 {
					rate = 2
				}
				if ticks > 50 {
					lean = max(0, lean-0.02)
				}
				tick(to, lean, rate)
				if _, why := c.follow(); why.Code != control.OK {
					t.Fatalf("%v: %v", to, why)
				}
				for i := range c.legs {
					if c.catch.steps.Aloft(i) {
						aloft[i]++
					}
					for _, j := range c.legs[i].joints {
						if l := &c.data.Model().Joints()[j].Limits; l.Acceleration.Has {
							steep, fast = max(steep, math.Abs(c.a[j])/l.Acceleration.Value), max(fast, math.Abs(c.v[j])/l.Velocity.Value)
						}
					}
				}
				if on := c.catch.steps.On(); on && c.Stands() {
					t.Fatalf("%v: it stands and catches itself", to)
				}
			}
			t.Logf("%v, slowly %v: aloft for %v ticks, accelerations %.2f and speeds %.2f of their limits", to, slow, aloft, steep, fast)
			if len(aloft) != 2 || steep > 1 || fast > 1 || c.catch.steps.On() || c.plan.Phase() != gait.Stands {
				t.Errorf("%v, slowly %v: feet aloft for %v ticks, %g and %g of the limits; it %v", to, slow, aloft, steep, fast, c.plan.Phase())
			}
			com := c.plan.Com(0).P
			for i := range c.legs {
				m, _, _, _ := c.plan.Foot(i, 0)
				if n := c.nominal[i]; math.Hypot(m.P.X-com.X-n.X, m.P.Y-com.Y-n.Y) > 0.01 {
					t.Errorf("%v: foot %d is at %v under a body at %v", to, i, m.P, com)
				}
			}
		}
	}
}

// TestCatchingAllocatesNothing: a whole catch makes no garbage.
func TestCatchingAllocatesNothing(t *testing.T) {
	c, _, tick := tippedPony(t)
	n := testing.AllocsPerRun(3, func() {
		c.plan.Place(gait.Point{}, 0, c.nominal, gait.Point{})
		for k := range 300 {
			lean := 0.45
			if k > 50 {
				lean = 0
			}
			tick(gait.Point{X: 1}, lean, 0)
		}
	})
	if n > 0 {
		t.Errorf("%g allocations", n)
	}
}

// TestNoStepIsBegun: by cycle 2, which holds feet that stand, and at 22.4 ms, which is too slow; it stands as before.
func TestNoStepIsBegun(t *testing.T) {
	for _, whole := range []bool{false, true} {
		c, input, tick := tippedPony(t)
		if input.Whole = whole; !whole {
			input.Tick.Dt = 0.0224
		}
		for range 50 {
			tick(gait.Point{X: 1}, 0.45, 1)
		}
		if c.catch.steps.On() || !c.Stands() {
			t.Errorf("whole body %v: a step was begun", whole)
		}
	}
}
