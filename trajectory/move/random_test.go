package move

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestRandomTasks: the fastest motion and a slower one of every kind end where
// they should and keep every limit, by exact extremes.
func TestRandomTasks(t *testing.T) {
	n := count(1_000_000, 20_000, 100_000_000) / len(kinds)
	for i, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			parallel(t, n, uint64(i), func(r *rand.Rand, x *axis) error {
				var p Profile
				task := k.random(r)
				fastest := x.plan(&task)
				x.writeTo(&p, fastest)
				if err := verify(x, &p); err != nil {
					return fmt.Errorf("fastest: %w\n%v", err, task)
				}
				slower := x.next(fastest * (1 + r.Float64()*r.Float64()))
				x.writeTo(&p, slower)
				if err := verify(x, &p); err != nil {
					return fmt.Errorf("in %g s instead of %g: %w\n%v", slower, fastest, err, task)
				}
				return nil
			})
			t.Logf("%d tasks, each as fast as possible and slower", n)
		})
	}
}

// TestRandomStops is the same for the velocity interface.
func TestRandomStops(t *testing.T) {
	n := count(200_000, 10_000, 20_000_000)
	for i, k := range kinds {
		n := n / len(kinds)
		parallel(t, n, uint64(100+i), func(r *rand.Rand, x *axis) error {
			var p Profile
			task := k.random(r)
			x.reachVelocity(&task.Limits, task.From, task.To.V)
			fastest := x.next(0)
			for _, T := range [...]float64{fastest, fastest * (1 + r.Float64())} {
				x.writeTo(&p, T)
				if err := verify(x, &p); err != nil {
					return fmt.Errorf("stop in %g: %w\n%v", T, err, task)
				}
			}
			return nil
		})
	}
	t.Logf("%d tasks", n)
}

// TestDenseSamples looks at motions as a user would: sample by sample. Position
// and velocity have no jumps, acceleration none where the jerk is limited, and
// no sample is beyond the exact extremes.
func TestDenseSamples(t *testing.T) {
	n := count(2_000, 200, 200_000)
	for i, k := range kinds {
		if k.wild {
			continue
		}
		parallel(t, n/len(kinds), uint64(200+i), func(r *rand.Rand, x *axis) error {
			var p Profile
			task := k.random(r)
			x.writeTo(&p, x.next(x.plan(&task)*(1+r.Float64())))
			e := p.Extremes()
			const steps = 1000
			h := p.duration / steps
			last := p.At(0)
			for i := 1; i <= steps; i++ {
				s := p.At(float64(i) * h)
				// each derivative bounds the step of what it is derived from
				vel := max(math.Abs(e.V.Min), math.Abs(e.V.Max))
				acc := max(math.Abs(e.A.Min), math.Abs(e.A.Max))
				jerk := max(math.Abs(e.Jerk.Min), math.Abs(e.Jerk.Max))
				const slack = 1e-9
				switch {
				case math.Abs(s.P-last.P) > vel*h+slack, math.Abs(s.V-last.V) > acc*h+slack,
					x.rj > 0 && math.Abs(s.A-last.A) > jerk*h+slack:
					return fmt.Errorf("jump at %g: %+v then %+v\n%v", float64(i)*h, last, s, task)
				case s.P < e.P.Min-slack || s.P > e.P.Max+slack || s.V < e.V.Min-slack || s.V > e.V.Max+slack,
					x.rj > 0 && (s.A < e.A.Min-slack || s.A > e.A.Max+slack):
					return fmt.Errorf("%+v beyond %+v\n%v", s, e, task)
				case math.Abs(p.Jerk(float64(i)*h)) > jerk:
					return fmt.Errorf("jerk beyond %+v\n%v", e, task)
				}
				last = s
			}
			if got := p.At(p.duration); got != p.target {
				return fmt.Errorf("ends in %+v, not %+v", got, p.target)
			}
			return nil
		})
	}
	t.Logf("%d motions of 1000 samples", n)
}

// TestReplanningGivesRemainingTime: a motion planned again from one of its own
// samples takes the time that was left. The least time is not a smooth function
// of the displacement: it grows with its root at the shortest stop, and for a
// target that moves it may jump. So the time is compared with those that targets
// this close would give:
func TestReplanningGivesRemainingTime(t *testing.T) {
	const near = 1e-10 // of the size of the motion
	n := count(100_000, 5_000, 10_000_000)
	for i, k := range kinds {
		if k.wild || k.noJerk || k.open {
			continue // an acceleration that jumps is not part of the state
		}
		parallel(t, n/len(kinds), uint64(300+i), func(r *rand.Rand, x *axis) error {
			var p Profile
			task := k.random(r)
			T := x.plan(&task)
			x.writeTo(&p, T)
			e := p.Extremes()
			at := T * r.Float64()
			again := task
			again.From = p.At(at)
			left, rest := T-at, x.plan(&again)
			const rootOfRounding = 3e-7 // s, at these sizes
			if math.Abs(rest-left) <= rootOfRounding {
				return nil
			}
			lo, hi := rest, rest
			for _, d := range [...]float64{-near, near} {
				off := again
				off.To.P += d * (1 + e.P.Max - e.P.Min)
				lo, hi = min(lo, x.plan(&off)), max(hi, x.plan(&off))
			}
			if left < lo-rootOfRounding || left > hi+rootOfRounding {
				return fmt.Errorf("after %g of %g s the rest takes %.17g (%g … %g nearby), not %.17g\n%v", at, T, rest, lo, hi, left, task)
			}
			return nil
		})
	}
	t.Logf("%d motions", n)
}

// TestSymmetries: a mirrored task takes the same time, and so does one run
// backwards; scaling time and length scales the duration.
func TestSymmetries(t *testing.T) {
	n := count(100_000, 5_000, 10_000_000)
	for i, k := range kinds {
		if k.wild {
			continue
		}
		parallel(t, n/len(kinds), uint64(400+i), func(r *rand.Rand, x *axis) error {
			task := k.random(r)
			T := x.plan(&task)
			inside := x.numBrakes == 0
			const tol = 1e-7 // see rounding in TestReplanningGivesRemainingTime

			l := task.Limits
			mirrored := task
			mirrored.Limits = Limits{-l.VelMax, -l.VelMin, -l.AccMax, -l.AccMin, l.Jerk}
			mirrored.From = State{-task.From.P, -task.From.V, -task.From.A}
			mirrored.To = State{-task.To.P, -task.To.V, -task.To.A}
			if got := x.plan(&mirrored); got != T {
				return fmt.Errorf("mirrored: %.17g, not %.17g\n%v", got, T, task)
			}

			if inside {
				// p(T − t): velocities turn, accelerations stay
				back := task
				back.Limits = Limits{-l.VelMax, -l.VelMin, l.AccMin, l.AccMax, l.Jerk}
				back.From = State{task.To.P, -task.To.V, task.To.A}
				back.To = State{task.From.P, -task.From.V, task.From.A}
				if got := x.plan(&back); math.Abs(got-T) > tol*(1+T) {
					return fmt.Errorf("backwards: %.17g, not %.17g\n%v", got, T, task)
				}
			}

			// powers of two: no rounding, so not a bit may differ
			const c, d = 4.0, 0.125 // time, length
			scaled := task
			scaled.Limits = Limits{l.VelMin * d / c, l.VelMax * d / c, l.AccMin * d / c / c, l.AccMax * d / c / c, l.Jerk * d / c / c / c}
			for _, s := range []*State{&scaled.From, &scaled.To} {
				*s = State{s.P * d, s.V * d / c, s.A * d / c / c}
			}
			if got := x.plan(&scaled); math.Abs(got-c*T) > 1e-12*c*T {
				return fmt.Errorf("scaled: %.17g, not %.17g\n%v", got, c*T, task)
			}
			return nil
		})
	}
	t.Logf("%d tasks", n)
}
