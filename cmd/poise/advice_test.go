package main

import (
	"strings"
	"testing"

	"poise/msgs/poisemsgs"
)

// TestARefusalNamesTheCommandThatHelps: by a server, as people would type it.
func TestARefusalNamesTheCommandThatHelps(t *testing.T) {
	t.Parallel()
	r := serveIt(t, "--with-real-sim")
	refused := func(help string, args ...string) {
		t.Helper()
		_, errs, code := r.cli(args...)
		if at := "--server " + r.address; code != exitFailure || !strings.Contains(errs, help) || !strings.Contains(errs, at) {
			t.Errorf("poise %s: code %d, %q; want %q and %q", strings.Join(args, " "), code, errs, help, at)
		}
	}
	r.do("stands", "stop")
	refused("try: poise reset --robot real --server ", "play", "nod", "--robot", "real")
	refused("try: poise reset --server ", "pose", "stand")
	r.do("real: done", "reset") // all that were stopped
	r.do("done", "reset", "--robot", "real")
	r.do("stands", "stop", "0")
	refused("try: poise reset --server ", "play", "nod")
	r.do("try: poise torque on --server ", "reset")
	refused("try: poise torque on head ears --server ", "play", "nod")
	r.do("done", "torque", "on", "head", "ears")
	r.do("nod: done", "play", "nod", "--speed", "200")
	refused("poise call motions/list --server ", "play", "nodd")
	refused("poise call robot_info --server ", "pose", "standd")
	refused("poise controllers --server ", "switch", "--start", "nosuch")
	refused("poise topic list --server ", "topic", "echo", "joint_stat")
	refused("poise call /rosapi/services --server ", "call", "robot_stat")
	for _, args := range [][]string{{"call", "/rosapi/services"}, {"call", "motions/list"}, {"controllers"}, {"topic", "list"}} { // they do exist
		r.do("", args...)
	}
}

// TestAdvice: for the codes of all refusals that a command helps against.
func TestAdvice(t *testing.T) {
	why := func(code, resource string) poisemsgs.Explanation {
		return poisemsgs.Explanation{Code: code, Resource: resource}
	}
	for _, c := range []struct {
		want string
		why  []poisemsgs.Explanation
	}{
		{"", nil},
		{"", []poisemsgs.Explanation{why("beyond_limit", "")}},
		{"try: poise torque on", []poisemsgs.Explanation{why("power_off", "head"), why("power_off", "")}},
		{"try: poise torque on head ears", []poisemsgs.Explanation{why("power_off", "head"), why("power_off", "ears"), why("power_off", "head"), why("stale", "tail")}},
		{"try: poise torque off head", []poisemsgs.Explanation{why("has_torque", "head")}},
		{"poise state shows the fault, poise reset takes goals again", []poisemsgs.Explanation{why("fault_overheat", "")}},
		{"poise controllers shows which run, poise switch --start NAME starts one", []poisemsgs.Explanation{why("not_running", "")}},
		{"poise state shows who owns what", []poisemsgs.Explanation{why("not_granted", "head")}},
	} {
		r := &remote{server: defaultServer}
		if got := r.advice(c.why); got != c.want {
			t.Errorf("%v: %q, want %q", c.why, got, c.want)
		}
	}
}
