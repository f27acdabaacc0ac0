package server_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/server/config"
	"poise/wire/rosbridge/requester"
)

// member is an external controller, with what it was called with.
type member struct {
	*requester.Requester
	mu    sync.Mutex
	calls [][]string
	likes func(owned []string) bool
}

func (m *member) changed(owned []string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls = append(m.calls, owned)
	return m.likes == nil || m.likes(owned)
}

func (m *member) called() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.calls)
}

func (b *bed) member(cfg requester.Config, likes func(owned []string) bool) *member {
	b.t.Helper()
	c, _ := b.another()
	m := &member{likes: likes}
	cfg.Changed = m.changed
	r, err := requester.New(c, cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	m.Requester = r
	b.t.Cleanup(m.Close)
	return m
}

// resources returns the newest resource_state.
func (b *bed) resources() poisemsgs.ResourceState {
	b.t.Helper()
	s := b.subscribe("/resource_state")
	defer s.Close()
	return next[poisemsgs.ResourceState](b, s)
}

// ownerOf returns who has a leaf by resource_state.
func (b *bed) ownerOf(leaf string) string {
	b.t.Helper()
	for _, l := range b.resources().Leaves {
		if l.Name == leaf {
			return l.Owner
		}
	}
	b.t.Fatalf("no leaf %s", leaf)
	return ""
}

// TestGaitAndYawnOverTheWire: a gait that needs legs and wants the head loses the head to
// a yawn of a higher rank, goes on, and has it back when that is over. One that is not
// concerned is not called.
func TestGaitAndYawnOverTheWire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		gait := b.member(requester.Config{Name: "gait", Needed: []string{"leg1", "leg2"}, Wanted: []string{"head"}}, nil)
		tail := b.member(requester.Config{Name: "wag", Needed: []string{"tail"}}, nil)
		yawn := b.member(requester.Config{Name: "yawn", Needed: []string{"head"}, Pending: []float32{60}, Operational: []float32{60}}, nil)
		for _, m := range []*member{gait, tail} {
			if err := m.Request(b.ctx); err != nil {
				t.Fatal(err)
			}
		}
		if got := gait.Owned(); !slices.Equal(got, []string{"leg1", "leg2", "head"}) {
			t.Fatalf("the gait has %v", got)
		}
		calls := tail.called()
		if err := yawn.Request(b.ctx); err != nil {
			t.Fatal(err)
		}
		b.until("the gait knows", func() bool { return slices.Equal(gait.Owned(), []string{"leg1", "leg2"}) })
		b.until("the yawn owns the head", func() bool { return b.owns("yawn", "head") && b.owns("gait", "leg1") })
		b.until("the gait waits for the head", func() bool {
			return slices.ContainsFunc(b.resources().Leaves, func(l poisemsgs.ResourceLeaf) bool {
				return slices.Contains(l.Resources, "head") && l.Owner == "yawn" && slices.Contains(l.Waiting, "gait")
			})
		})
		yawn.Quit()
		b.until("the gait has the head back", func() bool { return slices.Contains(gait.Owned(), "head") && b.owns("gait", "head") })
		if tail.called() != calls {
			t.Errorf("the wag was called %d times for nothing: %v", tail.called()-calls, tail.calls)
		}
		rounds := b.resources().Rounds
		found := false
		for _, r := range rounds {
			for _, a := range r.Answers {
				found = found || r.Requester == "yawn" && a.Controller == "gait" && a.Answer == "confirmed"
			}
		}
		if !found {
			t.Errorf("the round of the yawn does not tell the gait's answer: %+v", rounds)
		}
	})
}

// TestNoClientOwnsBeforeItConfirmed: an offer alone moves nothing; at the timeout the silent
// requester is denied, or becomes operational where the configuration says so.
func TestNoClientOwnsBeforeItConfirmed(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"deny", "activate"} {
		t.Run(rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := start(t, func(c *config.Config) { c.Loop.RoundEnd = rule })
				assigned := b.subscribe("/resource_assignment")
				mute := b.outside(b.c, "mute")
				began := time.Now()
				mute.request(asks("mute", 7, "tail"))
				offer := next[msgs.ResourceAssignment](b, assigned)
				for len(offer.RequestIds) == 0 {
					offer = next[msgs.ResourceAssignment](b, assigned)
				}
				if i := slices.Index(offer.Resources, "tail"); offer.Owners[i] != "mute" || time.Since(began) > 60*time.Millisecond {
					t.Fatalf("%+v after %v", offer, time.Since(began))
				}
				if got := b.ownerOf("tail_joint1"); got != "" {
					t.Fatalf("%q owns the tail before it confirmed", got)
				}
				time.Sleep(150*time.Millisecond - time.Since(began))
				if owns := b.owns("mute", "tail"); owns != (rule == "activate") {
					t.Errorf("after the timeout it owns the tail: %v", owns)
				}
				want := map[string]string{"deny": "denied", "activate": "granted"}[rule]
				b.until("the round is "+want, func() bool {
					return slices.ContainsFunc(b.resources().Rounds, func(r poisemsgs.ResourceRound) bool { return r.RequestID == 7 && r.Outcome == want })
				})
				if rule == "deny" {
					mute.state(lives("mute", 7, true)) // late
					time.Sleep(100 * time.Millisecond)
					if b.ownerOf("tail_joint1") != "" {
						t.Error("a late answer took the tail")
					}
				}
			})
		})
	}
}

// TestOneThatLosesAPartDecides: by its answer one goes on without an ear, another quits,
// and one that says nothing loses what it was asked to give up, in bounded time.
func TestOneThatLosesAPartDecides(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		lives := true
		holder := b.member(requester.Config{Name: "holder", Wanted: []string{"head", "ears"}}, func(owned []string) bool {
			return lives || slices.Contains(owned, "ears")
		})
		if err := holder.Request(b.ctx); err != nil {
			t.Fatal(err)
		}
		ear := b.member(requester.Config{Name: "ear", Needed: []string{"ear_l_joint"}, Pending: []float32{70}, Operational: []float32{70}}, nil)
		if err := ear.Request(b.ctx); err != nil {
			t.Fatal(err)
		}
		b.until("it goes on with the head", func() bool {
			return b.ownerOf("ear_l_joint") == "ear" && b.ownerOf("ear_r_joint") == "holder" && b.owns("holder", "head")
		})
		last := msgs.ResourceAssignment{}
		s := b.subscribe("/resource_assignment")
		for !slices.Contains(last.Resources, "ears") {
			last = next[msgs.ResourceAssignment](b, s)
		}
		if owner := last.Owners[slices.Index(last.Resources, "ears")]; owner != "" {
			t.Errorf("the ears are %q's though they have two owners", owner)
		}
		ear.Quit()
		b.until("it has the ear back", func() bool { return b.ownerOf("ear_l_joint") == "holder" })
		holder.mu.Lock()
		lives = false
		holder.mu.Unlock()
		if err := ear.Request(b.ctx); err != nil {
			t.Fatal(err)
		}
		b.until("it has quit", func() bool {
			return b.ownerOf("ear_r_joint") == "" && b.ownerOf("ear_l_joint") == "ear" && holder.Owned() == nil
		})

		silent := b.outside(b.c, "silent")
		silent.request(asks("silent", 1, "tail"))
		b.confirmed(silent, "silent", 1, "tail")
		yawn := b.member(requester.Config{Name: "yawn", Needed: []string{"tail"}, Pending: []float32{70}}, nil)
		began := time.Now()
		if err := yawn.Request(b.ctx); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 90*time.Millisecond || took > 150*time.Millisecond {
			t.Errorf("a silent owner kept the tail for %v", took)
		}
	})
}

// TestTwoGaitsOfEqualRankOverTheWire take over from each other when they are asked to, and
// the higher rank cannot be taken over: the denial says who has what, leaf by leaf.
func TestTwoGaitsOfEqualRankOverTheWire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		legs := []string{"leg1", "leg2"}
		amble := b.member(requester.Config{Name: "amble", Needed: legs, Pending: []float32{60, 60}, Operational: []float32{50, 50}}, nil)
		trot := b.member(requester.Config{Name: "trot", Needed: legs, Pending: []float32{60, 60}, Operational: []float32{50, 50}}, nil)
		low := b.member(requester.Config{Name: "low", Needed: legs, Pending: []float32{10, 10}}, nil)
		for i := range 6 {
			m, other := amble, trot
			if i%2 == 1 {
				m, other = trot, amble
			}
			if err := m.Request(b.ctx); err != nil {
				t.Fatal(i, err)
			}
			b.until("the other is out", func() bool { return other.Owned() == nil })
		}
		if err := low.Request(b.ctx); !errors.Is(err, requester.ErrDenied) {
			t.Fatalf("one of lower rank: %v", err)
		}
		b.until("the denial is told", func() bool {
			for _, c := range b.resources().Clients {
				if c.Name == "low" && len(c.Denied) > 0 {
					return c.Denied[0].Owner == "trot" && strings.Contains(c.Denied[0].Text, "priority 10 against 50")
				}
			}
			return false
		})
		if got := trot.Owned(); !slices.Equal(got, legs) {
			t.Errorf("the owner has %v", got)
		}
	})
}

// TestAControllerThatDiesWhileItHolds frees what it had: at once with its connection, or
// when its lease has ended, which is audited as what it is; the rest of the lease is the
// request's.
func TestAControllerThatDiesWhileItHolds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		o := b.outside(b.c, "mortal")
		o.request(asks("mortal", 1, "tail"))
		b.confirmed(o, "mortal", 1, "tail")
		began := time.Now()
		b.until("the lease has ended", func() bool { return !b.owns("mortal", "tail") })
		if took := time.Since(began); took < 180*time.Millisecond || took > 260*time.Millisecond {
			t.Errorf("the lease of 200 ms took %v", took)
		}
		if len(b.log.lines("msg=audit", "mortal", "no sign of life")) == 0 || len(b.log.lines("msg=audit", "mortal", "called it off")) > 0 {
			t.Errorf("audited as %q", b.log.lines("msg=audit", "mortal"))
		}
		claim := b.publish("/resource_claim", "poise_msgs/msg/ResourceRequest")
		claim(poisemsgs.ResourceRequest{RequesterName: "mortal", RequestID: 2, Needed: []string{"tail"}, Lease: 1})
		b.confirmed(o, "mortal", 2, "tail")
		time.Sleep(800 * time.Millisecond)
		if !b.owns("mortal", "tail") {
			t.Error("a lease of 1 s ended before 0.8 s")
		}
		time.Sleep(400 * time.Millisecond)
		if b.owns("mortal", "tail") {
			t.Error("a lease of 1 s lasted 1.2 s")
		}
	})
}

// TestFourRoundsAtOnce: four controllers of as many clients ask for overlapping sets at the
// same instant; each is answered, and no leaf has two owners.
func TestFourRoundsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		sets := [][]string{{"head", "ears"}, {"ears", "tail"}, {"tail", "mouth"}, {"mouth", "head"}}
		var all []*member
		for i, s := range sets {
			all = append(all, b.member(requester.Config{Name: fmt.Sprintf("c%d", i), Wanted: s}, nil))
		}
		for range 5 {
			var wg sync.WaitGroup
			for _, m := range all {
				wg.Go(func() {
					ctx, cancel := context.WithTimeout(b.ctx, 2*time.Second)
					defer cancel()
					if err := m.Request(ctx); err != nil && !errors.Is(err, requester.ErrDenied) {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			time.Sleep(1200 * time.Millisecond) // all have heard
			owner := map[string]string{}
			for _, m := range all {
				for _, r := range m.Owned() {
					if other := owner[r]; other != "" {
						t.Errorf("%s has two owners, %s and another", r, other)
					}
					owner[r] = r
					if !b.owns("c", r) {
						t.Errorf("%s is not owned by the books", r)
					}
				}
			}
			for i, m := range all { // what is free is given to who runs without it
				for _, r := range sets[i] {
					if m.Owned() != nil && !b.owns("c", r) {
						t.Errorf("%s is free, and c%d wants it: %v", r, i, owner)
					}
				}
			}
		}
	})
}

// TestMotionComesFromTheOwnerAlone: values of a controller that lost the tail move nothing,
// and those of the new owner do.
func TestMotionComesFromTheOwnerAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		wag := b.member(requester.Config{Name: "wag", Wanted: []string{"tail", "ears"}}, nil)
		if err := wag.Request(b.ctx); err != nil {
			t.Fatal(err)
		}
		send := func(m *member, q float64) {
			if err := m.Send(&msgs.JointState{Name: []string{"tail_joint1"}, Position: []float64{q}}); err != nil {
				t.Fatal(err)
			}
		}
		b.until("the tail follows", func() bool { send(wag, 0.3); return math.Abs(b.tail()-0.3) < 1e-3 })
		yawn := b.member(requester.Config{Name: "yawn", Needed: []string{"tail"}, Pending: []float32{70}, Operational: []float32{70}}, nil)
		if err := yawn.Request(b.ctx); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
		before := b.tail()
		for range 50 {
			send(wag, -0.3)
			time.Sleep(10 * time.Millisecond)
		}
		if q := b.tail(); q != before {
			t.Errorf("one that does not own the tail moved it from %g to %g", before, q)
		}
		b.until("the yawn moves it", func() bool { send(yawn, 0.1); return math.Abs(b.tail()-0.1) < 1e-3 })
	})
}

// TestControllersOfTheServerAnswerToo: the round by which an external one takes the head tells
// that the gaze goes on with the eyes, and that by which it takes the eyes, too, that it
// quits; what it can do without is given back to it. The external one is stopped by the name
// that it registered.
func TestControllersOfTheServerAnswerToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		b.must("/switch_controllers", &poisemsgs.SwitchControllersRequest{Start: []string{"look_at"}})
		b.until("the gaze has the head", func() bool { return b.owns("look_at", "head") && b.owns("look_at", "eyes") })
		answers := func(of string) (all []string) {
			for _, r := range b.resources().Rounds {
				for _, a := range r.Answers {
					if r.Requester == of && r.Outcome == "granted" {
						all = append(all, fmt.Sprint(a.Controller, " ", a.Answer, " ", a.Resources))
					}
				}
			}
			return all
		}
		pri := []float32{60}
		yawn := b.member(requester.Config{Name: "yawn", Needed: []string{"head"}, Pending: pri, Operational: pri}, nil)
		if err := yawn.Request(b.ctx); err != nil {
			t.Fatal(err)
		}
		b.until("it goes on with the eyes", func() bool {
			return slices.Equal(answers("yawn"), []string{"yawn confirmed [head]", "look_at confirmed [eyes]"}) && b.owns("look_at", "eyes")
		})
		b.must("/switch_controllers", &poisemsgs.SwitchControllersRequest{Stop: []string{"yawn"}})
		b.until("the yawn was switched off", func() bool { return yawn.Owned() == nil && b.owns("look_at", "head") })
		blink := b.member(requester.Config{Name: "blink", Needed: []string{"eyes"}, Pending: pri, Operational: pri}, nil)
		if err := blink.Request(b.ctx); err != nil {
			t.Fatal(err)
		}
		b.until("it quits without the eyes", func() bool {
			return slices.ContainsFunc(answers("blink"), func(a string) bool { return strings.HasPrefix(a, "look_at quit") }) && !b.owns("look_at", "head")
		})
	})
}
