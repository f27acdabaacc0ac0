package mujoco

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"poise/control/walk"
	"poise/gait"
	"poise/robot/load"
	"poise/servo/physics"
	"poise/sim/world"
)

// walkRow is a walk that has to be made; rows are those of package scenario, with what is commanded here.
type walkRow struct {
	name    string
	gait    string
	v       gait.Velocity
	must    float64 // m/s, or rad/s where it turns
	seconds float64
	short   float64 // s in the short form; 0 leaves it out
	cycle   int     // of the short form
	period  float64 // of the cycle, s; 0 is walkPeriod
	pitch   float64 // of the ground, rad
	bumps   float64 // height, m
	stairs  float64 // height of each step, m
	crawls  bool    // the measured zero-moment point is 5 mm inside in 99 % of samples, a step slips 5 mm at most, odometry is 2 % off at most
	nominal bool    // servos, masses and friction are as they are known
	whole   bool    // no packets are lost
	veers   float64 // degrees off its heading at most; 0 is 10
	numb    bool    // no touch sensors: feet are felt by servos
}

// walkRows are those of the issue. All are hard but for those that are nominal: servos ±20 %, masses ±7 %, friction 0.5 … 1, 5 % of
// packets lost, up to 5 ms late.
var walkRows = []walkRow{
	{name: "crawl 5 m", gait: "crawl", v: gait.Velocity{X: 0.052}, must: 0.05, seconds: 106, short: 10, cycle: 2, crawls: true},
	{name: "trot 5 m", gait: "trot", v: gait.Velocity{X: 0.11}, must: 0.10, seconds: 53, short: 9, cycle: 1},
	{name: "crawl at 56 ms", gait: "crawl", v: gait.Velocity{X: 0.054}, must: 0.05, seconds: 30, short: 9, cycle: 1, period: 0.056, nominal: true, whole: true},
	{name: "crawl at 56 ms, hard but for lost packets", gait: "crawl", v: gait.Velocity{X: 0.054}, must: 0.05, seconds: 30, period: 0.056, whole: true},
	{name: "crawl up 5°", gait: "crawl", v: gait.Velocity{X: 0.054}, must: 0.05, seconds: 30, short: 9, cycle: 1, pitch: -5 * math.Pi / 180},
	{name: "crawl down 5°", gait: "crawl", v: gait.Velocity{X: 0.054}, must: 0.05, seconds: 30, pitch: 5 * math.Pi / 180},
	{name: "trot up 5°", gait: "trot", v: gait.Velocity{X: 0.114}, must: 0.10, seconds: 30, pitch: -5 * math.Pi / 180},
	{name: "trot down 5°", gait: "trot", v: gait.Velocity{X: 0.114}, must: 0.10, seconds: 30, short: 9, cycle: 2, pitch: 5 * math.Pi / 180},
	{name: "crawl over 5 mm bumps", gait: "crawl", v: gait.Velocity{X: 0.054}, must: 0.05, seconds: 40, short: 8, cycle: 1, bumps: 0.005},
	{name: "turning", gait: "trot", v: gait.Velocity{Yaw: 0.54}, must: 0.5, seconds: 30},
	{name: "sideways", gait: "trot", v: gait.Velocity{Y: 0.054}, must: 0.05, seconds: 30, short: 9, cycle: 2},
	{name: "known stairs of 10 mm", gait: "crawl", v: gait.Velocity{X: 0.054}, must: 0.05, seconds: 30, short: 12, cycle: 1, stairs: 0.01, veers: 15, nominal: true, whole: true},
	{name: "crawl without touch sensors", gait: "crawl", v: gait.Velocity{X: 0.054}, must: 0.05, seconds: 30, numb: true},
}

// plantOf draws what a row is walked on.
func (c *walkRow) plantOf(t testing.TB, bot *load.Loaded, seed uint64) plant {
	t.Helper()
	p := servosDrawn(bot, 230, 12, 0, seed)
	if !c.nominal {
		p = servosDrawn(bot, 230, 12, 0.2, seed)
		rng := rand.New(rand.NewPCG(seed, 3))
		for i := range p.masses {
			p.masses[i] = 1 + 0.07*(2*rng.Float64()-1)
		}
		p.friction = 0.5 + 0.5*rng.Float64()
		p.untold = true
		p.line = physics.Line{Jitter: 0.005, Loss: 0.05}
	}
	if c.whole {
		p.line.Loss = 0
	}
	p.line.Delay = 0.0112
	p.step, p.every, p.numb = walkStep, lookEvery(), c.numb
	text := fmt.Sprintf("slope: {pitch: %g}\n", c.pitch)
	if c.bumps > 0 {
		text += fmt.Sprintf("bumps: {height: %g, count: 1500}\n", c.bumps)
	}
	if c.stairs > 0 {
		var boxes []string
		for _, b := range c.known() {
			boxes = append(boxes, fmt.Sprintf("{size: [%g, %g, %g], at: [%g, 0, %g]}", b.Length, b.Width, b.Height, b.At.X, b.Height/2))
		}
		text += "boxes: [" + strings.Join(boxes, ", ") + "]\n"
	}
	w, err := world.Parse([]byte(text), "world")
	if err != nil {
		t.Fatal(err)
	}
	p.ground = w.For(bot.Model, nil, "", func(int, string, string, ...any) {}).Ground(rand.New(rand.NewPCG(seed, 4)))
	p.boxes = p.ground.Boxes
	return p
}

// lookEvery is how many steps of physics there are from one look at the feet to the next.
func lookEvery() int {
	if long() {
		return 2
	}
	return 8
}

// known are the boxes that the controller is told: two steps up, a landing, two down.
func (c *walkRow) known() (boxes []gait.Box) {
	const tread = 0.13
	at := 0.35
	for _, s := range []struct{ level, deep float64 }{{1, tread}, {2, 3 * tread}, {1, tread}} {
		boxes = append(boxes, gait.Box{At: gait.Point{X: at + s.deep/2}, Length: s.deep, Width: 1, Height: s.level * c.stairs})
		at += s.deep
	}
	return boxes
}

const (
	setsOff  = 6       // s until it has its speed
	walkStep = 0.00112 // s, of physics: periods of 11.2, 22.4 and 56 ms have whole steps
)

// walkIt walks a row for some seconds and returns how fast it went, in the row's unit.
func (c *walkRow) walkIt(t testing.TB, bot *load.Loaded, cycle int, seed uint64, seconds float64) (float64, *judging) {
	t.Helper()
	p := c.plantOf(t, bot, seed)
	period := c.period
	if period == 0 {
		period = walkPeriod
	}
	d := driveAt(t, bot, p, mujocoOf(t, bot, p), cycle, 0, period)
	j := judgeOf(t, d)
	d.walk()
	step := func(seconds float64) {
		for range int(math.Round(seconds / d.period)) {
			if c.stairs > 0 {
				d.exec.Lead("walk", &walk.Ground{At: d.now(), Boxes: c.known()})
			}
			d.lead(d.period, c.gait, c.v, j.look)
		}
	}
	step(setsOff)
	from, turned := d.e.base(), j.turned
	step(seconds - setsOff)
	if c.v.Yaw != 0 {
		return math.Abs(j.turned-turned) / (seconds - setsOff), j
	}
	return d.e.base().P.Sub(from.P).Norm() / (seconds - setsOff), j
}

// judge walks a row with a seed and says what is missing of a share of its speed.
func (c *walkRow) judge(t *testing.T, bot *load.Loaded, cycle int, seed uint64, seconds, share float64) {
	t.Helper()
	made, j := c.walkIt(t, bot, cycle, seed, seconds)
	t.Logf("%s, cycle %d, seed %d: %.4f of %g, fallen %v, %v", c.name, cycle, seed, made, c.must, j.fallen, j)
	if j.fallen {
		t.Errorf("cycle %d, seed %d: it fell", cycle, seed)
	}
	if made < share*c.must {
		t.Errorf("cycle %d, seed %d: %.4f, and %g is needed", cycle, seed, made, share*c.must)
	}
	veers := c.veers
	if veers == 0 {
		veers = 10
	}
	if c.v.Yaw == 0 && j.heading > veers*math.Pi/180 {
		t.Errorf("cycle %d, seed %d: %g rad off its heading", cycle, seed, j.heading)
	}
	if c.crawls && (j.inside() < 0.005 || j.slip > 0.005 || j.off > 0.02*j.way) {
		t.Errorf("cycle %d, seed %d: %v", cycle, seed, j)
	}
}

// TestRowsOfWalksInMuJoCo: what must be of walks, closed through MuJoCo: no fall, and the speeds that must be. The short form has some rows for
// some seconds, where a tenth of the speed is left to where in its steps the walk is cut off; the long one all, in cycles 1 and 2, five seeds each.
func TestRowsOfWalksInMuJoCo(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	for i := range walkRows {
		c := &walkRows[i]
		t.Run(c.name, func(t *testing.T) {
			if !long() {
				if c.short == 0 {
					t.Skip("absent: make oracle has this row")
				}
				short := *c
				short.crawls = false
				short.judge(t, bot, c.cycle, uint64(i+1), c.short, 0.9)
				return
			}
			for cycle := 1; cycle <= 2; cycle++ {
				for seed := range uint64(5) {
					t.Run(fmt.Sprintf("cycle %d seed %d", cycle, seed+1), func(t *testing.T) { c.judge(t, bot, cycle, seed+1, c.seconds, 1) })
				}
			}
		})
	}
}
