package ros2

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"poise/graph"
	"poise/msgs"
	"poise/msgs/registry"
	"poise/rtps"
	"poise/rtps/rtpstest"
	"poise/wire/rosnet"
)

// TestEnvironment: what ROS's variables say, and that none of them opens a node.
func TestEnvironment(t *testing.T) {
	for _, c := range []struct {
		env    map[string]string
		domain int
		peers  string
		local  bool
		err    string
	}{
		{nil, 0, "", false, ""},
		{map[string]string{"ROS_DOMAIN_ID": "7"}, 7, "", false, ""},
		{map[string]string{"ROS_DOMAIN_ID": "232"}, 232, "", false, ""},
		{map[string]string{"ROS_DOMAIN_ID": "233"}, 0, "", false, `ROS_DOMAIN_ID is "233", must be a number from 0 to 232`},
		{map[string]string{"ROS_DOMAIN_ID": "x"}, 0, "", false, `ROS_DOMAIN_ID is "x"`},
		{map[string]string{"ROS_STATIC_PEERS": "a; 10.0.0.2;"}, 0, "a 10.0.0.2", false, ""},
		{map[string]string{"ROS_LOCALHOST_ONLY": "1"}, 0, "", true, ""},
		{map[string]string{"ROS_LOCALHOST_ONLY": "0"}, 0, "", false, ""},
		{map[string]string{"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}, 0, "", true, ""},
		{map[string]string{"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET", "ROS_STATIC_PEERS": "a"}, 0, "a", false, ""},
		{map[string]string{"ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT"}, 0, "", false, ""},
		{map[string]string{"ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF"}, 0, "", false, "is OFF: no node would find this one"},
		{map[string]string{"ROS_AUTOMATIC_DISCOVERY_RANGE": "far"}, 0, "", false, `is "far", must be OFF, LOCALHOST, SUBNET or SYSTEM_DEFAULT`},
	} {
		got, local, err := Environment(func(name string) string { return c.env[name] })
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v: %v, not %q", c.env, err, c.err)
			}
			continue
		}
		if err != nil || got.Domain != c.domain || strings.Join(got.Peers, " ") != c.peers || local != c.local || got.Open {
			t.Errorf("%v: domain %d, peers %v, local %v, open %v, %v", c.env, got.Domain, got.Peers, local, got.Open, err)
		}
	}
}

// TestNamesAndParametersAsPeopleWriteThem covers what stands behind --ros-args.
func TestNamesAndParametersAsPeopleWriteThem(t *testing.T) {
	n, err := ReadNames([]string{"a:=/b", "left:c:=d", "right:e:=f", "__ns:=/robot1", "__node:=left", "~/x:=y", "/robot1/6dof:=six"})
	if err != nil || n.Self() != "/robot1/left" {
		t.Fatalf("%+v, %v", n, err)
	}
	m := rosnet.Mapping{Names: n, Globals: globals}
	for name, want := range map[string]string{"/a": "/b", "/c": "/robot1/d", "/e": "/robot1/e", "/left/x": "/robot1/y", "/6dof": "/robot1/six", "/tf": "/tf", "/rosout": "/rosout", "/rosout_agg": "/robot1/rosout_agg", "/joint_states": "/robot1/joint_states"} {
		if got := m.ROS(name); got != want {
			t.Errorf("%s is %s, not %s", name, got, want)
		}
	}
	for _, bad := range []string{"a", "a:=", ":=b", "__ns:=/a b", "__node:=a/b", "__log:=x", "__ns:=/1robot", "__ns:=/a/2b", "__node:=3arm", "a:=/b/4c"} {
		if _, err := ReadNames([]string{bad}); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	params, err := ReadParams([]string{"n:=3", "x:=0.5", "on:=true", "off:=False", "text:=a b", "quoted:='7'", "list:=[1, 2.5]", "counts:=[1, 2]", "flags:=[true, false]", "mixed:=[1, a]", "names:=[a, 'b']", "none:=[]", "left:own:=1", "right:other:=1"}, "left")
	want := map[string]any{"n": 3, "x": 0.5, "on": true, "off": false, "text": "a b", "quoted": "7", "list": []float64{1, 2.5}, "counts": []int64{1, 2}, "flags": []bool{true, false}, "mixed": []string{"1", "a"}, "names": []string{"a", "b"}, "none": []string{}, "own": 1}
	if err != nil || !reflect.DeepEqual(params, want) {
		t.Errorf("%v, %v", params, err)
	}
	for _, bad := range []string{"n", ":=1", "n:=[1"} {
		if _, err := ReadParams([]string{bad}, "left"); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestParamsFiles: parameters are read from a file as ros2 launch writes it, for the node and by wildcards, the
// last one holds; what is wrong is named with its line.
func TestParamsFiles(t *testing.T) {
	names := Names{Namespace: "/robot1", Node: "arm"}
	got, err := ReadParamsFile([]byte(`
/**:
  ros__parameters:
    use_sim_time: true
    rate: 100
    gains: {p: 1.5, i: [0.1, 0.2]}
arm: {ros__parameters: {other_namespace: 1}}
/robot1/arm:
  ros__parameters:
    rate: 250
    joints: [a, b]
    counts: [1, 2]
    "quoted": '7'
/robot1/*: {ros__parameters: {flags: [true, false]}}
robot1:
  arm: {ros__parameters: {nested: deep}}
  leg: {ros__parameters: {not_mine: 1}}
/*/leg: {ros__parameters: {not_mine: 1}}
`), names)
	want := map[string]any{"use_sim_time": true, "rate": 250, "gains.p": 1.5, "gains.i": []float64{0.1, 0.2}, "joints": []string{"a", "b"}, "counts": []int64{1, 2},
		"quoted": "7", "flags": []bool{true, false}, "nested": "deep"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for text, why := range map[string]string{
		"a: b":                       "line 1: /a must be a map of nodes, with ros__parameters in each",
		"ros__parameters: {a: 1}":    "line 1: ros__parameters stands below the name of a node, such as /**",
		"/**:\n  ros__parameters: 7": "line 2: ros__parameters must be a map of parameters",
		"/**:\n  ros__parameters:\n    n: [1, a]":         "line 3: parameter n: the items of a list must be of one kind",
		"/**:\n  ros__parameters:\n    a:\n      n: null": "parameter a.n: \"null\" is not a number, boolean or text",
		"/**:\n  ros__parameters: {n: [[1]]}":             "parameter n: a list must have numbers, booleans or texts",
		"\t":                                              "found character that cannot start any token",
	} {
		if _, err := ReadParamsFile([]byte(text), names); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, not %q", text, err, why)
		}
	}
	if got, err := ReadParamsFile(nil, names); err != nil || len(got) != 0 {
		t.Errorf("an empty file: %v, %v", got, err)
	}
}

// TestTheLogIsTransientLocal: a reader of /rosout that asks for what was said before matches, as it does
// with the nodes of client libraries; one that does not ask for it, too.
func TestTheLogIsTransientLocal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := rtpstest.New(3)
		g := newGraph(t)
		log, err := graph.Topic[msgs.Log](g, "rosout", graph.TopicOptions{})
		if err != nil {
			t.Fatal(err)
		}
		n, err := New(g, on(network, 0))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- n.Run(ctx) }()
		c := newClient(t, network, 1, g)
		typ, _, err := registry.Message("rcl_interfaces/msg/Log")
		if err != nil {
			t.Fatal(err)
		}
		kept, _ := c.listen("rt/rosout", typ, rtps.QoS{Reliable: true, Depth: 10, TransientLocal: true})
		plain, _ := c.listen("rt/rosout", typ, rtps.QoS{Reliable: true, Depth: 10})
		time.Sleep(2 * time.Second)
		log.Publish(&msgs.Log{Msg: "hello"})
		time.Sleep(time.Second)
		if len(kept) != 1 || len(plain) != 1 {
			t.Errorf("%d and %d messages came", len(kept), len(plain))
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestTheEndIsToldAtOnce: a node that ends has told everyone within 2 s, although a reader of it
// has been dead for a while, without a word, and another has acknowledged nothing.
func TestTheEndIsToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := rtpstest.New(9)
		g := newGraph(t)
		out, err := graph.Topic[msgs.String](g, "text", graph.TopicOptions{})
		if err != nil {
			t.Fatal(err)
		}
		join := func(host string) *rtps.Participant {
			p, err := rtps.New(rtps.Config{Open: true, Dial: func() rtps.Transport { return network.Join(host, 0) }})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(p.Close)
			if _, err := p.NewReader(rtps.ReaderConfig{Topic: "rt/text", Type: "std_msgs::msg::dds_::String_", QoS: rtps.QoS{Reliable: true}, Receive: func(*rtps.Sample) {}}); err != nil {
				t.Fatal(err)
			}
			return p
		}
		c := Config{Form: msgs.Jazzy, Open: true, Dial: func() rtps.Transport { return network.Join("10.0.0.1", 0) }}
		n, err := New(g, c)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- n.Run(ctx) }()
		alive, dead := join("10.0.0.2"), join("10.0.0.3")
		until(t, "all have met", func() bool { return len(alive.Others()) == 2 && len(dead.Others()) == 2 && len(n.p.Others()) == 2 })
		time.Sleep(time.Second)
		network.Cut("10.0.0.3", true)
		for range 50 {
			out.Publish(&msgs.String{Data: "not acknowledged by all"})
			time.Sleep(10 * time.Millisecond)
		}
		began := time.Now()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		until(t, "the node is gone for the one that lives", func() bool { return !alive.Knows(n.p.GUID().Prefix) })
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("the end took %v", took)
		}
	})
}
