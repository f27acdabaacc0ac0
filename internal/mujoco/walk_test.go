package mujoco

import (
	"math"
	"testing"

	"poise/action"
	"poise/control/walk"
	"poise/executive"
	"poise/gait"
)

// walkPeriod is that of the cycle of a pony that walks, s.
const walkPeriod = 0.0224

// TestWalksInBothEngines: crawl, trot, to the side and round, closed through each engine at 22.4 ms in cycle 1, with servos
// as they are known and off by 20 %, masses by 10 %: no fall, and the speeds that must be. The long run goes further.
func TestWalksInBothEngines(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	seconds, offs := 10.0, []float64{0.2}
	if long() {
		seconds, offs = 60, []float64{0, 0.2}
	}
	const sets = 6 // s until it has its speed
	for _, e := range engines {
		for _, off := range offs {
			for _, c := range []struct {
				name string
				gait string
				v    gait.Velocity
				must float64 // m/s, or rad/s
			}{
				{"crawl", "crawl", gait.Velocity{X: 0.056}, 0.05}, {"trot", "trot", gait.Velocity{X: 0.108}, 0.10},
				{"sideways", "trot", gait.Velocity{Y: 0.054}, 0.05}, {"turning", "trot", gait.Velocity{Yaw: 0.54}, 0.5},
			} {
				p := servosAt(bot, 230, 12, off)
				d := driveAt(t, bot, p, e.of(t, bot, p), 1, 0, walkPeriod)
				d.walk()
				d.lead(sets, c.gait, c.v, nil)
				turned, tilt, from := 0.0, 0.0, d.e.base()
				last := from
				d.lead(seconds-sets, c.gait, c.v, func(float64) {
					X := d.e.base()
					R := last.R.Transpose().Mul(X.R)
					turned += math.Atan2(R[3], R[0])
					tilt, last = math.Max(tilt, math.Acos(math.Min(1, X.R[8]))), X
				})
				made, astray := math.Hypot(last.P.X-from.P.X, last.P.Y-from.P.Y)/(seconds-sets), math.Abs(turned)
				if c.v.Yaw != 0 {
					made, astray = math.Abs(turned)/(seconds-sets), 0
				}
				t.Logf("%s, %s, off by %g: %.4f of %g, tilt %.1f°, %.1f° off its heading", e.name, c.name, off, made, c.must, tilt*180/math.Pi, astray*180/math.Pi)
				if made < c.must || tilt > 0.2 || astray > 10*math.Pi/180 {
					t.Errorf("%s, %s, off by %g: %.4f, %g is needed; tilt %g, heading %g rad", e.name, c.name, off, made, c.must, tilt, astray)
				}
			}
		}
	}
}

// walk switches the controller on, which must go on to the end.
func (d *driven) walk() {
	d.t.Helper()
	_, err := d.exec.Submit("test", action.ID("walk"), 0, &executive.Operational{Controller: "walk", On: true}, executive.Watch{Changed: func(c executive.Change) {
		if c.To.Terminal() {
			d.t.Errorf("the walk ended: %v: %s", c.To, c.Result.Text())
		}
	}})
	if err != nil {
		d.t.Fatal(err)
	}
}

// now is the time of the tick that comes next, ns.
func (d *driven) now() int64 { return int64(math.Round(float64(d.n) * d.period * 1e9)) }

// tell leads the walk in the tick that comes next.
func (d *driven) tell(name string, v gait.Velocity) {
	d.exec.Lead("walk", &walk.Velocity{At: d.now(), Velocity: v})
	d.exec.Lead("walk", &walk.Choice{At: d.now(), Gait: name})
}

// lead walks for some seconds.
func (d *driven) lead(seconds float64, name string, v gait.Velocity, look func(at float64)) {
	d.each(seconds, func() { d.tell(name, v) }, look)
}

// each goes on for some seconds and does something before every tick.
func (d *driven) each(seconds float64, before func(), look func(at float64)) {
	for range int(math.Round(seconds / d.period)) {
		before()
		d.run(d.period, look)
	}
}
