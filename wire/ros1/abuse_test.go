package ros1

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"poise/graph"
	"poise/loop"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/msgs/registry"
	"poise/stop"
	"poise/wire/ros1/tcpros"
	"poise/wire/ros1/xmlrpc"
)

// cycle is that of a robot that stands as soon as it is told to.
type cycle struct {
	asked    atomic.Uint64
	category atomic.Uint32
}

func (c *cycle) Stop(category uint8) uint64 {
	c.category.Store(uint32(category))
	return c.asked.Add(1)
}

func (c *cycle) StopState() loop.StopState {
	n := c.asked.Load()
	return loop.StopState{Asked: n, Taken: n, Over: n}
}

// run runs a node with a master of its own, and a robot that it can stop.
func runNode(t *testing.T, g *graph.Graph, c Config) (*Node, *cycle) {
	t.Helper()
	robot := &cycle{}
	c.Stop = stop.New(t.Context(), []stop.Robot{{Name: "virtual", Cycle: robot}}, nil)
	if c.Master == "" {
		c.Master, c.OwnMaster = "http://127.0.0.1:0", true
	}
	return running(t, g, c), robot
}

// running runs a node until the end of the test.
func running(t *testing.T, g *graph.Graph, c Config) *Node {
	t.Helper()
	n, err := New(g, c)
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
	})
	return n
}

// until waits for something that another goroutine brings about.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// connect connects to a node and says a header.
func connect(t *testing.T, n *Node, h tcpros.Header) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", n.links.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if h != nil {
		if err := tcpros.WriteHeader(c, h); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// hear reads the header that a node answers by.
func hear(t *testing.T, c net.Conn) tcpros.Header {
	t.Helper()
	h, err := tcpros.ReadHeader(c, tcpros.MaxHeader)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func stopService(t *testing.T, g *graph.Graph) (sum string) {
	t.Helper()
	_, err := graph.Service(g, "stop", func(context.Context, *poisemsgs.StopRequest) (*poisemsgs.StopResponse, error) {
		t.Error("a stop took the way of other calls")
		return &poisemsgs.StopResponse{}, nil
	}, graph.ServiceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	typ, _ := registry.ServiceFor[poisemsgs.StopRequest, poisemsgs.StopResponse]()
	return typ.MD5()
}

func TestAStopIsAheadOfEveryLimitOfROS1(t *testing.T) {
	g := graph.New(graph.Options{})
	defer g.Close()
	sum := stopService(t, g)
	pub, err := graph.Topic[msgs.String](g, "out", graph.TopicOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n, robot := runNode(t, g, Config{Limits: Limits{Nodes: 1, Connections: 1}})
	until(t, "the node shows its names", func() bool { return n.publicationOf("/out") != nil && len(*n.services.Load()) > 2 })
	// the only place is taken, and silent connections fill the door
	reader := connect(t, n, tcpros.Header{"callerid": "/reader", "topic": "/out", "md5sum": "*", "type": "*"})
	if h := hear(t, reader); h["type"] != "std_msgs/String" || h["md5sum"] != "992ce8a1687cec8c8bd883ec73ca41d1" || !strings.Contains(h["message_definition"], "string data") {
		t.Errorf("the topic is %v", h)
	}
	pub.Publish(&msgs.String{Data: "x"})
	second := connect(t, n, tcpros.Header{"callerid": "/second", "topic": "/out", "md5sum": "*"})
	if h := hear(t, second); !strings.Contains(h["error"], "limit is 1") {
		t.Errorf("a connection beyond the limit: %v", h)
	}
	for range maxSilent + 50 {
		connect(t, n, nil)
	}
	calls := tcpros.Header{"callerid": "/caller", "service": "/stop", "md5sum": sum, "persistent": "1"}
	c := connect(t, n, calls)
	hear(t, c)
	for i, category := range []byte{1, 0, 9} {
		if _, err := c.Write([]byte{1, 0, 0, 0, category}); err != nil {
			t.Fatal(err)
		}
		var ok [5]byte
		if _, err := io.ReadFull(c, ok[:]); err != nil || ok[0] != 1 {
			t.Fatalf("the answer: %v, %v", ok, err)
		}
		if _, err := io.CopyN(io.Discard, c, int64(binary.LittleEndian.Uint32(ok[1:]))); err != nil {
			t.Fatal(err)
		}
		if robot.asked.Load() != uint64(i+1) || robot.category.Load() != uint32(min(category, stop.Mildest)) {
			t.Errorf("%d stops, category %d, want %d", robot.asked.Load(), robot.category.Load(), category)
		}
	}
}

func TestAStopOfROS1ThatCannotBeReadIsOfCategory2(t *testing.T) {
	g := graph.New(graph.Options{})
	defer g.Close()
	sum := stopService(t, g)
	n, robot := runNode(t, g, Config{})
	until(t, "the node shows its names", func() bool { return len(*n.services.Load()) > 2 })
	probe := connect(t, n, tcpros.Header{"callerid": "/caller", "service": "/stop", "md5sum": "*", "probe": "1"})
	if h := hear(t, probe); h["type"] != "poise_msgs/Stop" {
		t.Errorf("a probe hears %v", h)
	}
	if robot.asked.Load() != 0 {
		t.Error("a probe stops the robot")
	}
	other := connect(t, n, tcpros.Header{"callerid": "/caller", "service": "/stop", "md5sum": "d41d8cd98f00b204e9800998ecf8427e"})
	if h := hear(t, other); !strings.Contains(h["error"], "stopped by category 2") {
		t.Errorf("a call of another type hears %v", h)
	}
	for i, request := range [][]byte{{0, 0, 0, 0}, {4, 0, 0, 0, 0, 0, 0, 0}, {255, 255, 255, 255}, {1, 0, 0, 0}} {
		c := connect(t, n, tcpros.Header{"callerid": "/caller", "service": "/stop", "md5sum": sum})
		hear(t, c)
		if _, err := c.Write(request); err != nil {
			t.Fatal(err)
		}
		until(t, "the robot is stopped", func() bool { return robot.asked.Load() == uint64(i+2) })
		if robot.category.Load() != stop.Mildest {
			t.Errorf("%v stops by category %d", request, robot.category.Load())
		}
	}
}

// A reader that reads nothing holds nothing up, and what it loses is counted.
func TestASlowSubscriberOfROS1LosesTheOldest(t *testing.T) {
	g := graph.New(graph.Options{})
	defer g.Close()
	pub, err := graph.Topic[msgs.String](g, "out", graph.TopicOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n, _ := runNode(t, g, Config{})
	until(t, "the node shows its names", func() bool { return n.publicationOf("/out") != nil })
	slow := connect(t, n, tcpros.Header{"callerid": "/slow", "topic": "/out", "md5sum": "*"})
	hear(t, slow)
	text := strings.Repeat("x", 1<<20)
	for n.Stats().Lost == 0 {
		pub.Publish(&msgs.String{Data: text})
		time.Sleep(time.Millisecond)
	}
	quick := connect(t, n, tcpros.Header{"callerid": "/quick", "topic": "/out", "md5sum": "*"})
	hear(t, quick)
	pub.Publish(&msgs.String{Data: "now"})
	size, err := tcpros.ReadLength(quick)
	if err != nil || size != 7 {
		t.Errorf("another subscriber hears %d bytes, %v", size, err)
	}
}

// What is no message, is too long or comes half does not reach the graph, and ends nothing
// but its connection.
func TestMessagesOfROS1AreBounded(t *testing.T) {
	g := graph.New(graph.Options{})
	defer g.Close()
	heard, err := graph.Listen[msgs.String](g, "in", graph.SubscribeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n, _ := runNode(t, g, Config{Limits: Limits{MessageBytes: 1 << 20}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	typ, _ := registry.For[msgs.String]()
	conns := make(chan net.Conn, 10)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if _, err := tcpros.ReadHeader(c, tcpros.MaxHeader); err == nil {
				_ = tcpros.WriteHeader(c, tcpros.Header{"callerid": "/hostile", "md5sum": typ.MD5(), "type": "std_msgs/String"})
				conns <- c
			}
		}
	}()
	port := l.Addr().(*net.TCPAddr).Port
	web := httptest.NewServer(&xmlrpc.Handler{Methods: map[string]xmlrpc.Method{
		"requestTopic": func(context.Context, []any) (any, error) {
			return []any{1, "", []any{"TCPROS", "127.0.0.1", port}}, nil
		},
	}})
	defer web.Close()
	register := func() {
		if _, err := n.client.Call(t.Context(), n.c.Master, "registerPublisher", "/hostile", "/in", "std_msgs/String", web.URL); err != nil {
			t.Fatal(err)
		}
	}
	register()
	c := <-conns
	long := append(binary.LittleEndian.AppendUint32(nil, 10<<20), make([]byte, 10<<20)...)
	if _, err := c.Write(long); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte{6, 0, 0, 0, 2, 0, 0, 0, 'o', 'k'}); err != nil {
		t.Fatal(err)
	}
	if m, _, err := heard.Next(t.Context()); err != nil || m.Data != "ok" {
		t.Errorf("after a message that is too long: %v, %v", m, err)
	}
	if _, err := c.Write([]byte{6, 0, 0, 0, 200, 0, 0, 0, 'o', 'k'}); err != nil {
		t.Fatal(err)
	}
	again := <-conns // the node has closed the connection, and tries anew
	if _, err := again.Write([]byte{6, 0, 0, 0, 2, 0, 0, 0, 'h', 'i'}); err != nil {
		t.Fatal(err)
	}
	if m, _, err := heard.Next(t.Context()); err != nil || m.Data != "hi" {
		t.Errorf("after bytes that are not a message: %v, %v", m, err)
	}
}

// A master that lies, hangs or answers nonsense does not hold up the end.
func TestAMasterThatLies(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"no answer": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"nonsense":  func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		"other shapes": (&xmlrpc.Handler{Methods: map[string]xmlrpc.Method{
			"lookupNode":         func(context.Context, []any) (any, error) { return []any{1, "", []any{}}, nil },
			"registerPublisher":  func(context.Context, []any) (any, error) { return "yes", nil },
			"registerSubscriber": func(context.Context, []any) (any, error) { return []any{1, "", "http://127.0.0.1:1"}, nil },
		}}).ServeHTTP,
		"publishers elsewhere": (&xmlrpc.Handler{Methods: map[string]xmlrpc.Method{
			"lookupNode": func(context.Context, []any) (any, error) { return []any{-1, "", 0}, nil },
			"registerSubscriber": func(context.Context, []any) (any, error) {
				return []any{1, "", []any{"http://192.0.2.7:1", 5, "x"}}, nil
			},
		}}).ServeHTTP,
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				answer(w, r)
			}))
			defer web.CloseClientConnections()
			g := graph.New(graph.Options{})
			defer g.Close()
			if _, err := graph.Listen[msgs.String](g, "in", graph.SubscribeOptions{}); err != nil {
				t.Fatal(err)
			}
			n, _ := runNode(t, g, Config{Master: web.URL})
			until(t, "the node wants to be registered", func() bool { return len(n.keeper.wanted()) > 0 })
			until(t, "the master is told to be bad", func() bool { n.keeper.wake(); return n.Health() != nil })
			for range 3 {
				before := asked.Load()
				until(t, "it is asked", func() bool { n.keeper.wake(); return asked.Load() > before })
				if n.Health() == nil {
					t.Error("such a master is taken for a good one")
				}
			}
		})
	}
}
