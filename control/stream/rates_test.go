package stream_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"poise/control/stream"
	"poise/robot"
)

// TestStreamsOfAllRatesStayInTheirRange: a sine of 1 Hz that already moves when the joint is at
// rest, at periods of 1 to 50 ms, with and without velocities, on time and with values that
// come late by up to a period and have the stamps of their arrival. The joint never goes
// further than the stream does, but for a small part, and after some seconds it is a period late.
func TestStreamsOfAllRatesStayInTheirRange(t *testing.T) {
	const w = 2 * math.Pi
	for _, amplitude := range []float64{0.05, 0.1, 0.15} {
		for _, period := range []float64{0.001, 0.003, 0.005, 0.01, 0.02, 0.05} {
			for _, late := range []float64{0, 1} {
				for _, velocity := range []bool{false, true} {
					t.Run(fmt.Sprintf("%g rad, %g ms, late %g, velocities %v", amplitude, period*1e3, late, velocity), func(t *testing.T) {
						r := setup(t)
						random := rand.New(rand.NewPCG(7, uint64(period*1e6)))
						r.Start("stream", &stream.Program{Needs: r.Set("tail")})
						j := r.Joint("tail_joint1")
						from, began := r.Now.Command.Q[j], r.Seconds()
						wave := func(t float64) (q, v float64) {
							return from + amplitude*math.Sin(w*(t-began)), amplitude * w * math.Cos(w*(t-began))
						}
						next, due := began, began
						furthest := 0.0
						var times, q []float64
						for range 7000 {
							now := r.Seconds()
							if now >= due {
								s := &stream.Sample{At: r.Tick().Time, Joints: robot.Leaf(robot.LeafID(j)), Q: make([]float64, len(r.M.Joints()))}
								var v float64
								if s.Q[j], v = wave(next); velocity {
									s.V = make([]float64, len(s.Q))
									s.V[j] = v
								}
								next += period
								due = max(due, next+late*period*random.Float64())
								r.Feed("stream", s)
							}
							r.Run(1)
							furthest = max(furthest, math.Abs(r.Now.Command.Q[j]-from))
							if now > began+4 {
								times, q = append(times, now), append(q, r.Now.Command.Q[j])
							}
						}
						best, delay := math.Inf(1), 0.0
						for d := 0.0; d < 0.3; d += 0.001 {
							worst := 0.0
							for i, at := range times {
								want, _ := wave(at - d)
								worst = max(worst, math.Abs(q[i]-want))
							}
							if worst < best {
								best, delay = worst, d
							}
						}
						t.Logf("%.1f ms late, %.4f rad off, furthest %.3f rad", delay*1e3, best, furthest)
						if furthest > 1.15*amplitude+0.01 || delay > (2+late)*period+0.012 || best > 0.15*amplitude {
							t.Errorf("%.1f ms late, %.4f rad off, furthest %.3f rad", delay*1e3, best, furthest)
						}
					})
				}
			}
		}
	}
}
