package server_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"poise/msgs/poisemsgs"
	"poise/server/config"
	"poise/wire/rosbridge/client"
)

// post asks POST /stop.
func (b *bed) post(path, kind, body string, change func(r *http.Request)) (status int, a answer) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.ctx, http.MethodPost, "http://"+b.s.Address()+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
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
	_ = json.Unmarshal(text, &a) // a refusal is plain text
	return res.StatusCode, a
}

// TestPOSTStopStopsTheRobots, with the category that the request names in any way that a
// program or a shell has, and by category 2 if it cannot be read.
func TestPOSTStopStopsTheRobots(t *testing.T) {
	t.Parallel()
	const form, object = "application/x-www-form-urlencoded", "application/json"
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) {
			c.Robots = []config.Robot{{Name: "virtual", Driver: "sim"}, {Name: "real", Driver: "sim"}}
		})
		for _, tc := range []struct {
			path, kind, body string
			torque           bool // afterwards
			words            string
		}{
			{"/stop", "", "", true, ""},
			{"/stop", object, `{}`, true, ""},
			{"/stop", object, `{"category":0}`, false, ""},
			{"/stop", form, `{"category":1}`, false, ""}, // curl -d
			{"/stop", form, `category=1`, false, ""},
			{"/stop?category=1", "", ``, false, ""},
			{"/stop?category=0&until=stands", "", ``, false, "stands after"},
			{"/stop", object, `{"category":2,"until":"stands"}`, true, "stands after"},
			{"/stop", object, `{"category":"0"}`, true, "is unknown"},
			{"/stop", object, `{"category":1e-400}`, true, "is unknown"},
			{"/stop", object, `{"category":0} and more`, true, "cannot be read"},
			{"/stop", object, `{"Category":0}`, true, "cannot be read"},
			{"/stop", object, `{"category":2,"category":0}`, true, "cannot be read"},
			{"/stop?category=0&category=2", "", ``, true, "cannot be read"},
			{"/stop?robot=unknown&category=0", "", ``, true, "there is no robot"},
			{"/stop", object, `{"category":0,"extra":1}`, true, "cannot be read"},
			{"/stop", object, `{"category":-1}`, true, "is unknown"},
			{"/stop", object, `{"category":256}`, true, "is unknown"},
			{"/stop", object, `{"cat`, true, "cannot be read"},
			{"/stop?category=%zz", "", ``, true, "cannot be read"},
			{"/stop?category=zero", "", ``, true, "is unknown"},
			{"/stop?robot=unknown", "", ``, true, "there is no robot"},
			{"/stop", object, `{"category":0` + strings.Repeat(" ", 5000) + `}`, true, "cannot be read"},
		} {
			status, a := b.post(tc.path, tc.kind, tc.body, nil)
			if status != http.StatusOK || !a.Success || !strings.Contains(a.Message, tc.words) {
				t.Errorf("%s %.40s: %d %+v", tc.path, tc.body, status, a)
			}
			for _, robot := range []string{"/virtual", "/real"} {
				var now poisemsgs.GetStateResponse
				b.until(fmt.Sprintf("%s stands (%s %.40s)", robot, tc.path, tc.body), func() bool {
					b.call(robot+"/get_state", &poisemsgs.GetStateRequest{}, &now)
					return now.State.Stopped && (tc.torque || now.State.Power != "enabled")
				})
				if tc.torque && robot == "/virtual" && now.State.Power != "enabled" {
					t.Errorf("%s %.40s: power is %s", tc.path, tc.body, now.State.Power)
				}
				b.until("it takes a reset", func() bool { return b.ask(robot+"/reset", &poisemsgs.ResetRequest{}).Success })
				b.must(robot+"/set_power", &poisemsgs.SetPowerRequest{On: true})
			}
		}
		// one robot by its name
		if status, a := b.post("/stop?robot=virtual", "", "", nil); status != http.StatusOK || !a.Success {
			t.Errorf("one robot: %d %+v", status, a)
		}
		var other poisemsgs.GetStateResponse
		b.call("/real/get_state", &poisemsgs.GetStateRequest{}, &other)
		if !b.state().Stopped || other.State.Stopped {
			t.Errorf("stopped: virtual %v, real %v", b.state().Stopped, other.State.Stopped)
		}
		b.until("the log has who stopped it", func() bool {
			return len(b.log.lines("audit", "robot=virtual", `what="stop 2"`, "POST /stop", "result=ok")) > 0
		})
	})
}

// TestPOSTStopOfOtherOrigins: the rules of Origin and Host hold for a stop too.
func TestPOSTStopOfOtherOrigins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		for what, change := range map[string]func(r *http.Request){
			"a page from elsewhere": func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
			"a name from elsewhere": func(r *http.Request) { r.Host = "evil.example" },
		} {
			if status, _ := b.post("/stop", "", "", change); status != http.StatusForbidden {
				t.Errorf("%s: status %d", what, status)
			}
		}
		if b.state().Stopped {
			t.Error("the robot is stopped")
		}
	})
}

// TestAStopDoesNotWaitForABodyThatDoesNotCome: it acts within some hundredths of a second,
// and is answered as what it is. When the body comes after all it holds too.
func TestAStopDoesNotWaitForABodyThatDoesNotCome(t *testing.T) {
	t.Parallel()
	for what, tc := range map[string]struct {
		later, robot string
		torque       bool
	}{"never": {"", "", true}, "late": {`"category":0}`, "", false}, "late, of one robot": {"", "?robot=virtual", true}} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := start(t, func(c *config.Config) {
					c.Robots = []config.Robot{{Name: "virtual", Driver: "sim"}, {Name: "real", Driver: "sim"}}
				})
				c, err := b.net.Dial(b.ctx, "tcp", b.s.Address())
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				began := time.Now()
				fmt.Fprintf(c, "POST /stop%s HTTP/1.1\r\nHost: %s\r\nContent-Length: 14\r\n\r\n{", tc.robot, b.s.Address())
				b.until("the robot is stopped", func() bool { return b.state().Stopped })
				if took := time.Since(began); took > 60*time.Millisecond {
					t.Errorf("stopped after %v", took)
				}
				fmt.Fprint(c, tc.later)
				res, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err != nil {
					t.Fatal(err)
				}
				text, _ := io.ReadAll(res.Body)
				if res.StatusCode != http.StatusOK || !strings.Contains(string(text), `"success":true`) || !strings.Contains(string(text), "the body was late") {
					t.Errorf("%s %s", res.Status, text)
				}
				time.Sleep(2 * time.Second) // the ramp, and net/http closes such a connection
				if s := b.state(); !s.Stopped || (s.Power == "enabled") != tc.torque {
					t.Errorf("stopped %v, power %s", s.Stopped, s.Power)
				}
				if s := b.stateOf("/real"); s.Stopped != (tc.robot == "") {
					t.Errorf("the other robot: stopped %v", s.Stopped)
				}
			})
		})
	}
}

// TestPOSTStopWithSlashesTooMany stops too, and other methods are told to use it.
func TestPOSTStopWithSlashesTooMany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		for _, path := range []string{"/stop/", "//stop", "//stop//?category=2"} {
			if status, a := b.post(path, "", "", nil); status != http.StatusOK || !a.Success || !b.state().Stopped {
				t.Errorf("%s: %d %+v", path, status, a)
			}
			b.again("")
		}
		for _, path := range []string{"/stop", "/stop/"} {
			if status, text := b.get(path, nil); status != http.StatusMethodNotAllowed || !strings.Contains(text, "curl -X POST http://"+b.s.Address()+"/stop") {
				t.Errorf("GET %s: %d %s", path, status, text)
			}
		}
		if b.state().Stopped {
			t.Error("GET has stopped the robot")
		}
	})
}

// TestACrowdOfConnectionsIsNoFault: beyond the bound of connections /healthz still tells how
// the cycle is.
func TestACrowdOfConnectionsIsNoFault(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) { c.Limits.Connections = 2 })
		for range 400 {
			c, err := b.net.Dial(b.ctx, "tcp", b.s.Address())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
		}
		if status, text := b.get("/", nil); status != http.StatusServiceUnavailable || !strings.Contains(text, "too many connections") {
			t.Errorf("the page: %d %s", status, text)
		}
		for _, path := range []string{"/healthz", "/readyz"} {
			if status, text := b.get(path, nil); status != http.StatusOK {
				t.Errorf("%s: %d %s", path, status, text)
			}
		}
		time.Sleep(time.Second)
	})
}

// TestCallsOfOthersDoNotRefuseAStop: hundreds of calls of stop, and of other services,
// wait for their answers; every stop is answered, none refused.
func TestCallsOfOthersDoNotRefuseAStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) { c.Limits.MessageRate = 1e6 })
		g := b.send("/follow_joint_trajectory", followType, sweep(b.joints("/joint_states"), 5, map[string]float64{"joint52": 0.4}))
		b.begun(g)
		var all sync.WaitGroup
		for range 20 {
			c := b.dial()
			for range 20 {
				all.Go(func() {
					text, err := c.Call(b.ctx, "/stop", []byte(`{}`))
					var a answer
					if err == nil {
						err = json.Unmarshal(text, &a)
					}
					if err != nil || !a.Success {
						t.Errorf("a stop was refused: %v %s", err, text)
					}
				})
				all.Go(func() { _, _ = c.Call(b.ctx, "/pause", []byte(`{}`)) })
			}
		}
		all.Wait()
		b.want(b.endOf(g), aborted)
		if s := b.state(); !s.Stopped || s.Power != "enabled" {
			t.Errorf("stopped %v, power %s", s.Stopped, s.Power)
		}
	})
}

// endOf waits for the end of a goal.
func (b *bed) endOf(g *client.Goal) client.Update {
	b.t.Helper()
	u, _ := b.end(g)
	return u
}
