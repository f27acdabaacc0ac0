package stream_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/control/stream"
	"poise/internal/rig"
	"poise/loop"
	"poise/robot"
)

// TestASineIsFollowedAPeriodLate: a stream of a sine, with and without velocities and
// accelerations, with jittering stamps and lost values, is followed with at most 25 ms of
// delay at 50 Hz, without a staircase; the rig judges accelerations.
func TestASineIsFollowedAPeriodLate(t *testing.T) {
	const hz, w = 50, 2 * math.Pi
	for _, tc := range []struct {
		name                string
		velocity, accel     bool
		jitter              float64 // s, of stamps and arrivals
		lost                float64 // share
		residual, staircase float64 // rad, rad/s²
		amplitude           float64 // rad; 0.18 would need all of the acceleration
	}{
		{"positions", false, false, 0, 0, 0.004, 14, 0.1},
		{"velocities", true, false, 0, 0, 0.002, 12, 0.1},
		{"accelerations", true, true, 0, 0, 0.002, 12, 0.1},
		{"jitter", true, false, 0.003, 0, 0.006, 25, 0.1},
		{"lost values", true, false, 0, 0.1, 0.006, 25, 0.1},
		{"positions near the limits", false, false, 0, 0, 0.01, 8.1, 0.15},
		{"velocities near the limits", true, false, 0, 0, 0.01, 8.1, 0.15},
		{"accelerations near the limits", true, true, 0, 0, 0.01, 8.1, 0.15},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, amplitude := setup(t), tc.amplitude
			random := rand.New(rand.NewPCG(1, 2))
			r.Start("stream", &stream.Program{Needs: r.Set("tail")})
			j := r.Joint("tail_joint1")
			from := r.Now.Command.Q[j]
			began := float64(r.Tick().Time) * 1e-9
			wave := func(t float64) (q, v, a float64) {
				return from + amplitude*math.Sin(w*(t-began)), amplitude * w * math.Cos(w*(t-began)), -amplitude * w * w * math.Sin(w*(t-began))
			}
			var times, q, acc []float64
			next := began
			for range 6000 {
				now := float64(r.Tick().Time) * 1e-9
				if now >= next+tc.jitter*random.Float64() {
					s := &stream.Sample{At: r.Tick().Time, Joints: robot.Leaf(robot.LeafID(j)), Q: make([]float64, len(r.M.Joints()))}
					var v, a float64
					s.Q[j], v, a = wave(next)
					next += 1.0 / hz
					if tc.velocity {
						s.V = make([]float64, len(s.Q))
						s.V[j] = v
					}
					if tc.accel {
						s.A = make([]float64, len(s.Q))
						s.A[j] = a
					}
					if random.Float64() >= tc.lost {
						r.Feed("stream", s)
					}
				}
				r.Run(1)
				if now > began+2 {
					times, q, acc = append(times, now), append(q, r.Now.Command.Q[j]), append(acc, r.Now.Command.A[j])
				}
			}
			best, delay := math.Inf(1), 0.0
			for d := 0.0; d < 0.2; d += 0.0005 {
				worst := 0.0
				for i, at := range times {
					want, _, _ := wave(at - d)
					worst = max(worst, math.Abs(q[i]-want))
				}
				if worst < best {
					best, delay = worst, d
				}
			}
			most := 0.0
			for _, a := range acc {
				most = max(most, math.Abs(a))
			}
			t.Logf("%g ms late, %g rad off, at most %g rad/s²", delay*1e3, best, most)
			if delay > 0.025 || best > tc.residual || most > tc.staircase {
				t.Errorf("%g ms late, %g rad off, at most %g rad/s²", delay*1e3, best, most)
			}
			// it stops in the middle: the joint ramps down near the last value, and holds
			r.For(1)
			at, v := r.Now.Command.Q[j], r.Now.Command.V[j]
			r.For(0.2)
			if v != 0 || r.Now.Command.Q[j] != at {
				t.Errorf("the stream has stopped, and the joint moves at %g rad/s", v)
			}
		})
	}
}

// TestTrackingDoesNotAllocate.
func TestTrackingDoesNotAllocate(t *testing.T) {
	r := setup(t)
	r.Start("stream", &stream.Program{Needs: r.Set("tail")})
	n := len(r.M.Joints())
	s := &stream.Sample{Joints: r.Set("tail"), Q: make([]float64, n), V: make([]float64, n), Tau: make([]float64, n)}
	j := r.Joint("tail_joint1")
	if allocations := testing.AllocsPerRun(50, func() {
		s.At = r.Tick().Time
		s.V[j] = 0.01
		s.Q[j] += 0.01 * r.Dt
		r.L.Send(loop.Order{Kind: loop.Feed, Controller: 0, Program: s})
		r.L.Step(r.Tick())
		r.N++
	}); allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

// chased feeds a wave that all joints of the tail and the head have to chase.
func chased(t testing.TB) (r *rig.Rig, feed func()) {
	t.Helper()
	r = setup(t)
	set := r.Set("tail", "head")
	r.Start("stream", &stream.Program{Needs: set})
	n := len(r.M.Joints())
	s := &stream.Sample{Joints: set, Q: make([]float64, n)}
	k := 0
	return r, func() {
		if s.At = r.Tick().Time; k%20 == 0 {
			for leaf := range set.All {
				if int(leaf) < n {
					s.Q[leaf] = 0.15 * math.Sin(2*math.Pi*float64(k)/900) * float64(1-k/600%2*2) // it turns about
				}
			}
			r.L.Send(loop.Order{Kind: loop.Feed, Controller: 0, Program: s})
		}
		k++
		r.L.Step(r.Tick())
		r.N++
		for {
			if _, ok := r.L.Receive(); !ok {
				break
			}
		}
	}
}

// TestChasingDoesNotAllocate.
func TestChasingDoesNotAllocate(t *testing.T) {
	_, feed := chased(t)
	if n := testing.AllocsPerRun(3000, feed); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkChase is a tick in which ten joints chase a stream, every twentieth with a value.
func BenchmarkChase(b *testing.B) {
	_, feed := chased(b)
	for b.Loop() {
		feed()
	}
}
