package rosbridge_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"poise/graph"
	"poise/msgs"
	"poise/wire/rosbridge"
	"poise/wire/rosbridge/client"
)

func (b *bed) client(o client.Options) *client.Client {
	b.t.Helper()
	o.HTTP = b.web
	c, err := client.Dial(b.t.Context(), b.url, o)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(c.Close)
	return c
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func TestClientTopicsAndServices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newStepped(t, rosbridge.Config{})
		ctx := soon(t)
		c := b.client(client.Options{})
		sub := must(c.Subscribe("/joint_states", "sensor_msgs/msg/JointState", client.SubscribeOptions{Compression: "cbor"}))
		text, lost, err := sub.Next(ctx)
		var state msgs.JointState
		if err != nil || lost != 0 || client.Read(text, &state) != nil || state.Position[1] != -2 || state.Header.Stamp.Nanosec != 4 {
			t.Fatalf("%s, %d lost, %v", text, lost, err)
		}
		sub.Close()
		if _, _, err := sub.Next(ctx); !errors.Is(err, client.ErrClosed) {
			t.Errorf("Next after Close: %v", err)
		}

		// two readers of one topic, fed by our own publisher
		first := must(c.Subscribe("/mine", "std_msgs/msg/String", client.SubscribeOptions{}))
		second := must(c.Subscribe("/mine", "std_msgs/msg/String", client.SubscribeOptions{}))
		pub := must(c.Advertise("/mine", "std_msgs/msg/String", false))
		if err := pub.Publish(client.Text(&msgs.String{Data: "hi"}, msgs.ROS2)); err != nil {
			t.Fatal(err)
		}
		for _, s := range []*client.Subscription{first, second} {
			if text, _, err := s.Next(ctx); err != nil || string(text) != `{"data":"hi"}` {
				t.Errorf("%s, %v", text, err)
			}
		}
		values, err := c.Call(ctx, "/set", client.Text(&srvReq{Data: true}, msgs.ROS2))
		var r srvRes
		if err != nil || client.Read(values, &r) != nil || !r.Success {
			t.Errorf("%s, %v", values, err)
		}
		var refused *client.RefusedError
		if _, err := c.Call(ctx, "/fail", nil); !errors.As(err, &refused) || !strings.Contains(err.Error(), "knee says no") {
			t.Errorf("a refusal: %v", err)
		}
		short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		if _, err := c.Call(short, "/slow", nil); err == nil {
			t.Error("a slow call ended well")
		}
	})
}

func TestClientHearsRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newStepped(t, rosbridge.Config{})
		ctx := soon(t)
		told := make(chan string, 10)
		c := b.client(client.Options{Status: func(level, id, text string) {
			select {
			case told <- level + " " + text:
			default:
			}
		}})
		sub := must(c.Subscribe("/nowhere", "", client.SubscribeOptions{}))
		if _, _, err := sub.Next(ctx); err == nil || !strings.Contains(err.Error(), "/nowhere") {
			t.Errorf("Next: %v", err)
		}
		if s := <-told; !strings.HasPrefix(s, "error ") {
			t.Errorf("status %q", s)
		}
		pub := must(c.Advertise("/chatter", "std_msgs/msg/Bool", false))
		wait(t, "the refusal comes back", func() bool {
			err := pub.Publish([]byte(`{"data":true}`))
			return err != nil && strings.Contains(err.Error(), "std_msgs/msg/String")
		})
	})
}

func TestClientGoals(t *testing.T) {
	for _, typ := range []string{"text_msgs/action/TextAction", "text_msgs/TextActionAction"} {
		t.Run(typ, func(t *testing.T) {
			b := newBed(t, rosbridge.Config{})
			ctx := soon(t)
			c := b.client(client.Options{})
			send := func(command string) *client.Goal {
				t.Helper()
				g, err := c.SendGoal(ctx, "/text", typ, fmt.Appendf(nil, `{"command":{"command":%q}}`, command))
				if err != nil {
					t.Fatal(err)
				}
				return g
			}
			g := send("wait")
			h := <-b.came
			h.Feedback(&msgs.TextActionFeedback{Status: "half"})
			if u, err := g.Next(ctx); err != nil || string(u.Feedback) != `{"status":"half"}` {
				t.Errorf("feedback %+v, %v", u, err)
			}
			if err := g.Cancel(ctx); err != nil {
				t.Fatal(err)
			}
			if u, err := g.Next(ctx); err != nil || !u.Done || u.Status != msgs.StatusCanceled || !strings.Contains(string(u.Result), "stopped") {
				t.Errorf("cancelled %+v, %v", u, err)
			}
			if u, err := send("count").Result(ctx); err != nil || u.Status != msgs.StatusSucceeded || !strings.Contains(string(u.Result), "counted") {
				t.Errorf("succeeded %+v, %v", u, err)
			}
			if u, err := send("fall").Result(ctx); err != nil || u.Rejected || u.Status != msgs.StatusAborted || !strings.Contains(string(u.Result), "fell") {
				t.Errorf("aborted %+v, %v", u, err)
			}
			if u, err := send("refuse").Result(ctx); err != nil || !u.Rejected || u.Text != "the left knee is hot" {
				t.Errorf("rejected %+v, %v", u, err)
			}
		})
	}
}

func TestClientComesBack(t *testing.T) {
	checkLeaks(t)
	g := graph.New(graph.Options{})
	t.Cleanup(g.Close)
	var now atomic.Pointer[rosbridge.Server]
	now.Store(rosbridge.New(g, rosbridge.Config{}))
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { now.Load().ServeHTTP(w, r) }))
	t.Cleanup(func() { now.Load().Close(); web.Close() })
	must(graph.Service(g, "slow", func(ctx context.Context, _ *msgs.TriggerRequest) (*msgs.TriggerResponse, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}, graph.ServiceOptions{}))

	ctx := soon(t)
	changes := make(chan error, 10)
	c := client.Open("ws"+strings.TrimPrefix(web.URL, "http"), client.Options{FirstPause: time.Millisecond, LastPause: 10 * time.Millisecond,
		Changed: func(why error) { changes <- why }})
	t.Cleanup(c.Close)
	// both are said before there is a connection, perhaps
	sub := must(c.Subscribe("/echo", "std_msgs/msg/String", client.SubscribeOptions{}))
	pub := must(c.Advertise("/echo", "std_msgs/msg/String", false))
	for round := range 3 {
		if err := c.WaitConnected(ctx); err != nil {
			t.Fatal(err)
		}
		if why := <-changes; why != nil {
			t.Fatalf("round %d: %v", round, why)
		}
		if err := pub.Publish(fmt.Appendf(nil, `{"data":"%d"}`, round)); err != nil {
			t.Fatal(err)
		}
		text, _, err := sub.Next(ctx)
		if err != nil || string(text) != fmt.Sprintf(`{"data":"%d"}`, round) {
			t.Fatalf("round %d: %s, %v", round, text, err)
		}
		under := make(chan error, 1)
		go func() {
			_, err := c.Call(ctx, "/slow", nil)
			under <- err
		}()
		wait(t, "the call is there", func() bool { return now.Load().Stats().Received >= uint64(4) })
		now.Swap(rosbridge.New(g, rosbridge.Config{})).Close()
		if err := <-under; err == nil {
			t.Error("a call survived its connection")
		}
		if why := <-changes; !errors.Is(why, client.ErrDisconnected) {
			t.Errorf("round %d: %v", round, why)
		}
	}
}

func TestClientSaysWhyItCannotConnect(t *testing.T) {
	checkLeaks(t)
	g := graph.New(graph.Options{})
	t.Cleanup(g.Close)
	s := rosbridge.New(g, rosbridge.Config{})
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	url := "ws" + strings.TrimPrefix(web.URL, "http")
	h := http.Header{"Origin": {"https://evil.example"}}
	if _, err := client.Dial(soon(t), url, client.Options{Header: h}); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("a page from outside: %v", err)
	}
	s.Close()
	if _, err := client.Dial(soon(t), url, client.Options{}); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("a server that is closing: %v", err)
	}
	if _, err := client.Dial(soon(t), "ws://127.0.0.1:1/", client.Options{}); err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("no server there: %v", err)
	}
	http.DefaultClient.CloseIdleConnections()
}
