package stream

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"poise/graph"
	"poise/msgs"
	"poise/wire/rosbridge/frame"
	"poise/wire/rosbridge/outbox"
)

// newClient is a client whose outbox the test reads, with its pump running.
func newClient(t *testing.T, g *graph.Graph) *Client {
	t.Helper()
	c := &Client{Graph: g, Node: "/client", Box: outbox.New(1 << 20), Queue: 10, Pump: NewPump(), Done: t.Context().Done(),
		Split: func(text []byte, size int) [][]byte { return frame.Split(text, max(size, 0), "f") }}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); c.Pump.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return c
}

func next(t *testing.T, c *Client) outbox.Item {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	item, ok := c.Box.Next(ctx)
	if !ok {
		t.Fatal("nothing came")
	}
	return item
}

// TestTheFirstMessageIsAsWanted though it comes with the subscription itself.
func TestTheFirstMessageIsAsWanted(t *testing.T) {
	g := graph.New(graph.Options{})
	defer g.Close()
	pub, err := graph.Topic[msgs.String](g, "t", graph.TopicOptions{Latched: true})
	if err != nil {
		t.Fatal(err)
	}
	pub.Publish(&msgs.String{Data: strings.Repeat("x", 100)})
	for _, tc := range []struct {
		want   Want
		binary bool
		frames int
	}{{Want{}, false, 1}, {Want{Packing: "cbor"}, true, 1}, {Want{Packing: "cbor-raw"}, true, 1}, {Want{Fragment: 50}, false, 3}} {
		for i := range 20 {
			c := newClient(t, g)
			s, err := Open(c, "/t", "", "a", tc.want)
			if err != nil {
				t.Fatal(err)
			}
			if item := next(t, c); item.Binary != tc.binary || len(item.Frames) != tc.frames {
				t.Fatalf("%+v, %d: binary %v, %d frames", tc.want, i, item.Binary, len(item.Frames))
			}
			s.Close()
		}
	}
}

// TestWantsAreServedTogether by the least throttling, the longest queue, the smallest
// fragments, and a compression only if all ask for it.
func TestWantsAreServedTogether(t *testing.T) {
	g := graph.New(graph.Options{})
	defer g.Close()
	c := newClient(t, g)
	s, err := Open(c, "/t", "std_msgs/String", "a", Want{Packing: "cbor"})
	if err != nil {
		t.Fatal(err)
	}
	check := func(packing string, fragment, wanted int) {
		t.Helper()
		if s.packing != packing || s.fragment != fragment || s.Wanted() != wanted {
			t.Errorf("packing %s, fragments of %d, %d wanted; want %s, %d, %d", s.packing, s.fragment, s.Wanted(), packing, fragment, wanted)
		}
	}
	check("cbor", 0, 1)
	for i, w := range []Want{{Packing: "cbor"}, {Fragment: 70}, {Fragment: 90, Packing: "none"}} {
		if err := s.Join("", fmt.Sprint(i), w); err != nil {
			t.Fatal(err)
		}
	}
	check("none", 70, 4)
	if err := s.Join("", "1", Want{}); err != nil { // changes its mind
		t.Fatal(err)
	}
	check("none", 90, 4)
	if err := s.Join("std_msgs/msg/String", "x", Want{}); err == nil || s.Has("x") {
		t.Errorf("two forms at once: %v", err)
	}
	s.Drop("1")
	s.Drop("2")
	check("cbor", 0, 2)
	s.Drop("0")
	if left := s.Drop("a"); left != 0 {
		t.Errorf("%d are left", left)
	}
	s.Close()
	if n := len(g.Topics()); n != 0 {
		t.Errorf("%d topics are left", n)
	}
}
