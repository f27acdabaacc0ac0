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
		b.look(spatial.Identity3, spatial.Vec3{}, z, ω, dt)
		tilted := spatial.FromRPY(0.1, 0, 0)
		e := b.look(tilted, spatial.Vec3{X: 1}, z, ω, dt)
		if want := -z * (math.Sin(0.1) + 1/ω); math.Abs(e.Y-want) > 1e-9 || math.Abs(e.X) > 1e-9 {
			t.Errorf("%g s: leaning to the right the capture point is off by %+v, want %g", dt, e, want)
		}
		for range int(20 / dt) {
			e = b.look(tilted, spatial.Vec3{}, z, ω, dt)
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
	return c, &control.Input{Tick: servo.Tick{Dt: 0.0112}, Meas: &now, Rate: 1}
}

// TestFeetMeetTheGroundOtherwise: a foot that is felt early, on its way down, stays where it met the ground, to 6 mm; one that is not
// felt is led further down, to 5 mm; the next step begins anew, and its height changes without a jump. Nothing felt, nothing
// is changed. Touch sensors are believed before what is felt by servos, unless they are silent.
func TestFeetMeetTheGroundOtherwise(t *testing.T) {
	for _, tc := range []struct {
		name      string
		known     bool
		floor     float64 // of the ground under the first foot
		low, high float64 // where it stands in the end
		touch     string  // what touch sensors are, beside forces that are felt all the time
	}{
		{"nothing is felt", false, 0.004, 0, 0, ""},
		{"as planned", true, 0, -0.0015, 0.0015, ""},
		{"early", true, 0.004, 0.0015, 0.0055, ""},
		{"too early", true, 0.02, 0.003, highestFloor, ""},
		{"late", true, -0.003, -0.0045, -0.0015, ""},
		{"never", true, -0.05, -lowestFloor, -0.003, ""},
		{"as touch sensors say", false, 0, -0.0015, 0.0015, "heard"},
		{"early by touch sensors", false, 0.004, 0.0015, 0.0055, "heard"},
		{"touch sensors are silent", false, 0, 0.003, highestFloor, "silent"},
		{"early, with one touch sensor", true, 0.004, 0.0015, 0.0055, "one"},
	} {
		c, input := crawling(t)
		steps, was, before := 0, false, 0.0
		var stood []float64
		touches := make([]servo.Contact, len(c.legs))
		for range int(12 / input.Tick.Dt) {
			c.plan.Advance(input.Tick.Dt)
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
				*k = external.Contact{}
				if tc.touch == "one" { // supports are as commanded then
					input.Meas.Touch, input.Meas.Support[c.legs[i].chain].Weight = touches[:1], c.plan.Weight(i)
				}
				switch {
				case tc.touch != "" && tc.touch != "one":
					touch := servo.Contact{Pressed: height <= floor+1e-4 || i > 0 && !swings}
					if input.Meas.Support[c.legs[i].chain].Weight = 0; touch.Pressed {
						input.Meas.Support[c.legs[i].chain].Weight = 1
					}
					if tc.touch == "silent" {
						touch.Age = 10
					}
					k.State, touches[i] = external.Stance, touch
					input.Meas.Touch = touches
				case tc.known:
					k.State = external.Swing
					if height <= floor+1e-4 || i > 0 && !swings {
						k.State = external.Stance
					}
				case !swings:
					input.Meas.Support[c.legs[i].chain].Weight = 1
				default:
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

// TestFeetOfACrawlAreEarly: the pony's feet are over their places before they come down, within the limits of its joints; a robot whose joints
// do not allow it takes its time, and no gait is slower for it.
func TestFeetOfACrawlAreEarly(t *testing.T) {
	c, _ := crawling(t)
	m := rig.Model(t, "pony")
	g := c.gaits[0]
	plain := g
	plain.Rise, plain.Over = 0, 0
	if g.Over != hasteOver || g.Rise != hasteRise || !c.within(m, &g, g.Most, hastePeak) || c.within(m, &g, g.Most, jointPeak) {
		t.Errorf("%+v is not within %g of the limits, or within %g", g, hastePeak, jointPeak)
	}
	if most := c.fastest(m, &plain); g.Most != most {
		t.Errorf("it crawls at %g m/s, without haste at %g", g.Most, most)
	}
	slow := plain
	slow.Period = 0.7 * plain.Period // its steps are as long, in less time
	slow.Most = plain.Most
	for slow.Period > 0.2 && c.within(m, &slow, slow.Most, hastePeak) {
		slow.Period *= 0.9
	}
	if c.hasten(m, &slow); slow.Over != 0 || slow.Rise != 0 {
		t.Errorf("joints at their limits hurry: %+v", slow)
	}
	for _, g := range c.gaits[1:] {
		if g.Over != 0 || g.Rise != 0 {
			t.Errorf("%s hurries: %+v", g.Name, g)
		}
	}
}

// TestACrawlThatIsSlowedIsNotTooSlow: a speed that only the crawl of short periods reaches is trotted at long ones, where a crawl swings its feet for longer.
func TestACrawlThatIsSlowedIsNotTooSlow(t *testing.T) {
	const short, long = 0.0112, 0.056
	c, _ := crawling(t)
	c.run.program = &Program{}
	slowed := c.gaits[0]
	slowed.Slow(swingTicks * long)
	c.gaits[0].Most, slowed.Most = 0, 0 // its reach alone bounds it, not its joints
	slow, fast := slowed.Fastest(c.reach), c.gaits[0].Fastest(c.reach)
	if !(slow < 0.99*fast) {
		t.Fatalf("a crawl of %g m/s is slowed to %g m/s", fast, slow)
	}
	c.plan.Command(gait.Velocity{X: (slow + fast) / 2})
	if brief, wide := c.bySpeed(short), c.bySpeed(long); brief != "crawl" || wide != "trot" {
		t.Errorf("by speed it goes at a %s, and at a %s at long periods", brief, wide)
	}
	if n := testing.AllocsPerRun(100, func() { c.choose(long) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
