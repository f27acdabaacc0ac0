package mirror_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"poise/graph"
	"poise/msgs"
	"poise/wire/mirror"
	"poise/wire/rosapi"
	"poise/wire/rosbridge"
)

// serveAt serves a graph at an address until the returned function ends it.
func serveAt(t *testing.T, address string, g *graph.Graph) (end func()) {
	t.Helper()
	s := rosbridge.New(g, rosbridge.Config{})
	web := &http.Server{Handler: s}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	go web.Serve(l)
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
	free := must(net.Listen("tcp", "127.0.0.1:0"))
	address := free.Addr().String()
	free.Close()
	here := graph.New(graph.Options{})
	t.Cleanup(here.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	var kept sync.WaitGroup
	kept.Go(func() { mirror.Keep(ctx, here, "ws://"+address, "far", slog.New(slog.DiscardHandler)) })

	call := func(service string) string {
		a, err := graph.Call[msgs.TriggerRequest, msgs.TriggerResponse](ctx, here, "far/"+service, &msgs.TriggerRequest{})
		if err != nil {
			return err.Error()
		}
		return a.Message
	}
	// it was not there at the beginning
	end := serveAt(t, address, farGraph(t, "old"))
	wait(t, "the first robot answers", func() bool { return call("old") == "here is old" })
	// the same robot again
	end()
	wait(t, "its absence is noticed", func() bool { return call("old") != "here is old" })
	end = serveAt(t, address, farGraph(t, "old"))
	wait(t, "it is back", func() bool { return call("old") == "here is old" })
	// another in its place
	end()
	end = serveAt(t, address, farGraph(t, "new"))
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
}
