package trajectory_test

import (
	"math"
	"testing"

	"poise/trajectory"
	"poise/trajectory/spline"
)

// worstRatio is a dense check that knows nothing of extremes: how far limits are
// exceeded at many instants, for velocity, acceleration, deceleration, jerk.
func worstRatio(s *spline.Spline, l *trajectory.Limits, joint, dense int) (velocity, speeding, braking, jerk float64) {
	n := s.Joints()
	q, v, a, jk := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	_, _, vel, acc, dec, jer := l.Of(joint)
	for i := range s.Segments() {
		t0, t1 := s.Knots()[i], s.Knots()[i+1]
		for k := range dense + 1 {
			at := t0 + (t1-t0)*float64(k)/float64(dense)
			s.SegmentTo(q, v, a, i, at)
			velocity = math.Max(velocity, math.Abs(v[joint])/vel)
			if a[joint]*v[joint] > 0 {
				speeding = math.Max(speeding, math.Abs(a[joint])/acc)
			} else if a[joint]*v[joint] < 0 {
				braking = math.Max(braking, math.Abs(a[joint])/dec)
			}
			if k < dense {
				s.JerkTo(jk, at)
				jerk = math.Max(jerk, math.Abs(jk[joint])/jer)
			}
		}
	}
	return
}

func TestViolationsAreExactlyThoseThatDenseSamplesApproach(t *testing.T) {
	r := rng(10)
	n, dense := 300, 1000
	if testing.Short() {
		n, dense = 30, 200
	}
	found := 0
	for i := range n {
		tr := random(r, 4, 1, i%3)
		s := curve(t, tr)
		l := trajectory.Limits{
			Velocity: []float64{0.5 + 5*r.Float64()}, Acceleration: []float64{1 + 40*r.Float64()},
			Deceleration: []float64{1 + 40*r.Float64()}, Jerk: []float64{10 + 2000*r.Float64()},
		}
		velocity, speeding, braking, jerk := worstRatio(s, &l, 0, dense)
		got := map[string]float64{}
		for _, v := range l.Violations(s, 0) {
			word := v.Quantity.String()
			if v.Braking {
				word = "braking"
			}
			got[word] = v.Ratio()
			found++
		}
		for word, sampled := range map[string]float64{"velocity": velocity, "acceleration": speeding, "braking": braking, "jerk": jerk} {
			exact := got[word]
			switch {
			case sampled > 1 && exact < sampled*(1-1e-9):
				t.Fatalf("seed %d case %d: %s is %g times its limit at a sample, exact check says %g", seed, i, word, sampled, exact)
			case exact > 1+1e-2 && sampled < exact*0.95 && word != "braking" && word != "acceleration":
				t.Fatalf("seed %d case %d: %s said to be %g times its limit, samples reach %g", seed, i, word, exact, sampled)
			}
		}
	}
	t.Logf("%d motions, %d violations", n, found)
}

// A curve played faster until it uses its limits to the full just holds them.
func TestUseIsTheMarginThatViolationsSee(t *testing.T) {
	r := rng(14)
	for i := range 300 {
		tr := random(r, 5, 2, i%3)
		l := trajectory.Limits{Velocity: []float64{1 + r.Float64(), 2}, Acceleration: []float64{3 * r.Float64(), 4}, Deceleration: []float64{2, 4 * r.Float64()}}
		if i%2 == 0 {
			l.Deceleration = nil
		}
		velocity, acceleration := l.Use(curve(t, tr))
		worst := math.Max(velocity, math.Sqrt(acceleration))
		if bad := l.Violations(curve(t, tr.Scaled(1/worst)), 1e-9); bad != nil {
			t.Fatalf("seed %d case %d: slowed to its limits it breaks %v", seed, i, bad)
		}
		if bad := l.Violations(curve(t, tr.Scaled(1.001/worst)), 0); bad == nil {
			t.Fatalf("seed %d case %d: a little faster it still holds", seed, i)
		}
	}
}

func TestBrakingAndSpeedingAreToldApart(t *testing.T) {
	// smooth step of 1 rad in 1 s: +6 rad/s² at the start, −6 rad/s² at the end
	s, _ := spline.Akima([]float64{0, 1}, [][]float64{{0}, {1}}, 0)
	for _, c := range []struct {
		name     string
		acc, dec float64
		braking  []bool
	}{
		{"both hold", 6, 6.5, nil}, {"brakes too hard", 7, 5, []bool{true}}, {"starts too hard", 5, 7, []bool{false}}, {"both", 4, 5, []bool{false, true}},
	} {
		for _, mirrored := range []bool{false, true} {
			curve := s
			if mirrored {
				curve, _ = spline.Akima([]float64{0, 1}, [][]float64{{0}, {-1}}, 0)
			}
			l := trajectory.Limits{Acceleration: []float64{c.acc}, Deceleration: []float64{c.dec}}
			bad := l.Violations(curve, 1e-9)
			if len(bad) != len(c.braking) {
				t.Errorf("%s: %v, want %d", c.name, bad, len(c.braking))
				continue
			}
			for i, v := range bad {
				want := 6 / c.acc
				at := 0.0
				if c.braking[i] {
					want, at = 6/c.dec, 1
				}
				if v.Braking != c.braking[i] || math.Abs(v.Ratio()-want) > 1e-12 || math.Abs(v.Time-at) > 1e-12 {
					t.Errorf("%s: %v (ratio %g), want braking %v ratio %g at %g", c.name, v, v.Ratio(), c.braking[i], want, at)
				}
			}
		}
	}
}

func TestPositionLimitsBetweenPoints(t *testing.T) {
	// the points are inside, the quintic between them is not
	tr := &trajectory.Trajectory{Points: []trajectory.Point{
		{Time: 0, Position: []float64{0}, Velocity: []float64{1}, Acceleration: []float64{0}},
		{Time: 1, Position: []float64{0}, Velocity: []float64{-1}, Acceleration: []float64{0}},
	}}
	l := trajectory.Limits{Lower: []float64{-1}, Upper: []float64{0.2}}
	bad := l.Violations(curve(t, tr), 0)
	if len(bad) != 1 || bad[0].Quantity != spline.Position || math.Abs(bad[0].Time-0.5) > 1e-6 || bad[0].Value <= 0.2 {
		t.Fatalf("violations %v, want one at the top", bad)
	}
	if got := bad[0].String(); got != "position of joint 0 is 0.3125 at 0.5 s, limit 0.2" {
		t.Errorf("says %q", got)
	}
}

func TestSamplingIsRefusedWithItsNumbers(t *testing.T) {
	s := curve(t, random(rng(12), 4, 1, 2))
	for _, period := range []float64{0, -1, math.NaN(), math.Inf(1), 1e-300, 1e-9} {
		if _, err := trajectory.Sample(s, period); err == nil {
			t.Errorf("period %g accepted", period)
		}
	}
	// whole periods get no sample more for rounding's sake
	line, _ := spline.Natural([]float64{0, 0.3}, [][]float64{{0}, {1}})
	if tr, _ := trajectory.Sample(line, 0.1); len(tr.Points) != 4 {
		t.Errorf("%d points for 0.3 s at 0.1 s, want 4", len(tr.Points))
	}
	if tr, _ := trajectory.Sample(line, 5); len(tr.Points) != 2 {
		t.Errorf("%d points for a period longer than the motion, want 2", len(tr.Points))
	}
}

func BenchmarkViolations(b *testing.B) {
	s := curve(b, random(rng(13), 1001, 7, 2))
	one := func(x float64) []float64 { return []float64{x, x, x, x, x, x, x} }
	l := trajectory.Limits{Lower: one(-1e3), Upper: one(1e3), Velocity: one(1e3), Acceleration: one(1e6), Deceleration: one(2e6), Jerk: one(1e9)}
	b.ReportAllocs()
	for b.Loop() {
		if v := l.Violations(s, 1e-9); v != nil {
			b.Fatal(v)
		}
	}
}
