package server

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"poise/graph"
	"poise/msgs"
	servotopics "poise/servo/topics"
	"poise/stop"
	"poise/wire/ros1"
	"poise/wire/ros2"
)

// ros is what the server has of ROS 1 and ROS 2 besides the wires that show its graph.
type ros struct {
	given   *ros1.Config // what the server was asked for; nil without --ros1
	core    *ros1.Core   // a master of our own; nil without one
	mirror  rosMirror    // that shows the network of another master, or of a domain; nil without one
	program ros1.Program // all nodes of this server
	given2  *ros2.Config // what the server was asked for; nil without --ros2
	domain  [4]byte      // all participants of this server
}

// rosMirror is a node that shows a ROS network below a prefix.
type rosMirror interface {
	Run(ctx context.Context) error
	Close()
	Remote() stop.Remote
}

func (r *ros) closeCore() {
	if r.core != nil {
		r.core.Close()
	}
}

// closeMirror ends a mirror that is not run.
func (r *ros) closeMirror() {
	if r.mirror != nil {
		r.mirror.Close()
	}
}

// startCore starts a master of our own, if one is asked for.
func (s *Server) startCore(c *ros1.Config) (err error) {
	s.ros.given = c
	if c == nil || !c.OwnMaster {
		return nil
	}
	with := *c
	with.Log = s.log
	if s.ros.core, err = ros1.NewCore(with); err != nil {
		return fmt.Errorf("ROS 1: %w", err)
	}
	return nil
}

// rosNode returns the configuration of a node of this server that looks for robots, at the
// master of an address. Several servers may have one each at the same master.
func (s *Server) rosNode(master, name string) ros1.Config {
	c := ros1.Environment(os.Getenv)
	if s.ros.given != nil {
		c.Host, c.Open = s.ros.given.Host, s.ros.given.Open
	}
	l := &s.cfg.Limits
	c.Master, c.Program, c.Outside, c.Log = master, &s.ros.program, true, s.log
	c.Names = ros1.Names{Namespace: "/", Node: fmt.Sprintf("poise_%s_%d", name, os.Getpid())}
	c.Limits = ros1.Limits{Nodes: l.Connections, MessageBytes: l.MessageSize, Queue: l.Queue}
	return c
}

// newROSMirror makes the node that shows the network of another master below a prefix.
func (s *Server) newROSMirror() (err error) {
	m := s.cfg.Mirror
	if m.ROS2() {
		c, err := s.ros2Node(m.URL, "mirror")
		if err != nil {
			return fmt.Errorf("mirror.url is %w", err)
		}
		c.Mirror, c.Budget = m.Prefix, s.budget
		n, err := ros2.New(s.graph, c)
		if err != nil {
			return fmt.Errorf("mirror.url is %q: %w", m.URL, err)
		}
		s.ros.mirror = n
		return nil
	}
	c := s.rosNode(m.URL, "mirror")
	c.Mirror, c.Budget = m.Prefix, s.budget
	n, err := ros1.New(s.graph, c)
	if err != nil {
		return fmt.Errorf("mirror.url is %q: %w", m.URL, err)
	}
	s.ros.mirror = n
	return nil
}

// runROSMirror runs it until the server ends.
func (s *Server) runROSMirror() {
	s.log.Info("mirrored", "under", s.cfg.Mirror.Prefix, "network", s.cfg.Mirror.URL)
	if err := s.ros.mirror.Run(s.life); err != nil {
		s.log.Error("mirroring ended", "network", s.cfg.Mirror.URL, "why", err)
	}
}

// link makes a driver of topics find robots of ROS, if its address is that of a ROS 1 master or
// of a DDS domain.
func (s *Server) link(d *servotopics.Driver, robot string) {
	bridge := d.Dial
	d.Dial = func(ctx context.Context, set servotopics.Settings) (servotopics.Link, error) {
		switch {
		case strings.HasPrefix(set.URL, "http://"):
			return s.dialROS(robot, set, func(g *graph.Graph) (runs, error) { return ros1.New(g, s.rosNode(set.URL, robot)) })
		case strings.HasPrefix(set.URL, "dds://"):
			return s.dialROS(robot, set, func(g *graph.Graph) (runs, error) {
				c, err := s.ros2Node(set.URL, robot)
				if err != nil {
					return nil, err
				}
				return ros2.New(g, c)
			})
		}
		return bridge(ctx, set)
	}
}

// runs is a node of a ROS network.
type runs interface {
	Run(ctx context.Context) error
}

// rosLink is a link of the driver of topics: a node of its own in a ROS network. It outlives
// masters and robots that go and come.
type rosLink struct {
	commands graph.Publisher[msgs.JointState]
	states   graph.Listener[msgs.JointState]
	end      func()
}

// dialROS makes a link by a node that is made of a graph with the two topics.
func (s *Server) dialROS(robot string, set servotopics.Settings, node func(*graph.Graph) (runs, error)) (servotopics.Link, error) {
	g := graph.New(graph.Options{})
	l := &rosLink{}
	var err error
	if l.commands, err = graph.Topic[msgs.JointState](g, set.Commands, graph.TopicOptions{}); err == nil {
		l.states, err = graph.Listen[msgs.JointState](g, set.States, graph.SubscribeOptions{QoS: graph.QoS{Depth: 100}})
	}
	var n runs
	if err == nil {
		n, err = node(g)
	}
	if err != nil {
		g.Close()
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := n.Run(ctx); err != nil {
			s.log.Error("a robot's node of ROS has failed", "robot", robot, "why", err)
		}
	}()
	l.end = func() {
		cancel()
		<-done
		g.Close()
	}
	return l, nil
}

func (l *rosLink) Send(_ context.Context, c *servotopics.Joints) error {
	l.commands.Publish(&msgs.JointState{Header: msgs.Header{Stamp: msgs.TimeOf(time.Now().UnixNano())}, Name: c.Names, Position: c.Position, Velocity: c.Velocity, Effort: c.Effort})
	return nil
}

func (l *rosLink) Receive(ctx context.Context) (*servotopics.Joints, error) {
	m, _, err := l.states.Next(ctx)
	if err != nil {
		return nil, err
	}
	return &servotopics.Joints{Names: m.Name, Position: m.Position, Velocity: m.Velocity, Effort: m.Effort}, nil
}

func (l *rosLink) Close() error {
	l.end()
	return nil
}
