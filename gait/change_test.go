package gait

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestGaitsChangeWhileItWalks: another gait, or the same with other parameters, at random instants of a walk: it goes on
// without a stop and without a jump, its zero-moment point as far inside as that of walks in which nothing changes.
func TestGaitsChangeWhileItWalks(t *testing.T) {
	runs := uint64(12)
	if testing.Short() {
		runs = 4
	}
	least, slowest, reach := map[string]float64{}, 0.0, 0.0
	for seed := range runs {
		rng := rand.New(rand.NewPCG(126, seed))
		legs := [][]Point{four, four, six}[seed%3]
		names := []string{"crawl", "trot"}
		if seed%2 == 0 {
			names = names[:1]
		}
		w := newWalker(t, legs, names[0])
		w.Command(Velocity{X: 0.9 * w.Fastest()})
		w.run(2.5)
		for range 6 {
			g, err := Derive(names[rng.IntN(len(names))], legs, w.cfg.Height, 9.81)
			if err != nil {
				t.Fatal(err)
			}
			g.Period *= 0.8 + 0.6*rng.Float64()
			g.Duty += (1 - g.Duty) * (0.1 + 0.3*rng.Float64())
			g.Lift *= 0.7 + 0.6*rng.Float64()
			if err := w.SetGait(&g); err != nil {
				t.Fatal(err)
			}
			begin := w.Planner.t
			w.Command(Velocity{X: (0.5 + 0.4*rng.Float64()) * w.Fastest(), Yaw: 0.2 * rng.NormFloat64()})
			for w.Gait().Period != g.Period {
				w.run(2 * tick)
				if w.Phase() != Walks {
					t.Fatalf("seed %d: it %v while its gait changes", seed, w.Phase())
				}
				if w.Planner.t-begin > 6 {
					t.Fatalf("seed %d: %s has not begun after 6 s", seed, g.Name)
				}
			}
			slowest = max(slowest, w.Planner.t-begin)
			w.run(2 * rng.Float64())
		}
		key := fmt.Sprintf("%d legs, %v", len(legs), names)
		if m, ok := least[key]; !ok || w.least < m {
			least[key] = w.least
		}
		reach = max(reach, w.reach/w.cfg.Reach)
	}
	// of a trot the distance from the line between two feet, outside
	allowed := map[string]float64{"4 legs, [crawl]": 0.004, "4 legs, [crawl trot]": -0.004, "6 legs, [crawl]": 0.02, "6 legs, [crawl trot]": 0.015}
	for key, m := range least {
		t.Logf("%s: least margin %.1f mm", key, 1e3*m)
		if !(m >= allowed[key]) {
			t.Errorf("%s: the zero-moment point is %.1f mm inside", key, 1e3*m)
		}
	}
	t.Logf("changes took %.2f s at most, feet are %.2f of their reach from their places", slowest, reach)
	if reach > 1.8 {
		t.Errorf("a foot is %g of its reach from its place", reach)
	}
}

// TestCrawlsInAnyOrder: all six orders in which four feet can follow each other, and some of six feet.
func TestCrawlsInAnyOrder(t *testing.T) {
	try := func(legs []Point, order []int) {
		t.Helper()
		p, err := New(Config{Legs: legs, Height: 0.174})
		if err != nil {
			t.Fatal(err)
		}
		w := &walker{t: t, Planner: p, name: fmt.Sprint(order), least: math.Inf(1), feet: make([]Motion, len(legs))}
		g, err := Derive("crawl", legs, 0.174, 9.81)
		if err != nil {
			t.Fatal(err)
		}
		g = Crawl(order, g.Period, g.Duty, g.Lift)
		if err := w.SetGait(&g); err != nil {
			t.Fatal(err)
		}
		w.Place(Point{}, 0, legs, Point{})
		s := 0.5 * w.Fastest()
		w.Command(Velocity{X: s})
		w.run(2.5)
		from := w.Com(0).P.X
		w.run(2 * g.Period)
		t.Logf("%d legs, order %v: margin %.1f mm", len(legs), order, 1e3*w.least)
		if made := (w.Com(0).P.X - from) / (2 * g.Period); w.least < 0.004 || math.Abs(made-s) > 0.1*s {
			t.Errorf("%d legs, order %v: %g m/s of %g, the zero-moment point is %.1f mm inside", len(legs), order, made, s, 1e3*w.least)
		}
	}
	for _, rest := range [][]int{{1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {2, 3, 1}, {3, 1, 2}, {3, 2, 1}} {
		try(four, slices.Concat([]int{0}, rest))
	}
	rng := rand.New(rand.NewPCG(126, 6))
	for range 3 {
		try(six, rng.Perm(6))
	}
}
