package mirror_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"poise/graph"
	"poise/internal/stepped"
	"poise/msgs"
	"poise/wire/mirror"
	"poise/wire/rosapi"
	"poise/wire/rosbridge"
	"poise/wire/rosbridge/client"
)

// serveAt serves a graph at an address until the returned function ends it.
func serveAt(n *stepped.Net, address string, g *graph.Graph) (end func()) {
	s := rosbridge.New(g, rosbridge.Config{})
	web := &http.Server{Handler: s}
	go web.Serve(must(n.Listen("tcp", address)))
	return sync.OnceFunc(func() { s.Close(); web.Close() })
}

// farGraph has one service, by which one robot is told from the next.
func farGraph(t *testing.T, service string) *graph.Graph {
	t.Helper()
	g := graph.New(graph.Options{})
	t.Cleanup(g.Close)
	must(rosapi.Serve(g, rosapi.Options{}))
	must(graph.Service(g, service, func(context.Context, *msgs.TriggerRequest) (*msgs.TriggerResponse, error) {
		return &msgs.TriggerResponse{Success: true, Message: "here is " + service}, nil
	}, graph.ServiceOptions{}))
	return g
}

func TestKeepWaitsForARobotAndFollowsItsChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const address = "127.0.0.1:9090"
		n := &stepped.Net{}
		here := graph.New(graph.Options{})
		t.Cleanup(here.Close)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var kept sync.WaitGroup
		kept.Go(func() {
			mirror.Keep(ctx, here, "ws://"+address, "far", client.Options{HTTP: n.Client(), Log: slog.New(slog.DiscardHandler)}, nil)
		})

		call := func(service string) string {
			a, err := graph.Call[msgs.TriggerRequest, msgs.TriggerResponse](ctx, here, "far/"+service, &msgs.TriggerRequest{})
			if err != nil {
				return err.Error()
			}
			return a.Message
		}
		// it was not there at the beginning
		end := serveAt(n, address, farGraph(t, "old"))
		wait(t, "the first robot answers", func() bool { return call("old") == "here is old" })
		// the same robot again
		end()
		wait(t, "its absence is noticed", func() bool { return call("old") != "here is old" })
		end = serveAt(n, address, farGraph(t, "old"))
		wait(t, "it is back", func() bool { return call("old") == "here is old" })
		// another in its place
		end()
		end = serveAt(n, address, farGraph(t, "new"))
		defer end()
		wait(t, "the second robot answers", func() bool { return call("new") == "here is new" })
		if answer := call("old"); !strings.Contains(answer, "far/old") {
			t.Errorf("what the second robot does not have answers %q", answer)
		}
		cancel()
		kept.Wait()
		if n := len(here.Services()); n != 0 {
			t.Errorf("%d services are left", n)
		}
	})
}

// TestARobotThatComesBackIsStillDriven: after the connection was lost, our own
// publishing must not be taken for the robot's.
func TestARobotThatComesBackIsStillDriven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const address = "127.0.0.1:9090"
		n := &stepped.Net{}
		here := graph.New(graph.Options{})
		t.Cleanup(here.Close)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var kept sync.WaitGroup
		defer kept.Wait()
		defer cancel()
		shown := make(chan string, 100)
		log := slog.New(slog.NewTextHandler(tellWriter(func(line string) {
			if strings.Contains(line, "level=INFO") {
				shown <- line
			}
		}), nil))
		kept.Go(func() {
			mirror.Keep(ctx, here, "ws://"+address, "far", client.Options{HTTP: n.Client(), Log: log}, nil)
		})
		pub := must(graph.Topic[msgs.JointState](here, "far/ref", graph.TopicOptions{}))
		for life := range 3 {
			far := farGraph(t, "old")
			ref := must(graph.Listen[msgs.JointState](far, "ref", graph.SubscribeOptions{}))
			end := serveAt(n, address, far)
			if line := <-shown; life > 0 && !strings.Contains(line, "is back") {
				t.Fatalf("life %d: %s", life, line)
			}
			got := make(chan struct{})
			go func() {
				defer close(got)
				if v, _, err := ref.Next(ctx); err != nil || v.Name[0] != "knee" {
					t.Errorf("life %d: %v %v", life, v, err)
				}
			}()
			for driven := false; !driven; {
				pub.Publish(&msgs.JointState{Name: []string{"knee"}})
				select {
				case <-got:
					driven = true
				case <-time.After(10 * time.Millisecond):
				}
			}
			end()
		}
	})
}

// TestTheRosapiOfARobotMayStartLater than its bridge does.
func TestTheRosapiOfARobotMayStartLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, here := graph.New(graph.Options{}), graph.New(graph.Options{})
		t.Cleanup(far.Close)
		t.Cleanup(here.Close)
		must(graph.Service(far, "late", func(context.Context, *msgs.TriggerRequest) (*msgs.TriggerResponse, error) {
			return &msgs.TriggerResponse{Success: true}, nil
		}, graph.ServiceOptions{}))
		const address = "127.0.0.1:9090"
		n := &stepped.Net{}
		t.Cleanup(serveAt(n, address, far))
		said := make(chan struct{}, 100)
		log := slog.New(slog.NewTextHandler(tellWriter(func(line string) {
			if strings.Contains(line, "does not say what it has") {
				said <- struct{}{}
			}
		}), nil))
		ctx, cancel := context.WithCancel(t.Context())
		var kept sync.WaitGroup
		kept.Go(func() {
			mirror.Keep(ctx, here, "ws://"+address, "far", client.Options{HTTP: n.Client(), Log: log}, nil)
		})
		defer kept.Wait()
		defer cancel()
		<-said
		must(rosapi.Serve(far, rosapi.Options{}))
		wait(t, "it is mirrored", func() bool { return len(here.Services()) == 1 })
	})
}

// tellWriter hands lines of a log to a function.
type tellWriter func(line string)

func (w tellWriter) Write(b []byte) (int, error) { w(string(b)); return len(b), nil }

// TestWhatIsPublishedOnceIsKept for those who come later.
func TestWhatIsPublishedOnceIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		far, here := graph.New(graph.Options{}), graph.New(graph.Options{})
		t.Cleanup(far.Close)
		t.Cleanup(here.Close)
		must(rosapi.Serve(far, rosapi.Options{}))
		must(graph.Topic[msgs.String](far, "arm/robot_description", graph.TopicOptions{QoS: graph.QoS{Latched: true}})).Publish(&msgs.String{Data: "<robot/>"})
		must(graph.Topic[msgs.String](far, "chatter", graph.TopicOptions{QoS: graph.QoS{Latched: true}})).Publish(&msgs.String{Data: "old news"})
		const address = "127.0.0.1:9090"
		n := &stepped.Net{}
		t.Cleanup(serveAt(n, address, far))
		c := must(client.Dial(ctx, "ws://"+address, client.Options{HTTP: n.Client()}))
		t.Cleanup(c.Close)
		s, _, err := mirror.Discover(ctx, c, "far")
		if err != nil {
			t.Fatal(err)
		}
		first := must(graph.Listen[msgs.String](here, "far/arm/robot_description", graph.SubscribeOptions{}))
		t.Cleanup(whole(mirror.New(here, c, s)).Close)
		for range 2 { // the second comes when the robot has said all it had to say
			if v, _, err := first.Next(ctx); err != nil || v.Data != "<robot/>" {
				t.Fatal(v, err)
			}
			first = must(graph.Listen[msgs.String](here, "far/arm/robot_description", graph.SubscribeOptions{}))
		}
	})
}
