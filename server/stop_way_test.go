package server

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"poise/loop"
	"poise/server/config"
)

// TestAStopNeedsNeitherTheExecutiveNorItsPump: with the executive locked, and so not
// pumped, a stop is taken by the next tick and answered, over HTTP and over
// rosbridge. The test steps the cycle by hand; only the cycle moves.
func TestAStopNeedsNeitherTheExecutiveNorItsPump(t *testing.T) {
	b := still(t, "virtual", func(*config.Config) {})
	web := httptest.NewServer(b.s.routes())
	defer web.Close()
	defer b.s.wires[0].(interface{ Close() }).Close()
	conn, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(web.URL, "http")+"/rosbridge", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()

	locked, release := make(chan struct{}), make(chan struct{})
	go b.bot.exec.View(func(*loop.Snapshot) { close(locked); <-release })
	<-locked
	defer close(release)

	for what, ask := range map[string]func(ctx context.Context) (string, error){
		"POST /stop": func(ctx context.Context) (string, error) {
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, web.URL+"/stop?robot=virtual", nil)
			if err != nil {
				return "", err
			}
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				return "", err
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			return string(text), err
		},
		"rosbridge": func(ctx context.Context) (string, error) {
			if err := conn.Write(ctx, websocket.MessageText, []byte(`{"op":"call_service","service":"/stop"}`)); err != nil {
				return "", err
			}
			_, text, err := conn.Read(ctx)
			return string(text), err
		},
	} {
		before := b.bot.loop.StopState()
		type result struct {
			text string
			err  error
		}
		answered := make(chan result, 1)
		go func() {
			text, err := ask(t.Context())
			answered <- result{text, err}
		}()
		for done := false; !done; {
			select {
			case r := <-answered:
				if done = true; r.err != nil || !strings.Contains(r.text, `"success":true`) {
					t.Errorf("%s: %s %v", what, r.text, r.err)
				}
			default:
				b.tick()
			}
		}
		if now := b.bot.loop.StopState(); now.Taken != before.Taken+1 {
			t.Errorf("%s: %+v, before %+v", what, now, before)
		}
	}
}

// TestMetricsDoNotHangWithTheExecutive: the figures of a robot whose executive hangs are the
// last known, and marked so.
func TestMetricsDoNotHangWithTheExecutive(t *testing.T) {
	b := still(t, "virtual", func(*config.Config) {})
	web := httptest.NewServer(b.s.routes())
	defer web.Close()
	get := func() string {
		res, err := http.Get(web.URL + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if !strings.Contains(get(), `poise_state_fresh{robot="virtual"} 1`) {
		t.Error("the state is not fresh at first")
	}
	locked, release := make(chan struct{}), make(chan struct{})
	go b.bot.exec.View(func(*loop.Snapshot) { close(locked); <-release })
	<-locked
	for range 3 {
		text := get()
		for _, want := range []string{`poise_state_fresh{robot="virtual"} 0`, `poise_goals{robot="virtual"} 0`, "poise_uptime_seconds", "poise_goroutines"} {
			if !strings.Contains(text, want) {
				t.Errorf("there is no %s", want)
			}
		}
	}
	close(release)
	for !strings.Contains(get(), `poise_state_fresh{robot="virtual"} 1`) {
	}
}
