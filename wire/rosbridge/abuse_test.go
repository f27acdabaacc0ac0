package rosbridge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"poise/graph"
	"poise/msgs"
	"poise/wire/rosbridge"
)

// heart publishes every millisecond, as the control loop does, and knows how long it was
// held up: whatever clients do, publishing must not wait for them. It belongs in a
// bubble, where only waiting takes time.
type heart struct {
	ctx   context.Context
	stop  context.CancelFunc
	done  sync.WaitGroup
	mu    sync.Mutex
	worst time.Duration
	beats int
}

func (b *bed) beat(size int) *heart {
	h := &heart{}
	h.ctx, h.stop = context.WithCancel(context.Background())
	b.t.Cleanup(h.stop)
	data := strings.Repeat("x", size)
	h.done.Go(func() {
		for {
			select {
			case <-h.ctx.Done():
				return
			case <-time.After(time.Millisecond):
			}
			start := time.Now()
			b.chatter.Publish(&msgs.String{Data: data})
			h.mu.Lock()
			h.worst = max(h.worst, time.Since(start))
			h.beats++
			h.mu.Unlock()
		}
	})
	return h
}

// end stops the heart; it must have been beating all the time, and never have waited.
func (h *heart) end(t *testing.T) {
	t.Helper()
	h.stop()
	h.done.Wait()
	if h.worst > 0 {
		t.Errorf("of %d beats the longest waited for %v", h.beats, h.worst)
	}
}

func TestLimitsNameThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newStepped(t, rosbridge.Config{Limits: rosbridge.Limits{Connections: 2, MessageBytes: 1000, Subscriptions: 2, Advertisements: 2, Goals: 1, Calls: 1}})
		p := b.dial()
		p.send(`{"op":"subscribe","id":1,"topic":"/chatter"}`)
		p.send(`{"op":"subscribe","id":2,"topic":"/chatter"}`)
		p.send(`{"op":"subscribe","id":3,"topic":"/joint_states"}`)
		p.expect(`{"op":"status","id":3,"level":"error","msg":"~too many subscriptions: the limit is 2"}`)
		p.send(`{"op":"unsubscribe","id":1,"topic":"/chatter"}`)
		p.send(`{"op":"subscribe","id":3,"topic":"/text/status"}`) // now there is room
		p.send(`{"op":"unsubscribe","id":3,"topic":"/text/status"}`)
		p.send(`{"op":"advertise","topic":"/x","type":"std_msgs/String"}`)
		p.send(`{"op":"advertise_service","service":"/y","type":"std_srvs/Trigger"}`)
		p.send(`{"op":"advertise_action","id":4,"action":"/z","type":"text_msgs/TextAction"}`)
		p.until(`{"op":"status","id":4,"level":"error","msg":"~too many advertised names: the limit is 2"}`)
		p.send(`{"op":"call_service","id":5,"service":"/slow","timeout":1}`)
		p.send(`{"op":"call_service","id":6,"service":"/slow","timeout":1}`)
		p.expect(`{"op":"service_response","id":6,"service":"/slow","values":"~too many calls at once: the limit is 1","result":false}`)
		p.send(strings.Replace(fmt.Sprintf(sendText, "wait"), `"g"`, `"g1"`, 1))
		p.send(strings.Replace(fmt.Sprintf(sendText, "wait"), `"g"`, `"g2"`, 1))
		p.until(`{"op":"action_result","id":"g2","action":"/text","values":"~too many goals that are not over: the limit is 1","status":6,"result":false,"explanations":[{"code":"full","text":"*","joint":"","resource":"","owner":"","help":"","at":0,"value":0,"limit":1}]}`)
		p.send(`{"op":"publish","topic":"/text/goal","id":"g3","msg":{"goal_id":{"id":"g3"},"goal":{}}}`)
		p.until(`{"op":"status","id":"g3","level":"error","msg":"~"}`)
		p.send(`{"op":"call_service","id":7,"service":"/set","args":{"data":"` + strings.Repeat("x", 1000) + `"}}`)
		p.until(`{"op":"service_response","id":7,"service":"/set","values":"~the limit is 1000","result":false}`)

		b.dial()
		_, response, err := b.tryDial(t.Context(), websocket.DialOptions{})
		if err == nil || response == nil || response.StatusCode != http.StatusServiceUnavailable {
			t.Fatalf("a third client: %v", err)
		}
		var body bytes.Buffer
		if _, err := body.ReadFrom(response.Body); err != nil || !strings.Contains(body.String(), "too many clients: the limit is 2") {
			t.Errorf("the refusal says %q", body.String())
		}
	})
}

func TestMessageRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// one message in a quarter of an hour: the test needs no luck with the clock
		b := newStepped(t, rosbridge.Config{Limits: rosbridge.Limits{MessageRate: 0.001}})
		p := b.dial()
		p.send(`{"op":"call_service","id":1,"service":"/set"}`)
		p.expect(`{"op":"service_response","id":1,"service":"/set","values":"~too many messages per second: the limit is 0.001","result":false}`)
		p.send(fmt.Sprintf(sendText, "count"))
		p.until(`{"op":"action_result","id":"g","action":"/text","values":"~the limit is 0.001","status":6,"result":false,"explanations":[{"code":"full","text":"*","joint":"","resource":"","owner":"","help":"","at":0,"value":0,"limit":0.001}]}`)
	})
}

func TestOnlyPagesOfThisMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newStepped(t, rosbridge.Config{})
		_, response, err := b.tryDial(t.Context(), websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"https://evil.example"}}})
		if err == nil || response == nil || response.StatusCode != http.StatusForbidden {
			t.Errorf("a page from outside: %v", err)
		}
		_, response, err = b.tryDial(t.Context(), websocket.DialOptions{Host: "evil.example"})
		if err == nil || response == nil || response.StatusCode != http.StatusForbidden {
			t.Errorf("a name that was bent here: %v", err)
		}
		plain, err := b.web.Get("http://" + b.address)
		if err != nil || plain.StatusCode != http.StatusUpgradeRequired {
			t.Errorf("a plain request: %v, %v", plain, err)
		}
		plain.Body.Close()
	})
}

func TestTenMegabytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		size, limits := 10<<20, rosbridge.Limits{}
		if testing.Short() {
			size, limits = 200<<10, rosbridge.Limits{MessageBytes: 150 << 10} // the same tenfold faster
		}
		b := newStepped(t, rosbridge.Config{Limits: limits})
		h := b.beat(10)
		p := b.dial()
		p.send(`{"op":"publish","id":"big","topic":"/chatter","msg":{"data":"` + strings.Repeat("x", size) + `"}}`)
		p.expect(`{"op":"status","id":"big","level":"error","msg":"~bytes: the limit is "}`)
		p.sync() // and the connection lives
		// the same in fragments
		part := strings.Repeat("x", size*2/5)
		for i := range 3 {
			p.send(fmt.Sprintf(`{"op":"fragment","id":"f","data":%q,"num":%d,"total":3}`, part, i))
		}
		p.expect(`{"op":"status","id":"f","level":"error","msg":"~bytes are open"}`)
		p.sync()
		// one that never ends is cut off
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		w, err := p.conn.Writer(ctx, websocket.MessageText)
		if err != nil {
			t.Fatal(err)
		}
		chunk := bytes.Repeat([]byte("["), 1<<20)
		for err == nil {
			_, err = w.Write(chunk)
			time.Sleep(50 * time.Millisecond)
		}
		if ctx.Err() != nil {
			t.Error("it was never cut off")
		}
		h.end(t)
	})
}

func TestAMessageThatJustFits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newStepped(t, rosbridge.Config{})
		sub := must(b.g.Subscribe("/chatter", graph.SubscribeOptions{}))
		p := b.dial()
		p.send(`{"op":"publish","topic":"/chatter","msg":{"data":"` + strings.Repeat("x", 8<<20-100) + `"}}`)
		if m, _, err := sub.Next(t.Context()); err != nil || len(m.Value.(*msgs.String).Data) != 8<<20-100 {
			t.Error(err)
		}
	})
}

// TestSlowReader lets a client read nothing while the topic runs: it loses the
// oldest, is told how many, and a client beside it loses nothing.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size, queue = 64 << 10, 10 // and 400 of them: more than sockets buffer
		b := newStepped(t, rosbridge.Config{Limits: rosbridge.Limits{Queue: queue}})
		slow, fast := b.dial(), b.dial()
		for _, p := range []*peer{slow, fast} {
			p.send(`{"op":"subscribe","topic":"/chatter","type":"std_msgs/msg/String"}`)
			p.sync()
		}
		total := 400 // 25 MB: more than sockets buffer
		data := strings.Repeat("x", size)
		for i := range total {
			b.chatter.Publish(&msgs.String{Data: fmt.Sprint(i) + " " + data})
			fast.expect(`{"op":"publish","topic":"/chatter","msg":{"data":"~` + fmt.Sprint(i) + ` x"}}`)
		}
		var lost, got, last int
		for last != total-1 {
			var m struct {
				Op    string
				Level string
				Msg   json.RawMessage
			}
			if err := json.Unmarshal(slow.read(), &m); err != nil {
				t.Fatal(err)
			}
			if m.Op == "status" {
				var text string
				var n int
				if json.Unmarshal(m.Msg, &text) != nil || m.Level != "warning" {
					t.Fatalf("status %s", m.Msg)
				}
				if _, err := fmt.Sscanf(text, "topic /chatter: %d messages were lost because the client reads too slowly", &n); err != nil {
					t.Fatalf("status %q", text)
				}
				lost += n
				continue
			}
			var s msgs.String
			if err := json.Unmarshal(m.Msg, &s); err != nil {
				t.Fatal(err)
			}
			fmt.Sscan(s.Data, &last)
			got++
		}
		if lost == 0 || lost+got != total {
			t.Errorf("%d came, %d told lost, of %d", got, lost, total)
		}
		if n := b.server.Stats().Lost; n != uint64(lost) {
			t.Errorf("statistics say %d lost, the client was told %d", n, lost)
		}
	})
}

// TestAClientThatAsksAndNeverReads is cut off once its answers fill its box.
func TestAClientThatAsksAndNeverReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newStepped(t, rosbridge.Config{Limits: rosbridge.Limits{QueueBytes: 1 << 20, PongWithin: time.Second}})
		h := b.beat(10)
		p := b.dial()
		big := strings.Repeat("x", 100<<10)
		for range 2000 {
			// each is answered by a status that quotes the name
			if p.conn.Write(t.Context(), websocket.MessageText, []byte(`{"op":"subscribe","topic":"/`+big+`"}`)) != nil {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		wait(t, "the client is cut off", func() bool { return b.server.Stats().Clients == 0 })
		h.end(t)
	})
}

func TestTenThousandSubscriptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newStepped(t, rosbridge.Config{})
		h := b.beat(10)
		p := b.dial()
		count := 10000
		if testing.Short() {
			count = 2000
		}
		refused := make(chan int)
		go func() {
			n := 0
			for n < count-1000 {
				_, data, err := p.conn.Read(t.Context())
				if err != nil {
					break
				}
				if bytes.Contains(data, []byte("too many subscriptions: the limit is 1000")) {
					n++
				} else if bytes.Contains(data, []byte("too many messages per second")) {
					break
				}
			}
			refused <- n
		}()
		for i := range count {
			p.send(fmt.Sprintf(`{"op":"subscribe","id":"s%d","topic":"/t%d","type":"std_msgs/msg/String"}`, i, i))
			if i%1000 == 999 {
				time.Sleep(500 * time.Millisecond) // within the rate
			}
		}
		if n := <-refused; n != count-1000 {
			t.Errorf("%d refusals", n)
		}
		if n := len(b.g.Topics()); n < 1000 || n > 1100 {
			t.Errorf("%d topics in the graph", n)
		}
		p.conn.CloseNow()
		wait(t, "the topics are gone", func() bool { return len(b.g.Topics()) < 100 })
		h.end(t)
	})
}

// TestTenThousandSubscriptionsOfOneTopic is allowed if the owner allows it, and
// still each message comes once.
func TestTenThousandSubscriptionsOfOneTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newStepped(t, rosbridge.Config{Limits: rosbridge.Limits{Subscriptions: 20000, MessageRate: 1e6}})
		p := b.dial()
		count := 10000
		if testing.Short() {
			count = 1000
		}
		for i := range count {
			p.send(fmt.Sprintf(`{"op":"subscribe","id":%d,"topic":"/chatter"}`, i))
		}
		p.sync()
		b.chatter.Publish(&msgs.String{Data: "once"})
		p.expect(`{"op":"publish","topic":"/chatter","msg":{"data":"once"}}`)
		p.sync()
	})
}

// TestHalfOpenSocket takes a client's packets away without closing: the server
// finds out by its ping.
func TestHalfOpenSocket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newStepped(t, rosbridge.Config{Limits: rosbridge.Limits{PingEvery: 50 * time.Millisecond, PongWithin: 2 * time.Second}})
		conn, err := b.connect(t.Context(), "tcp", b.address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
		wait(t, "it is connected", func() bool { return b.server.Stats().Connected == 1 })
		begin := time.Now()
		wait(t, "it is found dead", func() bool { return b.server.Stats().Clients == 0 })
		if took := time.Since(begin); took < 2*time.Second || took > 2200*time.Millisecond {
			t.Errorf("it was found dead after %v, want 50 ms and 2 s", took)
		}
		// one that answers pings stays
		p := b.dial()
		go p.conn.Read(t.Context())
		time.Sleep(time.Minute)
		if b.server.Stats().Clients != 1 {
			t.Error("a living client was cut off")
		}
	})
}

// TestClientsKilledAtRandom lets clients do everything, and vanish in the middle.
func TestClientsKilledAtRandom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newStepped(t, rosbridge.Config{Limits: rosbridge.Limits{MessageRate: 1e6}})
		b.forgetGoals()
		h := b.beat(100)
		seed := uint64(42)
		rounds := 300
		if testing.Short() {
			rounds = 60
		}
		if os.Getenv("POISE_SOAK") != "" {
			rounds = 20000
		}
		lines := []string{
			`{"op":"subscribe","id":"a","topic":"/chatter"}`, `{"op":"unsubscribe","id":"a","topic":"/chatter"}`,
			`{"op":"subscribe","topic":"/joint_states","compression":"cbor","throttle_rate":1}`,
			`{"op":"advertise","topic":"/r%d","type":"std_msgs/String"}`, `{"op":"publish","topic":"/r%d","msg":{"data":"x"}}`,
			`{"op":"advertise_service","service":"/s%d","type":"std_srvs/SetBool"}`, `{"op":"call_service","id":"c","service":"/s%d"}`,
			`{"op":"call_service","id":"d","service":"/slow"}`, `{"op":"advertise_action","action":"/act%d","type":"text_msgs/action/TextAction"}`,
			`{"op":"send_action_goal","id":"x%d","action":"/act%d","args":{}}`, `{"op":"cancel_action_goal","id":"x%d","action":"/act%d"}`,
			`{"op":"send_action_goal","id":"y%d","action":"/text","feedback":true,"args":{"command":{"command":"wait"}}}`,
			`{"op":"fragment","id":"f","data":"{","num":0,"total":2}`, `{"op":"call_service","service":"/rosapi/topics"}`, `{`, `{"op":"publish"`,
		}
		var wg sync.WaitGroup
		for worker := range 8 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(seed, uint64(worker)))
				for range rounds / 8 {
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					conn, _, err := b.tryDial(ctx, websocket.DialOptions{})
					if err != nil {
						t.Errorf("seed %d: %v", seed, err)
						cancel()
						return
					}
					for range r.IntN(40) {
						line := strings.ReplaceAll(lines[r.IntN(len(lines))], "%d", fmt.Sprint(r.IntN(20)))
						if conn.Write(ctx, websocket.MessageText, []byte(line)) != nil {
							break
						}
						if r.IntN(4) == 0 {
							short, stop := context.WithTimeout(ctx, time.Millisecond)
							conn.Read(short)
							stop()
						}
					}
					conn.CloseNow()
					cancel()
				}
			})
		}
		wg.Wait()
		h.end(t)
		wait(t, "all are gone", func() bool { return b.server.Stats().Clients == 0 })
		if n := len(b.g.Actions()); n != 1 {
			t.Errorf("seed %d: %d actions are left", seed, n)
		}
		for _, topic := range b.g.Topics() {
			for _, end := range append(topic.Publishers, topic.Subscribers...) {
				if strings.HasPrefix(end.Node, "/rosbridge/") {
					t.Errorf("seed %d: %s is still on %s", seed, end.Node, topic.Name)
				}
			}
		}
		p := b.dial()
		p.sync() // and the server is as well as before
	})
}

func TestCloseSaysGoodbye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newStepped(t, rosbridge.Config{})
		p := b.dial()
		p.sync()
		closed := make(chan error, 1)
		go func() {
			_, _, err := p.conn.Read(t.Context())
			closed <- err
		}()
		b.server.Close()
		if err := <-closed; websocket.CloseStatus(err) != websocket.StatusGoingAway {
			t.Errorf("the client hears %v", err)
		}
	})
}

// TestCloseDoesNotWaitForTheDead closes while one client answers nothing and
// another has stopped reading in the middle of a frame.
func TestCloseDoesNotWaitForTheDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newStepped(t, rosbridge.Config{})
		dead, err := b.connect(t.Context(), "tcp", b.address)
		if err != nil {
			t.Fatal(err)
		}
		defer dead.Close()
		fmt.Fprintf(dead, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
		stuck := b.dial()
		stuck.send(`{"op":"subscribe","topic":"/chatter"}`)
		stuck.sync()
		data := strings.Repeat("x", 1<<20)
		for range 30 {
			b.chatter.Publish(&msgs.String{Data: data})
		}
		wait(t, "both are connected", func() bool { return b.server.Stats().Clients == 2 })
		start := time.Now()
		b.server.Close()
		if took := time.Since(start); took > time.Second {
			t.Errorf("Close took %v; a client has a second to answer the closing handshake", took)
		}
		if n := b.server.Stats().Clients; n != 0 {
			t.Errorf("%d clients are left", n)
		}
		if err := dead.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(dead); err != nil {
			t.Errorf("the dead client's socket is still open: %v", err)
		}
	})
}

func FuzzSession(f *testing.F) {
	for _, s := range []string{
		`{"op":"subscribe","topic":"/chatter"}`, `{"op":"publish","topic":"/text/goal","msg":{"goal_id":{"id":"a"},"goal":{}}}`,
		`{"op":"call_service","service":"/set","args":[true]}`, `{"op":"send_action_goal","action":"/text","args":{"command":{}}}`,
		`{"op":"advertise_action","action":"/a","type":"text_msgs/TextAction"}`, `{"op":"fragment","id":1,"data":"","num":0,"total":1}`,
		"\xa1\x62op\x63abc", `{"op":"call_service","service":"/text/_action/cancel_goal","args":[1]}`,
	} {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	b := newBed(f, rosbridge.Config{Limits: rosbridge.Limits{MessageRate: 1e9}})
	b.forgetGoals()
	f.Fuzz(func(t *testing.T, data []byte, binary bool) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		conn, _, err := b.tryDial(ctx, websocket.DialOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.CloseNow()
		typ := websocket.MessageText
		if binary {
			typ = websocket.MessageBinary
		}
		if err := conn.Write(ctx, typ, data); err != nil {
			t.Fatal(err)
		}
		if err := conn.Write(ctx, websocket.MessageText, []byte(`{"op":"set_level","level":"error"}`)); err != nil {
			t.Fatal(err)
		}
		if err := conn.Write(ctx, websocket.MessageText, []byte(`{"op":"no_such_op","id":"alive"}`)); err != nil {
			t.Fatal(err)
		}
		for {
			_, answer, err := conn.Read(ctx)
			if err != nil {
				t.Fatalf("the session died of %q: %v", data, err)
			}
			if bytes.Contains(answer, []byte(`"id":"alive"`)) {
				return
			}
		}
	})
}
