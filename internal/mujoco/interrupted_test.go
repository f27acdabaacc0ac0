package mujoco

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"poise/gait"
	"poise/internal/walks"
	"poise/robot/load"
)

// interruptedTilt is the largest tilt of a walk that is interrupted, rad, as package scenario has it.
const interruptedTilt = 0.1

// hardPony is the pony, hard, on the cycle in MuJoCo, and what judges it.
func hardPony(t testing.TB, bot *load.Loaded, cycle int, seed uint64) (*driven, *judging) {
	t.Helper()
	p := new(walkRow).plantOf(t, bot, seed)
	d := driveAt(t, bot, p, mujocoOf(t, bot, p), cycle, 0, walkPeriod)
	return d, judgeOf(t, d)
}

// minutes runs a test for a minute in each cycle with each of five seeds.
func minutes(t *testing.T, run func(t *testing.T, cycle int, seed uint64, seconds float64)) {
	t.Helper()
	for cycle := 1; cycle <= 2; cycle++ {
		for seed := range uint64(5) {
			t.Run(fmt.Sprintf("cycle %d seed %d", cycle, seed+1), func(t *testing.T) { run(t, cycle, seed+1, 60) })
		}
	}
}

// longAlone leaves a test to make oracle.
func longAlone(t *testing.T) {
	t.Helper()
	if Needed(t); !long() {
		t.Skip("absent: make oracle has this row")
	}
}

// TestInterruptedWalksInMuJoCo: pauses, speed overrides, stops of category 2, cancels with a new walk, walks to a place, a tail that is taken or loses
// its torque, velocities that end or are not finite, at random instants of hard walks: no fall, joints within their limits, and a walk that was
// stopped is over before the deadline.
func TestInterruptedWalksInMuJoCo(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	run := func(t *testing.T, cycle int, seed uint64, seconds float64) {
		d, j := hardPony(t, bot, cycle, seed)
		x := walks.Interrupt(t, d.m, d.exec, d.l, d.period, rand.New(rand.NewPCG(240, seed)))
		d.each(seconds, func() { x.Before(d.now()) }, j.look)
		t.Logf("cycle %d, seed %d: %v; fallen %v, %v; %v", cycle, seed, x.Done, j.fallen, j, x.Limits)
		if j.fallen || j.tilt > interruptedTilt || !x.Limits.Kept(cycle) || len(x.Ended) > 0 {
			t.Errorf("cycle %d, seed %d: fallen %v, tilt %g rad, %v, %q", cycle, seed, j.fallen, j.tilt, x.Limits, x.Ended)
		}
	}
	if !long() {
		run(t, 1, 3, 10)
		return
	}
	minutes(t, run)
}

// TestCommandsThatJumpInMuJoCo: velocities and gaits that change at random instants, absurd ones among them, in hard walks: no fall, no walk that ends by itself,
// joints within their limits, and in the end it stands.
func TestCommandsThatJumpInMuJoCo(t *testing.T) {
	t.Parallel()
	longAlone(t)
	bot := pony(t)
	const still, last = 0.02, 0.3 // m/s; s
	minutes(t, func(t *testing.T, cycle int, seed uint64, seconds float64) {
		d, j := hardPony(t, bot, cycle, seed)
		limits := walks.NewLimits(d.m, d.period)
		d.walk()
		commands := walks.Jumping(rand.New(rand.NewPCG(24, seed)), seconds)
		at, next, now := 0.0, 0, walks.Command{Gait: "crawl"}
		lead := func(seconds float64) {
			d.each(seconds, func() {
				for ; next < len(commands) && commands[next].At <= at; next++ {
					now = commands[next]
				}
				at += d.period
				d.tell(now.Gait, now.V)
			}, func(at float64) {
				j.look(at)
				limits.Look(d.l.Command().Q, nil)
			})
		}
		lead(seconds - last)
		from := d.e.base().P
		lead(last)
		speed := d.e.base().P.Sub(from).Norm() / last
		t.Logf("cycle %d, seed %d: %d commands, fallen %v, %v, %.4f m/s in the end; %v", cycle, seed, len(commands), j.fallen, j, speed, limits)
		if j.fallen || j.tilt > interruptedTilt || speed > still || !limits.Kept(cycle) {
			t.Errorf("cycle %d, seed %d: fallen %v, tilt %g rad, %g m/s in the end, %v", cycle, seed, j.fallen, j.tilt, speed, limits)
		}
	})
}

// TestVelocitiesThatDieInMuJoCo: a trot whose velocities end stands within three seconds.
func TestVelocitiesThatDieInMuJoCo(t *testing.T) {
	t.Parallel()
	longAlone(t)
	bot := pony(t)
	const still, walked, waits, last = 0.01, 4.0, 3.0, 0.5 // m/s; s
	minutes(t, func(t *testing.T, cycle int, seed uint64, _ float64) {
		d, j := hardPony(t, bot, cycle, seed)
		d.walk()
		d.lead(walked+0.1*float64(seed), "trot", gait.Velocity{X: 0.1}, j.look)
		d.run(waits, j.look)
		from := d.e.base().P
		d.run(last, j.look)
		speed := d.e.base().P.Sub(from).Norm() / last
		t.Logf("cycle %d, seed %d: fallen %v, %v, %.4f m/s %g s later", cycle, seed, j.fallen, j, speed, waits)
		if j.fallen || j.tilt > interruptedTilt || speed > still {
			t.Errorf("cycle %d, seed %d: fallen %v, tilt %g rad, %g m/s %g s later", cycle, seed, j.fallen, j.tilt, speed, waits)
		}
	})
}
