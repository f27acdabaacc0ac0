package arbiter_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"poise/arbiter"
	"poise/robot"
)

const leg1, tail = robot.LeafID(0), robot.LeafID(4)

// player is a controller whose hooks can say no.
type player struct{ refuse bool }

func (p *player) CanStart(robot.Set) bool       { return !p.refuse }
func (*player) ResourcesChanged(robot.Set) bool { return true }

// TestSwitchingSeedOperations has one test for each sentence of the switching
// document on the arbiter with operations.
func TestSwitchingSeedOperations(t *testing.T) {
	t.Run("what a request stops has stopped when it returns", func(t *testing.T) {
		a := arbiter.NewDirect(arbiter.Config{Policy: arbiter.PolicyLast})
		gait, _ := a.Register(0, "gait", nil)
		trot, _ := a.Register(0, "trot", nil)
		claim := arbiter.Claim{Need: robot.Leaf(leg1)}
		a.Request(0, gait, &claim)
		if r, err := a.Request(0, trot, &claim); err != nil || r.Code != arbiter.OK {
			t.Fatalf("%v, %v", r, err)
		}
		own := a.Client(gait)
		if a.Phase(gait) != arbiter.NonOperational || own.Phase() != arbiter.NonOperational || a.Owner(leg1) != trot {
			t.Error("the request returned before the gait had stopped")
		}
	})
	t.Run("a call from inside a hook is refused, not waited for", func(t *testing.T) {
		a := arbiter.NewDirect(arbiter.Config{Policy: arbiter.PolicyLast})
		h := &caller{a: a}
		h.id, _ = a.Register(0, "gait", h)
		claim := arbiter.Claim{Need: robot.Leaf(leg1)}
		if r, err := a.Request(0, h.id, &claim); err != nil || r.Code != arbiter.OK {
			t.Fatalf("%v, %v", r, err)
		}
		for _, err := range h.errs {
			if err != arbiter.ErrBusy {
				t.Errorf("a call from inside returned %v", err)
			}
		}
		if len(h.errs) != 5 {
			t.Errorf("%d calls from inside", len(h.errs))
		}
		if err := a.Release(0, h.id, robot.Leaf(leg1)); err != nil {
			t.Errorf("the call from outside returned %v", err)
		}
	})
	t.Run("new controllers need no table: they register by name at run time", func(t *testing.T) {
		a := arbiter.NewDirect(arbiter.Config{Policy: arbiter.PolicyLast})
		claim := arbiter.Claim{Need: robot.Leaf(tail)}
		for _, name := range []string{"gait", "wag", "shake"} {
			id, err := a.Register(0, name, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r, err := a.Request(0, id, &claim); err != nil || r.Code != arbiter.OK {
				t.Errorf("%s: %v, %v", name, r, err)
			}
			if got := a.Name(a.Owner(tail)); got != name {
				t.Errorf("the tail is owned by %q, want %q", got, name)
			}
		}
	})
}

// caller calls the arbiter from inside its hooks.
type caller struct {
	a    *arbiter.Direct
	id   arbiter.ClientID
	errs []error
}

func (c *caller) CanStart(robot.Set) bool { return true }

func (c *caller) ResourcesChanged(robot.Set) bool {
	claim := arbiter.Claim{Need: robot.Leaf(tail)}
	_, register := c.a.Register(0, "other", nil)
	_, request := c.a.Request(0, c.id, &claim)
	_, _, check := c.a.Check(c.id, &claim)
	c.errs = append(c.errs, register, request, check, c.a.Release(0, c.id, robot.Leaf(leg1)), c.a.Quit(0, c.id))
	return true
}

func TestCheckAsksTheController(t *testing.T) {
	a := arbiter.NewDirect(arbiter.Config{Policy: arbiter.PolicyLast})
	var p player
	id, _ := a.Register(0, "gait", &p)
	claim := arbiter.Claim{Need: robot.Leaf(leg1)}
	if gets, r, err := a.Check(id, &claim); err != nil || r.Code != arbiter.OK || gets != robot.Leaf(leg1) || a.Owner(leg1) != arbiter.NoClient {
		t.Errorf("%v %v %v", gets, r, err)
	}
	p.refuse = true
	if _, r, _ := a.Check(id, &claim); r.Code != arbiter.Refused {
		t.Errorf("%v", r)
	}
	if r, err := a.Request(0, id, &claim); err != nil || r.Code != arbiter.Refused {
		t.Errorf("%v %v", r, err)
	}
}

func TestStrangersAreRefused(t *testing.T) {
	a := arbiter.NewDirect(arbiter.Config{})
	claim := arbiter.Claim{Need: robot.Leaf(leg1)}
	_, request := a.Request(0, 7, &claim)
	_, _, check := a.Check(arbiter.NoClient, &claim)
	for _, err := range []error{request, check, a.Release(0, 7, robot.Leaf(leg1)), a.Quit(0, 7)} {
		if !errors.Is(err, arbiter.ErrName) {
			t.Errorf("error %v", err)
		}
	}
}

func TestDirectNames(t *testing.T) {
	a := arbiter.NewDirect(arbiter.Config{Policy: arbiter.PolicyLast})
	for i := range arbiter.MaxClients {
		id, err := a.Register(0, fmt.Sprint(i), nil)
		if err != nil || id != arbiter.ClientID(i) {
			t.Fatalf("%d: %v %v", i, id, err)
		}
	}
	if _, err := a.Register(0, "one too many", nil); !errors.Is(err, arbiter.ErrFull) {
		t.Errorf("error %v", err)
	}
	if id, ok := a.Lookup("7"); !ok || id != 7 {
		t.Errorf("7 is %d, %v", id, ok)
	}
	if _, ok := a.Lookup("one too many"); ok {
		t.Error("a stranger is known")
	}
	if a.Name(5) != "5" || a.Name(arbiter.NoClient) != "" {
		t.Errorf("%q %q", a.Name(5), a.Name(arbiter.NoClient))
	}
	// a name that comes again begins again
	claim := arbiter.Claim{Need: robot.Leaf(leg1)}
	a.Request(0, 5, &claim)
	if id, err := a.Register(1, "5", nil); err != nil || id != 5 || a.Owner(leg1) != arbiter.NoClient {
		t.Errorf("%v %v, leg1 is owned by %d", id, err, a.Owner(leg1))
	}
	if r, err := a.Request(2, 5, &claim); err != nil || r.Code != arbiter.OK || a.Owner(leg1) != 5 {
		t.Errorf("%v %v", r, err)
	}
}

// TestCallsAndMessagesGiveTheSameOwnership: the same calls made directly and sent as messages
// come to the same ownership.
func TestCallsAndMessagesGiveTheSameOwnership(t *testing.T) {
	const n, nLeaves = 8, 8
	steps := 3000
	if testing.Short() {
		steps = 300
	}
	for _, p := range []arbiter.Policy{arbiter.PolicyNone, arbiter.PolicyLast, arbiter.PolicyPriority} {
		const seed = 2
		rng := rand.New(rand.NewPCG(seed, uint64(p)))
		called := arbiter.NewDirect(arbiter.Config{Policy: p})
		sent := &wired{}
		sent.Init(arbiter.Config{Policy: p})
		var players [n]player
		for c := range arbiter.ClientID(n) {
			called.Register(0, fmt.Sprint(c), &players[c])
			sent.clients = append(sent.clients, arbiter.NewClient(c, 0, 0))
			sent.send(arbiter.Event{Kind: arbiter.Register, From: c}, nil)
		}
		for step := range steps {
			c := arbiter.ClientID(rng.IntN(n))
			players[c].refuse = rng.IntN(5) == 0
			claim := arbiter.Claim{Need: robot.Set{rng.Uint64N(256) & rng.Uint64()}, Want: robot.Set{rng.Uint64N(256)}}
			for leaf := range nLeaves {
				claim.Pending[leaf], claim.Operational[leaf] = float32(rng.IntN(4)), float32(rng.IntN(4))
			}
			part := robot.Leaf(robot.LeafID(rng.IntN(nLeaves)))
			switch rng.IntN(4) {
			case 0, 1:
				called.Request(0, c, &claim)
				sent.send(sent.clients[c].Request(0, &claim), players[:])
			case 2:
				called.Quit(0, c)
				if e, ok := sent.clients[c].Quit(0); ok {
					sent.send(e, players[:])
				}
			case 3:
				called.Release(0, c, part)
				if e, ok := sent.clients[c].Release(0, part); ok {
					sent.send(e, players[:])
				}
			}
			for c := range arbiter.ClientID(n) {
				if called.Phase(c) != sent.Phase(c) {
					t.Fatalf("%v seed %d step %d: client %d is %v called directly, %v over the wire", p, seed, step, c, called.Phase(c), sent.Phase(c))
				}
			}
			for leaf := range robot.LeafID(nLeaves) {
				if called.Owner(leaf) != sent.Owner(leaf) {
					t.Fatalf("%v seed %d step %d: leaf %d is owned by %d called directly, by %d over the wire", p, seed, step, leaf, called.Owner(leaf), sent.Owner(leaf))
				}
			}
		}
	}
}

// wired is an arbiter with remote clients on a wire that keeps the order.
type wired struct {
	arbiter.State
	out     arbiter.Effects
	clients []arbiter.Client
}

func (w *wired) send(e arbiter.Event, players []player) {
	for queue := []arbiter.Event{e}; len(queue) > 0; queue = queue[1:] {
		w.Handle(&queue[0], &w.out)
		for _, m := range w.out.Messages() {
			if answer, ok := w.clients[m.To].Receive(0, &m, &players[m.To]); ok {
				queue = append(queue, answer)
			}
		}
	}
}
