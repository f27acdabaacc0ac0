package arbiter

import (
	"math/rand/v2"
	"testing"

	"poise/robot"
)

func claimOf(need, want robot.Set, pending, operational float32) Claim {
	c := Claim{Need: need, Want: want}
	c.SetPriority(pending, operational)
	return c
}

func leaves(ids ...robot.LeafID) (s robot.Set) {
	for _, id := range ids {
		s = s.With(id)
	}
	return s
}

// A gait that needs the legs (0, 1) and wants the tail (2); a second gait that
// would also turn the head (3); an animation of tail and head, or of the head
// alone with the tail if it can be had.
var exploreMenu = [nClients][]Claim{
	{claimOf(leaves(0, 1), leaves(2), 5, 2)},
	{claimOf(leaves(1), leaves(0, 3), 5, 3)},
	{claimOf(leaves(2, 3), robot.Set{}, 4, 4), claimOf(leaves(3), leaves(2), 4, 4)},
}

// Controllers that want what the others need, and ask for something else while
// they run.
var crossMenu = [nClients][]Claim{
	{claimOf(leaves(0), leaves(2), 5, 2), claimOf(leaves(0, 1), robot.Set{}, 5, 2)},
	{claimOf(leaves(1), leaves(2), 4, 3), claimOf(leaves(3), leaves(0), 4, 3)},
	{claimOf(leaves(3), robot.Set{}, 5, 5), claimOf(leaves(2), leaves(0, 1), 5, 5)},
}

// exploration is one walk through all interleavings, as far as a budget goes.
type exploration struct {
	name    string
	policy  Policy
	running []int // clients that run when it begins
	left    budget
	menu    *[nClients][]Claim // exploreMenu if nil
}

// Those of every run, and those of a soak.
var (
	explorations = []exploration{
		{"three requests at once", PolicyPriority, nil, budget{Requests: [nClients]int8{1, 1, 1}, Time: 1}, nil},
		{"loss, two requests", PolicyLast, []int{0}, budget{Requests: [nClients]int8{0, 1, 1}, Lost: 1, Time: 1}, nil},
		{"loss twice", PolicyPriority, []int{0, 2}, budget{Requests: [nClients]int8{0, 1, 0}, Lost: 2, Time: 3}, nil},
		{"doubling", PolicyPriority, []int{0, 2}, budget{Requests: [nClients]int8{0, 1, 0}, Doubled: 2, Time: 3}, nil},
		{"crash and restart", PolicyLast, []int{0, 2}, budget{Requests: [nClients]int8{0, 1, 0}, Crashes: 1, Restarts: 1, Time: 4}, nil},
		{"refusal", PolicyLast, []int{0, 2}, budget{Requests: [nClients]int8{0, 1, 0}, Refusals: 1, Dislikes: 1, Time: 3}, nil},
		{"release", PolicyLast, []int{0, 2}, budget{Requests: [nClients]int8{0, 1, 0}, Quits: 1, Parts: 1, Time: 1}, nil},
		{"request while running", PolicyPriority, []int{0}, budget{Requests: [nClients]int8{1, 1, 0}, Reports: 1, Time: 2}, nil},
		{"loss, doubling and crash", PolicyLast, []int{0}, budget{Requests: [nClients]int8{0, 1, 0}, Lost: 1, Doubled: 1, Crashes: 1, Time: 4}, nil},
		{"wants across", PolicyLast, []int{0, 1, 2}, budget{Requests: [nClients]int8{1, 0, 1}, Quits: 1, Time: 1}, &crossMenu},
		{"wants across, loss", PolicyPriority, []int{0, 1, 2}, budget{Requests: [nClients]int8{1, 1, 0}, Lost: 1, Time: 1}, &crossMenu},
		{"no policy", PolicyNone, []int{0}, budget{Requests: [nClients]int8{0, 1, 0}, Quits: 1, Lost: 1, Crashes: 1, Time: 3}, nil},
	}
	soakExplorations = []exploration{
		{"two requests, loss and doubling", PolicyLast, []int{0, 2}, budget{Requests: [nClients]int8{0, 1, 1}, Lost: 1, Doubled: 1, Time: 2}, nil},
		{"all faults at once", PolicyPriority, []int{0, 2}, budget{Requests: [nClients]int8{0, 1, 0}, Lost: 2, Doubled: 1, Crashes: 1, Reports: 1, Time: 3}, nil},
		{"two requests, loss and crash", PolicyPriority, []int{0}, budget{Requests: [nClients]int8{0, 1, 1}, Lost: 1, Crashes: 1, Time: 3}, nil},
		{"request while running, loss", PolicyLast, []int{0, 2}, budget{Requests: [nClients]int8{1, 1, 0}, Lost: 1, Quits: 1, Time: 3}, nil},
		{"two requests, refusals", PolicyLast, []int{0, 2}, budget{Requests: [nClients]int8{0, 1, 1}, Refusals: 1, Dislikes: 1, Quits: 1, Time: 2}, nil},
		{"wants across, three requests", PolicyLast, []int{0, 1, 2}, budget{Requests: [nClients]int8{1, 1, 1}, Quits: 1, Time: 2}, &crossMenu},
		{"wants across, faults", PolicyPriority, []int{0, 1, 2}, budget{Requests: [nClients]int8{1, 1, 0}, Quits: 1, Lost: 1, Crashes: 1, Time: 3}, &crossMenu},
		{"no policy, two requests", PolicyNone, []int{0}, budget{Requests: [nClients]int8{0, 1, 1}, Lost: 1, Crashes: 1, Quits: 1, Time: 3}, nil},
	}
)

// begin makes the first world of an exploration.
func (x *explorer) begin(e exploration) *world {
	w := x.start(e.left)
	for _, c := range e.running {
		w.send(w.clients[c].Request(w.now, &x.menu[c][0]), 0)
		for w.inNet > 0 {
			x.deliver(w, w.take(0))
		}
	}
	return w
}

// TestExplore proves by exhaustion: never two owners, never an owner that is
// not operational at rest, every round ends, who is not affected is not called,
// what is released returns to the right one, no deadlock.
func TestExplore(t *testing.T) {
	list, limit := explorations, 1<<30
	switch {
	case soak():
		list, limit = append(list, soakExplorations...), 4_000_000
	case testing.Short():
		limit = 2000
	}
	total := 0
	for _, e := range list {
		t.Run(e.name, func(t *testing.T) {
			menu := &exploreMenu
			if e.menu != nil {
				menu = e.menu
			}
			x := newExplorer(e.policy, *menu)
			w := x.begin(e)
			first := *w
			path := x.explore(w, nil, limit)
			t.Logf("%v: %d states, %d moves", e.policy, len(x.seen), x.moves)
			if x.fault != nil {
				t.Errorf("%v", x.fault)
				x.tell(t, &first, path)
			}
			if x.most == maxNet {
				t.Errorf("%d messages under way at once: some were dropped for want of room", x.most)
			}
			total += len(x.seen)
		})
	}
	t.Logf("%d states of %d controllers and %d leaves", total, nClients, nLeaves)
	const promised = 100_000
	if total < promised && !testing.Short() && !t.Failed() {
		t.Errorf("%d states, want at least %d", total, promised)
	}
}

// TestExploreRandomWalks goes where exhaustion cannot: long ways with every
// kind of fault, each step together with all that might have come instead.
func TestExploreRandomWalks(t *testing.T) {
	walks := 1000
	if testing.Short() {
		walks = 20
	}
	if soak() {
		walks = 60_000
	}
	left := budget{Requests: [nClients]int8{3, 3, 3}, Quits: 2, Parts: 2, Refusals: 2, Dislikes: 2,
		Lost: 4, Doubled: 3, Crashes: 2, Restarts: 2, Reports: 4, Time: 20}
	for _, p := range []Policy{PolicyNone, PolicyLast, PolicyPriority} {
		t.Run(p.String(), func(t *testing.T) {
			const seed = 1
			rng := rand.New(rand.NewPCG(seed, uint64(p)))
			x := newExplorer(p, exploreMenu)
			for n := range walks {
				w := *x.begin(exploration{left: left})
				first := w
				var path []int
				for len(path) < 60 && x.fault == nil {
					var next world
					count, chosen := 0, 0
					x.each(&w, 0, func(n *world, _ string) {
						if count++; rng.IntN(count) == 0 {
							next, chosen = *n, count
						}
					})
					if count == 0 {
						break
					}
					w, path = next, append(path, chosen)
				}
				clear(x.rests)
				if x.fault == nil {
					x.rest(&w)
				}
				if x.fault != nil {
					t.Errorf("seed %d walk %d: %v, on the way or beside it", seed, n, x.fault)
					x.tell(t, &first, path)
					return
				}
			}
			t.Logf("%d moves", x.moves)
		})
	}
}

// TestExplorerSeesTheWholeState: what the explorer keeps of a State is all that
// a later decision can depend on.
func TestExplorerSeesTheWholeState(t *testing.T) {
	x := newExplorer(PolicyPriority, exploreMenu)
	w := x.begin(exploration{running: []int{0, 2}, left: budget{Requests: [nClients]int8{0, 1, 0}}})
	for range 6 {
		var next world
		x.each(w, 0, func(n *world, _ string) { next = *n })
		*w = next
		x.load(w)
		again := new(State)
		again.Init(x.cfg)
		was := x.s
		x.s = *again
		x.load(w)
		x.s.since, x.s.why = was.since, was.why
		if x.s != was {
			t.Fatal("a State that was put aside and taken up again is not the same")
		}
	}
}
