package server

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"poise/msgs"
	"poise/msgs/codec"
	"poise/msgs/registry"
	"poise/rtps"
	"poise/rtps/rtpstest"
	"poise/server/config"
	"poise/wire/ros2"
)

// serveInROS2 runs a server that is in a network of ROS 2 in memory, until the test ends, and returns another
// participant there.
func serveInROS2(t *testing.T, change func(c *config.Config)) (*Server, *rtps.Participant) {
	t.Helper()
	network := rtpstest.New(1)
	w := watch{hardware: true}
	cfg := config.Default()
	cfg.Listen, cfg.Motions, cfg.Loop.Period = "127.0.0.1:0", t.TempDir(), 0.005
	cfg.Faults.Gap.Severity = "ignore" // a busy machine may stop the cycle for a while
	change(&cfg)
	s, err := New(t.Context(), cfg, Options{Drivers: w.drivers(), ROS2: &ros2.Config{Form: msgs.Jazzy, Dial: func() rtps.Transport { return network.Join("127.0.0.1", 0) }}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-s.Ready()
	peer, err := rtps.New(rtps.Config{Dial: func() rtps.Transport { return network.Join("127.0.0.1", 1) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(peer.Close)
	return s, peer
}

// TestTheClockInROS2: the time of a simulation is there, and goes on.
func TestTheClockInROS2(t *testing.T) {
	_, peer := serveInROS2(t, func(c *config.Config) {
		if err := c.UsePhysics(true, ""); err != nil {
			t.Fatal(err)
		}
	})
	ticks := read[msgs.Clock](t, peer, "rt/clock", false)
	at := (<-ticks).Clock.Nanos()
	for range 5 {
		now := (<-ticks).Clock.Nanos()
		if now <= at {
			t.Errorf("the clock goes from %d to %d", at, now)
		}
		at = now
	}
}

// TestWhatTheServerHasInROS2: frames that do not move for those who come late, measured and commanded joints of
// simulated robots and of hardware, each by its names in ROS 2.
func TestWhatTheServerHasInROS2(t *testing.T) {
	s, peer := serveInROS2(t, func(c *config.Config) { c.Robots = append(c.Robots, config.Robot{Name: "iron", Driver: "one"}) })
	first := s.robots[0].name
	names := s.ros2Topics()
	for ros, want := range map[string]string{"/joint_states_reference": "/joint_states", "/iron/joint_states_reference": "/iron/joint_states", "/iron/joint_states": "/iron/joint_states_real",
		"/joint_states": "", "/" + first + "/joint_states": ""} { // those of simulated robots have no other name
		if names[ros] != want {
			t.Errorf("%s in ROS 2 is %q in the graph, not %q", ros, names[ros], want)
		}
	}
	for ros := range names {
		if strings.Contains(ros, "move_group") {
			t.Errorf("%s is MoveIt 1's", ros)
		}
	}

	offered := map[string]rtps.QoS{}
	wanted := []string{"rt/tf", "rt/tf_static", "rt/joint_states", "rt/joint_states_reference", "rt/joint_states_real", "rt/iron/joint_states", "rt/iron/joint_states_reference"}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		for _, o := range peer.Others() {
			for _, w := range o.Writers {
				offered[w.Topic] = w.QoS
			}
		}
		missing := slices.DeleteFunc(slices.Clone(wanted), func(topic string) bool { _, there := offered[topic]; return there })
		if len(missing) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("never offered: %v", missing)
		}
	}
	for _, topic := range wanted {
		if q := offered[topic]; !q.Reliable || q.TransientLocal != (topic == "rt/tf_static") {
			t.Errorf("%s is offered as %+v", topic, q)
		}
	}
	if _, there := offered["rt/joint_states/goal"]; there {
		t.Error("topics of ROS 1's actions are offered")
	}

	if frames := <-read[msgs.TFMessage](t, peer, "rt/tf_static", true); len(frames.Transforms) == 0 {
		t.Error("no frame in tf_static")
	}
}

// read reads a topic.
func read[T any](t *testing.T, p *rtps.Participant, topic string, latched bool) <-chan *T {
	t.Helper()
	typ, _ := registry.For[T]()
	parts := strings.Split(typ.Name(msgs.Jazzy), "/")
	out := make(chan *T, 1000)
	_, err := p.NewReader(rtps.ReaderConfig{Topic: topic, Type: parts[0] + "::" + parts[1] + "::dds_::" + parts[2] + "_", QoS: rtps.QoS{Reliable: true, TransientLocal: latched, Depth: 100},
		Receive: func(s *rtps.Sample) {
			v := new(T)
			if err := codec.For(typ, msgs.Jazzy).Decode(s.Payload, v); err != nil {
				t.Error(err)
			}
			select {
			case out <- v:
			default: // more than are looked at
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
