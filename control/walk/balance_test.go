package walk

import (
	"math"
	"testing"

	"poise/control"
	"poise/external"
	"poise/gait"
	"poise/internal/rig"
	"poise/servo"
	"poise/spatial"
)

// TestTheBodyGoesWithAPush: a capture point that is off by less than in any walk moves nothing; one that is off further moves the
// body that way, no further than its bound and with no more than the zero-moment point may be moved; it comes back, and a lean
// that lasts becomes usual.
func TestTheBodyGoesWithAPush(t *testing.T) {
	const z, ω = 0.16, 7.8
	for _, dt := range []float64{0.0112, 0.0224, 0.056} {
		var b balance
		b.off(spatial.Identity3, spatial.Vec3{}, z, ω, dt)
		tilted := spatial.FromRPY(0.1, 0, 0)
		e := b.off(tilted, spatial.Vec3{X: 1}, z, ω, dt)
		if want := -z * (math.Sin(0.1) + 1/ω); math.Abs(e.Y-want) > 1e-9 || math.Abs(e.X) > 1e-9 {
			t.Errorf("%g s: leaning to the right the capture point is off by %+v, want %g", dt, e, want)
		}
		for range int(20 / dt) {
			e = b.off(tilted, spatial.Vec3{}, z, ω, dt)
		}
		if math.Abs(e.Y) > 1e-4 {
			t.Errorf("%g s: a lean of 20 s still counts for %g m", dt, e.Y)
		}
		var s shift
		far, most := 0.0, balanceMost*z*ω*ω
		for k := range int(3 / dt) {
			push := 0.0
			if float64(k)*dt < 0.5 {
				push = most
			}
			s.step(push, most, balanceFar*z, dt)
			far = max(far, math.Abs(s.p))
			if s.p < -0.01 {
				t.Fatalf("%g s: it goes %g m the other way", dt, s.p)
			}
		}
		if far > balanceFar*z+0.002 || far < balanceFar*z/3 || math.Abs(s.p) > 1e-4 {
			t.Errorf("%g s: it went %g m and ends at %g m", dt, far, s.p)
		}
	}
}

// crawling is a pony that crawls in its plan alone, and what is measured of it.
func crawling(t *testing.T) (*Controller, *control.Input) {
	t.Helper()
	m := rig.Model(t, "pony")
	c, err := build(m)
	if err != nil {
		t.Fatal(err)
	}
	now := control.NewMeasured(len(m.Joints()), len(m.Chains()), servo.Sensors{})
	c.ready = true
	c.plan.Place(gait.Point{}, 0, c.nominal, gait.Point{})
	c.plan.Command(gait.Velocity{X: 0.05})
	return c, &control.Input{Tick: servo.Tick{Dt: 0.0112}, Meas: &now}
}

// TestFeetMeetTheGroundOtherwise: a foot that is felt early, on its way down, stays where it met the ground, to 6 mm; one that is not
// felt is led further down, to 5 mm; the next step begins anew, and its height changes without a jump. Nothing felt, nothing
// is changed.
func TestFeetMeetTheGroundOtherwise(t *testing.T) {
	for _, tc := range []struct {
		name      string
		known     bool
		floor     float64 // of the ground under the first foot
		low, high float64 // where it stands in the end
	}{
		{"nothing is felt", false, 0.004, 0, 0},
		{"as planned", true, 0, -0.0015, 0.0015},
		{"early", true, 0.004, 0.0015, 0.0055},
		{"too early", true, 0.02, 0.003, highestFloor},
		{"late", true, -0.003, -0.0045, -0.0015},
		{"never", true, -0.05, -lowestFloor, -0.003},
	} {
		c, input := crawling(t)
		steps, was, before := 0, false, 0.0
		var stood []float64
		for range int(12 / input.Tick.Dt) {
			c.plan.Step(input.Tick.Dt)
			for i := range c.legs {
				at, _, _, _ := c.plan.Foot(i, 0)
				height := c.soles[i].raised(at, 0).P.Z
				if i > 0 {
					height = at.P.Z // the others are on plain ground
				}
				swings, _, _ := c.plan.Aloft(i)
				k := &input.Meas.Contacts[c.legs[i].chain]
				floor := 0.0
				if i == 0 {
					floor = tc.floor
				}
				if *k = (external.Contact{}); tc.known {
					k.State = external.Swing
					if height <= floor+1e-4 || i > 0 && !swings {
						k.State = external.Stance
					}
				} else if !swings {
					input.Meas.Support[c.legs[i].chain].Weight = 1
				} else {
					input.Meas.Support[c.legs[i].chain].Weight = 0
				}
			}
			c.feel(input)
			if h := c.soles[0].h; math.Abs(h-before) > 0.0012 {
				t.Fatalf("%s: the height of a foot jumps by %g m", tc.name, h-before)
			} else {
				before = h
			}
			swings, _, _ := c.plan.Aloft(0)
			if was && !swings {
				steps++
			}
			if !swings && steps > 0 {
				stood = append(stood, c.soles[0].h)
			}
			was = swings
		}
		if steps < 4 {
			t.Fatalf("%s: %d steps", tc.name, steps)
		}
		last := stood[len(stood)/2:]
		mean := 0.0
		for _, h := range last {
			mean += h / float64(len(last))
		}
		t.Logf("%s: %d steps, it stands at %.1f mm", tc.name, steps, 1e3*mean)
		if mean < tc.low-1e-9 || mean > tc.high+1e-9 {
			t.Errorf("%s: it stands at %.2f mm, want %g … %g mm", tc.name, 1e3*mean, 1e3*tc.low, 1e3*tc.high)
		}
	}
}
