package spline_test

import (
	"math"
	"os"
	"testing"

	"poise/internal/approx"
	"poise/trajectory/spline"
)

func TestTwoKeysAreASmoothStep(t *testing.T) {
	s, _ := spline.Akima([]float64{2, 4}, [][]float64{{-1, 5}, {3, 5}}, 0)
	var q, v, a [2]float64
	for x := 0.0; x <= 1; x += 1.0 / 64 {
		s.StateTo(q[:], v[:], a[:], 2+2*x)
		approx.Equal(t, "smooth step", q[:], []float64{-1 + 4*x*x*(3-2*x), 5}, tolKey)
		approx.Equal(t, "its velocity", v[:], []float64{12 * x * (1 - x), 0}, tolKey)
	}
}

func TestRepeatedKeyIsATrueHold(t *testing.T) {
	// joint 0 holds between the second and third key while joint 1 passes through
	s, _ := spline.Akima([]float64{0, 1, 2, 3}, [][]float64{{0, 0}, {1, 1}, {1, 2}, {0, 3}}, 0)
	var q, v, a [2]float64
	for at := 1.0; at <= 2; at += 1.0 / 32 {
		s.StateTo(q[:], v[:], a[:], at)
		if q[0] != 1 || v[0] != 0 {
			t.Errorf("at %g: joint 0 at %g moving %g, want still at 1", at, q[0], v[0])
		}
		if v[1] < 0.5 {
			t.Errorf("at %g: joint 1 moves %g, want it to pass at about 1", at, v[1])
		}
	}
}

func TestHoldThresholdStopsCreep(t *testing.T) {
	keys := [][]float64{{0}, {1}, {1.0004}, {2}}
	times := []float64{0, 1, 2, 3}
	var q, v, a [1]float64
	s, _ := spline.Akima(times, keys, 5e-4)
	for _, at := range []float64{1, 2} {
		s.StateTo(q[:], v[:], a[:], at)
		if v[0] != 0 {
			t.Errorf("velocity %g at the end of a hold, want 0", v[0])
		}
	}
	s, _ = spline.Akima(times, keys, 0)
	s.StateTo(q[:], v[:], a[:], 1)
	if v[0] <= 0 {
		t.Errorf("velocity %g without a threshold, want > 0", v[0])
	}
}

// The promise of no overshoot, on random keys: exact extremes of each segment
// are its two keys, and ends rest.
func TestRandomAkimaNeverLeavesItsNeighbourKeys(t *testing.T) {
	r := rng(10)
	n := 210_000
	switch {
	case os.Getenv("POISE_SOAK") != "":
		n = 21_000_000
	case testing.Short():
		n = 2000
	}
	segments := 0
	for range n {
		times, keys := randomKeys(r, 2+r.IntN(9), 1)
		s, err := spline.Akima(times, keys, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Segments() {
			segments++
			low, high := s.Range(0, spline.Position, times[i], times[i+1])
			lo, hi := math.Min(keys[i][0], keys[i+1][0]), math.Max(keys[i][0], keys[i+1][0])
			round := 1e-14 * math.Max(math.Abs(lo), math.Abs(hi))
			if low.Value < lo-round || high.Value > hi+round {
				t.Fatalf("seed %d: segment %d spans [%g, %g], keys [%g, %g]", seed, i, low.Value, high.Value, lo, hi)
			}
		}
		var q, v, a [1]float64
		s.StateTo(q[:], v[:], a[:], s.Start())
		if v[0] != 0 {
			t.Fatalf("starts with velocity %g, want rest", v[0])
		}
		s.StateTo(q[:], v[:], a[:], s.End())
		approx.Scalar(t, "last velocity", v[0], 0, tolKey)
	}
	t.Logf("%d curves, %d segments: none leaves the range of its keys", n, segments)
}

func TestAkimaFollowsStraightRuns(t *testing.T) {
	// in the middle of a straight run the curve is the straight line
	times := []float64{0, 1, 2, 3, 4, 5, 6}
	keys := [][]float64{{0}, {1}, {2}, {3}, {4}, {5}, {6}}
	s, _ := spline.Akima(times, keys, 0)
	var q, v, a [1]float64
	for at := 1.0; at < 5; at += 0.125 {
		s.StateTo(q[:], v[:], a[:], at)
		approx.Equal(t, "line", []float64{q[0], v[0], a[0]}, []float64{at, 1, 0}, tolKey)
	}
}

// A key dragged through a corner between straight runs moves the curve
// continuously: the reason for the second terms of (3).
func TestAkimaIsContinuousInItsKeys(t *testing.T) {
	times := []float64{0, 1, 2, 3, 4, 5, 6}
	velocity := func(nudge float64) float64 {
		s, _ := spline.Akima(times, [][]float64{{0}, {1}, {2}, {3 + nudge}, {5}, {7}, {9}}, 0)
		var q, v, a [1]float64
		s.StateTo(q[:], v[:], a[:], 3)
		return v[0]
	}
	const nudge = 1e-9
	for _, x := range []float64{-nudge, nudge} {
		if d := math.Abs(velocity(x) - velocity(0)); d > 10*nudge {
			t.Errorf("a nudge of %g changes the velocity at the corner by %g", x, d)
		}
	}
}

func TestTimeReversalAndSignSymmetry(t *testing.T) {
	r := rng(11)
	n := 2000
	if testing.Short() {
		n = 200
	}
	for range n {
		k := 2 + r.IntN(7)
		times, keys := randomKeys(r, k, 2)
		back, mirrored, reversed := make([]float64, k), make([][]float64, k), make([][]float64, k)
		for i := range k {
			back[i] = times[0] + times[k-1] - times[k-1-i]
			reversed[i] = keys[k-1-i]
			mirrored[i] = []float64{-keys[i][0], -keys[i][1]}
		}
		build := func(times []float64, keys [][]float64) map[string]*spline.Spline {
			m := map[string]*spline.Spline{}
			m["akima"], _ = spline.Akima(times, keys, 0.1)
			m["natural"], _ = spline.Natural(times, keys)
			m["clamped"], _ = spline.Clamped(times, keys, nil, nil)
			return m
		}
		forward, backward, negative := build(times, keys), build(back, reversed), build(times, mirrored)
		for name, s := range forward {
			var q, v, a, q2, v2, a2 [2]float64
			at := times[0] + r.Float64()*(times[k-1]-times[0])
			s.StateTo(q[:], v[:], a[:], at)
			backward[name].StateTo(q2[:], v2[:], a2[:], times[0]+times[k-1]-at)
			tol := approx.Tol{Abs: 1e-9, Rel: 1e-9} // the mirrored time is rounded
			approx.Equal(t, name+" reversed position", q2[:], q[:], tol)
			approx.Equal(t, name+" reversed velocity", v2[:], []float64{-v[0], -v[1]}, tol)
			negative[name].StateTo(q2[:], v2[:], a2[:], at)
			if q2 != [2]float64{-q[0], -q[1]} || v2 != [2]float64{-v[0], -v[1]} || a2 != [2]float64{-a[0], -a[1]} {
				t.Fatalf("seed %d: %s of mirrored keys is not the mirror image", seed, name)
			}
		}
	}
}

func TestStepsHoldTheLatestKey(t *testing.T) {
	s, err := spline.NewSteps([]float64{0, 1, 3}, [][]float64{{1, 0}, {0, 1}, {1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		t    float64
		want float64
	}{{-1, 1}, {0, 1}, {0.999, 1}, {1, 0}, {2.999, 0}, {3, 1}, {9, 1}} {
		if got := s.At(c.t)[0]; got != c.want {
			t.Errorf("At(%g) = %g, want %g", c.t, got, c.want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { s.At(2) }); n != 0 {
		t.Errorf("At allocates %v times", n)
	}
	if _, err := spline.NewSteps(nil, nil); err == nil {
		t.Error("no key at all is accepted")
	}
	if one, err := spline.NewSteps([]float64{5}, [][]float64{{7}}); err != nil || one.At(0)[0] != 7 {
		t.Errorf("one key: %v", err)
	}
}
