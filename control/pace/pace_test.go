package pace

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/control"
	"poise/robot"
	"poise/trajectory/move"
)

// TestClockKeepsTheLimits changes the rate of a sine at random: velocity and
// acceleration of the joint stay within their limits, the time never runs
// backwards, and the reference agrees with its own differences.
func TestClockKeepsTheLimits(t *testing.T) {
	const dt = 1e-4
	rng := rand.New(rand.NewPCG(4, 2))
	limits := []move.Limits{move.Symmetric(2, 8, 80)}
	one := robot.Leaf(0)
	out := control.NewReference(1, 0, 0)
	for n := range 100 {
		ω := 0.5 + 2*rng.Float64()
		amplitude := min(0.1+rng.Float64(), 2/ω, 8/(ω*ω))
		most := Fastest(limits, one, []float64{amplitude * ω}, []float64{amplitude * ω * ω})
		var c Clock
		c.Start(1, most)
		motion := func() move.State {
			sin, cos := math.Sincos(ω * c.Time)
			return move.State{P: amplitude * sin, V: amplitude * ω * cos, A: -amplitude * ω * ω * sin}
		}
		s := motion()
		c.Reference(out, 0, s)
		q0, v0, want := out.Q[0], out.V[0], 1.0
		for k := range 20000 {
			if k%4000 == 0 {
				want = 2 * rng.Float64() * float64(rng.IntN(2))
			}
			before := c.Time
			c.Step(dt, want, limits, one, []float64{s.V}, []float64{s.A})
			s = motion()
			c.Reference(out, 0, s)
			vel := (out.Q[0] - q0) / dt
			acc := (vel - v0) / dt
			if c.Time < before || c.Rate < 0 || c.Rate > max(most, 1) {
				t.Fatalf("case %d of seed 4, 2: time %g → %g, rate %g of at most %g", n, before, c.Time, c.Rate, most)
			}
			if k > 0 && (math.Abs(vel) > 2*(1+1e-6) || math.Abs(acc) > 8*(1+1e-3)) {
				t.Fatalf("case %d of seed 4, 2, tick %d: velocity %g, acceleration %g", n, k, vel, acc)
			}
			if math.Abs(vel-out.V[0]) > 8*dt || math.Abs(out.A[0]) > 8.001 {
				t.Fatalf("case %d of seed 4, 2, tick %d: says velocity %g, acceleration %g; moves with %g", n, k, out.V[0], out.A[0], vel)
			}
			q0, v0 = out.Q[0], vel
		}
	}
}

func TestClockStopsExactlyAndDoesNotAllocate(t *testing.T) {
	limits := []move.Limits{move.Symmetric(2, 8, 80)}
	var c Clock
	c.Start(1, 1)
	v, a := []float64{1}, []float64{0}
	for range 2000 {
		c.Step(1e-3, 0, limits, robot.Leaf(0), v, a)
	}
	at := c.Time
	if n := testing.AllocsPerRun(10, func() { c.Step(1e-3, 0, limits, robot.Leaf(0), v, a) }); n != 0 || c.Time != at || c.Rate != 0 {
		t.Errorf("%v allocations, rate %g, time %g → %g", n, c.Rate, at, c.Time)
	}
}
