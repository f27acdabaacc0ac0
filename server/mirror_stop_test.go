package server_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"poise/internal/stepped"
	"poise/msgs/poisemsgs"
	"poise/server/config"
	"poise/wire/rosbridge/client"
)

// mirroring runs two servers, of which the second mirrors the first below pony.
func mirroring(t *testing.T, change func(far, near *config.Config)) (far, near *bed) {
	t.Helper()
	farConfig, nearConfig := &config.Config{}, &config.Config{}
	far = start(t, func(c *config.Config) {
		change(c, nearConfig)
	})
	near = startOn(t, far.net, stepped.Clock{}, func(c *config.Config) {
		change(farConfig, c)
		c.Mirror.URL, c.Mirror.Prefix = "ws://"+far.s.Address()+"/rosbridge", "pony"
	})
	near.until("the robot is mirrored", func() bool { return len(near.log.lines("mirrored", "pony")) > 0 })
	return far, near
}

func twoRobots(far, near *config.Config) {
	far.Robots = []config.Robot{{Name: "virtual", Driver: "sim"}, {Name: "real", Driver: "sim"}}
	near.Robot = "arm6"
}

// again undoes the stops of some robots of a server.
func (b *bed) again(robots ...string) {
	b.t.Helper()
	for _, robot := range robots {
		b.until("it takes a reset", func() bool { return b.ask(robot+"/reset", &poisemsgs.ResetRequest{}).Success })
		b.must(robot+"/set_power", &poisemsgs.SetPowerRequest{On: true})
	}
}

// TestAStopOfAMirroredRobotIsLikeAnyStop: whatever its arguments are it is obeyed, and only
// an explicit 0 or 1 takes the torque; it stops the robot that it names and no other.
func TestAStopOfAMirroredRobotIsLikeAnyStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		far, near := mirroring(t, twoRobots)
		for _, tc := range []struct {
			service, args string
			torque        bool
		}{
			{"/pony/stop", "", true}, {"/pony/stop", "{}", true}, {"/pony/stop", "[]", true}, {"pony/stop", `"x"`, true},
			{"/pony/stop", "null", true}, {"/pony/stop", `{"category":256}`, true}, {"/pony/stop", `{"category":0,"extra":1}`, true},
			{"/pony/stop", `{"category":2}`, true}, {"/pony/stop", `{"category":0}`, false}, {"/pony/stop", `{"category":1}`, false},
			{"/pony/virtual/stop", `{}`, true}, {"//pony//virtual/stop/", `{"category":0}`, false},
		} {
			text, err := near.c.Call(near.ctx, tc.service, []byte(tc.args))
			var a answer
			if err == nil {
				err = json.Unmarshal(text, &a)
			}
			if err != nil || !a.Success || !strings.Contains(a.Message, "pony") || !strings.Contains(a.Message, "stands after") {
				t.Errorf("%s %s: %s %v", tc.service, tc.args, text, err)
			}
			s := far.stateOf("/virtual")
			if !s.Stopped || (s.Power == "enabled") != tc.torque {
				t.Errorf("%s %s: stopped %v, power %s", tc.service, tc.args, s.Stopped, s.Power)
			}
			if far.stateOf("/real").Stopped || near.state().Stopped {
				t.Errorf("%s %s: another robot was stopped", tc.service, tc.args)
			}
			far.again("/virtual")
		}
		if a := near.ask("/pony/real/stop", &poisemsgs.StopRequest{Category: 2}); !a.Success {
			t.Error(a.Message)
		}
		if !far.stateOf("/real").Stopped || far.stateOf("/virtual").Stopped {
			t.Error("the second robot alone was to be stopped")
		}
		near.until("the log has who stopped it", func() bool {
			return len(near.log.lines("audit", "robot=pony/real", `what="stop 2"`, "result=ok")) > 0
		})
	})
}

// TestPOSTStopReachesMirroredRobots, all of them or the one that is named.
func TestPOSTStopReachesMirroredRobots(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		far, near := mirroring(t, twoRobots)
		for _, tc := range []struct {
			path                string
			virtual, real, here bool // stopped
			torque              bool
			words               string
		}{
			{"/stop", true, true, true, true, "pony: "},
			{"/stop?until=stands", true, true, true, true, "stands after"},
			{"/stop?category=0", true, true, true, false, "pony: "},
			{"/stop?robot=pony", true, true, false, true, "pony: "},
			{"/stop?robot=pony/real&category=0", false, true, false, false, "pony/real: "},
			{"/stop?robot=virtual", false, false, true, true, ""},
			{"/stop?robot=unknown&category=0", true, true, true, true, "there is no robot"},
		} {
			status, a := near.post(tc.path, "", "", nil)
			if status != http.StatusOK || !a.Success || !strings.Contains(a.Message, tc.words) {
				t.Errorf("%s: %d %+v", tc.path, status, a)
			}
			near.until("they stand", func() bool {
				return far.stateOf("/virtual").Stopped == tc.virtual && far.stateOf("/real").Stopped == tc.real && near.state().Stopped == tc.here
			})
			time.Sleep(300 * time.Millisecond)
			if s := far.stateOf("/real"); tc.real && (s.Power == "enabled") != tc.torque {
				t.Errorf("%s: power is %s", tc.path, s.Power)
			}
			if far.stateOf("/virtual").Stopped != tc.virtual || far.stateOf("/real").Stopped != tc.real || near.state().Stopped != tc.here {
				t.Errorf("%s: others are stopped too", tc.path)
			}
			far.again("/virtual", "/real")
			near.again("")
		}
	})
}

// TestNoLimitRefusesAStopOfAMirroredRobot: with all calls of the client and of the service
// under way, beyond the rate, and with no socket left at the other server.
func TestNoLimitRefusesAStopOfAMirroredRobot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		far, near := mirroring(t, func(far, near *config.Config) { far.Limits.Connections, near.Limits.MessageRate = 4, 50 })
		for range 4 { // as many sockets as are left
			if c, err := client.Dial(far.ctx, "ws://"+far.s.Address()+"/rosbridge", client.Options{HTTP: far.net.Client()}); err == nil {
				defer c.Close()
			}
		}
		var all sync.WaitGroup
		for range 400 {
			all.Go(func() {
				text, err := near.c.Call(near.ctx, "/pony/stop", []byte(`{}`))
				if err != nil || !strings.Contains(string(text), `"success":true`) && !strings.Contains(string(text), "under way") {
					t.Errorf("a stop was refused: %v %s", err, text)
				}
			})
			all.Go(func() { _, _ = near.c.Call(near.ctx, "/pony/pause", []byte(`{}`)) })
		}
		all.Wait()
		if s := far.state(); !s.Stopped || s.Power != "enabled" {
			t.Errorf("stopped %v, power %s", s.Stopped, s.Power)
		}
	})
}

// TestAMirroredRobotThatIsNotReachedDelaysNoOther, and the answer tells what was reached
// and what was not: one server has gone, the other takes connections and says nothing.
func TestAMirroredRobotThatIsNotReachedDelaysNoOther(t *testing.T) {
	t.Parallel()
	for what, tc := range map[string]struct {
		silent bool
		words  string
	}{"gone": {false, "refused"}, "silent": {true, "has not answered yet"}} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &stepped.Net{}
				if tc.silent {
					l, err := n.Listen("tcp", "127.0.0.1:9090")
					if err != nil {
						t.Fatal(err)
					}
					var open []net.Conn
					var done sync.WaitGroup
					done.Go(func() {
						for {
							c, err := l.Accept()
							if err != nil {
								return
							}
							open = append(open, c)
							done.Go(func() { _, _ = io.Copy(io.Discard, c) })
						}
					})
					t.Cleanup(func() {
						l.Close()
						for _, c := range open {
							c.Close()
						}
						done.Wait()
					})
				}
				near := startOn(t, n, stepped.Clock{}, func(c *config.Config) { c.Mirror.URL = "ws://127.0.0.1:9090" })
				begin := time.Now()
				var post sync.WaitGroup
				post.Go(func() {
					status, a := near.post("/stop", "", "", nil)
					if status != http.StatusAccepted || a.Success || !strings.Contains(a.Message, "virtual st") ||
						!strings.Contains(a.Message, "remote: ") || !strings.Contains(a.Message, tc.words) {
						t.Errorf("%d %+v", status, a)
					}
					if took := time.Since(begin); took > time.Second {
						t.Errorf("answered after %v", took)
					}
				})
				near.until("the robot here is stopped", func() bool { return near.state().Stopped })
				if took := time.Since(begin); took > 50*time.Millisecond {
					t.Errorf("the robot here was stopped after %v", took)
				}
				post.Wait()
				a := near.ask("/remote/stop", &poisemsgs.StopRequest{Category: 2})
				if a.Success || !strings.Contains(a.Message, "remote: was NOT reached") {
					t.Errorf("%+v", a)
				}
			})
		})
	}
}

// TestServersThatMirrorEachOtherPassAStopOnForAWhile: it comes back, and ends.
func TestServersThatMirrorEachOtherPassAStopOnForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &stepped.Net{}
		one := startOn(t, n, stepped.Clock{}, func(c *config.Config) {
			c.Listen, c.Mirror.URL, c.Mirror.Prefix = "127.0.0.1:9091", "ws://127.0.0.1:9092/rosbridge", "two"
		})
		two := startOn(t, n, stepped.Clock{}, func(c *config.Config) {
			c.Listen, c.Mirror.URL, c.Mirror.Prefix = "127.0.0.1:9092", "ws://127.0.0.1:9091/rosbridge", "one"
		})
		one.until("they see each other", func() bool {
			return len(one.log.lines("mirrored", "two")) > 0 && len(two.log.lines("mirrored", "one")) > 0
		})
		if status, a := one.post("/stop", "", "", nil); status != http.StatusOK || !a.Success {
			t.Errorf("%d %+v", status, a)
		}
		if !one.state().Stopped || !two.state().Stopped {
			t.Error("both are to be stopped")
		}
		wait := 3 * time.Second
		if testing.Short() {
			wait = time.Second
		}
		time.Sleep(wait)
		lines := len(one.log.lines("audit", "robot=virtual", "stop 2"))
		time.Sleep(wait)
		if again := len(one.log.lines("audit", "robot=virtual", "stop 2")); lines > 20 || again != lines {
			t.Errorf("%d stops, and %d later", lines, again)
		}
	})
}
