package mujoco

import (
	"fmt"
	"math"
	"testing"

	"poise/action"
	"poise/executive"
	"poise/gait"
	"poise/robot/load"
	"poise/servo/physics"
	"poise/spatial"
)

// shove is a push of 0.1 s that has to be withstood, N·s.
type shove struct {
	name  string
	along spatial.Vec3
	must  float64 // at 22.4 ms
	fast  float64 // at 11.2 ms
}

var shoves = []shove{
	{"left", spatial.Vec3{Y: 1}, 1.4, 1.6}, {"right", spatial.Vec3{Y: -1}, 1.4, 1.6},
	{"ahead", spatial.Vec3{X: 1}, 2.5, 2.9}, {"back", spatial.Vec3{X: -1}, 2.1, 2.6},
}

// fastPeriod is that of a cycle in which a robot catches itself by steps, s.
const fastPeriod = 0.0112

// shoved is what became of a robot that was pushed.
type shoved struct {
	fallen     bool
	tilt, last float64 // rad, at most and in the end
	ended      string  // why it does not walk any more
}

func (s shoved) String() string {
	return fmt.Sprintf("fallen %v, tilt %.2f rad, %.3f rad in the end %s", s.fallen, s.tilt, s.last, s.ended)
}

// shoveIt pushes a pony that stands ready to walk, or passive: in its pose, by an impulse. The seed draws what is read and how late setpoints are, and moves the
// instant of the push by a part of the period.
func shoveIt(t testing.TB, bot *load.Loaded, impulse spatial.Vec3, walks bool, cycle int, period float64, seed uint64) (s shoved) {
	t.Helper()
	p := servosDrawn(bot, 230, 12, 0, seed)
	p.line = physics.Line{Delay: 0.0112, Jitter: 0.005}
	p.step, p.every = walkStep, 8
	d := driveAt(t, bot, p, mujocoOf(t, bot, p), cycle, 0, period)
	if walks {
		_, err := d.exec.Submit("test", action.ID("walk"), 0, &executive.Operational{Controller: "walk", On: true}, executive.Watch{Changed: func(c executive.Change) {
			if c.To.Terminal() {
				s.ended = c.Result.Text()
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	j := judgeOf(t, d)
	d.lead(1.9, "crawl", gait.Velocity{}, j.look)
	d.e.(*inMuJoCo).Push(Push{Force: impulse.Scale(1 / pushLasts), Begins: 0.0047 * float64(seed), Lasts: pushLasts})
	d.lead(4, "crawl", gait.Velocity{}, j.look)
	return shoved{fallen: j.fallen, tilt: j.tilt, last: math.Acos(math.Min(1, d.e.base().R[8])), ended: s.ended}
}

// TestPushesInMuJoCo: standing ready to walk, the pony withstands the required pushes in MuJoCo: at 22.4 ms without a
// step and, within 0.05 N·s, no worse than a pony that only stands in the same run; at 11.2 ms with recovery steps.
// The short form has two pushes; the long one all, in cycles 1 and 2, five seeds each.
func TestPushesInMuJoCo(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	push := func(t *testing.T, s *shove, size float64, cycle int, period float64, seed uint64) {
		t.Helper()
		r := shoveIt(t, bot, s.along.Scale(size), true, cycle, period, seed)
		t.Logf("%s by %.2f N·s at %g s, cycle %d, seed %d: %v", s.name, size, period, cycle, seed, r)
		if r.fallen || r.ended != "" || r.last > 0.06 {
			t.Errorf("%s by %.2f N·s at %g s, cycle %d, seed %d: %v", s.name, size, period, cycle, seed, r)
		}
	}
	for i := range shoves {
		s := &shoves[i]
		t.Run(s.name, func(t *testing.T) {
			if !long() {
				if i%2 == 1 {
					t.Skip("absent: make oracle has this row")
				}
				push(t, s, s.must, 1, walkPeriod, 1)
				push(t, s, s.fast, 2, fastPeriod, 1)
				return
			}
			for cycle := 1; cycle <= 2; cycle++ {
				for seed := uint64(1); seed <= 5; seed++ {
					t.Run(fmt.Sprintf("cycle %d seed %d", cycle, seed), func(t *testing.T) {
						push(t, s, s.must, cycle, walkPeriod, seed)
						push(t, s, s.fast, cycle, fastPeriod, seed)
						low, high := 0.8*s.must, 1.4*s.must
						for high-low > 0.05 {
							mid := (low + high) / 2
							if shoveIt(t, bot, s.along.Scale(mid), false, cycle, walkPeriod, seed).fallen {
								high = mid
							} else {
								low = mid
							}
						}
						t.Logf("%s, cycle %d, seed %d: passive withstands %.2f N·s", s.name, cycle, seed, low)
						push(t, s, low, cycle, walkPeriod, seed)
					})
				}
			}
		})
	}
}
