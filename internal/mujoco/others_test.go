package mujoco

import (
	"math"
	"testing"

	"poise/gait"
	"poise/internal/golden"
	"poise/internal/walks"
	"poise/robot/load"
)

// otherRow is a walk of a robot that is not the pony, at 10 ms.
type otherRow struct {
	name    string
	bot     func(t testing.TB) *load.Loaded
	gait    string
	v       gait.Velocity
	must    float64 // m/s over the ground, from setsOff on
	way     float64 // m
	seconds float64
	short   float64 // s in the short form,
	cycle   int     // which has this one alone
}

var otherRows = []otherRow{
	{name: "go2", bot: func(t testing.TB) *load.Loaded {
		return walks.SetUp(t, "go2", golden.Read(t, "robots/go2/go2.urdf"), false)
	}, gait: "trot", v: gait.Velocity{X: 0.5}, must: 0.3, way: 5, seconds: 22, short: 7, cycle: 1},
	{name: "hexapod", bot: walks.Hexapod, gait: "trot", v: gait.Velocity{X: 0.1}, must: 0.06, way: 2, seconds: 30, short: 7, cycle: 2},
}

// walkIt walks a row and returns how fast it went from setsOff on.
func (c *otherRow) walkIt(t testing.TB, bot *load.Loaded, cycle int, seed uint64, seconds float64) (float64, *judging) {
	t.Helper()
	p := servosDrawn(bot, 0, 0, 0, seed)
	p.every = lookEvery()
	d := driveAt(t, bot, p, mujocoOf(t, bot, p), cycle, 0, cyclePeriod)
	j := judgeOf(t, d)
	d.walk()
	d.lead(setsOff, c.gait, c.v, j.look)
	from := d.e.base().P
	d.lead(seconds-setsOff, c.gait, c.v, j.look)
	to := d.e.base().P
	return math.Hypot(to.X-from.X, to.Y-from.Y) / (seconds - setsOff), j
}

// judge walks a row with a seed for some seconds and says what is missing of a way, m.
func (c *otherRow) judge(t *testing.T, bot *load.Loaded, cycle int, seed uint64, seconds, way float64) {
	t.Helper()
	made, j := c.walkIt(t, bot, cycle, seed, seconds)
	t.Logf("%s, cycle %d, seed %d: %.2f m at %.4f m/s, fallen %v, %v", c.name, cycle, seed, j.way, made, j.fallen, j)
	if j.fallen || made < c.must || j.way < way {
		t.Errorf("%s, cycle %d, seed %d: %.2f m at %.4f m/s, fallen %v", c.name, cycle, seed, j.way, made, j.fallen)
	}
}

// TestOtherRobotsWalkInMuJoCo: go2 from its bare URDF, its contacts set up by Poise, and a generated robot with six legs walk by the same code as
// the pony, closed through MuJoCo. The long form has the whole ways, in cycles 1 and 2, five seeds each.
func TestOtherRobotsWalkInMuJoCo(t *testing.T) {
	t.Parallel()
	Needed(t)
	for i := range otherRows {
		c := &otherRows[i]
		t.Run(c.name, func(t *testing.T) {
			bot := c.bot(t)
			if !long() {
				c.judge(t, bot, c.cycle, 1, c.short, 0)
				return
			}
			for cycle := 1; cycle <= 2; cycle++ {
				for seed := range uint64(5) {
					c.judge(t, bot, cycle, seed+1, c.seconds, c.way)
				}
			}
		})
	}
}

// TestG1StepsInPlaceInMuJoCo: a robot with two legs from its bare URDF takes ten steps in place. The short form has cycle 2 and one seed, the long one cycles 1
// and 2 and five.
func TestG1StepsInPlaceInMuJoCo(t *testing.T) {
	t.Parallel()
	Needed(t)
	const seconds, must, upright = 9, 10, 0.1 // s; steps; rad
	bot := walks.SetUp(t, "g1", golden.Read(t, "robots/g1/g1.urdf"), false)
	seeds := uint64(1)
	if long() {
		seeds = 5
	}
	for cycle := 1; cycle <= 2; cycle++ {
		for seed := range seeds {
			if !long() && cycle == 1 {
				continue
			}
			p := servosDrawn(bot, 0, 0, 0, seed+1)
			p.every = lookEvery()
			d := driveAt(t, bot, p, mujocoOf(t, bot, p), cycle, 0, cyclePeriod)
			j := judgeOf(t, d)
			d.walk()
			touches, steps := make([]bool, len(feetOf(bot.Model))), walks.Steps{}
			d.lead(seconds, "in_place", gait.Velocity{}, func(at float64) {
				j.look(at)
				for i, load := range d.e.(*inMuJoCo).Loads {
					touches[i] = load > 0
				}
				steps.Look(touches)
			})
			t.Logf("cycle %d, seed %d: %d steps, fallen %v, %v", cycle, seed+1, steps.Made, j.fallen, j)
			if j.fallen || steps.Made < must || j.tilt > upright {
				t.Errorf("cycle %d, seed %d: %d steps, fallen %v, tilt %g rad", cycle, seed+1, steps.Made, j.fallen, j.tilt)
			}
		}
	}
}
