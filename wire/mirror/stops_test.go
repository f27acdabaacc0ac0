package mirror_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
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

// keepStops mirrors what is at an address below far, with its stops, until the test ends.
func keepStops(t *testing.T, n *stepped.Net, address string) *mirror.Stops {
	t.Helper()
	here := graph.New(graph.Options{})
	stops := must(mirror.NewStops("ws://"+address, "/far", client.Options{HTTP: n.Client()}))
	ctx, cancel := context.WithCancel(t.Context())
	var kept sync.WaitGroup
	var text strings.Builder
	var mu sync.Mutex
	log := slog.New(slog.NewTextHandler(tellWriter(func(line string) {
		mu.Lock()
		defer mu.Unlock()
		text.WriteString(line)
	}), nil))
	kept.Go(func() {
		mirror.Keep(ctx, here, "ws://"+address, "far", client.Options{HTTP: n.Client(), Log: log}, stops)
	})
	t.Cleanup(func() { cancel(); kept.Wait(); stops.Close(); here.Close() })
	wait(t, "it is mirrored", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return strings.Contains(text.String(), "mirrored")
	})
	return stops
}

// TestAnyRobotWithAStopServiceIsStopped: one that is no Poise has no POST /stop, and its
// service takes no category. A stop of another type is no stop, and is called as it is.
func TestAnyRobotWithAStopServiceIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, g := &stepped.Net{}, graph.New(graph.Options{})
		t.Cleanup(g.Close)
		must(rosapi.Serve(g, rosapi.Options{}))
		var stopped, cameras atomic.Int32
		must(graph.Service(g, "stop", func(context.Context, *msgs.TriggerRequest) (*msgs.TriggerResponse, error) {
			time.Sleep(time.Second)
			stopped.Add(1)
			return &msgs.TriggerResponse{Success: true, Message: "at rest"}, nil
		}, graph.ServiceOptions{}))
		must(graph.Service(g, "camera/stop", func(context.Context, *msgs.TriggerRequest) (*msgs.TriggerResponse, error) {
			cameras.Add(1)
			return &msgs.TriggerResponse{Message: "no film"}, nil
		}, graph.ServiceOptions{}))
		must(graph.Service(g, "tune/stop", func(context.Context, *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) {
			return &msgs.SetBoolResponse{}, nil
		}, graph.ServiceOptions{}))
		bridge := rosbridge.New(g, rosbridge.Config{})
		t.Cleanup(bridge.Close)
		serveHTTP(t, n, "127.0.0.1:9090", bridge)
		stops := keepStops(t, n, "127.0.0.1:9090")
		for service, want := range map[string]bool{"stop": true, "camera/stop": true, "tune/stop": false, "other/stop": false} {
			if stops.Stops(service) != want {
				t.Errorf("%s is a stop: %v", service, !want)
			}
		}
		for i, service := range []string{"stop", ""} {
			p := stops.Stop(service, 0, 1)
			wait(t, "it is over", func() bool { return p.Over() || p.Failed() })
			if p.String() != "at rest" || int(stopped.Load()) != i+1 || cameras.Load() != 0 {
				t.Errorf("%q: %q, stopped %d times, cameras %d", service, p, stopped.Load(), cameras.Load())
			}
		}
		p := stops.Stop("camera/stop", 2, 1)
		wait(t, "it is over", func() bool { return p.Failed() })
		if !strings.Contains(p.String(), "NOT reached") || !strings.Contains(p.String(), "no film") {
			t.Error(p)
		}
	})
}

// TestAFloodOfRemoteStopsIsBounded, also while the other server answers nothing; each is
// followed by one that the other server hears.
func TestAFloodOfRemoteStopsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &stepped.Net{}
		var heard, open, most atomic.Int32
		serveHTTP(t, n, "127.0.0.1:9090", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost {
				http.NotFound(w, r)
				return
			}
			heard.Add(1)
			most.Store(max(most.Load(), open.Add(1)))
			defer open.Add(-1)
			time.Sleep(100 * time.Millisecond)
			_ = json.NewEncoder(w).Encode(map[string]any{"success": true, "message": "stands"})
		}))
		stops := must(mirror.NewStops("ws://127.0.0.1:9090/rosbridge", "far", client.Options{HTTP: n.Client()}))
		t.Cleanup(stops.Close)
		for range 10000 {
			stops.Stop("", 2, 1)
		}
		last := stops.Stop("any/stop", 0, 1)
		before := heard.Load()
		wait(t, "it is taken", func() bool { return last.Taken() })
		if heard.Load() == before {
			t.Error("the last one was not told to the other server")
		}
		wait(t, "it is over", func() bool { return last.Over() })
		if most.Load() > 10 || heard.Load() > 40 {
			t.Errorf("%d at once, %d in all", most.Load(), heard.Load())
		}
	})
}
