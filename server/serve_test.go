package server_test

import (
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"poise/internal/stepped"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/server"
	"poise/server/config"
	"poise/wire/rosbridge/client"
)

func (b *bed) get(path string, change func(r *http.Request)) (status int, body string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.ctx, http.MethodGet, "http://"+b.s.Address()+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	res, err := b.net.Client().Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func TestPageHealthAndFigures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil).stock()
		for path, want := range map[string]string{"/": "pony", "/healthz": "ok", "/readyz": "ok"} {
			if status, body := b.get(path, nil); status != http.StatusOK || !strings.Contains(body, want) {
				t.Errorf("%s answers %d %q", path, status, body)
			}
		}
		if status, _ := b.get("/no/such/page", nil); status != http.StatusNotFound {
			t.Errorf("an unknown page answers %d", status)
		}
		u, _ := b.end(b.send("/play_motion", textType, play("twitch", "")))
		b.want(u, succeeded)
		_, text := b.get("/metrics", nil)
		for _, want := range []string{
			`poise_cycle_lateness_seconds{robot="virtual",quantile="0.99"} `, `poise_cycle_overruns_total{robot="virtual"} `,
			`poise_faults{robot="virtual"} `, `poise_goals{robot="virtual"} 0`, "poise_clients 1\n", `poise_realtime 0`,
			`poise_commands_total{robot="virtual",what="play_motion",result="succeeded"} 1`,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("/metrics does not have %q", want)
			}
		}
		seen := map[string]bool{}
		for line := range strings.Lines(text) {
			if name, ok := strings.CutPrefix(line, "# TYPE "); ok {
				name, _, _ = strings.Cut(name, " ")
				if seen[name] {
					t.Errorf("/metrics has the family %s twice", name)
				}
				seen[name] = true
			} else if !strings.HasPrefix(line, "#") {
				var value float64
				at := strings.LastIndexByte(line, ' ')
				if _, err := fmt.Sscan(line[at+1:], &value); err != nil {
					t.Errorf("/metrics: %q has no value", line)
				}
			}
		}
	})
}

func TestStrangersAreKeptOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		for name, change := range map[string]func(r *http.Request){
			"another page's origin": func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
			"another host's name":   func(r *http.Request) { r.Host = "evil.example" },
		} {
			for _, path := range []string{"/", "/metrics", "/rosbridge"} {
				if status, _ := b.get(path, change); status != http.StatusForbidden {
					t.Errorf("%s on %s gets %d", name, path, status)
				}
			}
		}
		friend := start(t, func(c *config.Config) { c.Origins = []string{"https://app.foxglove.dev"} })
		for origin, want := range map[string]int{"https://app.foxglove.dev": http.StatusOK, "https://evil.example": http.StatusForbidden} {
			if status, _ := friend.get("/metrics", func(r *http.Request) { r.Header.Set("Origin", origin) }); status != want {
				t.Errorf("a page of %s gets %d, want %d", origin, status, want)
			}
		}
		for _, address := range []string{"0.0.0.0:0", "192.168.1.2:8080", ":8080", "example.com:80"} {
			c := config.Default()
			c.Listen = address
			if _, err := server.New(t.Context(), c, server.Options{}); err == nil || !strings.Contains(err.Error(), "no authentication") {
				t.Errorf("listening on %s: %v", address, err)
			}
		}
	})
}

func TestRatesAndNames(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) { c.RealSim = true })
		for _, topic := range []string{"/joint_states", "/virtual/joint_states", "/real/joint_states", "/joint_states_real", "/real/joint_states_real"} {
			s := b.subscribe(topic)
			first := next[msgs.JointState](b, s)
			const n = 20
			var last msgs.JointState
			for range n {
				last = next[msgs.JointState](b, s)
			}
			if dt := float64(last.Header.Stamp.Nanos()-first.Header.Stamp.Nanos()) * 1e-9 / n; math.Abs(dt-0.01) > 1e-9 {
				t.Errorf("%s comes every %g s, want 0.01 s", topic, dt)
			}
			s.Close()
		}
		still := next[msgs.TFMessage](b, b.subscribe("/tf_static"))
		moving := next[msgs.TFMessage](b, b.subscribe("/tf"))
		if len(moving.Transforms) < 30 || moving.Transforms[0].Header.FrameID != "world" {
			t.Errorf("tf has %d transforms, the first from %q", len(moving.Transforms), moving.Transforms[0].Header.FrameID)
		}
		parent := map[string]string{}
		for _, x := range append(still.Transforms, moving.Transforms...) {
			parent[x.ChildFrameID] = x.Header.FrameID
		}
		for child := range parent { // every link leads to the world
			at := child
			for range len(parent) + 1 {
				if at == "world" {
					break
				}
				at = parent[at]
			}
			if at != "world" {
				t.Errorf("frame %s does not lead to the world", child)
			}
		}
		if d := next[msgs.String](b, b.subscribe("/robot_description")); !strings.Contains(d.Data, "<robot") {
			t.Error("robot_description is no URDF")
		}
		health := next[msgs.DiagnosticArray](b, b.subscribe("/diagnostics"))
		age := false
		for _, s := range health.Status {
			for _, v := range s.Values {
				age = age || strings.HasPrefix(s.Name, "virtual/joint/") && v.Key == "age"
			}
		}
		if !age {
			t.Error("diagnostics do not tell the age of joints")
		}
	})
}

func TestLimitsOfTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) {
			c.Limits.Connections, c.Limits.Subscriptions, c.Limits.MessageSize = 3, 2, 4096
		})
		b.dial()
		b.dial()
		if c, err := client.Dial(b.ctx, "ws://"+b.s.Address()+"/rosbridge", client.Options{HTTP: b.net.Client()}); err == nil {
			c.Close()
			t.Error("a fourth client got in where three may")
		}
		sub := func(topic string) error {
			s, err := b.c.Subscribe(topic, "", client.SubscribeOptions{})
			if err != nil {
				return err
			}
			_, _, err = s.Next(b.ctx)
			return err
		}
		for i, topic := range []string{"/joint_states", "/robot_description", "/tf"} {
			err := sub(topic)
			if (err != nil) != (i == 2) {
				t.Errorf("subscription %d: %v", i+1, err)
			}
			if i == 2 && err != nil && !strings.Contains(err.Error(), "2") {
				t.Errorf("the refusal %v does not name the limit", err)
			}
		}
		if _, err := b.c.Call(b.ctx, "/motions/get", []byte(`{"name":"`+strings.Repeat("x", 8192)+`"}`)); err == nil {
			t.Error("a message beyond the limit was taken")
		}
	})
}

// TestTheServerEndsInOrder: goals are called off, the robot ramps down, holds, is left as
// it is declared, files are closed, then it is over; all that within 3 s.
func TestTheServerEndsInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "flight.rec")
		b := start(t, func(c *config.Config) { c.Record.File, c.Robots[0].Leaving.Do = file, "off" })
		g := b.send("/play_motion", textType, play("wag_tail", "loop"))
		b.begun(g)
		b.until("the tail wags", func() bool {
			s, err := b.c.Subscribe("/joint_states", "", client.SubscribeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			m := next[msgs.JointState](b, s)
			return math.Abs(velocity(&m, "tail_joint1")) > 0.3
		})
		begin := time.Now()
		b.stop()
		u, err := g.Result(b.ctx)
		if err != nil || u.Status != cancelled {
			t.Errorf("the goal's client hears of status %d, %v", u.Status, err)
		}
		err = <-b.ended
		took := time.Since(begin)
		b.ended <- err // for the cleanup
		if err != nil {
			t.Error(err)
		}
		if took > 3*time.Second {
			t.Errorf("it took %v, 3 s are promised", took)
		}
		if at, err := os.Stat(file); err != nil || at.Size() == 0 {
			t.Errorf("the recording is not there: %v", err)
		}
		if left := b.log.lines("robot is left"); len(left) != 1 || !strings.Contains(left[0], "without torque") {
			t.Errorf("how the robot was left is not logged: %v", left)
		}
		if len(b.log.lines("msg=stopping")) != 1 { // written beside the ramp, which does not wait for it
			t.Error("that it stops is not logged")
		}
		order := []string{"cancel all", "preempted", // goals, ramp
			"stop of category 2",                   // hold
			"power is ready", "stop of category 1", // as it is declared
			"the recording is written", "msg=stopped", // files, exit
		}
		at := -1
		b.log.mu.Lock()
		_, text, _ := strings.Cut(b.log.text.String(), "audit robot=virtual who=/") // after the start
		b.log.mu.Unlock()
		for _, word := range order {
			i := strings.Index(text, word)
			if i < at || i < 0 {
				t.Errorf("%q is not logged, or too early", word)
			}
			at = max(at, i)
		}
		if _, err := b.net.Dial(t.Context(), "tcp", b.s.Address()); err == nil {
			t.Error("the server still listens")
		}
	})
}

// lateClock is a machine that wakes the cycle a period and more too late, every time.
type lateClock struct{ stepped.Clock }

func (c lateClock) SleepUntil(ns int64) { c.Clock.SleepUntil(ns + 8e6) }

// TestAFaultThatOnlyWarnsDoesNotKeepFromReset: a busy machine overruns all the time.
func TestAFaultThatOnlyWarnsDoesNotKeepFromReset(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := startOn(t, &stepped.Net{}, lateClock{}, func(c *config.Config) { c.Faults.Overrun.Threshold = 0 }).stock()
		b.until("the fault is there", func() bool { return len(b.state().Faults) > 0 })
		b.must("/stop", &poisemsgs.StopRequest{Category: 2})
		b.must("/reset", &poisemsgs.ResetRequest{})
		u, _ := b.end(b.send("/play_motion", textType, play("twitch", "approach")))
		b.want(u, succeeded)
		if n := len(b.log.lines("kind=fault ")); n > 3 {
			t.Errorf("%d lines about one fault within seconds", n)
		}
	})
}

// TestBadRobotsAreRefused: what cannot run is refused before anything listens.
func TestBadRobotsAreRefused(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Listen, c.Robot = "127.0.0.1:0", "unicorn"
	if _, err := server.New(t.Context(), c, server.Options{}); err == nil || !strings.Contains(err.Error(), "unicorn") {
		t.Errorf("an unknown robot: %v", err)
	}
	c.Robot = manyJoints(t, 300)
	_, err := server.New(t.Context(), c, server.Options{})
	if err == nil || !strings.Contains(err.Error(), "256") {
		t.Errorf("a robot of 300 leaves: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c.Robot, c.Listen = "pony", l.Addr().String()
	if _, err := server.New(t.Context(), c, server.Options{}); err == nil || !strings.Contains(err.Error(), c.Listen) {
		t.Errorf("an address that is taken: %v", err)
	}
}

// TestALateClientSeesHowItEnded: a goal's result is kept for those who come later.
func TestALateClientSeesHowItEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil).stock()
		u, _ := b.end(b.send("/play_motion", textType, play("twitch", "")))
		b.want(u, succeeded)
		late := b.dial()
		s, err := late.Subscribe("/play_motion/status", "actionlib_msgs/GoalStatusArray", client.SubscribeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		text, _, err := s.Next(b.ctx)
		if err != nil || !strings.Contains(string(text), `"status":3`) {
			t.Errorf("the status of ROS 1 is %s %v", text, err)
		}
	})
}
