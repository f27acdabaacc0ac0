package mujoco

import (
	"math"
	"slices"
	"testing"

	"poise/action"
	"poise/control/walk"
	"poise/executive"
	"poise/external"
	"poise/gait"
	"poise/loop"
)

// feltWalk is what a walk showed of the feet: latencies of touch-downs from the first tick with a force on, those that were missed,
// swings in which a contact was told, those of them that graze the ground, and how far forces of standing feet were off.
type feltWalk struct {
	latency        []float64
	steps, missed  int
	swings, wrong  int
	grazed         int
	errors         []float64
	within, stands int
}

// walkFeeling lets a robot walk for some seconds and compares what it feels with the loads that the engine
// has; nothing of them, and no touch sensor, comes into the cycle. Touch-downs are those of least N. A contact that is told while less than
// 0.3 N are on a foot is false, unless it grazes the ground: touches it within graze before or after.
func walkFeeling(t *testing.T, d *driven, gaitName string, speed, least, seconds float64) (f feltWalk) {
	t.Helper()
	if _, err := d.exec.Submit("test", action.ID("walk"), 0, &executive.Operational{Controller: "walk", On: true}, executive.Watch{}); err != nil {
		t.Fatal(err)
	}
	feet := feetOf(d.m)
	load := make([]float64, len(feet))
	type foot struct {
		free    float64 // s that it was in the air,
		loaded  float64 // that it has carried 5 N since,
		before  []float64
		landed  bool    // it came out of the air
		told    float64 // s after which that was felt, below 0 if it was not yet
		stood   bool
		touched float64 // s since it last touched,
		doubted float64 // and that a contact may be false, below 0 if there is none
	}
	const graze = 0.06 // s
	all := make([]foot, len(feet))
	for k := range all {
		all[k].doubted = -1
	}
	var contacts []external.Contact
	d.run(seconds, func(at float64) {
		now := int64(math.Round(float64(d.n) * d.period * 1e9))
		d.exec.Lead("walk", &walk.Velocity{At: now, Velocity: gait.Velocity{X: speed}})
		d.exec.Lead("walk", &walk.Choice{At: now, Gait: gaitName})
		d.exec.View(func(s *loop.Snapshot) { contacts = append(contacts[:0], s.Measured.Contacts...) })
		d.e.loads(load)
		for k, id := range feet {
			c, o := &contacts[id], &all[k]
			began := c.Carries() && !o.stood
			o.stood = c.Carries()
			o.before = append(o.before, load[k])
			if load[k] < 0.3 {
				if o.free == 0 {
					f.swings++
				}
				if o.free += d.period; began && o.free > 0.1 && o.loaded == 0 {
					o.doubted = 0
				}
				o.touched += d.period
			} else {
				o.touched = 0
			}
			if o.doubted >= 0 {
				switch o.doubted += d.period; {
				case o.touched <= graze:
					f.grazed, o.doubted = f.grazed+1, -1
				case o.doubted > graze:
					f.wrong, o.doubted = f.wrong+1, -1
				}
			}
			switch {
			case load[k] >= least && len(o.before) > 1 && o.before[len(o.before)-2] >= least && o.loaded == 0 && o.free > 0.1:
				o.landed, o.told, o.loaded = true, -1, d.period
			case o.loaded > 0:
				o.loaded += d.period
			}
			if o.loaded > 0 && o.told < 0 && c.Carries() {
				o.told = o.loaded
			}
			if o.loaded > 0 && load[k] >= least || load[k] >= 0.3 && o.free <= 0.1 {
				o.free = 0
			}
			if o.loaded > 0.15 && o.landed { // one that bounced back before was no touch-down
				if o.landed = false; o.free == 0 {
					f.steps++
					if o.told >= 0 {
						f.latency = append(f.latency, o.told)
					} else {
						f.missed++
					}
				}
			}
			if o.free > 0.1 {
				o.loaded = 0
			}
			if n := len(o.before); n > 20 && load[k] > 3 && math.Abs(load[k]-o.before[n-11]) < 0.3 && math.Abs(load[k]-o.before[n-21]) < 0.3 {
				off := math.Abs(c.Force - load[k])
				f.errors = append(f.errors, off)
				f.stands++
				if off <= math.Max(1, load[k]/5) {
					f.within++
				}
			}
		}
	})
	return f
}

// TestFeetAreFeltWhileItWalks: a pony that walks in cycle 1 on servos and masses off by 5 % feels its feet
// come down, in both engines and at three periods: in 95 of 100 cases within 40 ms of 5 N, at 22.4 ms within 60 ms of 7 N. Of twenty
// swings of all six walks one at most has a false contact, and of those of each walk, some twenty, one.
func TestFeetAreFeltWhileItWalks(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	seconds := 8.0
	if long() {
		seconds = 60
	}
	swings, wrong := 0, 0
	for _, period := range []float64{0.01, 0.0112, 0.0224} {
		for _, e := range engines {
			p := servosAt(bot, 230, 12, 0.05)
			d := driveAt(t, bot, p, e.of(t, bot, p), 1, 0, period)
			least, within := 5.0, 0.040
			if period > 0.02 {
				least, within = 7, 0.060
			}
			f := walkFeeling(t, d, "crawl", 0.05, least, seconds)
			slices.Sort(f.latency)
			median, p95 := math.Inf(1), math.Inf(1)
			if n := len(f.latency); n > 0 {
				median, p95 = f.latency[n/2], f.latency[min(n-1, n*95/100)]
			}
			rms := 0.0
			for _, x := range f.errors {
				rms += x * x
			}
			rms = math.Sqrt(rms / math.Max(1, float64(len(f.errors))))
			t.Logf("%s, %.1f ms, %g s: %d touch-downs, median %.0f and p95 %.0f ms after %g N, %d missed; %d swings, %d with a false contact, %d graze; forces off by %.2f N rms, %d of %d within 1 N or a fifth", e.name, 1e3*period, seconds,
				f.steps, 1e3*median, 1e3*p95, least, f.missed, f.swings, f.wrong, f.grazed, rms, f.within, f.stands)
			if f.steps < 8 || p95 > within+1e-9 || f.missed > f.steps/50 || f.wrong > max(1, f.swings/20) || 5*f.within < 4*f.stands {
				t.Errorf("%s, %.1f ms: %+v", e.name, 1e3*period, f)
			}
			swings, wrong = swings+f.swings, wrong+f.wrong
		}
	}
	if 20*wrong > swings {
		t.Errorf("of %d swings %d have a false contact", swings, wrong)
	}
}
