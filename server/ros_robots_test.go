package server

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"poise/graph"
	"poise/msgs"
	"poise/rtps"
	"poise/rtps/rtpstest"
	"poise/server/config"
	servotopics "poise/servo/topics"
	"poise/wire/ros1"
	"poise/wire/ros2"
)

// TestTheLinkOfADriverInROS1 carries commands and states of another node, and none of a node of
// the same server that publishes the same topics.
func TestTheLinkOfADriverInROS1(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	core, err := ros1.NewCore(ros1.Config{Master: "http://127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer core.Close()
	s := &Server{cfg: config.Default(), log: slog.New(slog.DiscardHandler)}
	states := func(name string, p *ros1.Program, position float64) (graph.Publisher[msgs.JointState], *graph.Graph) {
		g := graph.New(graph.Options{})
		out, err := graph.Topic[msgs.JointState](g, "/joint_states", graph.TopicOptions{QoS: graph.QoS{Latched: true}})
		if err != nil {
			t.Fatal(err)
		}
		out.Publish(&msgs.JointState{Name: []string{"knee"}, Position: []float64{position}})
		n, err := ros1.New(g, ros1.Config{Master: core.URI(), Names: ros1.Names{Node: name}, Program: p})
		if err != nil {
			t.Fatal(err)
		}
		running, end := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- n.Run(running) }()
		t.Cleanup(func() {
			end()
			if err := <-done; err != nil {
				t.Error(err)
			}
			g.Close()
		})
		return out, g
	}
	own, _ := states("poise", &s.ros.program, 99)
	theirs, g := states("machine", nil, 0.5)
	heard, err := graph.Listen[msgs.JointState](g, "/joint_commands", graph.SubscribeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	set := servotopics.DefaultSettings()
	set.URL = core.URI()
	l, err := s.dialROS("real", set, func(g *graph.Graph) (runs, error) { return ros1.New(g, s.rosNode(set.URL, "real")) })
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 20 {
		own.Publish(&msgs.JointState{Name: []string{"knee"}, Position: []float64{99}})
		theirs.Publish(&msgs.JointState{Name: []string{"knee"}, Position: []float64{0.5}})
	}
	for range 10 {
		own.Publish(&msgs.JointState{Name: []string{"knee"}, Position: []float64{99}})
		theirs.Publish(&msgs.JointState{Name: []string{"knee"}, Position: []float64{0.5}})
		if j, err := l.Receive(ctx); err != nil || j.Position[0] != 0.5 {
			t.Fatalf("states %+v, %v", j, err)
		}
	}
	commandsArrive(ctx, t, l, heard)
}

// TestTheLinkOfADriverInROS2 carries commands and states of another node, and none of a node of
// the same server that writes the same topics.
func TestTheLinkOfADriverInROS2(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	network := rtpstest.New(1)
	at := func(index int) func() rtps.Transport {
		return func() rtps.Transport { return network.Join("127.0.0.1", index) }
	}
	s := &Server{cfg: config.Default(), log: slog.New(slog.DiscardHandler)}
	s.ros.domain = [4]byte{1, 2, 3, 4}
	s.ros.given2 = &ros2.Config{Form: msgs.Humble, Dial: at(2)}
	states := func(index int, program [4]byte, position float64) *graph.Graph {
		g := graph.New(graph.Options{})
		out, err := graph.Topic[msgs.JointState](g, "/joint_states", graph.TopicOptions{QoS: graph.QoS{Latched: true}})
		if err != nil {
			t.Fatal(err)
		}
		n, err := ros2.New(g, ros2.Config{Form: msgs.Humble, Dial: at(index), Program: program})
		if err != nil {
			t.Fatal(err)
		}
		running, end := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- n.Run(running) }()
		go func() {
			for running.Err() == nil {
				out.Publish(&msgs.JointState{Name: []string{"knee"}, Position: []float64{position}})
				time.Sleep(time.Millisecond)
			}
		}()
		t.Cleanup(func() {
			end()
			if err := <-done; err != nil {
				t.Error(err)
			}
			g.Close()
		})
		return g
	}
	states(0, s.ros.domain, 99)
	g := states(1, [4]byte{}, 0.5)
	heard, err := graph.Listen[msgs.JointState](g, "/joint_commands", graph.SubscribeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	set := servotopics.DefaultSettings()
	set.URL = "dds://3"
	if err := set.Check(); err != nil {
		t.Error(err)
	}
	d := &servotopics.Driver{}
	s.link(d, "real")
	l, err := d.Dial(ctx, set)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 100 {
		if j, err := l.Receive(ctx); err != nil || j.Position[0] != 0.5 {
			t.Fatalf("states %+v, %v", j, err)
		}
	}
	commandsArrive(ctx, t, l, heard)
}

// commandsArrive sends commands over a link until one is heard, and looks at it.
func commandsArrive(ctx context.Context, t *testing.T, l servotopics.Link, heard graph.Listener[msgs.JointState]) {
	t.Helper()
	got := make(chan *msgs.JointState, 1)
	go func() {
		if v, _, err := heard.Next(ctx); err == nil {
			got <- v
		}
	}()
	for {
		if err := l.Send(ctx, &servotopics.Joints{Names: []string{"knee"}, Position: []float64{0.25}, Velocity: []float64{1}}); err != nil {
			t.Fatal(err)
		}
		select {
		case v := <-got:
			if v.Name[0] != "knee" || v.Position[0] != 0.25 || v.Velocity[0] != 1 || v.Header.Stamp.Sec == 0 {
				t.Errorf("commands %+v", v)
			}
			return
		case <-ctx.Done():
			t.Fatal(ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}
