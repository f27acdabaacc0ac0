// Package wiretest holds what every wire must do, as tests: a graph is seen through the
// wire by a peer that speaks its protocol. A wire's own tests call Test.
package wiretest

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"poise/action"
	"poise/graph"
	"poise/loop"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/stop"
	"poise/wire"
)

// Peer is a program on the far side of the wire. Messages are pointers to structs of
// msgs; types are given by their ROS 2 names.
type Peer interface {
	Subscribe(topic, typ string) (next func(ctx context.Context, dst any) error, err error)
	Advertise(topic, typ string) (publish func(msg any) error, err error)
	Call(ctx context.Context, service, typ string, request, response any) error // an error has the server's reason
	SendGoal(ctx context.Context, name, typ string, goal any) (Goal, error)
	Close()
}

// Goal is a goal that a peer has sent.
type Goal interface {
	Feedback(ctx context.Context, dst any) error
	Cancel(ctx context.Context) error
	// Result waits for the end: a status of action_msgs. A goal that was refused is an
	// error with the server's reason.
	Result(ctx context.Context, dst any) (status int, err error)
}

// Start makes a wire of a graph and of the way of a stop, which Test runs, and a way for
// peers to connect to it.
type Start func(t *testing.T, g *graph.Graph, line *stop.Line) (w wire.Wire, connect func(t *testing.T) Peer)

// Names and types of the graph that peers see.
const (
	stringType  = "std_msgs/msg/String"
	setBoolType = "std_srvs/srv/SetBool"
	textType    = "text_msgs/action/TextAction"
)

// patience is for what another goroutine or process brings about; when it is over,
// something hangs.
const patience = 2 * time.Minute

// bed is a graph with a wire that runs.
type bed struct {
	t       *testing.T
	g       *graph.Graph
	wire    wire.Wire
	connect func(t *testing.T) Peer
	end     func() error
	robot   *stoppable
}

// Test runs all tests against a wire.
func Test(t *testing.T, start Start) {
	for name, test := range map[string]func(*bed){
		"a topic of the graph is heard by a peer":          (*bed).topicOut,
		"a latched topic is heard by a peer that is late":  (*bed).latched,
		"a topic of a peer is heard in the graph":          (*bed).topicIn,
		"names that come later are seen, and others go":    (*bed).changes,
		"a service answers and refuses with its reason":    (*bed).service,
		"a goal has feedback, a result and the same state": (*bed).goal,
		"a goal can be cancelled":                          (*bed).cancel,
		"a refused goal says why":                          (*bed).refused,
		"a stop passes everything":                         (*bed).stop,
		"a topic of the graph cannot be forged by a peer":  (*bed).forge,
		"a peer is one node in everything, until it goes":  (*bed).oneNode,
		"a peer that leaves takes everything along":        (*bed).leave,
		"the wire ends and leaves nothing behind":          (*bed).close,
	} {
		t.Run(name, func(t *testing.T) {
			g := graph.New(graph.Options{})
			robot := &stoppable{}
			w, connect := start(t, g, stop.New(t.Context(), []stop.Robot{{Name: "virtual", Cycle: robot}}, nil))
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error, 1)
			go func() { done <- w.Run(ctx) }()
			ended := false
			b := &bed{t: t, g: g, robot: robot, wire: w, connect: connect, end: func() error { ended = true; cancel(); return <-done }}
			defer g.Close()
			defer func() {
				if !ended {
					b.check("the end of Run", b.end())
				}
			}()
			if w.Name() == "" || len(w.Addresses()) == 0 || w.Health() != nil {
				t.Errorf("name %q, addresses %v, health %v", w.Name(), w.Addresses(), w.Health())
			}
			test(b)
		})
	}
}

// stoppable is the cycle of a robot that stands as soon as it is told to.
type stoppable struct {
	asked    atomic.Uint64
	category atomic.Uint32 // of the last stop
}

func (c *stoppable) Stop(category uint8) uint64 {
	c.category.Store(uint32(category))
	return c.asked.Add(1)
}

func (c *stoppable) StopState() loop.StopState {
	n := c.asked.Load()
	return loop.StopState{Asked: n, Taken: n, Over: n}
}

// stop calls stop while the service of the graph does not answer and has no room: the wire
// takes the other way.
func (b *bed) stop() {
	inside := make(chan struct{})
	_, err := graph.Service(b.g, "stop", func(ctx context.Context, _ *poisemsgs.StopRequest) (*poisemsgs.StopResponse, error) {
		close(inside)
		<-ctx.Done()
		return nil, ctx.Err()
	}, graph.ServiceOptions{MaxCalls: 1, Timeout: patience})
	b.check("the service", err)
	ctx, cancel := context.WithCancel(b.soon())
	defer cancel()
	go func() { _, _ = b.g.Call(ctx, "stop", &poisemsgs.StopRequest{}) }()
	<-inside
	p := b.connect(b.t)
	defer p.Close()
	var answer poisemsgs.StopResponse
	b.check("the call", p.Call(b.soon(), "/stop", "poise_msgs/srv/Stop", &poisemsgs.StopRequest{Category: 1}, &answer))
	if n, category := b.robot.asked.Load(), b.robot.category.Load(); n != 1 || category != 1 || !answer.Success {
		b.t.Errorf("%d stops, category %d, answer %+v", n, category, answer)
	}
}

func (b *bed) check(what string, err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
}

// soon returns a context that ends when patience does.
func (b *bed) soon() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	b.t.Cleanup(cancel)
	return ctx
}

// wait waits until something is so.
func (b *bed) wait(what string, ok func() bool) {
	b.t.Helper()
	for ctx := b.soon(); !ok(); time.Sleep(2 * time.Millisecond) {
		if ctx.Err() != nil {
			b.t.Fatalf("never: %s", what)
		}
	}
}

// foreign returns who is on a topic besides the graph's own node.
func (b *bed) foreign(topic string) (publishers, subscribers int) {
	i, _ := b.g.TopicInfo(topic)
	for _, e := range i.Publishers {
		if e.Node != b.g.Options().Node {
			publishers++
		}
	}
	for _, e := range i.Subscribers {
		if e.Node != b.g.Options().Node {
			subscribers++
		}
	}
	return publishers, subscribers
}

func (b *bed) topicOut() {
	pub, err := graph.Topic[msgs.String](b.g, "out", graph.TopicOptions{})
	b.check("advertise", err)
	p := b.connect(b.t)
	defer p.Close()
	next, err := p.Subscribe("/out", stringType)
	b.check("subscribe", err)
	b.wait("the peer subscribes", func() bool { _, n := b.foreign("out"); return n > 0 })
	for _, text := range []string{"hällo", "", "two\nlines"} {
		pub.Publish(&msgs.String{Data: text})
		var got msgs.String
		b.check("next", next(b.soon(), &got))
		if got.Data != text {
			b.t.Errorf("heard %q, want %q", got.Data, text)
		}
	}
	if s := b.wire.Stats(); s.Clients == 0 || s.Sent == 0 {
		b.t.Errorf("%+v", s)
	}
}

func (b *bed) latched() {
	pub, err := graph.Topic[msgs.String](b.g, "latched", graph.TopicOptions{QoS: graph.QoS{Latched: true}})
	b.check("advertise", err)
	pub.Publish(&msgs.String{Data: "old"})
	pub.Publish(&msgs.String{Data: "last"})
	for range 2 { // the second is late for the wire too
		p := b.connect(b.t)
		defer p.Close()
		next, err := p.Subscribe("/latched", stringType)
		b.check("subscribe", err)
		var got msgs.String
		b.check("next", next(b.soon(), &got))
		if got.Data != "last" {
			b.t.Errorf("heard %q, want the last", got.Data)
		}
	}
}

func (b *bed) topicIn() {
	sub, err := graph.Listen[msgs.String](b.g, "in", graph.SubscribeOptions{QoS: graph.QoS{Depth: 100}})
	b.check("listen", err)
	p := b.connect(b.t)
	defer p.Close()
	publish, err := p.Advertise("/in", stringType)
	b.check("advertise", err)
	b.wait("the peer publishes", func() bool { n, _ := b.foreign("in"); return n > 0 })
	for i := range 10 {
		b.check("publish", publish(&msgs.String{Data: fmt.Sprint(i)}))
	}
	for i := range 10 {
		got, lost, err := sub.Next(b.soon())
		b.check("next", err)
		if got.Data != fmt.Sprint(i) || lost != 0 {
			b.t.Errorf("got %q, %d lost, want %d", got.Data, lost, i)
		}
	}
}

func (b *bed) changes() {
	p := b.connect(b.t)
	defer p.Close()
	served := b.serveSetBool("late")
	b.wait("a service that came later is called", func() bool {
		var r msgs.SetBoolResponse
		return p.Call(b.soon(), "/late", setBoolType, &msgs.SetBoolRequest{Data: true}, &r) == nil && r.Success
	})
	served.Close()
	b.wait("a service that is gone is refused", func() bool {
		return p.Call(b.soon(), "/late", setBoolType, &msgs.SetBoolRequest{Data: true}, &msgs.SetBoolResponse{}) != nil
	})
}

func (b *bed) serveSetBool(name string) *graph.ServiceServer {
	s, err := graph.Service(b.g, name, func(_ context.Context, q *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) {
		if !q.Data {
			return nil, fmt.Errorf("false is not allowed")
		}
		return &msgs.SetBoolResponse{Success: true, Message: "dönë"}, nil
	}, graph.ServiceOptions{})
	b.check("serve", err)
	return s
}

func (b *bed) service() {
	b.serveSetBool("set")
	p := b.connect(b.t)
	defer p.Close()
	var r msgs.SetBoolResponse
	b.check("call", p.Call(b.soon(), "/set", setBoolType, &msgs.SetBoolRequest{Data: true}, &r))
	if want := (msgs.SetBoolResponse{Success: true, Message: "dönë"}); !reflect.DeepEqual(r, want) {
		b.t.Errorf("%+v, want %+v", r, want)
	}
	if err := p.Call(b.soon(), "/set", setBoolType, &msgs.SetBoolRequest{}, &r); err == nil || !strings.Contains(err.Error(), "false is not allowed") {
		b.t.Errorf("a refusal: %v", err)
	}
}

type textGoal = graph.Goal[msgs.TextActionGoal, msgs.TextActionFeedback, msgs.TextActionResult]

// serveText serves an action whose goals come over the channel.
func (b *bed) serveText() <-chan *textGoal {
	came := make(chan *textGoal, 10)
	_, err := graph.Action(b.g, "text", graph.ActionCallbacks[msgs.TextActionGoal, msgs.TextActionFeedback, msgs.TextActionResult]{
		Goal: func(h *textGoal) { came <- h },
		Cancel: func(h *textGoal) {
			h.Withdraw(action.ClientCancel, msgs.TextActionResult{ErrorCode: 7}, "called off")
		},
	}, graph.ActionOptions{})
	b.check("serve", err)
	return came
}

// send sends a goal with a peer, and returns both sides of it.
func (b *bed) send(p Peer, came <-chan *textGoal, command string) (Goal, *textGoal) {
	b.t.Helper()
	q := &msgs.TextActionGoal{}
	q.Command.Command = command
	var h *textGoal
	got := make(chan struct{})
	go func() { defer close(got); h = <-came }()
	g, err := p.SendGoal(b.soon(), "/text", textType, q)
	b.check("send", err)
	select {
	case <-got:
	case <-b.soon().Done():
		b.t.Fatal("the goal never came")
	}
	if h.Value().Command.Command != command {
		b.t.Errorf("the goal is %q, want %q", h.Value().Command.Command, command)
	}
	return g, h
}

func (b *bed) goal() {
	came := b.serveText()
	p := b.connect(b.t)
	defer p.Close()
	g, h := b.send(p, came, "sing")
	h.Accept()
	for range 3 {
		h.Feedback(&msgs.TextActionFeedback{})
		b.check("feedback", g.Feedback(b.soon(), &msgs.TextActionFeedback{}))
	}
	h.Succeed(msgs.TextActionResult{ErrorCode: 3}, "sung")
	var r msgs.TextActionResult
	status, err := g.Result(b.soon(), &r)
	b.check("result", err)
	if status != msgs.StatusSucceeded || r.ErrorCode != 3 {
		b.t.Errorf("status %d, %+v", status, r)
	}
}

func (b *bed) cancel() {
	came := b.serveText()
	p := b.connect(b.t)
	defer p.Close()
	g, h := b.send(p, came, "sing")
	h.Accept()
	b.check("cancel", g.Cancel(b.soon()))
	var r msgs.TextActionResult
	status, err := g.Result(b.soon(), &r)
	b.check("result", err)
	if status != msgs.StatusCanceled || r.ErrorCode != 7 {
		b.t.Errorf("status %d, %+v", status, r)
	}
}

func (b *bed) refused() {
	came := b.serveText()
	p := b.connect(b.t)
	defer p.Close()
	go func() { (<-came).Reject(action.Failed, msgs.TextActionResult{}, "it is night") }()
	g, err := p.SendGoal(b.soon(), "/text", textType, &msgs.TextActionGoal{})
	if err == nil {
		_, err = g.Result(b.soon(), &msgs.TextActionResult{})
	}
	if err == nil || !strings.Contains(err.Error(), "it is night") {
		b.t.Errorf("a refused goal: %v", err)
	}
}

func (b *bed) forge() {
	pub, err := graph.Topic[msgs.String](b.g, "out", graph.TopicOptions{QoS: graph.QoS{Latched: true}})
	b.check("advertise", err)
	heard, err := graph.Listen[msgs.String](b.g, "out", graph.SubscribeOptions{})
	b.check("listen", err)
	b.serveSetBool("set")
	p := b.connect(b.t)
	defer p.Close()
	// that it is refused may be told now, later or only to people
	if publish, err := p.Advertise("/out", stringType); err == nil {
		for range 3 {
			_ = publish(&msgs.String{Data: "forged"})
		}
	}
	b.check("call", p.Call(b.soon(), "/set", setBoolType, &msgs.SetBoolRequest{Data: true}, &msgs.SetBoolResponse{}))
	pub.Publish(&msgs.String{Data: "true"})
	if got, lost, err := heard.Next(b.soon()); err != nil || lost != 0 || got.Data != "true" {
		b.t.Errorf("heard %v, %d lost, %v", got, lost, err)
	}
	if n, _ := b.foreign("out"); n != 0 {
		b.t.Errorf("%d peers publish on a topic that is the graph's own", n)
	}
}

func (b *bed) oneNode() {
	sub, err := b.g.Subscribe("in", graph.SubscribeOptions{Type: stringType})
	b.check("subscribe", err)
	callers := make(chan string, 1)
	_, err = graph.Service(b.g, "who", func(ctx context.Context, _ *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) {
		callers <- graph.Caller(ctx)
		return &msgs.SetBoolResponse{}, nil
	}, graph.ServiceOptions{})
	b.check("serve", err)
	departed := make(chan string, 10)
	defer b.g.OnLeave(func(node string) { departed <- node })()
	came := b.serveText()
	seen := map[string]bool{}
	for range 2 {
		p := b.connect(b.t)
		publish, err := p.Advertise("/in", stringType)
		b.check("advertise", err)
		b.wait("the peer publishes", func() bool { n, _ := b.foreign("in"); return n > 0 })
		b.check("publish", publish(&msgs.String{}))
		m, _, err := sub.Next(b.soon())
		b.check("next", err)
		b.check("call", p.Call(b.soon(), "/who", setBoolType, &msgs.SetBoolRequest{}, &msgs.SetBoolResponse{}))
		caller := <-callers
		_, h := b.send(p, came, "sing")
		if m.From != caller || h.Caller() != caller || !b.g.Present(caller) || caller == b.g.Options().Node || seen[caller] {
			b.t.Errorf("it publishes as %q, calls as %q and sends goals as %q", m.From, caller, h.Caller())
		}
		seen[caller] = true
		h.Reject(action.Failed, msgs.TextActionResult{}, "")
		p.Close()
		select {
		case gone := <-departed:
			if gone != caller || b.g.Present(gone) {
				b.t.Errorf("%q left, want %q", gone, caller)
			}
		case <-b.soon().Done():
			b.t.Fatal("no client left")
		}
		b.wait("it does not publish any more", func() bool { n, _ := b.foreign("in"); return n == 0 })
	}
}

func (b *bed) leave() {
	_, err := graph.Listen[msgs.String](b.g, "in", graph.SubscribeOptions{})
	b.check("listen", err)
	_, err = graph.Topic[msgs.String](b.g, "out", graph.TopicOptions{})
	b.check("advertise", err)
	p := b.connect(b.t)
	_, err = p.Advertise("/in", stringType)
	b.check("advertise", err)
	_, err = p.Subscribe("/out", stringType)
	b.check("subscribe", err)
	present := func() bool {
		publishers, _ := b.foreign("in")
		_, subscribers := b.foreign("out")
		return publishers > 0 && subscribers > 0
	}
	b.wait("the peer is on both topics", present)
	p.Close()
	b.wait("the peer is gone", func() bool { n, _ := b.foreign("in"); return n == 0 })
}

func (b *bed) close() {
	_, err := graph.Topic[msgs.String](b.g, "out", graph.TopicOptions{})
	b.check("advertise", err)
	p := b.connect(b.t)
	defer p.Close()
	_, err = p.Subscribe("/out", stringType)
	b.check("subscribe", err)
	b.wait("the peer subscribes", func() bool { _, n := b.foreign("out"); return n > 0 })
	b.check("the end of Run", b.end())
	for _, i := range b.g.Topics() {
		if p, s := b.foreign(i.Name); p+s > 0 {
			b.t.Errorf("%s still has %d publishers and %d subscribers of the wire", i.Name, p, s)
		}
	}
}
