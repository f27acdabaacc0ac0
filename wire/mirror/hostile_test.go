package mirror_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/coder/websocket"

	"poise/graph"
	"poise/internal/stepped"
	"poise/msgs"
	"poise/wire/mirror"
	"poise/wire/rosbridge/client"
)

// keep mirrors what is at an address until the test ends; lines has what it logs.
func keep(t *testing.T, n *stepped.Net, here *graph.Graph, address string, o client.Options) (lines func() string) {
	t.Helper()
	var mu sync.Mutex
	var text bytes.Buffer
	o.HTTP = n.Client()
	o.Log = slog.New(slog.NewTextHandler(tellWriter(func(line string) {
		mu.Lock()
		defer mu.Unlock()
		text.WriteString(line)
	}), nil))
	ctx, cancel := context.WithCancel(t.Context())
	var kept sync.WaitGroup
	kept.Go(func() { mirror.Keep(ctx, here, "ws://"+address, "far", o, nil) })
	t.Cleanup(func() { cancel(); kept.Wait() })
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		return text.String()
	}
}

// serveHTTP serves at an address until the test ends.
func serveHTTP(t *testing.T, n *stepped.Net, address string, h http.Handler) {
	t.Helper()
	web := &http.Server{Handler: h}
	go web.Serve(must(n.Listen("tcp", address)))
	t.Cleanup(func() { web.Close() })
}

// TestAMirrorDoesNotFollowRedirects: who is asked to mirror one robot does not let it
// choose another server, and says so.
func TestAMirrorDoesNotFollowRedirects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &stepped.Net{}
		here := graph.New(graph.Options{})
		t.Cleanup(here.Close)
		var reached atomic.Int32
		serveHTTP(t, n, "127.0.0.1:9091", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
		serveHTTP(t, n, "127.0.0.1:9090", http.RedirectHandler("http://127.0.0.1:9091/", http.StatusTemporaryRedirect))
		lines := keep(t, n, here, "127.0.0.1:9090", client.Options{})
		wait(t, "it is told", func() bool { return strings.Contains(lines(), "redirects are not followed") })
		if reached.Load() != 0 {
			t.Error("the other server was asked")
		}
	})
}

// answers serves one connection after the other as a rosbridge server that knows nothing
// but answers to calls, by service.
func answers(answer func(service string, args json.RawMessage) (any, bool), first func(ctx context.Context, conn *websocket.Conn) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		for {
			if first != nil && first(r.Context(), conn) != nil {
				return
			}
			_, data, err := conn.Read(r.Context())
			if err != nil {
				return
			}
			var m struct {
				Op, ID, Service string
				Args            json.RawMessage
			}
			if json.Unmarshal(data, &m) != nil || m.Op != "call_service" {
				continue
			}
			values, ok := answer(strings.TrimPrefix(m.Service, "/rosapi/"), m.Args)
			text, err := json.Marshal(map[string]any{"op": "service_response", "id": m.ID, "service": m.Service, "values": values, "result": ok})
			if err == nil {
				err = conn.Write(r.Context(), websocket.MessageText, text)
			}
			if err != nil {
				return
			}
		}
	})
}

// TestAMirrorRefusesBigFrames, in memory of the size that it allows.
func TestAMirrorRefusesBigFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit, size = 1 << 20, 60 << 20
		n := &stepped.Net{}
		here := graph.New(graph.Options{})
		t.Cleanup(here.Close)
		chunk := bytes.Repeat([]byte("["), 64<<10)
		var before, after runtime.MemStats
		var sent atomic.Int64
		serveHTTP(t, n, "127.0.0.1:9090", answers(func(string, json.RawMessage) (any, bool) { return nil, false }, func(ctx context.Context, conn *websocket.Conn) error {
			w, err := conn.Writer(ctx, websocket.MessageText)
			for i := 0; i < size && err == nil; i += len(chunk) {
				if _, err = w.Write(chunk); err == nil {
					sent.Add(int64(len(chunk)))
				}
			}
			if err == nil {
				err = w.Close()
			}
			return err
		}))
		runtime.ReadMemStats(&before)
		lines := keep(t, n, here, "127.0.0.1:9090", client.Options{MaxBytes: limit})
		wait(t, "it is told", func() bool { return strings.Contains(lines(), "read limited at") })
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 32*limit {
			t.Errorf("%d MiB for frames that are limited to %d", got>>20, limit>>20)
		}
		if sent.Load() > 8*limit {
			t.Errorf("%d bytes of a frame were read", sent.Load())
		}
	})
}

// TestOddNamesAreLeftOutOneByOne: the rest of the robot is mirrored, and what is not is
// said.
func TestOddNamesAreLeftOutOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &stepped.Net{}
		here := graph.New(graph.Options{})
		t.Cleanup(here.Close)
		must(graph.Service(here, "far/taken", func(context.Context, *msgs.TriggerRequest) (*msgs.TriggerResponse, error) {
			return &msgs.TriggerResponse{}, nil
		}, graph.ServiceOptions{}))
		odd := []string{"", "/", "bad name", `/quo"te`, "/new\nline", "/\x00", "/ümlaut", "/a//b", "/end/", "/~x", "/../up", "/" + strings.Repeat("long", 100), "/broken"}
		names := func(good ...string) []string { return append(append([]string{good[0]}, odd...), good[1:]...) }
		topics := names("/first", "/last")
		types := make([]string, len(topics))
		for i := range types {
			types[i] = "std_msgs/msg/String"
		}
		types[1] = "no_msgs/msg/No"
		services := names("/set", "/taken", "/trigger")
		for i := range 2000 {
			services = append(services, fmt.Sprintf("/more_%d", i))
		}
		serveHTTP(t, n, "127.0.0.1:9090", answers(func(service string, args json.RawMessage) (any, bool) {
			broken := strings.Contains(string(args), "broken")
			switch service {
			case "topics":
				return map[string]any{"topics": topics, "types": types}, true
			case "services":
				return map[string]any{"services": services}, true
			case "action_servers":
				return map[string]any{"action_servers": names("/act", "/act2")}, true
			case "publishers":
				return map[string]any{"publishers": []string{"/robot"}}, !broken
			case "subscribers":
				return map[string]any{"subscribers": []string{}}, !broken
			case "service_type":
				return map[string]any{"type": "std_srvs/srv/Trigger"}, !broken
			case "action_type":
				return map[string]any{"type": "text_msgs/action/TextAction"}, !broken
			}
			return "unknown", false
		}, nil))
		lines := keep(t, n, here, "127.0.0.1:9090", client.Options{})
		wait(t, "it is mirrored", func() bool { return strings.Contains(lines(), "not mirrored") })
		for _, name := range []string{"far/first", "far/last"} {
			if _, ok := here.TopicInfo(name); !ok {
				t.Errorf("topic %s is missing", name)
			}
		}
		for _, name := range []string{"far/set", "far/trigger", "far/more_900"} {
			if _, ok := here.ServiceInfo(name); !ok {
				t.Errorf("service %s is missing", name)
			}
		}
		for _, name := range []string{"far/act", "far/act2"} {
			if _, ok := here.ActionInfo(name); !ok {
				t.Errorf("action %s is missing", name)
			}
		}
		if s, _ := here.ServiceInfo("far/taken"); s.Node == mirror.Node {
			t.Error("a service of this graph was taken over")
		}
		if n := len(here.Services()); n > 1001 {
			t.Errorf("%d services are mirrored", n)
		}
		for _, want := range []string{"limit is 1000", "bad name"} {
			if !strings.Contains(lines(), want) {
				t.Errorf("%q is not told: %s", want, lines())
			}
		}
	})
}
