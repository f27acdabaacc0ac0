package rosbridge_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"poise/graph"
	"poise/msgs"
	"poise/stop"
	"poise/wire"
	"poise/wire/rosbridge"
	"poise/wire/rosbridge/client"
	"poise/wire/wiretest"
)

func TestWire(t *testing.T) {
	wiretest.Test(t, func(t *testing.T, g *graph.Graph, line *stop.Line) (wire.Wire, func(t *testing.T) wiretest.Peer) {
		checkLeaks(t)
		bridge := rosbridge.New(g, rosbridge.Config{Address: "127.0.0.1:1", Stop: line})
		web := httptest.NewServer(bridge)
		t.Cleanup(web.Close)
		return bridge, func(t *testing.T) wiretest.Peer {
			c, err := client.Dial(t.Context(), "ws"+strings.TrimPrefix(web.URL, "http"), client.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return testPeer{c}
		}
	})
}

// testPeer is a client of the bridge as the tests of wires see it.
type testPeer struct{ *client.Client }

func (p testPeer) Subscribe(topic, typ string) (func(ctx context.Context, dst any) error, error) {
	sub, err := p.Client.Subscribe(topic, typ, client.SubscribeOptions{})
	return func(ctx context.Context, dst any) error {
		text, _, err := sub.Next(ctx)
		if err != nil {
			return err
		}
		return client.Read(text, dst)
	}, err
}

func (p testPeer) Advertise(topic, typ string) (func(msg any) error, error) {
	pub, err := p.Client.Advertise(topic, typ, false)
	return func(msg any) error { return pub.Publish(client.Text(msg, msgs.ROS2)) }, err
}

func (p testPeer) Call(ctx context.Context, service, _ string, request, response any) error {
	text, err := p.Client.Call(ctx, service, client.Text(request, msgs.ROS2))
	if err != nil {
		return err
	}
	return client.Read(text, response)
}

func (p testPeer) SendGoal(ctx context.Context, name, typ string, goal any) (wiretest.Goal, error) {
	g, err := p.Client.SendGoal(ctx, name, typ, client.Text(goal, msgs.ROS2))
	return testGoal{g}, err
}

type testGoal struct{ *client.Goal }

func (g testGoal) Feedback(ctx context.Context, dst any) error {
	u, err := g.Next(ctx)
	if err != nil {
		return err
	}
	return client.Read(u.Feedback, dst)
}

func (g testGoal) Result(ctx context.Context, dst any) (int, error) {
	u, err := g.Goal.Result(ctx)
	if err != nil {
		return 0, err
	}
	if u.Rejected {
		return 0, errors.New(u.Text)
	}
	return u.Status, client.Read(u.Result, dst)
}
