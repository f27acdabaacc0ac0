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
	input := &control.Input{Tick: servo.Tick{Dt: 0.0112}, Meas: &now, Rate: 1}
	c.ready, c.run.program = true, &Program{}
	copy(c.q, c.standing)
	c.plan.Place(gait.Point{}, 0, c.nominal, gait.Point{})
	c.run.com = spatial.Vec3{X: -c.walking.P.X, Y: -c.walking.P.Y}
	now.Base.Has = true
	return c, input, func(to gait.Point, lean, rate float64) {
		n := spatial.Vec3{X: -to.Y, Y: to.X}
		now.Base.Pose.R = spatial.AxisAngle(n, lean)
		now.IMU[0] = servo.Inertial{Rate: n.Scale(rate)}
		c.plan.Stop(c.catch.steps.On())
		c.plan.Advance(input.Tick.Dt)
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

// TestTiltsAreSeenFromThePlan: wherever odometry has the robot look, its capture point is off to where it tips, and it catches itself over the edge there.
func TestTiltsAreSeenFromThePlan(t *testing.T) {
	for _, yaw := range []float64{0, 2, -1, math.Pi} {
		for _, to := range []gait.Point{{X: 1}, {X: -1}, {Y: 1}, {Y: -1}} {
			c, input, _ := tippedPony(t)
			n := spatial.Vec3{X: -to.Y, Y: to.X}
			for k := range 60 {
				lean, rate := 0.0, 0.0
				if k > 20 {
					lean, rate = 0.45, 1
				}
				input.Meas.Base.Pose.R = spatial.TurnZ(yaw).Mul(spatial.AxisAngle(n, lean))
				input.Meas.IMU[0] = servo.Inertial{Rate: n.Scale(rate)}
				c.plan.Stop(c.catch.steps.On())
				c.plan.Advance(input.Tick.Dt)
				c.feedback(input)
				c.recover(input)
			}
			if off := c.sway.off; off.X*to.X+off.Y*to.Y < 0.999*math.Hypot(off.X, off.Y) || off == (gait.Point{}) {
				t.Errorf("looking to %g rad, tipping to %v: its capture point is off by %v", yaw, to, off)
			}
			if toward := c.catch.steps.Toward; !c.catch.steps.On() || math.Hypot(toward.X-to.X, toward.Y-to.Y) > 1e-9 {
				t.Errorf("looking to %g rad, tipping to %v: it catches itself towards %v", yaw, to, toward)
			}
		}
	}
}

// TestCatchesItselfOnABox: a pony that has climbed a box that is known and catches itself there stays as high as it is.
func TestCatchesItselfOnABox(t *testing.T) {
	const height = 0.01
	c, input, tick := tippedPony(t)
	c.plan.Terrain([]gait.Box{{At: gait.Point{X: 1.15}, Length: 2, Width: 2, Height: height}}, c.sole+edgeRoom)
	c.plan.Command(gait.Velocity{X: 0.05})
	ahead := gait.Point{X: 1}
	for range int(20 / input.Tick.Dt) {
		tick(ahead, 0, 0)
	}
	c.plan.Command(gait.Velocity{})
	for range int(6 / input.Tick.Dt) {
		tick(ahead, 0, 0)
	}
	if z := c.plan.Com(0).P.Z; c.plan.Phase() != gait.Stands || math.Abs(z-height) > 1e-5 {
		t.Fatalf("it %v %g m high", c.plan.Phase(), z)
	}
	caught, was := false, height
	for k := range 1200 {
		lean := 0.45
		if k > 50 {
			lean = 0
		}
		tick(ahead, lean, 0)
		caught = caught || c.catch.steps.On()
		z := c.body(0).Pose.P.Z - c.height
		if math.Abs(z-was) > 1e-4 {
			t.Fatalf("tick %d: the body goes from %g to %g m at once", k, was, z)
		}
		was = z
	}
	if !caught || c.plan.Phase() != gait.Stands || c.catch.steps.On() {
		t.Errorf("caught %v, it %v", caught, c.plan.Phase())
	}
	for i := range c.legs {
		if m, _, _, _ := c.plan.Foot(i, 0); math.Abs(m.P.Z-height) > 1e-9 {
			t.Errorf("foot %d is %g m high", i, m.P.Z)
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

// TestNoStepIsBegun: at 33.6 ms, which is too slow; it stands as before. Cycle 2 catches itself as cycle 1 does, and its supports say that they are led.
func TestNoStepIsBegun(t *testing.T) {
	for _, slow := range []bool{false, true} {
		c, input, tick := tippedPony(t)
		if input.Whole = !slow; slow {
			input.Tick.Dt = 0.0336
		}
		for range 50 {
			tick(gait.Point{X: 1}, 0.45, 1)
		}
		if on := c.catch.steps.On(); on == slow || c.Stands() == on {
			t.Errorf("a slow cycle %v: steps were begun %v", slow, on)
		}
	}
}
