package mujoco

import (
	"math"
	"testing"

	"poise/executive"
	"poise/motion"
	"poise/motion/library"
	"poise/motion/shipped"
	"poise/wholebody/stage"
)

// TestStoredMotionsThatTipOver: a stored motion lifts both hind hooves without a shift. The pony falls in cycle 1; in
// cycle 2 it stands and reports that a fall was prevented. Shipped motions play to their ends in cycle 2, with nothing
// prevented.
func TestStoredMotionsThatTipOver(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	motions := library.Open(t.TempDir(), shipped.Of("pony"))
	goal := lifted(t, bot.Model, "3", "4")
	d, err := motion.FromGoal(bot.Model, &goal, bot.Model.RestPositions())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := motions.Put("kick", d, ""); err != nil {
		t.Fatal(err)
	}
	calm := []string{"paw"} // which lifts a hoof, after a shift
	if long() {
		calm = []string{"paw", "bow", "brohoof", "dance", "greet", "shake_off"}
	}
	for _, e := range engines {
		play := func(name string, cycle int) (tilt float64, prevented int, worst stage.Status) {
			stored, err := motions.Get(name)
			if err != nil {
				t.Fatal(err)
			}
			p := servosAt(bot, 100, 12, 0)
			p.motions = motions
			d := drive(t, bot, p, e.of(t, bot, p), cycle, 0)
			d.perform(&executive.Play{Name: name})
			d.run(stored.Document.Duration()+0.5, func(float64) {
				s, _ := d.l.Snapshot()
				tilt, worst = math.Max(tilt, math.Acos(math.Min(1, d.e.base().R[8]))), max(worst, s.WholeBody.State.Status)
				if s.WholeBody.State.Prevented {
					prevented++
				}
			})
			return tilt, prevented, worst
		}
		fell, _, _ := play("kick", 1)
		tilt, prevented, worst := play("kick", 2)
		t.Logf("%s: a stored motion tilts the pony by %.1f° in cycle 1, by %.2f° in cycle 2, where a fall was prevented for %.2f s", e.name, fell*180/math.Pi, tilt*180/math.Pi, float64(prevented)*cyclePeriod)
		if fell < math.Pi/4 || tilt > math.Pi/180 || prevented == 0 || worst != stage.Served {
			t.Errorf("%s: tilt %g rad in cycle 1, %g in cycle 2, prevented in %d ticks, %v", e.name, fell, tilt, prevented, worst)
		}
		for _, name := range calm {
			tilt, prevented, worst := play(name, 2)
			t.Logf("%s: %s tilts the pony by %.1f°, prevented in %d ticks, %v at worst", e.name, name, tilt*180/math.Pi, prevented, worst)
			if tilt > math.Pi/6 || worst != stage.Served {
				t.Errorf("%s: %s tilts the pony by %g rad, %v", e.name, name, tilt, worst)
			}
		}
	}
}
