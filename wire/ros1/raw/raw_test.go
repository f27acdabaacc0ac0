package raw_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"poise/graph"
	"poise/wire/ros1"
	"poise/wire/ros1/raw"
	"poise/wire/ros1/tcpros"
)

// runMaster runs a master and returns where it is.
func runMaster(t *testing.T) string {
	t.Helper()
	g := graph.New(graph.Options{})
	n, err := ros1.New(g, ros1.Config{Master: "http://127.0.0.1:0", OwnMaster: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		g.Close()
	})
	return n.Addresses()[0].URL
}

// TestMessagesGoAsTheyAre passes messages of an unknown type, the latched one too.
func TestMessagesGoAsTheyAre(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := ros1.Config{Master: runMaster(t)}
	from, err := raw.Join(ctx, c, "/from")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	kind := raw.Kind{Type: "strange_msgs/Thing", MD5: "0123456789abcdef0123456789abcdef", Definition: "uint8[] data\n", Latching: true}
	p, err := from.Advertise(ctx, "/thing", kind)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := from.Advertise(ctx, "/thing", kind); err == nil {
		t.Error("a topic is published twice")
	}
	p.Publish([]byte("before"))
	to, err := raw.Join(ctx, c, "/to")
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	if all, err := to.Topics(ctx); err != nil || all["/thing"] != kind.Type {
		t.Errorf("topics %v, %v", all, err)
	}
	type message struct {
		from tcpros.Header
		data string
	}
	came := make(chan message, 10)
	if err := to.Subscribe(ctx, "/thing", func(h tcpros.Header, data []byte) { came <- message{h, string(data)} }); err != nil {
		t.Fatal(err)
	}
	next := func(want string) {
		t.Helper()
		select {
		case m := <-came:
			if m.data != want || m.from["type"] != kind.Type || m.from["md5sum"] != kind.MD5 || m.from["message_definition"] != kind.Definition || m.from["callerid"] != "/from" || m.from["latching"] != "1" {
				t.Errorf("%+v, want %q", m, want)
			}
		case <-ctx.Done():
			t.Fatalf("%q never comes", want)
		}
	}
	next("before")
	p.Publish([]byte("after"))
	p.Drain(ctx)
	next("after")
	if n := p.Lost(); n != 0 || p.Subscribers() != 1 {
		t.Errorf("%d lost, %d subscribers", n, p.Subscribers())
	}
	from.Close()
	if all, err := to.Topics(ctx); err != nil || all["/thing"] != "" {
		t.Errorf("a name is left behind: %v, %v", all, err)
	}
}

func TestNoMasterIsTold(t *testing.T) {
	var none *raw.NoMasterError
	if _, err := raw.Join(t.Context(), ros1.Config{Master: "http://127.0.0.1:1"}, "/x"); !errors.As(err, &none) || none.Master != "http://127.0.0.1:1" {
		t.Errorf("%v", err)
	}
	var remote *ros1.RemoteError
	if _, err := raw.Join(t.Context(), ros1.Config{Master: "http://192.0.2.1:11311"}, "/x"); !errors.As(err, &remote) {
		t.Errorf("%v", err)
	}
}
