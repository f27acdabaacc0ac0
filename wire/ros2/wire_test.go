package ros2

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"poise/graph"
	"poise/msgs"
	"poise/msgs/codec"
	"poise/msgs/registry"
	"poise/rtps"
	"poise/rtps/rtpstest"
	"poise/stop"
	"poise/wire"
	"poise/wire/wiretest"
)

// on returns a configuration of a node on a network in memory.
func on(n *rtpstest.Network, index int) Config {
	return Config{Form: msgs.Jazzy, Dial: func() rtps.Transport { return n.Join("127.0.0.1", index) }}
}

func TestWire(t *testing.T) {
	wiretest.Test(t, func(t *testing.T, g *graph.Graph, line *stop.Line) (wire.Wire, func(t *testing.T) wiretest.Peer) {
		network := rtpstest.New(1)
		c := on(network, 0)
		c.Stop = line
		n, err := New(g, c)
		if err != nil {
			t.Fatal(err)
		}
		var count atomic.Int64
		return n, func(t *testing.T) wiretest.Peer { return newClient(t, network, int(count.Add(1)), g) }
	})
}

// client is a ROS 2 node as a client library makes it, on a participant of its own.
type client struct {
	t    *testing.T
	p    *rtps.Participant
	host *graph.Graph // whose services it calls
	once sync.Once

	mu    sync.Mutex
	calls map[string]*testCaller
}

func newClient(t *testing.T, network *rtpstest.Network, index int, host *graph.Graph) *client {
	t.Helper()
	p, err := rtps.New(rtps.Config{Name: "client", Dial: func() rtps.Transport { return network.Join("127.0.0.1", index) }})
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, p: p, host: host, calls: map[string]*testCaller{}}
	t.Cleanup(c.Close)
	return c
}

func (c *client) Close() { c.once.Do(c.p.Close) }

// inbox is a reader's samples, in order.
type inbox chan rtps.Sample

func newInbox() inbox { return make(inbox, 10000) }

func (i inbox) receive(s *rtps.Sample) {
	one := *s
	one.Payload = append([]byte(nil), s.Payload...)
	i <- one
}

func (i inbox) next(ctx context.Context) (rtps.Sample, error) {
	select {
	case s := <-i:
		return s, nil
	case <-ctx.Done():
		return rtps.Sample{}, ctx.Err()
	}
}

func (c *client) listen(topic string, t *registry.Type, q rtps.QoS) (inbox, *rtps.Reader) {
	in := newInbox()
	r, err := c.p.NewReader(rtps.ReaderConfig{Topic: topic, Type: typeName(t), QoS: q, Receive: in.receive})
	if err != nil {
		c.t.Error(err)
	}
	return in, r
}

func (c *client) Subscribe(topic, typ string) (func(ctx context.Context, dst any) error, error) {
	t, _, err := registry.Message(typ)
	if err != nil {
		return nil, err
	}
	in, _ := c.listen("rt"+topic, t, rtps.QoS{Reliable: true, Depth: 100, TransientLocal: topic == "/latched"})
	return func(ctx context.Context, dst any) error {
		s, err := in.next(ctx)
		if err != nil {
			return err
		}
		return codec.For(t, msgs.Jazzy).Decode(s.Payload, dst)
	}, nil
}

func (c *client) Advertise(topic, typ string) (func(msg any) error, error) {
	t, _, err := registry.Message(typ)
	if err != nil {
		return nil, err
	}
	w, err := c.p.NewWriter(rtps.WriterConfig{Topic: "rt" + topic, Type: typeName(t), QoS: rtps.QoS{Reliable: true, Depth: 100}})
	if err != nil {
		return nil, err
	}
	return func(msg any) error {
		for range 500 { // a sample from before the match is for no reader
			if w.Matched() > 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		_, err := w.Write(codec.For(t, msgs.Jazzy).Append(nil, msg), nil)
		return err
	}, nil
}

// testCaller is the client side of a service, as RustDDS has it: a request names nothing.
type testCaller struct {
	c                 *client
	request, response *registry.Type
	w                 *rtps.Writer
	r                 *rtps.Reader
	in                inbox
}

func (c *client) caller(service string, request, response *registry.Type) *testCaller {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.calls[service]; k != nil {
		return k
	}
	w, err := c.p.NewWriter(rtps.WriterConfig{Topic: "rq" + service + "Request", Type: typeName(request), QoS: rtps.QoS{Reliable: true, Depth: 10}})
	if err != nil {
		c.t.Error(err)
	}
	k := &testCaller{c: c, request: request, response: response, w: w}
	k.in, k.r = c.listen("rr"+service+"Reply", response, rtps.QoS{Reliable: true, Depth: 10})
	c.calls[service] = k
	return k
}

// wait is wait_for_service.
func (k *testCaller) wait(ctx context.Context, exists func() bool) error {
	for ; k.w.Matched() == 0 || k.r.Matched() == 0; time.Sleep(time.Millisecond) {
		if ctx.Err() != nil || !exists() {
			return errors.New("there is no such service")
		}
	}
	return nil
}

func (k *testCaller) call(ctx context.Context, request, response any) error {
	n, err := k.w.Write(codec.For(k.request, msgs.Jazzy).Append(nil, request), nil)
	if err != nil {
		return err
	}
	for {
		s, err := k.in.next(ctx)
		if err != nil {
			return err
		}
		if s.Answers && s.Related == (rtps.Identity{Writer: k.w.GUID(), Sequence: n}) {
			return codec.For(k.response, msgs.Jazzy).Decode(s.Payload, response)
		}
	}
}

func (c *client) Call(ctx context.Context, service, typ string, request, response any) error {
	t, _, err := registry.ServiceNamed(typ)
	if err != nil {
		return err
	}
	k := c.caller(service, t.Request, t.Response)
	exists := func() bool { _, ok := c.host.ServiceInfo(service); return ok }
	if !exists() { // its writer is gone for this side soon, too
		return errors.New("there is no such service")
	}
	if err := k.wait(ctx, exists); err != nil {
		return err
	}
	if err := k.call(ctx, request, response); err != nil {
		return err
	}
	if r, ok := response.(*msgs.SetBoolResponse); ok && !r.Success && r.Message != "" {
		return errors.New(r.Message)
	}
	return nil
}

// sentGoal is a goal that the client has sent.
type sentGoal struct {
	c        *client
	name     string
	typ      *registry.Action
	id       msgs.UUID
	feedback inbox
	refused  bool
}

func (c *client) SendGoal(ctx context.Context, name, typ string, goal any) (wiretest.Goal, error) {
	t, _, err := registry.ActionNamed(typ)
	if err != nil {
		return nil, err
	}
	g := &sentGoal{c: c, name: name, typ: t}
	_, _ = rand.Read(g.id.Uuid[:])
	var r *rtps.Reader
	g.feedback, r = c.listen("rt"+name+"/_action/feedback", t.FeedbackMessage, rtps.QoS{Reliable: true, Depth: 10})
	for ; r.Matched() == 0; time.Sleep(time.Millisecond) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	q := t.SendGoalRequest.New()
	v := reflect.ValueOf(q).Elem()
	v.FieldByName("GoalID").Set(reflect.ValueOf(g.id))
	v.FieldByName("Goal").Set(reflect.ValueOf(goal).Elem())
	var a msgs.SendGoalResponse
	if err := g.ask(ctx, "send_goal", t.SendGoalRequest, t.SendGoalResponse, q, &a); err != nil {
		return nil, err
	}
	g.refused = !a.Accepted
	return g, nil
}

func (g *sentGoal) ask(ctx context.Context, part string, request, response *registry.Type, q, a any) error {
	k := g.c.caller(g.name+"/_action/"+part, request, response)
	if err := k.wait(ctx, func() bool { return true }); err != nil {
		return err
	}
	return k.call(ctx, q, a)
}

func (g *sentGoal) Feedback(ctx context.Context, dst any) error {
	s, err := g.feedback.next(ctx)
	if err != nil {
		return err
	}
	m := g.typ.FeedbackMessage.New()
	if err := codec.For(g.typ.FeedbackMessage, msgs.Jazzy).Decode(s.Payload, m); err != nil {
		return err
	}
	v := reflect.ValueOf(m).Elem()
	if v.FieldByName("GoalID").Interface() != any(g.id) {
		return fmt.Errorf("feedback of another goal")
	}
	reflect.ValueOf(dst).Elem().Set(v.FieldByName("Feedback"))
	return nil
}

func (g *sentGoal) Cancel(ctx context.Context) error {
	t, _, err := registry.ServiceNamed(cancelType)
	if err != nil {
		return err
	}
	var a msgs.CancelGoalResponse
	if err := g.ask(ctx, "cancel_goal", t.Request, t.Response, &msgs.CancelGoalRequest{GoalInfo: msgs.GoalInfo{GoalID: g.id}}, &a); err != nil {
		return err
	}
	if a.ReturnCode != cancelNone || len(a.GoalsCanceling) != 1 {
		return fmt.Errorf("cancel answers %+v", a)
	}
	return nil
}

func (g *sentGoal) Result(ctx context.Context, dst any) (int, error) {
	a := g.typ.GetResultResponse.New()
	if err := g.ask(ctx, "get_result", g.typ.GetResultRequest, g.typ.GetResultResponse, &msgs.GetResultRequest{GoalID: g.id}, a); err != nil {
		return 0, err
	}
	v := reflect.ValueOf(a).Elem()
	reflect.ValueOf(dst).Elem().Set(v.FieldByName("Result"))
	if g.refused {
		return 0, fmt.Errorf("refused: %s", v.FieldByName("Result").FieldByName("ErrorString").String())
	}
	return int(v.FieldByName("Status").Int()), nil
}
