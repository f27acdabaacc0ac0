package rosbridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"poise/action"
	"poise/graph"
	"poise/internal/stepped"
	"poise/msgs"
	"poise/wire/rosapi"
	"poise/wire/rosbridge"
)

type (
	textGoal = graph.Goal[msgs.TextActionGoal, msgs.TextActionFeedback, msgs.TextActionResult]
	srvReq   = msgs.SetBoolRequest
	srvRes   = msgs.SetBoolResponse
)

// bed is a graph with one thing of each kind, behind a server.
type bed struct {
	t      testing.TB
	g      *graph.Graph
	server *rosbridge.Server

	address, url string // where it listens, and as WebSockets call that
	web          *http.Client
	connect      func(ctx context.Context, network, address string) (net.Conn, error)

	chatter graph.Publisher[msgs.String]
	joints  graph.Publisher[msgs.JointState]

	mu    sync.Mutex
	goals []*textGoal
	audit []rosbridge.Entry
	came  chan *textGoal
}

// newBed serves on a real socket.
func newBed(t testing.TB, c rosbridge.Config) *bed {
	t.Helper()
	checkLeaks(t)
	b := &bed{t: t, connect: (&net.Dialer{}).DialContext}
	b.serve(c, must(net.Listen("tcp", "127.0.0.1:0")))
	return b
}

// newStepped serves on a network in memory, inside a bubble of testing/synctest: for
// tests in which time matters.
func newStepped(t testing.TB, c rosbridge.Config) *bed {
	t.Helper()
	network := &stepped.Net{}
	b := &bed{t: t, connect: network.Dial}
	b.serve(c, must(network.Listen("tcp", "127.0.0.1:0")))
	return b
}

func (b *bed) serve(c rosbridge.Config, at net.Listener) {
	b.g, b.came = graph.New(graph.Options{StatusPeriod: 50 * time.Millisecond}), make(chan *textGoal, 100)
	c.Audit = func(e rosbridge.Entry) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.audit = append(b.audit, e)
	}
	b.server = rosbridge.New(b.g, c)
	b.address = at.Addr().String()
	b.url = "ws://" + b.address
	b.web = &http.Client{Transport: &http.Transport{DialContext: b.connect, DisableKeepAlives: true}}
	web := &http.Server{Handler: b.server}
	go web.Serve(at)
	b.fill()
	b.t.Cleanup(func() {
		b.server.Close()
		web.Close()
		b.g.Close()
	})
}

// must is for set-up that cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (b *bed) fill() {
	must(rosapi.Serve(b.g, rosapi.Options{Params: map[string]any{"/robot/legs": 4}}))
	b.chatter = must(graph.Topic[msgs.String](b.g, "chatter", graph.TopicOptions{Others: func(string, any) error { return nil }}))
	b.joints = must(graph.Topic[msgs.JointState](b.g, "joint_states", graph.TopicOptions{QoS: graph.QoS{Latched: true}}))
	b.joints.Publish(&msgs.JointState{Header: msgs.Header{Stamp: msgs.Time{Sec: 3, Nanosec: 4}, FrameID: "base"},
		Name: []string{"a", "b"}, Position: []float64{1.5, -2}})
	must(graph.Service(b.g, "set", func(_ context.Context, q *srvReq) (*srvRes, error) {
		return &srvRes{Success: q.Data, Message: "was told"}, nil
	}, graph.ServiceOptions{}))
	must(graph.Service(b.g, "fail", func(context.Context, *msgs.TriggerRequest) (*msgs.TriggerResponse, error) {
		return nil, errors.New("knee says no")
	}, graph.ServiceOptions{}))
	must(graph.Service(b.g, "slow", func(ctx context.Context, _ *msgs.TriggerRequest) (*msgs.TriggerResponse, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}, graph.ServiceOptions{}))
	// the action obeys the goal's own words
	must(graph.Action(b.g, "text", graph.ActionCallbacks[msgs.TextActionGoal, msgs.TextActionFeedback, msgs.TextActionResult]{
		Goal: func(h *textGoal) {
			if h.Value().Command.Command == "refuse" {
				h.Reject(action.ConditionsUnmet, msgs.TextActionResult{}, "the left knee is hot")
				return
			}
			b.mu.Lock()
			var old *textGoal
			if n := len(b.goals); n > 0 {
				old = b.goals[n-1]
			}
			b.goals = append(b.goals, h)
			b.mu.Unlock()
			h.Accept()
			if old != nil {
				old.Withdraw(action.Replaced, msgs.TextActionResult{ErrorString: "replaced"}, "a newer goal came")
			}
			b.act(h)
			b.came <- h
		},
		Cancel: func(h *textGoal) {
			h.Withdraw(action.ClientCancel, msgs.TextActionResult{ErrorString: "stopped"}, "as asked")
		},
	}, graph.ActionOptions{}))
}

func (b *bed) act(h *textGoal) {
	switch h.Value().Command.Command {
	case "count":
		for _, s := range []string{"1", "2", "3"} {
			h.Feedback(&msgs.TextActionFeedback{Status: s})
		}
		h.Succeed(msgs.TextActionResult{ErrorString: "counted"}, "done")
	case "fall":
		h.Abort(action.Failed, msgs.TextActionResult{ErrorString: "fell"}, "a leg slipped")
	}
}

// forgetGoals lets goals come unobserved.
func (b *bed) forgetGoals() {
	ctx, cancel := context.WithCancel(context.Background())
	b.t.Cleanup(cancel)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-b.came:
			}
		}
	}()
}

// entries returns the audit so far.
func (b *bed) entries() []rosbridge.Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]rosbridge.Entry(nil), b.audit...)
}

// peer is a client that sends and reads bare frames.
type peer struct {
	t    testing.TB
	conn *websocket.Conn
}

func (b *bed) dial() *peer {
	b.t.Helper()
	conn, _, err := b.tryDial(b.t.Context(), websocket.DialOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { conn.CloseNow() })
	return &peer{t: b.t, conn: conn}
}

func (b *bed) tryDial(ctx context.Context, o websocket.DialOptions) (*websocket.Conn, *http.Response, error) {
	o.HTTPClient = b.web
	conn, response, err := websocket.Dial(ctx, b.url, &o)
	if err == nil {
		conn.SetReadLimit(-1)
	}
	return conn, response, err
}

func (p *peer) send(text string) {
	p.t.Helper()
	if err := p.conn.Write(p.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		p.t.Fatal(err)
	}
}

// patience is how long anything may take to come. A busy machine is no failure: when
// this is over, something hangs.
const patience = 2 * time.Minute

func (p *peer) read() []byte {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	_, data, err := p.conn.Read(ctx)
	if err != nil {
		p.t.Fatalf("no frame came: %v", err)
	}
	return data
}

// expect reads one frame and compares it as JSON. A string "~text" stands for any
// string that holds the text, the string "*" for anything.
func (p *peer) expect(want string) {
	p.t.Helper()
	got := p.read()
	if !like(got, want) {
		p.t.Fatalf("frame\n  %s\nwant\n  %s", got, want)
	}
}

// until reads frames until one is as wanted.
func (p *peer) until(want string) {
	p.t.Helper()
	var seen []string
	for range 500 {
		got := p.read()
		if like(got, want) {
			return
		}
		seen = append(seen, string(got))
	}
	p.t.Fatalf("never came: %s\ncame: %s", want, strings.Join(seen[:5], "\n"))
}

// sync makes sure that everything sent so far has been obeyed, and that nothing is
// left to be read but the answer to this.
func (p *peer) sync() {
	p.t.Helper()
	p.send(`{"op":"no_such_op","id":"sync"}`)
	p.expect(`{"op":"status","id":"sync","level":"error","msg":"~no_such_op"}`)
}

func like(got []byte, want string) bool {
	var a, b any
	if json.Unmarshal(got, &a) != nil {
		return false
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		panic("bad expectation: " + want)
	}
	return alike(a, b)
}

func alike(got, want any) bool {
	switch w := want.(type) {
	case string:
		if w == "*" {
			return true
		}
		g, ok := got.(string)
		if part, loose := strings.CutPrefix(w, "~"); loose {
			return ok && strings.Contains(g, part)
		}
		return ok && g == w
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for k := range w {
			if _, has := g[k]; !has || !alike(g[k], w[k]) {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for i := range w {
			if !alike(g[i], w[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(got, want)
}

// checkLeaks fails a test that leaves goroutines behind.
func checkLeaks(t testing.TB) {
	if _, fuzzing := t.(*testing.F); fuzzing {
		return // the engine keeps goroutines of its own
	}
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if runtime.NumGoroutine() <= before {
				return
			}
		}
		buf := make([]byte, 1<<20)
		t.Errorf("%d goroutines before, %d after\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
	})
}

// wait polls for something that another goroutine brings about.
func wait(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}
