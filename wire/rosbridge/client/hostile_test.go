package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"poise/internal/stepped"
	"poise/wire/rosbridge/client"
)

// serve runs a server of WebSockets, on a network in memory, that does to each client
// what f does. The HTTP client connects to it.
func serve(t *testing.T, f func(ctx context.Context, conn *websocket.Conn)) (url string, web *http.Client) {
	t.Helper()
	var network stepped.Net
	l, err := network.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.CloseNow()
		conn.SetReadLimit(-1)
		f(r.Context(), conn)
	})}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return "ws://" + l.Addr().String(), network.Client()
}

// garbage is what no rosbridge server sends.
func garbage(r *rand.Rand, id string) (websocket.MessageType, []byte) {
	texts := []string{`{`, ``, `null`, `[]`, `7`, `{"op":5}`, `{"op":"publish"}`, `{"op":"publish","topic":"/t"}`, `{"op":"publish","topic":"/t","msg":NaN}`,
		`{"op":"service_response","id":"unknown"}`, `{"op":"service_response"}`, `{"op":"action_result","id":"goal:/a:1"}`, `{"op":"action_feedback"}`,
		`{"op":"fragment","id":"f","data":"x","num":0,"total":2}`, `{"op":"fragment","id":"g","data":"{","num":0,"total":1}`, `{"op":"fragment","num":-1}`,
		`{"op":"status","level":"error","msg":{"a":1},"id":` + id + `}`, `{"op":"status"}`, `{"op":"call_service","service":"/x"}`, strings.Repeat("[", 20000)}
	if n := r.IntN(len(texts) + 4); n < len(texts) {
		return websocket.MessageText, []byte(texts[n])
	}
	noise := make([]byte, r.IntN(50))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	return websocket.MessageBinary, noise
}

func TestGarbageOfAServerIsHarmless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const seed = 1
		url, web := serve(t, func(ctx context.Context, conn *websocket.Conn) {
			r := rand.New(rand.NewPCG(seed, 2))
			for {
				_, data, err := conn.Read(ctx)
				if err != nil {
					return
				}
				var m struct {
					Op, Service, Action string
					ID                  json.RawMessage
				}
				if err := json.Unmarshal(data, &m); err != nil {
					t.Error(err)
					return
				}
				for range 100 {
					typ, frame := garbage(r, `"someone else's"`)
					if conn.Write(ctx, typ, frame) != nil {
						return
					}
				}
				answer := ""
				switch m.Op {
				case "call_service":
					answer = fmt.Sprintf(`{"op":"service_response","id":%s,"service":%q,"values":{"a":1},"result":true}`, m.ID, m.Service)
				case "send_action_goal":
					answer = fmt.Sprintf(`{"op":"action_result","id":%s,"action":%q,"values":{"b":2},"status":4,"result":true}`, m.ID, m.Action)
				case "subscribe":
					answer = `{"op":"publish","topic":"/t","msg":{"c":3}}`
				}
				if answer != "" && conn.Write(ctx, websocket.MessageText, []byte(answer)) != nil {
					return
				}
			}
		})
		ctx := t.Context()
		c, err := client.Dial(ctx, url, client.Options{HTTP: web})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for range 5 {
			if v, err := c.Call(ctx, "/s", nil); err != nil || string(v) != `{"a":1}` {
				t.Fatalf("seed %d: call %s %v", seed, v, err)
			}
			g, err := c.SendGoal(ctx, "/a", "text_msgs/action/TextAction", nil)
			if err != nil {
				t.Fatal(err)
			}
			if u, err := g.Result(ctx); err != nil || string(u.Result) != `{"b":2}` {
				t.Fatalf("seed %d: goal %+v %v", seed, u, err)
			}
		}
		sub, err := c.Subscribe("/t", "", client.SubscribeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for {
			msg, _, err := sub.Next(ctx)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if string(msg) == `{"c":3}` {
				break
			}
		}
	})
}

// TestAServerThatHangsUpIsNotStormed: it is asked again with growing pauses, as if it
// were not there.
func TestAServerThatHangsUpIsNotStormed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var came atomic.Int32
		url, web := serve(t, func(context.Context, *websocket.Conn) { came.Add(1) })
		c := client.Open(url, client.Options{HTTP: web, FirstPause: 50 * time.Millisecond, LastPause: time.Hour})
		defer c.Close()
		time.Sleep(time.Second)
		synctest.Wait()
		// at 0, 50, 150, 350 and 750 ms
		if n := came.Load(); n != 5 {
			t.Errorf("%d connections within a second, want 5", n)
		}
	})
}

func TestAnAnswerThatIsTooLongEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		url, web := serve(t, func(ctx context.Context, conn *websocket.Conn) {
			if _, _, err := conn.Read(ctx); err == nil {
				_ = conn.Write(ctx, websocket.MessageText, []byte(`{"op":"service_response","values":"`+strings.Repeat("x", 100_000)+`"}`))
				_, _, _ = conn.Read(ctx) // until the client hangs up
			}
		})
		ctx := t.Context()
		c, err := client.Dial(ctx, url, client.Options{HTTP: web, MaxBytes: 10_000})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Call(ctx, "/s", nil); !errors.Is(err, client.ErrDisconnected) {
			t.Errorf("got %v", err)
		}
	})
}
