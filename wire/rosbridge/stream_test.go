package rosbridge

import (
	"fmt"
	"strings"
	"testing"

	"poise/graph"
	"poise/msgs"
)

// newTestSession returns a session without a socket, whose outbox the test reads,
// with its pump running.
func newTestSession(t *testing.T, g *graph.Graph) *session {
	t.Helper()
	ses := newSession(New(g, Config{}), Client{Node: "/client"})
	done := make(chan struct{})
	go func() { defer close(done); ses.pump.run(ses.ctx) }()
	t.Cleanup(func() { ses.stop(errGoingAway); <-done })
	return ses
}

func nextOutgoing(t *testing.T, ses *session) outgoing {
	t.Helper()
	item, ok := ses.box.next(t.Context())
	if !ok {
		t.Fatal("nothing came")
	}
	return item
}

// TestTheFirstMessageIsAsWanted though it comes with the subscription itself.
func TestTheFirstMessageIsAsWanted(t *testing.T) {
	g := graph.New(graph.Options{})
	defer g.Close()
	pub, err := graph.Topic[msgs.String](g, "t", graph.TopicOptions{QoS: graph.QoS{Latched: true}})
	if err != nil {
		t.Fatal(err)
	}
	pub.Publish(&msgs.String{Data: strings.Repeat("x", 100)})
	for _, tc := range []struct {
		want   subscription
		binary bool
		frames int
	}{{subscription{}, false, 1}, {subscription{compression: "cbor"}, true, 1}, {subscription{compression: "cbor-raw"}, true, 1}, {subscription{fragment: 50}, false, 3}} {
		for i := range 20 {
			ses := newTestSession(t, g)
			s, err := newStream(ses, "/t", "", "a", tc.want)
			if err != nil {
				t.Fatal(err)
			}
			if item := nextOutgoing(t, ses); item.binary != tc.binary || len(item.frames) != tc.frames {
				t.Fatalf("%+v, %d: binary %v, %d frames", tc.want, i, item.binary, len(item.frames))
			}
			s.close()
		}
	}
}

// TestSubscriptionsAreServedTogether by the least throttling, the longest queue, the smallest
// fragments, and a compression only if all ask for it.
func TestSubscriptionsAreServedTogether(t *testing.T) {
	g := graph.New(graph.Options{})
	defer g.Close()
	ses := newTestSession(t, g)
	s, err := newStream(ses, "/t", "std_msgs/String", "a", subscription{compression: "cbor"})
	if err != nil {
		t.Fatal(err)
	}
	check := func(packing string, fragment, wanted int) {
		t.Helper()
		if s.compression != packing || s.fragment != fragment || len(s.subs) != wanted {
			t.Errorf("packing %s, fragments of %d, %d wanted; want %s, %d, %d", s.compression, s.fragment, len(s.subs), packing, fragment, wanted)
		}
	}
	check("cbor", 0, 1)
	for i, w := range []subscription{{compression: "cbor"}, {fragment: 70}, {fragment: 90, compression: "none"}} {
		if err := s.join("", fmt.Sprint(i), w); err != nil {
			t.Fatal(err)
		}
	}
	check("none", 70, 4)
	if err := s.join("", "1", subscription{}); err != nil { // changes its mind
		t.Fatal(err)
	}
	check("none", 90, 4)
	if err := s.join("std_msgs/msg/String", "x", subscription{}); err == nil || s.has("x") {
		t.Errorf("two forms at once: %v", err)
	}
	s.drop("1")
	s.drop("2")
	check("cbor", 0, 2)
	s.drop("0")
	if left := s.drop("a"); left != 0 {
		t.Errorf("%d are left", left)
	}
	s.close()
	if n := len(g.Topics()); n != 0 {
		t.Errorf("%d topics are left", n)
	}
}
