package swing

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/robot"
	"poise/trajectory/move"
)

// TestClockKeepsTheLimits changes the rate of a sine at random: velocity and
// acceleration of the joint stay within their limits, and the time never runs
// backwards.
func TestClockKeepsTheLimits(t *testing.T) {
	const dt = 1e-4
	rng := rand.New(rand.NewPCG(4, 2))
	limits := []move.Limits{move.Symmetric(2, 8, 80)}
	one := robot.Leaf(0)
	for n := range 200 {
		amplitude, ω := 0.1+rng.Float64(), 0.5+2*rng.Float64()
		amplitude = min(amplitude, 2/ω, 8/(ω*ω))
		most := fastest(limits, one, []float64{amplitude * ω}, []float64{amplitude * ω * ω})
		var c swingClock
		c.start(most)
		v, a := []float64{0}, []float64{0}
		motion := func() float64 {
			s, cos := math.Sincos(ω * c.now())
			v[0], a[0] = amplitude*ω*cos, -amplitude*ω*ω*s
			return amplitude * s
		}
		q0 := motion()
		v0, want, started := v[0], 1.0, false
		for k := range 20000 {
			if k%4000 == 0 {
				want = 2 * rng.Float64() * float64(rng.IntN(2))
			}
			before := c.now()
			c.advance(dt, want, limits, one, v, a)
			q := motion()
			vel := (q - q0) / dt
			acc := (vel - v0) / dt
			q0, v0 = q, vel
			if !started {
				started = true
				continue
			}
			if c.now() < before || c.rate < 0 || c.rate > max(most, 1) {
				t.Fatalf("case %d: time %g → %g, rate %g of at most %g", n, before, c.now(), c.rate, most)
			}
			if math.Abs(vel) > 2*(1+1e-6) || math.Abs(acc) > 8*(1+1e-3) {
				t.Fatalf("case %d, tick %d: velocity %g, acceleration %g", n, k, vel, acc)
			}
		}
	}
}

func TestClockStopsAndDoesNotAllocate(t *testing.T) {
	limits := []move.Limits{move.Symmetric(2, 8, 80)}
	var c swingClock
	c.start(1)
	v, a := []float64{1}, []float64{0}
	for range 2000 {
		c.advance(1e-3, 0, limits, robot.Leaf(0), v, a)
	}
	if c.rate != 0 {
		t.Errorf("rate %g", c.rate)
	}
	at := c.now()
	if n := testing.AllocsPerRun(10, func() { c.advance(1e-3, 0, limits, robot.Leaf(0), v, a) }); n != 0 || c.now() != at {
		t.Errorf("%v allocations, time %g → %g", n, at, c.now())
	}
}
