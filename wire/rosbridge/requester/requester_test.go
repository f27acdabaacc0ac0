package requester_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"poise/internal/stepped"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/wire/rosbridge/client"
	"poise/wire/rosbridge/requester"
)

// arbiter is a server of one controller, in the time of a bubble: it keeps what it is told, and assigns by hand.
type arbiter struct {
	t *testing.T
	*requester.Requester
	conn *websocket.Conn

	mu   sync.Mutex
	said []string
}

// meet lets a controller register.
func meet(t *testing.T, cfg requester.Config) *arbiter {
	t.Helper()
	a := &arbiter{t: t}
	var network stepped.Net
	l, err := network.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		a.conn = conn
		for {
			_, data, err := conn.Read(r.Context())
			if err != nil {
				return
			}
			a.hear(data)
		}
	})}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	c, err := client.Dial(t.Context(), "ws://"+l.Addr().String(), client.Options{HTTP: network.Client()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if a.Requester, err = requester.New(c, cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// hear takes a frame of the controller.
func (a *arbiter) hear(data []byte) {
	var f struct {
		Op, Topic string
		Msg       json.RawMessage
	}
	if err := json.Unmarshal(data, &f); err != nil {
		a.t.Error(err)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	said := f.Op + " " + f.Topic
	switch {
	case f.Op != "publish":
	case strings.HasSuffix(f.Topic, "/resource_claim"):
		var q poisemsgs.ResourceRequest
		if err := client.Read(f.Msg, &q); err != nil {
			a.t.Error(err)
		}
		said = fmt.Sprintf("%s asks %d: %v, %v", q.RequesterName, q.RequestID, q.Needed, q.Wanted)
	case strings.HasSuffix(f.Topic, "/resource_requester_state"):
		var s msgs.ResourceRequesterState
		if err := client.Read(f.Msg, &s); err != nil {
			a.t.Error(err)
		}
		switch {
		case s.RequestID == 0 && s.IsOperational:
			said = "lives"
		case s.IsOperational:
			said = fmt.Sprint("goes on with ", s.RequestID)
		default:
			said = fmt.Sprint("quits ", s.RequestID)
		}
	}
	a.said = append(a.said, said)
}

// heard returns what the controller has said since, but for signs of life.
func (a *arbiter) heard() (all []string) {
	synctest.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.said {
		if s != "lives" {
			all = append(all, s)
		}
	}
	a.said = nil
	return all
}

// expect wants the controller to have said this since.
func (a *arbiter) expect(want ...string) {
	a.t.Helper()
	if got := a.heard(); !slices.Equal(got, want) {
		a.t.Errorf("it says %q, want %q", got, want)
	}
}

// owns wants the controller to have these.
func (a *arbiter) owns(want ...string) {
	a.t.Helper()
	synctest.Wait()
	if got := a.Owned(); !slices.Equal(got, want) {
		a.t.Errorf("it has %v, want %v", got, want)
	}
}

// assign tells who has what, RESOURCE:OWNER, for a request; 0 is a table for all.
func (a *arbiter) assign(id uint32, table ...string) {
	m := msgs.ResourceAssignment{}
	if id != 0 {
		m.RequestIds = []uint32{id}
	}
	for _, row := range table {
		name, owner, _ := strings.Cut(row, ":")
		m.Resources, m.Owners = append(m.Resources, name), append(m.Owners, owner)
	}
	a.send(string(client.Text(&m, msgs.ROS2)))
}

func (a *arbiter) send(msg string) {
	a.t.Helper()
	if err := a.conn.Write(a.t.Context(), websocket.MessageText, []byte(`{"op":"publish","topic":"/resource_assignment","msg":`+msg+`}`)); err != nil {
		a.t.Error(err)
	}
	synctest.Wait()
}

// ask requests, and returns where the answer comes.
func (a *arbiter) ask(ctx context.Context) <-chan error {
	answer := make(chan error, 1)
	go func() { answer <- a.Request(ctx) }()
	synctest.Wait()
	return answer
}

// run lets it run on a tail.
func (a *arbiter) run() {
	a.t.Helper()
	answer := a.ask(a.t.Context())
	a.assign(1, "tail:wag")
	a.assign(1, "tail:wag")
	if err := <-answer; err != nil {
		a.t.Fatal(err)
	}
	a.heard()
}

// TestARequestThatIsGranted: asked, offered, confirmed, granted; then another set, and the loss of all.
func TestARequestThatIsGranted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var changes [][]string
		a := meet(t, requester.Config{Name: "wag", Needed: []string{"tail"}, Wanted: []string{"head"},
			Changed: func(owned []string) bool { changes = append(changes, owned); return true }})
		a.expect("subscribe /resource_assignment", "advertise /resource_claim", "advertise /resource_requester_state",
			"advertise /controllers/wag/ref_joints", "advertise /controllers/wag/ref_joints_accel", "advertise /controllers/wag/ref_limbs_cartesian",
			"advertise /controllers/wag/ref_support", "advertise /controllers/wag/ref_eyes")
		answer := a.ask(t.Context())
		a.expect("wag asks 1: [tail], [head]")
		a.assign(1, "tail:wag", "head:wag", "ears:other")
		a.expect("goes on with 1")
		a.owns() // an offer is not its own yet
		a.assign(1, "tail:wag", "head:wag", "ears:other")
		if err := <-answer; err != nil {
			t.Fatal(err)
		}
		a.expect()
		a.owns("tail", "head")
		a.assign(1, "tail:wag", "head:other")
		a.expect("goes on with 1")
		a.owns("tail")
		a.assign(1, "tail:other", "head:wag")
		a.expect("quits 1") // without what it needs
		a.owns()
		if want := "[[tail head] [tail head] [tail] []]"; fmt.Sprint(changes) != want {
			t.Errorf("told %v, want %s", changes, want)
		}
	})
}

// TestRequestsThatAreNotGranted end with ErrDenied, whatever was in the way, and none waits for its time to be up.
func TestRequestsThatAreNotGranted(t *testing.T) {
	for _, c := range []struct {
		what   string
		refuse []string // what the controller does not like
		tables []string
		want   []string
	}{
		{"denied", nil, []string{"tail:other"}, nil},
		{"an offer without what it needs", nil, []string{"head:wag"}, []string{"quits 1"}},
		{"an offer that it does not like", []string{"tail"}, []string{"tail:wag"}, []string{"quits 1"}},
		{"a round that ends without anything", nil, []string{"tail:wag", "tail:other"}, []string{"goes on with 1"}},
		{"a round that ends without what it needs", nil, []string{"tail:wag", "head:wag"}, []string{"goes on with 1", "quits 1"}},
		{"a round that ends with what it does not like", []string{"tail", "head"}, []string{"tail:wag", "tail:wag head:wag"}, []string{"goes on with 1", "quits 1"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := meet(t, requester.Config{Name: "wag", Needed: []string{"tail"}, Wanted: []string{"head"},
					Changed: func(owned []string) bool { return !slices.Equal(owned, c.refuse) }})
				answer := a.ask(t.Context())
				a.heard()
				for _, table := range c.tables {
					a.assign(1, strings.Fields(table)...)
				}
				select {
				case err := <-answer:
					if !errors.Is(err, requester.ErrDenied) {
						t.Errorf("%v, want ErrDenied", err)
					}
				default:
					t.Error("it waits on")
				}
				a.expect(c.want...)
				a.owns()
			})
		})
	}
}

// TestRequestsThatAreGivenUp: in time, by a newer one, or by Quit. What comes for them later changes nothing.
func TestRequestsThatAreGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := meet(t, requester.Config{Name: "wag", Needed: []string{"tail"}})
		a.heard()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := a.Request(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("%v after %v, want a deadline after 1 s", err, time.Since(began))
		}
		a.expect("wag asks 1: [tail], []", "quits 1")
		a.assign(1, "tail:wag")
		a.expect()
		older := a.ask(t.Context())
		newer := a.ask(t.Context())
		if err := <-older; !errors.Is(err, requester.ErrDenied) {
			t.Errorf("the older: %v, want ErrDenied", err)
		}
		a.expect("wag asks 2: [tail], []", "wag asks 3: [tail], []")
		a.assign(2, "tail:wag")
		a.expect()
		a.Quit()
		if err := <-newer; !errors.Is(err, requester.ErrDenied) {
			t.Errorf("the newer: %v, want ErrDenied", err)
		}
		a.expect("quits 3")
		a.Quit() // there is nothing to quit
		a.expect()
		a.owns()
	})
}

// TestOneThatRunsAsksAnew and runs on meanwhile, also where it does not get more.
func TestOneThatRunsAsksAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := meet(t, requester.Config{Name: "wag", Wanted: []string{"tail", "head"}})
		a.run()
		answer := a.ask(t.Context())
		a.expect("wag asks 2: [], [tail head]")
		a.owns("tail")
		a.assign(2, "tail:other")
		if err := <-answer; !errors.Is(err, requester.ErrDenied) {
			t.Errorf("%v, want ErrDenied", err)
		}
		a.owns("tail")
		answer = a.ask(t.Context())
		a.assign(3, "tail:wag", "head:wag")
		a.assign(3, "tail:wag", "head:wag")
		if err := <-answer; err != nil {
			t.Error(err)
		}
		a.owns("tail", "head")
		a.expect("wag asks 3: [], [tail head]", "goes on with 3")
	})
}

// TestWrongAssignments change nothing: of other requests, of lists that do not fit, of no such form.
func TestWrongAssignments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := meet(t, requester.Config{Name: "wag", Needed: []string{"tail"}})
		wrong := func() {
			t.Helper()
			a.assign(7, "tail:wag")
			for _, msg := range []string{
				`{"request_ids":[1],"resources":["tail","head"],"owners":["wag"]}`, `{"request_ids":[1],"resources":["tail"],"owners":[]}`,
				`{"request_ids":[1],"resources":[],"owners":["wag"]}`,
				`{"request_ids":"1"}`, `7`, `null`, `{"request_ids":[-1]}`, `{"request_ids":[1],"resources":{}}`,
			} {
				a.send(msg)
			}
			a.expect()
		}
		a.heard()
		answer := a.ask(t.Context())
		a.expect("wag asks 1: [tail], []")
		wrong()
		a.assign(1, "tail:wag")
		a.assign(1, "tail:wag")
		if err := <-answer; err != nil {
			t.Fatal(err)
		}
		a.expect("goes on with 1")
		wrong()
		a.owns("tail")
	})
}

// TestTablesForAll count once they cannot be older than what the controller was told alone, and say nothing of joints.
func TestTablesForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := meet(t, requester.Config{Name: "wag", Wanted: []string{"tail", "ear_joint1"}})
		answer := a.ask(t.Context())
		a.assign(1, "tail:wag", "ear_joint1:wag")
		a.assign(1, "tail:wag", "ear_joint1:wag")
		if err := <-answer; err != nil {
			t.Fatal(err)
		}
		a.heard()
		a.assign(0, "tail:other")
		a.owns("tail", "ear_joint1")
		time.Sleep(500 * time.Millisecond)
		a.assign(0, "tail:other")
		a.owns("ear_joint1")
		a.expect("goes on with 1")
	})
}

// TestSignsOfLife come five times in a lease, of one that runs alone.
func TestSignsOfLife(t *testing.T) {
	for lease, want := range map[time.Duration]int{0: 25, 500 * time.Millisecond: 10} {
		synctest.Test(t, func(t *testing.T) {
			a := meet(t, requester.Config{Name: "wag", Needed: []string{"tail"}, Lease: lease})
			signs := func() (n int) {
				a.heard()
				time.Sleep(time.Second)
				synctest.Wait()
				a.mu.Lock()
				defer a.mu.Unlock()
				for _, s := range a.said {
					if s == "lives" {
						n++
					}
				}
				return n
			}
			if n := signs(); n != 0 {
				t.Errorf("%d signs of life before it runs", n)
			}
			a.run()
			if n := signs(); n != want {
				t.Errorf("lease %v: %d signs of life in a second, want %d", lease, n, want)
			}
			a.Quit()
			if n := signs(); n != 0 {
				t.Errorf("%d signs of life after it quit", n)
			}
		})
	}
}

// TestReferences go by their types, of the robot that is named; closing quits and withdraws them.
func TestReferences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := meet(t, requester.Config{Name: "wag", Robot: "twin", Wanted: []string{"tail"}})
		if got := a.heard(); got[0] != "subscribe /twin/resource_assignment" || got[3] != "advertise /twin/controllers/wag/ref_joints" {
			t.Errorf("%q", got)
		}
		for reference, topic := range map[any]string{&msgs.JointState{}: "ref_joints", &poisemsgs.JointStateAccel{}: "ref_joints_accel",
			&poisemsgs.RigidBodyState{}: "ref_limbs_cartesian", &poisemsgs.SupportState{}: "ref_support"} {
			if err := a.Send(reference); err != nil {
				t.Error(err)
			}
			a.expect("publish /twin/controllers/wag/" + topic)
		}
		if err := a.SendEyes(&msgs.JointState{}); err != nil {
			t.Error(err)
		}
		a.expect("publish /twin/controllers/wag/ref_eyes")
		if err := a.Send(&msgs.Pose{}); err == nil || !strings.Contains(err.Error(), "is no reference") {
			t.Errorf("a pose: %v", err)
		}
		answer := a.ask(t.Context())
		a.Close()
		if err := <-answer; !errors.Is(err, requester.ErrDenied) {
			t.Errorf("closed: %v, want ErrDenied", err)
		}
		if got := a.heard(); got[1] != "quits 1" || !slices.Contains(got, "unsubscribe /twin/resource_assignment") || !slices.Contains(got, "unadvertise /twin/resource_claim") {
			t.Errorf("%q", got)
		}
	})
}
