package ros1

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"poise/graph"
	"poise/internal/budget"
	"poise/msgs"
	"poise/wire/ros1/master"
	"poise/wire/ros1/xmlrpc"
)

// Five hundred topics of another node are read, each over its connection, and five hundred of
// our own are read there.
func TestFiveHundredTopics(t *testing.T) {
	const count = 500
	g := graph.New(graph.Options{})
	defer g.Close()
	in := make([]graph.Listener[msgs.Int32], count)
	out := make([]graph.Publisher[msgs.Int32], count)
	var err error
	for i := range count {
		if in[i], err = graph.Listen[msgs.Int32](g, fmt.Sprintf("there/t%d", i), graph.SubscribeOptions{}); err != nil {
			t.Fatal(err)
		}
		if out[i], err = graph.Topic[msgs.Int32](g, fmt.Sprintf("here/t%d", i), graph.TopicOptions{QoS: graph.QoS{Latched: true}}); err != nil {
			t.Fatal(err)
		}
		out[i].Publish(&msgs.Int32{Data: int32(i)})
	}
	n, _ := runNode(t, g, Config{})
	p := newPeer(t, n.c.Master)
	defer p.stop()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	back := make([]graph.Listener[msgs.Int32], count)
	for i := range count {
		there, err := graph.Topic[msgs.Int32](p.g, fmt.Sprintf("there/t%d", i), graph.TopicOptions{QoS: graph.QoS{Latched: true}})
		if err != nil {
			t.Fatal(err)
		}
		there.Publish(&msgs.Int32{Data: int32(1000 + i)})
		if back[i], err = graph.Listen[msgs.Int32](p.g, fmt.Sprintf("here/t%d", i), graph.SubscribeOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range count {
		if m, _, err := in[i].Next(ctx); err != nil || m.Data != int32(1000+i) {
			t.Fatalf("topic %d of the other node: %v, %v", i, m, err)
		}
		if m, _, err := back[i].Next(ctx); err != nil || m.Data != int32(i) {
			t.Fatalf("topic %d there: %v, %v", i, m, err)
		}
	}
	if lost := n.Stats().Lost; lost != 0 {
		t.Errorf("%d messages are lost", lost)
	}
	p.stop()
	until(t, "all connections end", func() bool { return len(n.greet.list()) == 0 })
	until(t, "no client is left", func() bool { return n.Stats().Clients == 0 })
}

// A master that hangs for a while, and one that comes back empty, has everything registered
// again; meanwhile what is connected goes on.
func TestAMasterThatHangsAndForgets(t *testing.T) {
	client := xmlrpc.NewClient((&Config{}).dial)
	defer client.Close()
	var now atomic.Pointer[master.Master]
	var hangs atomic.Bool
	renew := func() *master.Master {
		m := master.New(master.Config{URI: "http://127.0.0.1/", Client: client})
		if old := now.Swap(m); old != nil {
			old.Close()
		}
		return m
	}
	renew()
	defer func() { now.Load().Close() }()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hangs.Load() {
			<-r.Context().Done()
			return
		}
		now.Load().ServeHTTP(w, r)
	}))
	defer web.CloseClientConnections()
	g := graph.New(graph.Options{})
	defer g.Close()
	out, err := graph.Topic[msgs.Int32](g, "out", graph.TopicOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n, _ := runNode(t, g, Config{Master: web.URL, Params: map[string]any{"/described": "so"}})
	p := newPeer(t, web.URL)
	defer p.stop()
	heard, err := graph.Listen[msgs.Int32](p.g, "out", graph.SubscribeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	hears := func(what string, value int32) {
		t.Helper()
		until(t, what, func() bool {
			out.Publish(&msgs.Int32{Data: value})
			for {
				m, _, ok := heard.Poll()
				if !ok {
					return false
				}
				if m.Data == value {
					return true
				}
			}
		})
	}
	registered := func() bool {
		code, v, err := n.callMaster(t.Context(), "getSystemState")
		state, _ := v.([]any)
		if err != nil || code != success || len(state) != 3 || !readListing(state[0]).has("/out", "/poise") || !readListing(state[1]).has("/out", p.n.self) {
			return false
		}
		code, v, err = n.callMaster(t.Context(), "getParam", "/described")
		return err == nil && code == success && v == "so"
	}
	hears("the first message", 1)
	until(t, "everything is registered", registered)
	hangs.Store(true)
	until(t, "the hanging master is noticed", func() bool { n.keeper.wake(); return n.Health() != nil })
	hears("a message while the master hangs", 2)
	hangs.Store(false)
	until(t, "the master is well again", func() bool { return n.Health() == nil })
	renew()
	until(t, "the new master has everything", registered)
	hears("a message after the master has forgotten", 3)
}

// A burst of more than a peer may have in the graph is not lost: its node is not read from until
// there is room again.
func TestABurstWaitsForRoom(t *testing.T) {
	const count = 4000 // which the queues hold
	g := graph.New(graph.Options{})
	defer g.Close()
	in, err := graph.Listen[msgs.JointState](g, "in", graph.SubscribeOptions{QoS: graph.QoS{Depth: count}})
	if err != nil {
		t.Fatal(err)
	}
	narrow := budget.Standard
	narrow[budget.Messages].Client = 1 << 20
	n, err := New(g, Config{Master: "http://127.0.0.1:0", OwnMaster: true, Budget: budget.New(narrow)})
	if err != nil {
		t.Fatal(err)
	}
	n.room = time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	p := newPeer(t, n.c.Master)
	defer p.stop()
	out, err := graph.Topic[msgs.JointState](p.g, "in", graph.TopicOptions{QoS: graph.QoS{Depth: count}})
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the topic is connected", func() bool { return len(n.greet.list()) == 1 })
	values := make([]float64, 30)
	for i := range count {
		out.Publish(&msgs.JointState{Position: append([]float64{float64(i)}, values...), Velocity: values, Effort: values})
	}
	for i := range count {
		m, lost, err := in.Next(ctx)
		if err != nil || lost != 0 || m.Position[0] != float64(i) {
			t.Fatalf("message %d is %v: %v lost, %v; %v by the sender, %v here", i, m, lost, err, p.n.Stats().Lost, n.Stats())
		}
		if came := n.stats.received.Load(); i == 0 && came >= count {
			t.Errorf("all %d messages were read at once: nothing had to wait", came)
		}
	}
}
