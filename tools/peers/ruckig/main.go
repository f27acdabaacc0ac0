// Command ruckig times package move on the tasks of ../ruckig.cpp, which makes the
// same numbers, and prints lines in Go's benchmark format: the smallest mean over
// batches of calls on a pool of tasks.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"poise/trajectory/move"
)

const (
	axes = 7
	pool = 256
)

// random makes uniform numbers in [0, 1): the same as in ruckig.cpp.
type random uint64

func (r *random) between(lo, hi float64) float64 {
	*r = *r*6364136223846793005 + 1442695040888963407
	return lo + (hi-lo)*float64(*r>>11)/(1<<53)
}

type task struct {
	limits   []move.Limits
	from, to []move.State
}

func tasks(moving bool) []task {
	r := random(1)
	all := make([]task, pool)
	for k := range all {
		t := &all[k]
		for range axes {
			vel, acc, jerk := r.between(0.5, 4), r.between(0.5, 8), r.between(1, 40)
			t.limits = append(t.limits, move.Symmetric(vel, acc, jerk))
			from, to := move.State{P: r.between(-3, 3)}, move.State{P: r.between(-3, 3)}
			v, a := r.between(-0.5, 0.5), r.between(-0.5, 0.5)
			if moving {
				from.V, from.A = v, a
			}
			t.from, t.to = append(t.from, from), append(t.to, to)
		}
	}
	return all
}

func main() {
	seconds := 0.4
	if s, err := strconv.ParseFloat(os.Getenv("POISE_PEERS_SECONDS"), 64); err == nil {
		seconds = s
	}
	for _, moving := range []bool{false, true} {
		if err := run(moving, seconds); err != nil {
			fmt.Fprintln(os.Stderr, "ruckig:", err)
			os.Exit(1)
		}
	}
}

func run(moving bool, seconds float64) error {
	all := tasks(moving)
	m, err := move.New(all[0].limits)
	if err != nil {
		return err
	}
	plan, sample := "rest-to-rest", "sample-rest"
	if moving {
		plan, sample = "moving-to-rest", "sample-moving"
	}
	sum, calls, best := 0.0, 0, 1e300
	for end := time.Now().Add(time.Duration(seconds * 1e9)); time.Now().Before(end); calls += pool {
		sum = 0
		begin := time.Now()
		for k := range all {
			// limits are part of a task of Ruckig, and checked each time
			t := &all[k]
			if err := m.SetLimits(t.limits); err != nil {
				return err
			}
			if err := m.Reach(t.from, t.to, move.Options{}); err != nil {
				return err
			}
			sum += m.Duration()
		}
		best = min(best, float64(time.Since(begin).Nanoseconds())/pool)
	}
	fmt.Printf("BenchmarkPeer/poise/%s/%d-axes %d %.1f ns/op %.9f s-in-all\n", plan, axes, calls, best, sum)

	// one sample of all axes
	states := make([]move.State, axes)
	best = 1e300
	for range 200 {
		begin := time.Now()
		for i := range pool {
			m.StatesTo(states, m.Duration()*float64(i)/pool)
		}
		best = min(best, float64(time.Since(begin).Nanoseconds())/pool)
	}
	fmt.Printf("BenchmarkPeer/poise/%s/%d-axes %d %.1f ns/op\n", sample, axes, 200*pool, best)
	return nil
}
