package ros1

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"poise/graph"
	"poise/msgs"
	"poise/msgs/registry"
	"poise/stop"
	"poise/wire"
	"poise/wire/wiretest"
)

func TestWire(t *testing.T) {
	wiretest.Test(t, func(t *testing.T, g *graph.Graph, line *stop.Line) (wire.Wire, func(t *testing.T) wiretest.Peer) {
		n, err := New(g, Config{Master: "http://127.0.0.1:0", OwnMaster: true, Stop: line})
		if err != nil {
			t.Fatal(err)
		}
		return n, func(t *testing.T) wiretest.Peer {
			p := newPeer(t, n.c.Master)
			p.host = g
			return p
		}
	})
}

// peerNode is a ROS node: a graph of its own with a wire of its own.
type peerNode struct {
	t    *testing.T
	g    *graph.Graph
	n    *Node
	stop func()
	goal int
	host *graph.Graph // whose services it calls
}

var peerCount atomic.Int64

func newPeer(t *testing.T, master string) *peerNode {
	t.Helper()
	g := graph.New(graph.Options{})
	n, err := New(g, Config{Master: master, Names: Names{Namespace: "/", Node: fmt.Sprintf("peer%d", peerCount.Add(1))}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	closed := false
	p := &peerNode{t: t, g: g, n: n}
	p.stop = func() {
		if closed {
			return
		}
		closed = true
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		g.Close()
	}
	return p
}

func (p *peerNode) Close() { p.stop() }

func (p *peerNode) Subscribe(topic, typ string) (func(ctx context.Context, dst any) error, error) {
	s, err := p.g.Subscribe(topic, graph.SubscribeOptions{Type: typ, QoS: graph.QoS{Depth: 1000}})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, dst any) error {
		m, _, err := s.Next(ctx)
		if err == nil {
			reflect.ValueOf(dst).Elem().Set(reflect.ValueOf(m.Value).Elem())
		}
		return err
	}, nil
}

func (p *peerNode) Advertise(topic, typ string) (func(msg any) error, error) {
	a, err := p.g.Advertise(topic, typ, graph.TopicOptions{})
	if err != nil {
		return nil, err
	}
	return a.Publish, nil
}

func (p *peerNode) Call(ctx context.Context, service, typ string, request, response any) error {
	t, _, err := registry.ServiceNamed(typ)
	if err != nil {
		return err
	}
	// as wait_for_service: until the master knows a service that there is
	for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
		code, _, err := p.n.callMaster(ctx, "lookupService", service)
		_, exists := p.host.ServiceInfo(service)
		if err == nil && code == success || !exists {
			break
		}
	}
	r, err := p.n.CallService(ctx, service, t, request)
	if err == nil {
		reflect.ValueOf(response).Elem().Set(reflect.ValueOf(r).Elem())
	}
	return err
}

// peerGoal is a goal on the five topics.
type peerGoal struct {
	id               msgs.GoalID
	cancel           *graph.Advertisement
	feedback, result *graph.Subscription
}

func (p *peerNode) SendGoal(ctx context.Context, name, typ string, goal any) (wiretest.Goal, error) {
	t, _, err := registry.ActionNamed(typ)
	if err != nil {
		return nil, err
	}
	p.goal++
	g := &peerGoal{id: msgs.GoalID{Stamp: msgs.TimeOf(time.Now().UnixNano()), ID: fmt.Sprintf("%s-%d", p.n.self, p.goal)}}
	send, err := p.g.Advertise(name+"/goal", typeName(t.ActionGoal), graph.TopicOptions{})
	if err != nil {
		return nil, err
	}
	if g.cancel, err = p.g.Advertise(name+"/cancel", "actionlib_msgs/GoalID", graph.TopicOptions{}); err != nil {
		return nil, err
	}
	if g.feedback, err = p.g.Subscribe(name+"/feedback", graph.SubscribeOptions{Type: typeName(t.ActionFeedback), QoS: graph.QoS{Depth: 100}}); err != nil {
		return nil, err
	}
	if g.result, err = p.g.Subscribe(name+"/result", graph.SubscribeOptions{Type: typeName(t.ActionResult), QoS: graph.QoS{Depth: 100}}); err != nil {
		return nil, err
	}
	status, err := p.g.Subscribe(name+"/status", graph.SubscribeOptions{Type: "actionlib_msgs/GoalStatusArray"})
	if err != nil {
		return nil, err
	}
	// as actionlib's wait_for_server: all five are connected
	for ; ; time.Sleep(time.Millisecond) {
		out, in := 0, 0
		for _, l := range p.n.greet.list() {
			if l.direction == outward {
				out++
			} else {
				in++
			}
		}
		if out >= 2 && in >= 3 && status.Len() > 0 {
			break
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	m := reflect.New(t.ActionGoal.Go())
	m.Elem().FieldByName("GoalID").Set(reflect.ValueOf(g.id))
	m.Elem().FieldByName("Goal").Set(reflect.ValueOf(goal).Elem())
	return g, send.Publish(m.Interface())
}

func (g *peerGoal) Feedback(ctx context.Context, dst any) error {
	m, _, err := g.feedback.Next(ctx)
	if err == nil {
		reflect.ValueOf(dst).Elem().Set(reflect.ValueOf(m.Value).Elem().FieldByName("Feedback"))
	}
	return err
}

func (g *peerGoal) Cancel(context.Context) error {
	id := g.id
	return g.cancel.Publish(&id)
}

func (g *peerGoal) Result(ctx context.Context, dst any) (int, error) {
	for {
		m, _, err := g.result.Next(ctx)
		if err != nil {
			return 0, err
		}
		v := reflect.ValueOf(m.Value).Elem()
		status := v.FieldByName("Status").Interface().(msgs.GoalStatus)
		if status.GoalID.ID != g.id.ID {
			continue
		}
		reflect.ValueOf(dst).Elem().Set(v.FieldByName("Result"))
		switch status.Status {
		case msgs.GoalSucceeded:
			return msgs.StatusSucceeded, nil
		case msgs.GoalPreempted, msgs.GoalRecalled:
			return msgs.StatusCanceled, nil
		case msgs.GoalRejected:
			return 0, fmt.Errorf("refused: %s", status.Text)
		}
		return msgs.StatusAborted, nil
	}
}
