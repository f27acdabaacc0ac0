package robot_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"poise/robot"
)

// TestSetAgainstMap compares every operation with that of a map of leaves.
func TestSetAgainstMap(t *testing.T) {
	const seed = 5
	rng := rand.New(rand.NewPCG(seed, 1))
	draw := func() (robot.Set, map[robot.LeafID]bool) {
		var s robot.Set
		m := map[robot.LeafID]bool{}
		for range rng.IntN(40) {
			id := robot.LeafID(rng.IntN(robot.MaxLeaves))
			s, m[id] = s.With(id), true
		}
		return s, m
	}
	leaves := func(keep func(robot.LeafID) bool) []robot.LeafID {
		var all []robot.LeafID
		for id := range robot.LeafID(robot.MaxLeaves) {
			if keep(id) {
				all = append(all, id)
			}
		}
		return all
	}
	for n := range 300 {
		a, ma := draw()
		b, mb := draw()
		for name, tc := range map[string]struct {
			got  robot.Set
			want []robot.LeafID
		}{
			"union":     {a.Union(b), leaves(func(id robot.LeafID) bool { return ma[id] || mb[id] })},
			"intersect": {a.Intersect(b), leaves(func(id robot.LeafID) bool { return ma[id] && mb[id] })},
			"minus":     {a.Minus(b), leaves(func(id robot.LeafID) bool { return ma[id] && !mb[id] })},
			"itself":    {a, leaves(func(id robot.LeafID) bool { return ma[id] })},
		} {
			if got := slices.Collect(tc.got.All); !slices.Equal(got, tc.want) || tc.got.Len() != len(tc.want) || tc.got.Empty() != (len(tc.want) == 0) {
				t.Errorf("seed %d, case %d: %s is %v, want %v", seed, n, name, got, tc.want)
			}
		}
		if a.Overlaps(b) != !a.Intersect(b).Empty() || !a.Union(b).Contains(a) || a.Contains(b) != b.Minus(a).Empty() {
			t.Errorf("seed %d, case %d: Overlaps or Contains is wrong", seed, n)
		}
		for id := range robot.LeafID(robot.MaxLeaves) {
			if a.Has(id) != ma[id] || a.Without(id).Has(id) || a.With(id).Without(id) != a.Without(id) {
				t.Errorf("seed %d, case %d: leaf %d is wrong", seed, n, id)
			}
		}
	}
}

func TestSetStopsWhenAsked(t *testing.T) {
	s := robot.Leaf(3).With(200)
	for id := range s.All {
		if id != 3 {
			t.Errorf("first leaf %d, want 3", id)
		}
		break
	}
}

func TestSetNoAlloc(t *testing.T) {
	a, b := robot.Leaf(1).With(100), robot.Leaf(100).With(255)
	n := 0
	if got := testing.AllocsPerRun(100, func() {
		for range a.Union(b).Minus(a.Intersect(b)).Without(255).All {
			n++
		}
	}); got != 0 {
		t.Errorf("%g allocations", got)
	}
}
