package loop_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"poise/control"
	"poise/control/stream"
	"poise/internal/rig"
	"poise/loop"
	"poise/robot"
)

// outside is a robot with seats for external controllers, stepped by hand.
func outside(t testing.TB, seats ...string) *rig.Rig {
	t.Helper()
	m := rig.Model(t, "pony")
	var all []loop.Registration
	for _, name := range seats {
		s, err := stream.New(m, control.Transition{})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, loop.Registration{Name: name, Kind: "stream", Controller: s, Remote: true, Pending: 40, Operational: 40})
	}
	return rig.New(t, m, rig.Options{}, all...)
}

// TestRandomControllersOutside: three seats of external controllers ask for needed and wanted
// parts at random ranks, answer late, never, twice and wrongly, send values without owning,
// and quit. No leaf has two owners, every request is answered within bounded time, what
// is unowned comes to rest, and one that is not concerned is never asked.
func TestRandomControllersOutside(t *testing.T) {
	for seed := range uint64(4) {
		randomOutside(t, seed)
	}
}

// TestValuesOfOthersMoveNothing: the same random external controllers twice, with the same values
// where they own joints and other ones where they do not. Every command of every tick is the same,
// bit for bit: what one that does not own a joint says of it has no effect, not even later.
func TestValuesOfOthersMoveNothing(t *testing.T) {
	for seed := range uint64(3) {
		first := randomStreams(t, seed, nil)
		again := randomStreams(t, seed, first)
		moved := 0
		for n := range first {
			for j, q := range first[n].q {
				if q != again[n].q[j] {
					t.Fatalf("seed %d, tick %d: joint %d goes to %v and, with other values of those who do not own it, to %v", seed, n, j, q, again[n].q[j])
				}
				if n > 0 && q != first[n-1].q[j] {
					moved++
				}
			}
		}
		if moved < 5000 {
			t.Errorf("seed %d: joints moved in %d ticks only", seed, moved)
		}
	}
}

// moment is where joints are led in a tick, and who owns what at its end.
type moment struct {
	q   []float64
	own [3]robot.Set
}

// randomStreams lets three external controllers fight for parts, all of which stream all joints all
// the time. With a run before, what they say of joints that they did not own then is something else.
func randomStreams(t *testing.T, seed uint64, before []moment) (all []moment) {
	names := []string{"a", "b", "c"}
	r := outside(t, names...)
	random, other := rand.New(rand.NewPCG(seed, 9)), rand.New(rand.NewPCG(seed, 10))
	parts := []robot.Set{r.Set("tail"), r.Set("mouth"), r.Set("ears")}
	joints := len(r.M.Joints())
	fought := parts[0].Union(parts[1]).Union(parts[2])
	for n := range 6000 {
		i := random.IntN(3)
		c := r.Controller(names[i])
		switch x := random.IntN(1000); {
		case x < 8:
			p := &stream.Program{Wants: parts[random.IntN(3)].Union(parts[random.IntN(3)]), Lease: 60}
			p.Ranks = []stream.Rank{{Leaves: fought, Pending: float32(40 + random.IntN(20)), Operational: float32(30 + random.IntN(20))}}
			r.Send(loop.Order{Kind: loop.StartGoal, Controller: c, Goal: uint64(10 + n), Program: p})
		case x < 10:
			r.Send(loop.Order{Kind: loop.Answer, Controller: c, Value: loop.Quits})
		}
		if n%7 == 0 {
			for k, name := range names {
				s := &stream.Sample{At: r.Tick().Time, Joints: fought, Q: make([]float64, joints)}
				for leaf := range fought.All {
					s.Q[leaf] = middle(r.M, int(leaf)) + 0.04*random.Float64()
					if before != nil && !before[max(n-1, 0)].own[k].Has(leaf) && !before[n].own[k].Has(leaf) {
						s.Q[leaf] = middle(r.M, int(leaf)) - 0.1*other.Float64()
					}
				}
				r.Feed(name, s)
			}
		}
		r.Run(1)
		for _, rep := range r.Reports {
			if rep.Kind == loop.Asked {
				r.Send(loop.Order{Kind: loop.Answer, Controller: rep.Controller, Value: rep.Value})
			}
		}
		r.Reports = r.Reports[:0]
		m := moment{q: slices.Clone(r.Now.Command.Q)}
		for k, name := range names {
			m.own[k] = r.Now.Active[r.Controller(name)].Own
		}
		all = append(all, m)
	}
	return all
}

// middle is the middle of a joint's range.
func middle(m *robot.Model, joint int) float64 {
	l := &m.Joints()[joint].Limits
	return (l.Lower.Value + l.Upper.Value) / 2
}

func randomOutside(t *testing.T, seed uint64) {
	const bound = 250 // ticks of 1 ms: two timeouts of 100 ms, and what is decided in turn
	names := []string{"a", "b", "c"}
	r := outside(t, "a", "b", "c", "aside")
	random := rand.New(rand.NewPCG(seed, 7))
	parts := []robot.Set{r.Set("tail"), r.Set("mouth"), r.Set("ears")}
	joints := len(r.M.Joints())

	aside := r.Controller("aside")
	r.Send(loop.Order{Kind: loop.StartGoal, Controller: aside, Goal: 1, Program: &stream.Program{Needs: r.Set("head"), Lease: 60}})
	r.Run(1)
	for _, rep := range r.Reports {
		if rep.Kind == loop.Asked {
			r.Send(loop.Order{Kind: loop.Answer, Controller: aside, Value: rep.Value})
		}
	}
	r.Run(2)
	if !r.Now.Active[aside].Active {
		t.Fatal("it was not granted")
	}
	r.Reports = nil

	since := map[uint64]uint64{} // goals that wait for their answer, by the tick they were sent
	goal, asked, started := uint64(10), 0, 0
	free := make([]int, joints) // ticks for which a joint has had no owner
	for n := range 12000 {
		if n%1000 == 0 {
			r.Send(loop.Order{Kind: loop.Answer, Controller: aside, Value: loop.SignOfLife})
		}
		c := r.Controller(names[random.IntN(3)])
		switch x := random.IntN(1000); {
		case x < 12:
			p := &stream.Program{}
			for _, part := range parts {
				switch random.IntN(3) {
				case 0:
					p.Needs = p.Needs.Union(part)
				case 1:
					p.Wants = p.Wants.Union(part)
				}
				p.Ranks = append(p.Ranks, stream.Rank{Leaves: part, Pending: float32(30 + random.IntN(30)), Operational: float32(30 + random.IntN(30))})
			}
			goal++
			r.Send(loop.Order{Kind: loop.StartGoal, Controller: c, Goal: goal, Program: p})
			since[goal] = r.N
		case x < 15:
			r.Send(loop.Order{Kind: loop.Answer, Controller: c, Goal: r.Now.Active[c].Goal, Value: []float64{loop.Quits, loop.QuitsRunning}[random.IntN(2)]})
		case x < 60:
			r.Send(loop.Order{Kind: loop.Answer, Controller: c, Value: float64(random.IntN(30))}) // a sign of life, or for another round
		case x < 80:
			s := &stream.Sample{At: r.Tick().Time, Joints: control.JointLeaves(joints), Q: make([]float64, joints)}
			r.Feed(names[random.IntN(3)], s)
		}
		r.Run(1)
		for _, rep := range r.Reports {
			switch rep.Kind {
			case loop.Asked:
				asked++
				if rep.Controller == aside {
					t.Fatalf("seed %d, tick %d: one that is not concerned was asked: %+v", seed, n, rep)
				}
				for range random.IntN(3) { // never, once, twice
					r.Send(loop.Order{Kind: loop.Answer, Controller: rep.Controller, Value: rep.Value})
				}
			case loop.GoalStarted, loop.GoalRejected:
				delete(since, rep.Goal)
				if rep.Kind == loop.GoalStarted {
					started++
				}
			}
		}
		r.Reports = r.Reports[:0]
		for g, at := range since {
			if r.N-at > bound {
				t.Fatalf("seed %d, tick %d: request %d is not answered after %d ms", seed, n, g, r.N-at)
			}
		}
		judgeOwners(t, r, free)
	}
	if started < 20 || asked < 100 {
		t.Errorf("seed %d: too little happened: %d started, %d asked", seed, started, asked)
	}
}

// judgeOwners wants every leaf to have one owner at most, and joints without one to come to
// rest.
func judgeOwners(t *testing.T, r *rig.Rig, free []int) {
	t.Helper()
	var all robot.Set
	for i := range r.Now.Active {
		own := r.Now.Active[i].Own
		if own.Overlaps(all) {
			t.Fatalf("tick %d: a leaf has two owners", r.N)
		}
		all = all.Union(own)
	}
	for j := range free {
		if free[j]++; all.Has(robot.LeafID(j)) {
			free[j] = 0
		}
		if v := r.Now.Command.V[j]; free[j] > 1500 && v != 0 {
			t.Fatalf("tick %d: joint %s has no owner, and moves at %g", r.N, r.M.Joints()[j].Name, v)
		}
	}
}

// TestAHandOverWithAnOutsiderDoesNotAllocate: the request, the offer, its answer, the change
// that the owner is asked for, the grant and the way back cost the cycle no memory.
func TestAHandOverWithAnOutsiderDoesNotAllocate(t *testing.T) {
	r := outside(t, "wag", "yawn")
	wag, yawn := r.Controller("wag"), r.Controller("yawn")
	low := &stream.Program{Wants: r.Set("tail", "ears")}
	high := &stream.Program{Needs: r.Set("tail"), Ranks: []stream.Rank{{Leaves: r.Set("tail"), Pending: 60, Operational: 60}}}
	goal, grants, changes := uint64(1), 0, 0
	step := func() { // a tick, in which who is asked confirms
		r.L.Step(r.Tick())
		r.N++
		for {
			rep, ok := r.L.Receive()
			if !ok {
				return
			}
			switch rep.Kind {
			case loop.Asked:
				r.L.Send(loop.Order{Kind: loop.Answer, Controller: rep.Controller, Value: rep.Value})
				changes += int(rep.From)
			case loop.GoalStarted:
				grants++
			}
		}
	}
	r.L.Send(loop.Order{Kind: loop.StartGoal, Controller: wag, Goal: goal, Program: low})
	handOver := func() {
		goal++
		r.L.Send(loop.Order{Kind: loop.StartGoal, Controller: yawn, Goal: goal, Program: high})
		for range 10 {
			step()
		}
		r.L.Send(loop.Order{Kind: loop.Answer, Controller: wag, Value: loop.SignOfLife})
		r.L.Send(loop.Order{Kind: loop.Answer, Controller: yawn, Value: loop.Quits})
		for range 10 {
			step()
		}
	}
	for range 5 {
		step()
	}
	handOver()
	if n := testing.AllocsPerRun(20, handOver); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if grants < 20 || changes < 40 { // each time the tail goes, and comes back
		t.Errorf("%d grants and %d changes", grants, changes)
	}
}
