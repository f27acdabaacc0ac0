package server_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/server/config"
	"poise/wire/rosbridge/requester"
)

// clientNamed returns what resource_state tells of the clients of a name.
func (b *bed) clientsNamed(name string) (all []poisemsgs.ResourceClient) {
	b.t.Helper()
	for _, c := range b.resources().Clients {
		if c.Name == name {
			all = append(all, c)
		}
	}
	return all
}

// TestDenialsNameTheController: not the seat that it has in the cycle, in resource_state and in
// the audit.
func TestDenialsNameTheController(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		high := b.member(requester.Config{Name: "high", Needed: []string{"tail"}, Pending: []float32{60}, Operational: []float32{60}}, nil)
		low := b.member(requester.Config{Name: "low", Needed: []string{"tail"}}, nil)
		if err := high.Request(b.ctx); err != nil {
			t.Fatal(err)
		}
		if err := low.Request(b.ctx); !errors.Is(err, requester.ErrDenied) {
			t.Fatal(err)
		}
		want := `controller "low" does not get joint tail_joint1 of tail: "high" has it (priority 40 against 60)`
		b.until("the denial is told", func() bool {
			all := b.clientsNamed("low")
			return len(all) == 1 && len(all[0].Denied) == 1 && strings.Contains(all[0].Denied[0].Text, want) && all[0].Denied[0].Owner == "high"
		})
		if lines := b.log.lines("msg=audit", "resource request 1 of low", "does not get joint tail_joint1"); len(lines) != 1 {
			t.Errorf("audited: %q", b.log.lines("msg=audit", "low"))
		}
		high.Quit()
		b.until("it is out", func() bool { return !b.owns("high", "tail") })
		if err := low.Send(&msgs.JointState{Name: []string{"tail_joint1"}, Position: []float64{0}}); err != nil {
			t.Fatal(err)
		}
		b.until("its stream is audited", func() bool { return len(b.log.lines("msg=audit", "stream to low")) > 0 })
		if lines := b.log.lines("msg=audit", "remote"); len(lines) > 0 {
			t.Errorf("the audit speaks of seats: %q", lines)
		}
	})
}

// TestAReconnectedControllerStandsOnce: one that holds something loses its connection, comes back
// by another and asks again. Its name stands once among the clients at any time.
func TestAReconnectedControllerStandsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		for id := 1; id < 8; id++ {
			c, _ := b.another()
			o := b.outside(c, "again")
			o.request(asks("again", id, "tail"))
			for range 200 {
				o.state(lives("again", id, true))
				if n := len(b.clientsNamed("again")); n > 1 {
					t.Fatalf("it stands %d times among the clients: %+v", n, b.resources().Clients)
				}
				if b.owns("again", "tail") {
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
			if !b.owns("again", "tail") {
				t.Fatal("it does not get the tail back")
			}
			c.Close()
		}
		b.until("it is gone", func() bool { return len(b.clientsNamed("again")) == 0 && b.ownerOf("tail_joint1") == "" })
	})
}

// TestOpenRoundsStay among the rounds of resource_state, and those of others, too, however many
// requests are refused meanwhile.
func TestOpenRoundsStay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) { c.Loop.RemoteTimeout = 5 })
		done := b.member(requester.Config{Name: "done", Needed: []string{"ears"}}, nil)
		if err := done.Request(b.ctx); err != nil {
			t.Fatal(err)
		}
		mute, flood := b.outside(b.c, "mute"), b.outside(b.c, "flood")
		round := func(of string) (found *poisemsgs.ResourceRound) {
			for _, r := range b.resources().Rounds {
				if r.Requester == of {
					found = &r
				}
			}
			return found
		}
		mute.request(asks("mute", 1, "tail"))
		b.until("the round is open", func() bool { r := round("mute"); return r != nil && r.Outcome == "open" })
		for i := range 100 {
			flood.request(asks("flood", i+1, "wing"))
		}
		b.until("they are refused", func() bool { r := round("flood"); return r != nil && r.RequestID == 100 })
		if r := round("mute"); r == nil || r.Outcome != "open" || len(r.Answers) != 1 || r.Answers[0].Answer != "waiting" {
			t.Errorf("the open round is told as %+v", r)
		}
		if r := round("done"); r == nil || r.Outcome != "granted" {
			t.Errorf("the round before it is told as %+v", r)
		}
		if n := len(b.resources().Rounds); n > 33 {
			t.Errorf("%d rounds are kept", n)
		}
		b.until("it ends", func() bool { r := round("mute"); return r != nil && r.Outcome == "denied" })
	})
}

// TestASignOfLifeIsNoAnswer: a state without the id of a request keeps a lease, and does not answer
// what its controller was asked meanwhile.
func TestASignOfLifeIsNoAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		o := b.outside(b.c, "holder")
		o.request(`{"requester_name":"holder","request_id":7,"resources":["head","ears"]}`)
		b.confirmed(o, "holder", 7, "head")
		for range 60 { // three leases
			o.state(lives("holder", 0, true))
			time.Sleep(10 * time.Millisecond)
		}
		if !b.owns("holder", "head") {
			t.Fatal("signs of life do not keep the lease")
		}
		pri := []float32{60}
		yawn := b.member(requester.Config{Name: "yawn", Needed: []string{"head"}, Pending: pri, Operational: pri}, nil)
		granted := make(chan error, 1)
		began := time.Now()
		go func() { granted <- yawn.Request(b.ctx) }()
		for over := false; !over; {
			select {
			case err := <-granted:
				if err != nil {
					t.Fatal(err)
				}
				over = true
			case <-time.After(10 * time.Millisecond):
				o.state(lives("holder", 0, true))
			}
		}
		if took := time.Since(began); took < 90*time.Millisecond || took > 150*time.Millisecond {
			t.Errorf("the head was handed over after %v, without an answer", took)
		}
		b.until("its silence is told", func() bool {
			return slices.ContainsFunc(b.resources().Rounds, func(r poisemsgs.ResourceRound) bool {
				return r.Requester == "yawn" && slices.ContainsFunc(r.Answers, func(a poisemsgs.ResourceAnswer) bool { return a.Controller == "holder" && a.Answer == "silent" })
			})
		})
		if b.ownerOf("ear_l_joint") != "holder" {
			t.Error("it lost what it was not asked for")
		}
	})
}

// TestWhatIsNotOwnedIsLeftOut of a reference, and said to its sender: on controllers_state, as a count
// in resource_state and, if it was not asked for, by a status message. The rest of the reference
// counts.
func TestWhatIsNotOwnedIsLeftOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		c, says := b.another()
		m := &member{}
		r, err := requester.New(c, requester.Config{Name: "part", Needed: []string{"tail"}, Wanted: []string{"head"}, Changed: m.changed})
		if err != nil {
			t.Fatal(err)
		}
		m.Requester = r
		t.Cleanup(m.Close)
		if err := m.Request(b.ctx); err != nil {
			t.Fatal(err)
		}
		clean := &msgs.JointState{Name: []string{"tail_joint1", "joint52"}, Position: []float64{0.1, 0}}
		for range 100 {
			if err := m.Send(clean); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		if n := says.with("does not own"); n > 0 || b.clientsNamed("part")[0].LeftOut != 0 {
			t.Fatalf("%d remarks about what it owns: %q", n, says.texts)
		}
		pri := []float32{60}
		yawn := b.member(requester.Config{Name: "yawn", Needed: []string{"head"}, Pending: pri, Operational: pri}, nil)
		if err := yawn.Request(b.ctx); err != nil {
			t.Fatal(err)
		}
		b.until("it has lost the head", func() bool { return !slices.Contains(m.Owned(), "head") })
		values := []struct {
			send func() error
			what []string
			lost bool // it asked for it, and was told that it has it no more
		}{
			{func() error {
				return m.Send(&msgs.JointState{Name: []string{"tail_joint1", "joint52"}, Position: []float64{0.2, 0.1}})
			}, []string{`does not own joint52`, `"yawn" has head`, "ref_joints:"}, true},
			{func() error {
				return m.Send(&poisemsgs.SupportState{Name: []string{"leg1"}, Support: []float64{1}})
			}, []string{`does not own support/leg1`, "ref_support:"}, false},
			{func() error {
				return m.SendEyes(&msgs.JointState{Name: []string{"eye_screens"}, Position: []float64{3}})
			}, []string{`does not own eye_screens`, "ref_eyes:"}, false},
		}
		sent := 0
		for _, v := range values {
			for range 250 { // 2.5 s: two or three remarks
				if err := v.send(); err != nil {
					t.Fatal(err)
				}
				sent++
				time.Sleep(10 * time.Millisecond)
			}
			if n := says.with(append([]string{"warning"}, v.what...)...); v.lost && n > 0 || !v.lost && (n < 2 || n > 4) {
				t.Errorf("%d remarks with %q: %q", n, v.what, says.texts)
			}
			b.until("it is shown", func() bool {
				for _, c := range latest[poisemsgs.ControllersState](b, "/controllers_state").Controllers {
					if c.Client == "part" && len(c.Refused) == 1 && c.Refused[0].Code == "not_owned" {
						return strings.Contains(c.Refused[0].Text, v.what[0][len("does not own "):])
					}
				}
				return false
			})
		}
		if q := b.tail(); math.Abs(q-0.2) > 1e-3 {
			t.Errorf("the rest of the value does not count: the tail is at %g", q)
		}
		b.until("all are counted", func() bool { return b.clientsNamed("part")[0].LeftOut == uint64(sent) })
		yawn.Quit()
		b.until("it has the head back", func() bool { return slices.Contains(m.Owned(), "head") })
		b.until("nothing is left out any more", func() bool {
			if err := m.Send(clean); err != nil {
				t.Fatal(err)
			}
			for _, c := range latest[poisemsgs.ControllersState](b, "/controllers_state").Controllers {
				if c.Client == "part" {
					return len(c.Refused) == 0
				}
			}
			return false
		})
	})
}

// TestOneClientLeavesSeatsForOthers: it may have as many external controllers at work as the
// configuration says; the next is refused with that limit, and another client gets its seat.
func TestOneClientLeavesSeatsForOthers(t *testing.T) {
	t.Parallel()
	parts := []string{"tail", "mouth", "ears", "head", "leg1", "leg2"}
	for _, limit := range []int{config.Default().Limits.Controllers, 2} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, func(c *config.Config) { c.Limits.Controllers = limit })
			greedy, _ := b.another()
			var all []outside
			for i := range limit {
				name := fmt.Sprint("greedy", i)
				all = append(all, b.outside(greedy, name))
				all[i].request(fmt.Sprintf(`{"requester_name":%q,"request_id":1,"resources":[%q]}`, name, parts[i]))
				b.confirmed(all[i], name, 1, parts[i])
			}
			keep := func() {
				for i := range all {
					all[i].state(lives(fmt.Sprint("greedy", i), 0, true))
				}
			}
			refused := func(id uint32) (text string) {
				for _, r := range b.resources().Rounds {
					if r.Requester == "one_more" && r.RequestID == id && r.Outcome == "denied" {
						text = r.Why[0].Text
					}
				}
				return text
			}
			more := b.outside(greedy, "one_more")
			more.request(asks("one_more", 1, "leg4"))
			b.until("one more is refused, by the limit", func() bool {
				keep()
				return strings.Contains(refused(1), fmt.Sprintf("%d are allowed to one client", limit))
			})
			other := b.member(requester.Config{Name: "other", Needed: []string{"leg3"}}, nil)
			granted := make(chan error, 1)
			go func() { granted <- other.Request(b.ctx) }()
			for over := false; !over; keep() {
				select {
				case err := <-granted:
					if err != nil {
						t.Fatal(err)
					}
					over = true
				case <-time.After(10 * time.Millisecond):
				}
			}
			all[0].state(lives("greedy0", 1, false))
			b.until("it gave something up", func() bool { keep(); return !b.owns("greedy0", parts[0]) })
			more.request(asks("one_more", 2, "leg4"))
			b.confirmed(more, "one_more", 2, "leg4")
		})
	}
}

// TestPrioritiesPerResourceOverTheWire: one that ranks high for the head and low for the tail takes
// the head of one that has both, not its tail; it is denied where it needs both, with the leaf and
// the priorities of it. What it has it keeps by its operational priorities, of each resource.
func TestPrioritiesPerResourceOverTheWire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		both := b.member(requester.Config{Name: "both", Wanted: []string{"head", "tail"}, Pending: []float32{45, 45}, Operational: []float32{45, 45}}, nil)
		if err := both.Request(b.ctx); err != nil {
			t.Fatal(err)
		}
		mixed := []float32{60, 10}
		needy := b.member(requester.Config{Name: "needy", Needed: []string{"head", "tail"}, Pending: mixed, Operational: mixed}, nil)
		if err := needy.Request(b.ctx); !errors.Is(err, requester.ErrDenied) {
			t.Fatalf("it got all it needs: %v", err)
		}
		b.until("the denial names the leaf and its priorities", func() bool {
			all := b.clientsNamed("needy")
			return len(all) == 1 && len(all[0].Denied) == 1 && strings.Contains(all[0].Denied[0].Text, `joint tail_joint1 of tail: "both" has it (priority 10 against 45)`)
		})
		if !b.owns("both", "head") || !b.owns("both", "tail") {
			t.Error("a denied request took something")
		}
		modest := b.member(requester.Config{Name: "modest", Wanted: []string{"head", "tail"}, Pending: mixed, Operational: []float32{30, 10}}, nil)
		if err := modest.Request(b.ctx); err != nil {
			t.Fatal(err)
		}
		if got := modest.Owned(); !slices.Equal(got, []string{"head"}) {
			t.Errorf("it has %v, and ranks above for the head alone", got)
		}
		b.until("the other keeps the tail", func() bool { return b.owns("both", "tail") && b.owns("modest", "head") })
		again := b.member(requester.Config{Name: "again", Needed: []string{"head"}, Pending: []float32{35}}, nil)
		if err := again.Request(b.ctx); err != nil {
			t.Fatalf("35 while it asks against 30 while the other runs: %v", err)
		}
	})
}
