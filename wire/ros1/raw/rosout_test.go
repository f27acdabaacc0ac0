package raw_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"poise/graph"
	"poise/msgs"
	"poise/msgs/codec"
	"poise/msgs/registry"
	"poise/wire/ros1"
	"poise/wire/ros1/raw"
	"poise/wire/ros1/tcpros"
)

// TestLinesOfAllNodesAreGathered: what the server and another node log comes on /rosout_agg as
// it was, what is no line or too long does not, and no name is left at the end.
func TestLinesOfAllNodesAreGathered(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	g := graph.New(graph.Options{})
	defer g.Close()
	log, err := graph.Topic[msgs.Log](g, "rosout", graph.TopicOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n, err := ros1.New(g, ros1.Config{Master: "http://127.0.0.1:0", OwnMaster: true})
	if err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- n.Run(running) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	gathering, endGather := context.WithCancel(ctx)
	gathered := make(chan struct{})
	go func() { defer close(gathered); raw.GatherLogs(gathering, n.Config()) }()

	other, err := raw.Join(ctx, n.Config(), "/other")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	typ, _ := registry.For[msgs.Log]()
	kind := raw.Kind{Type: typ.Name(msgs.ROS1), MD5: typ.MD5(), Definition: typ.FullText(msgs.ROS1)}
	own, err := other.Advertise(ctx, "/rosout", kind)
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan []byte, 1000)
	if err := other.Subscribe(ctx, "/rosout_agg", func(h tcpros.Header, data []byte) {
		if h["callerid"] != "/rosout" || h["type"] != "rosgraph_msgs/Log" || h["md5sum"] != kind.MD5 {
			t.Errorf("it is gathered by %v", h)
		}
		heard <- data
	}); err != nil {
		t.Fatal(err)
	}
	line := func(text string) []byte {
		return codec.For(typ, msgs.ROS1).Append(nil, &msgs.Log{Severity: 4, Name: "/other", Msg: text})
	}
	wait := func(what string, say func(), is func([]byte) bool) {
		t.Helper()
		for {
			say()
			select {
			case data := <-heard:
				if is(data) {
					return
				}
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
				t.Fatalf("never: %s", what)
			}
		}
	}
	wait("a line of the server", func() { log.Publish(&msgs.Log{Severity: 2, Name: "poise", Msg: "of the server"}) },
		func(data []byte) bool { return bytes.Contains(data, []byte("of the server")) })
	wait("a line of another node", func() { own.Publish(line("of another")) }, func(data []byte) bool { return bytes.Equal(data, line("of another")) })
	own.Publish(line(string(make([]byte, 1<<20))))
	wait("a line after one that is too long", func() { own.Publish(line("after")) }, func(data []byte) bool {
		if len(data) > 1<<19 {
			t.Error("a line of a megabyte is passed on")
		}
		return bytes.Equal(data, line("after"))
	})
	endGather()
	<-gathered
	if all, err := other.Topics(ctx); err != nil || all["/rosout_agg"] != "" || all["/rosout"] == "" {
		t.Errorf("afterwards there is %v, %v", all, err)
	}
}
