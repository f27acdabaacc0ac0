package main

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestWhatAScriptReads holds the contract of --json: whatever happens, the last line on
// standard output is an object that begins with success and message; exit codes are 0,
// 1 for a refusal and 2 for wrong usage; people find the reason on standard error.
func TestWhatAScriptReads(t *testing.T) {
	t.Parallel()
	r := serveIt(t)
	for _, c := range []struct {
		code int
		want string // in the message
		args []string
	}{
		{exitOK, "nod: done", []string{"play", "nod", "--speed", "200"}},
		{exitOK, "", []string{"state"}},
		{exitOK, "", []string{"controllers"}},
		{exitOK, "stands after", []string{"stop"}},
		{exitFailure, "stopped; reset", []string{"play", "nod"}},
		{exitOK, "done", []string{"reset"}},
		{exitFailure, `did you mean "nod"`, []string{"play", "nodd"}},
		{exitFailure, `there is no robot "real" on the server at`, []string{"play", "nod", "--robot", "real"}},
		{exitFailure, "poise serve --with-real-sim adds", []string{"state", "--robot", "real"}},
		{exitFailure, "speed -5 % is not between 0 and 200 %", []string{"play", "nod", "--speed", "-5"}},
		{exitFailure, "speed 1000 % is not between", []string{"speed", "1000"}},
		{exitFailure, "speed -1 % is not between", []string{"speed", "-1"}},
		{exitFailure, "no service /nosuch", []string{"call", "nosuch"}},
		{exitFailure, `did you mean "virtual"?`, []string{"state", "--robot", "virtaul"}},
		{exitFailure, `there is no service /motions/gte; did you mean "/motions/get"?`, []string{"call", "motions/gte"}},
		{exitFailure, `there is no action /play_moton; did you mean "/play_motion"?`, []string{"goal", "play_moton"}},
		{exitFailure, `did you mean "/joint_states"?`, []string{"topic", "echo", "joint_state"}},
		{exitFailure, `did you mean "head"?`, []string{"torque", "off", "haed"}},
		{exitFailure, "no joints are named", []string{"call", "joints_virtual_set"}},
		{exitFailure, "has no such field", []string{"call", "motions/get", `{"nam":"x"}`}},
		{exitFailure, `did you mean "name"?`, []string{"call", "motions/get", `{"nam":"x"}`}},
		{exitFailure, `"nodd": does not exist`, []string{"call", "motions/get", `{"name":"nodd"}`}},
		{exitFailure, "poise topic list", []string{"topic", "echo", "nosuch"}},
		{exitFailure, `"nosuch"`, []string{"torque", "off", "nosuch"}},
		{exitOK, "category 7 is unknown (0, 1, 2) and was taken as 2", []string{"call", "stop", `{"category":7}`}},
		{exitUsage, "no percent", []string{"speed", "50x"}},
		{exitUsage, "no percent", []string{"speed", "nan"}},
		{exitUsage, `"2x"`, []string{"stop", "2x"}},
		{exitUsage, "NAME is missing", []string{"play"}},
		{exitUsage, "PERCENT is missing", []string{"speed"}},
		{exitUsage, `"extra" is too much`, []string{"state", "extra"}},
		{exitUsage, "there is no flag --fast", []string{"state", "--fast"}},
		{exitUsage, `did you mean "--server"?`, []string{"state", "--sever", "here"}},
		{exitUsage, `"x" is no value of --count`, []string{"topic", "echo", "joint_states", "--count", "x"}},
		{exitUsage, "--count is -1", []string{"topic", "echo", "joint_states", "--count", "-1"}},
		{exitUsage, "want one of list, echo, pub", []string{"topic", "watch"}},
		{exitUsage, "TYPE is missing", []string{"topic", "pub", "cmd_vel"}},
		{exitUsage, "no JSON", []string{"topic", "pub", "cmd_vel", "geometry_msgs/msg/Twist", "{"}},
		{exitUsage, "--rate is -1", []string{"topic", "pub", "cmd_vel", "geometry_msgs/msg/Twist", "{}", "--rate", "-1"}},
		{exitUsage, "--rate is 5000, must be 0.001 … 1000 Hz; 0 publishes once", []string{"topic", "pub", "cmd_vel", "geometry_msgs/msg/Twist", "{}", "--rate", "5000"}},
		{exitUsage, "--rate is 1e-10, must be 0.001 … 1000 Hz", []string{"topic", "pub", "cmd_vel", "geometry_msgs/msg/Twist", "{}", "--rate", "1e-10"}},
		{exitUsage, "--rate is NaN, must be", []string{"topic", "pub", "cmd_vel", "geometry_msgs/msg/Twist", "{}", "--rate", "nan"}},
		{exitUsage, "without --rate", []string{"topic", "pub", "cmd_vel", "geometry_msgs/msg/Twist", "{}", "--count", "3"}},
		{exitUsage, "--rate is 2: it is of pub alone", []string{"topic", "echo", "joint_states", "--rate", "2"}},
		{exitOK, "published", []string{"topic", "pub", "controllers/walk/gait", "std_msgs/msg/String", `{"data": "crawl"}`}},
		{exitOK, "published 3 times", []string{"topic", "pub", "cmd_vel", "geometry_msgs/msg/Twist", "{}", "--rate", "100", "--count", "3"}},
		{exitFailure, `there is no topic "/cmd_vell"; did you mean "/cmd_vel"?`, []string{"topic", "pub", "cmd_vell", "geometry_msgs/msg/Twist", "{}"}},
		{exitFailure, "has type geometry_msgs/msg/Twist, not std_msgs/msg/Bool", []string{"topic", "pub", "cmd_vel", "std_msgs/msg/Bool", "{}"}},
		{exitFailure, `linear.x: want a number, got a string "fast"`, []string{"topic", "pub", "cmd_vel", "geometry_msgs/msg/Twist", `{"linear": {"x": "fast"}}`}},
		{exitFailure, "for /poise alone to publish on", []string{"topic", "pub", "joint_states", "sensor_msgs/msg/JointState", "{}"}},
		{exitUsage, `did you mean "echo"?`, []string{"topic", "ecco", "tf"}},
		{exitFailure, `--robot: there is no robot "pony"`, []string{"state", "--robot", "pony"}},
		{exitFailure, "there are virtual", []string{"state", "--robot", "pony"}},
		{exitFailure, `no robot "a \"b"`, []string{"state", "--robot", `a "b`}},
		{exitOK, "", []string{"state", "--robot", "virtual"}},
	} {
		out, errs, code := r.cli(append(c.args, "--json")...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		last := lines[len(lines)-1]
		var a answered
		if err := json.Unmarshal([]byte(last), &a); err != nil || !strings.HasPrefix(last, `{"success":`) {
			t.Errorf("poise %v --json ends with %q: %v", c.args, last, err)
		}
		if code != c.code || a.Success != (code == exitOK) || !strings.Contains(a.Message, c.want) {
			t.Errorf("poise %v --json: code %d, %q; want %d and %q", c.args, code, last, c.code, c.want)
		}
		for _, line := range lines[:len(lines)-1] {
			if !strings.HasPrefix(line, `{"feedback":`) || !json.Valid([]byte(line)) {
				t.Errorf("poise %v --json says %q before its end", c.args, line)
			}
		}
		if code != exitOK && !strings.HasPrefix(errs, "poise: "+c.args[0]+": ") {
			t.Errorf("poise %v --json tells people %q", c.args, errs)
		}
	}
}

// TestNoServerAtTheAddress: what answers there, or that nothing does, in plain words.
func TestNoServerAtTheAddress(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	// the near end of a connection: its port is taken, so that no other test comes to listen there
	taken, err := net.Dial("tcp", silent.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		server, want string
		code         int
	}{
		{taken.LocalAddr().String(), "connection refused; start one with poise serve", exitFailure},
		{strings.TrimPrefix(other.URL, "http://"), "answers 404", exitFailure},
		{silent.Addr().String(), "did not answer within 3 s", exitFailure},
		{"", "--server is empty", exitUsage},
	} {
		var out, errs bytes.Buffer
		code := run(&env{out: &out, err: &errs}, []string{"state", "--server", c.server, "--json"})
		if code != c.code || !strings.Contains(errs.String(), c.want) || strings.Contains(errs.String(), "WebSocket") || !json.Valid(out.Bytes()) {
			t.Errorf("--server %q: code %d, %q, %q; want %d and %q", c.server, code, out.String(), errs.String(), c.code, c.want)
		}
	}
}

func TestAddressesAreCompleted(t *testing.T) {
	for server, want := range map[string]string{
		"127.0.0.1:9":               "ws://127.0.0.1:9/rosbridge",
		"127.0.0.1:9/":              "ws://127.0.0.1:9/rosbridge",
		"localhost":                 "ws://localhost:8080/rosbridge",
		"[::1]":                     "ws://[::1]:8080/rosbridge",
		"http://127.0.0.1:9":        "ws://127.0.0.1:9/rosbridge",
		"ws://robot:9090/":          "ws://robot:9090/rosbridge",
		"ws://robot:9090/some/path": "ws://robot:9090/some/path",
		"https://robot:443/x":       "wss://robot:443/x",
	} {
		if got := rosbridgeURL(server); got != want {
			t.Errorf("%s is %s, want %s", server, got, want)
		}
	}
}
