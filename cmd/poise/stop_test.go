package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"poise/msgs/poisemsgs"
	"poise/wire/rosbridge/client"
)

// take opens connections that say nothing until the server takes no more clients.
func (r *running) take(n int) {
	r.t.Helper()
	for range n {
		c, err := net.DialTimeout("tcp", r.address, hang)
		if err != nil {
			r.t.Fatal(err)
		}
		r.t.Cleanup(func() { c.Close() })
	}
	r.until("the server takes no more clients", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		c, res, err := websocket.Dial(ctx, "ws://"+r.address+"/rosbridge", nil)
		if err == nil {
			r.t.Cleanup(func() { c.CloseNow() }) // it is one more of them
			return false
		}
		return res != nil && res.StatusCode == 503
	})
}

// stoppedBy wants a command to stop the robot, whose state an old client sees.
func (r *running) stoppedBy(old *client.Client, command ...string) {
	r.t.Helper()
	state := func() string {
		ctx, cancel := context.WithTimeout(context.Background(), hang)
		defer cancel()
		text, err := old.Call(ctx, "/get_state", []byte(`{}`))
		if err != nil {
			r.t.Fatal(err)
		}
		return string(text)
	}
	if s := state(); !strings.Contains(s, `"stopped":false`) {
		r.t.Fatalf("before: %s", s)
	}
	r.do("stands after", command...)
	if s := state(); !strings.Contains(s, `"stopped":true`) || !strings.Contains(s, `"power":"enabled"`) {
		r.t.Errorf("after poise %v: %s", command, s)
	}
}

// TestAnOperatorStopsTheRobotWithAllConnectionsTaken by others: 100 clients, and as many
// idle sockets as the server takes and many more.
func TestAnOperatorStopsTheRobotWithAllConnectionsTaken(t *testing.T) {
	t.Parallel()
	r := serveIt(t)
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	old, err := client.Dial(ctx, "ws://"+r.address+"/rosbridge", client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	r.take(400)
	r.stoppedBy(old, "stop")
}

// TestAnOperatorStopsTheRobotWithAllDescriptorsTaken: the process may open 64 files, and
// others have taken all of its connections.
func TestAnOperatorStopsTheRobotWithAllDescriptorsTaken(t *testing.T) {
	t.Parallel()
	r := serveThrough(t, []string{"sh", "-c", `ulimit -n 64; exec "$0" "$@"`}, nil, "--config", unhurriedFile(t))
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	old, err := client.Dial(ctx, "ws://"+r.address+"/rosbridge", client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	r.take(200)
	r.stoppedBy(old, "stop")
	// a robot that is named is stopped too, and a stranger is told why it is not served
	if out, errs, code := r.cli("state"); code == exitOK || !strings.Contains(errs, "503") {
		t.Errorf("state: code %d %s %s", code, out, errs)
	}
	r.do("stands after", "stop", "--robot", "virtual")
	if text := fmt.Sprint(r.log); !strings.Contains(text, "too many connections") {
		t.Errorf("the log does not say that connections are taken: %s", text)
	}
}

// TestAStopThatIsNotAnsweredIsSaid: a server that hangs takes connections and answers nothing. That is said soon, and at
// the end the stop is not confirmed; where there is no server that is said at once, and one that hears it answers as ever.
func TestAStopThatIsNotAnsweredIsSaid(t *testing.T) {
	t.Parallel()
	hung, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer hung.Close()
	for _, robot := range []string{"", "real"} {
		var errs lockedBuffer
		r := &remote{e: &env{out: io.Discard, err: &errs}, server: hung.Addr().String(), robot: robot}
		heard, err := r.postStop(0, time.Now().Add(20*time.Millisecond), 500*time.Millisecond)
		if !heard || err == nil || !strings.Contains(err.Error(), "sent and not confirmed") {
			t.Errorf("%q: heard %v, %v", robot, heard, err)
		}
		if text := errs.String(); strings.Count(text, "still waiting\n") != 1 {
			t.Errorf("%q: said %q", robot, text)
		}
	}
	silent := hung.Addr().String()
	hung.Close()
	var errs lockedBuffer
	r := &remote{e: &env{out: io.Discard, err: &errs}, server: silent}
	began := time.Now()
	if err := r.stop(nil, &poisemsgs.StopRequest{}); err == nil || !strings.Contains(err.Error(), "no Poise server") || time.Since(began) > dialPatience || errs.String() != "" {
		t.Errorf("%v after %v, said %q", err, time.Since(began), errs.String())
	}

	answers := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"success":true,"message":"stands after 0.000 s"}`)
	}))
	defer answers.Close()
	r = &remote{e: &env{out: io.Discard, err: &errs}, server: strings.TrimPrefix(answers.URL, "http://")}
	if heard, err := r.postStop(0, time.Now().Add(hang), hang); !heard || err != nil || errs.String() != "" {
		t.Errorf("a server that answers: heard %v, %v, said %q", heard, err, errs.String())
	}
}
