package move

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
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
	n := count(200_000, 10_000, 20_000_000) / len(kinds)
	ran := 0
	for i, k := range kinds {
		ran += n
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
	t.Logf("%d tasks", ran)
}

// TestRandomDenseSamples looks at motions as a user would: sample by sample. Position
// and velocity have no jumps, acceleration none where the jerk is limited, and
// no sample is beyond the exact extremes.
func TestRandomDenseSamples(t *testing.T) {
	n := count(2_000, 200, 200_000) / len(kinds)
	ran := 0
	for i, k := range kinds {
		if k.wild {
			continue
		}
		ran += n
		parallel(t, n, uint64(200+i), func(r *rand.Rand, x *axis) error {
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
	t.Logf("%d motions of 1000 samples", ran)
}

// TestRandomReplanningGivesRemainingTime: a motion planned again from one of its own
// samples takes the time that was left. A sample is known up to rounding, and the
// least time is not a smooth function of the state: at the shortest stop it grows
// with the cube root of a displacement, and for a target that moves it may jump.
// So what must agree is the time that was left and those of targets this near.
func TestRandomReplanningGivesRemainingTime(t *testing.T) {
	const rounding = 4.0 / (1 << 52)
	const nearMoving = 1e-7 // to the root of rounding, a moving target is elsewhere
	const needles = 1e-6    // share of moving targets that rounding misses all the same
	var missed atomic.Int64
	n := count(200_000, 10_000, 20_000_000) / len(kinds)
	ran := 0
	for i, k := range kinds {
		if k.wild || k.noJerk || k.open {
			continue // an acceleration that jumps is not part of the state
		}
		ran += n
		parallel(t, n, uint64(300+i), func(r *rand.Rand, x *axis) error {
			var p Profile
			task := k.random(r)
			T := x.plan(&task)
			x.writeTo(&p, T)
			e := p.Extremes()
			size := rounding * (largestOf(e.P) + e.P.Max - e.P.Min)
			tol := tolTime*T + 8*math.Cbrt(size*x.rj)

			at := T * r.Float64()
			again := task
			again.From = p.At(at)
			left := T - at
			lo, hi := inf, 0.0
			reach := size
			if task.To.V != 0 || task.To.A != 0 {
				reach = nearMoving * (largestOf(e.P) + e.P.Max - e.P.Min)
			}
			for i := range 9 {
				near := again
				near.To.P += float64(i%3-1) * reach
				near.From.V += float64(i/3-1) * rounding * largestOf(e.V)
				rest := x.plan(&near)
				lo, hi = min(lo, rest), max(hi, rest)
				if left > lo-tol && left < hi+tol {
					return nil
				}
			}
			if k.moving {
				missed.Add(1) // it takes the next possible duration instead
				return nil
			}
			return fmt.Errorf("after %g of %g s the rest takes %.17g to %.17g, not %.17g\n%v", at, T, lo, hi, left, task)
		})
	}
	t.Logf("%d motions, %d of them to moving targets that were missed by rounding", ran, missed.Load())
	if most := int64(needles * float64(ran)); missed.Load() > most {
		t.Errorf("%d moving targets missed, more than %d", missed.Load(), most)
	}
}

// TestRandomSymmetries: a mirrored task takes the same time, and so does one run
// backwards; scaling time and length scales the duration.
func TestRandomSymmetries(t *testing.T) {
	n := count(200_000, 10_000, 20_000_000) / len(kinds)
	ran := 0
	for i, k := range kinds {
		if k.wild {
			continue
		}
		ran += n
		parallel(t, n, uint64(400+i), func(r *rand.Rand, x *axis) error {
			task := k.random(r)
			T := x.plan(&task)
			inside := x.numBrakes == 0
			const tol = 1e-7 // see rounding in TestRandomReplanningGivesRemainingTime

			l := task.Limits
			mirrored := task
			mirrored.Limits = Limits{-l.VelMax, -l.VelMin, -l.AccMax, -l.AccMin, l.Jerk}
			mirrored.From = State{-task.From.P, -task.From.V, -task.From.A}
			mirrored.To = State{-task.To.P, -task.To.V, -task.To.A}
			if got := x.plan(&mirrored); math.Abs(got-T) > 1e-12*T {
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
	t.Logf("%d tasks", ran)
}
