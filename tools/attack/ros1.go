package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"sync"
	"time"

	"poise/msgs"
	"poise/msgs/codec"
	"poise/msgs/registry"
	"poise/wire/ros1"
	"poise/wire/ros1/raw"
	"poise/wire/ros1/tcpros"
	"poise/wire/ros1/xmlrpc"
)

// ros1Attacks are what nodes of a ROS 1 network do to a server that is its master.
var ros1Attacks = []attack{
	{"ROS 1: 2,000 half-open connections", false, func(ctx context.Context, s *process) {
		at := s.links(ctx)
		var open []net.Conn
		for i := 0; ctx.Err() == nil; i++ {
			c, err := net.Dial("tcp", at)
			if err != nil {
				time.Sleep(10 * time.Millisecond)
				continue
			}
			if i%2 == 0 {
				_, _ = c.Write([]byte{200, 0, 0, 0, 10}) // the beginning of a header
			}
			if open = append(open, c); len(open) > 2000 {
				open[0].Close()
				open = open[1:]
			}
		}
		for _, c := range open {
			c.Close()
		}
	}},
	{"ROS 1: 100 subscribers that read nothing", false, func(ctx context.Context, s *process) {
		at := s.links(ctx)
		for i := range 100 {
			c, err := net.Dial("tcp", at)
			if err != nil {
				continue
			}
			defer c.Close()
			topic := []string{"/joint_states", "/tf", "/robot_status", "/joints_sorted"}[i%4]
			_ = tcpros.WriteHeader(c, tcpros.Header{"callerid": fmt.Sprintf("/slow%d", i), "topic": topic, "md5sum": "*", "type": "*"})
		}
		<-ctx.Done()
	}},
	{"ROS 1: 4 publishers of 10 MB", false, func(ctx context.Context, s *process) {
		s.publishers(ctx, 4, func(p *raw.Publisher, _ int) {
			data := make([]byte, 10<<20)
			for ctx.Err() == nil {
				p.Publish(data)
				p.Drain(ctx)
			}
		})
	}},
	{"ROS 1: 4 publishers of goals of 6 MB", false, func(ctx context.Context, s *process) {
		s.publishers(ctx, 4, func(p *raw.Publisher, i int) {
			data := trajectoryOf(6 << 20 / 60)
			for ctx.Err() == nil {
				p.Publish(data)
				p.Drain(ctx)
			}
		})
	}},
	{"ROS 1: 500 topics", false, func(ctx context.Context, s *process) {
		n, err := raw.Join(ctx, ros1.Config{Master: s.master}, "/many")
		if err != nil {
			return
		}
		defer n.Close()
		for i := 0; i < 500 && ctx.Err() == nil; i++ {
			topic := fmt.Sprintf("/many/t%d", i)
			p, err := n.Advertise(ctx, topic, raw.Kind{Type: "std_msgs/String", MD5: "992ce8a1687cec8c8bd883ec73ca41d1", Definition: "string data\n"})
			if err != nil {
				continue
			}
			if err := n.Subscribe(ctx, topic, func(tcpros.Header, []byte) {}); err == nil {
				p.Publish([]byte{1, 0, 0, 0, 'x'})
			}
		}
		all, _ := n.Topics(ctx)
		for topic := range all { // and everything that the server has
			_ = n.Subscribe(ctx, topic, func(tcpros.Header, []byte) {})
		}
		<-ctx.Done()
	}},
	{"ROS 1: 8 clients that die with their goals", false, func(ctx context.Context, s *process) {
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for k := 0; ctx.Err() == nil; k++ {
					s.goalAndDeath(ctx, fmt.Sprintf("/dies%d_%d", i, k))
				}
			})
		}
		all.Wait()
	}},
}

// links returns where the server's node takes connections.
func (s *process) links(ctx context.Context) string {
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	c := xmlrpc.NewClient(dial)
	defer c.Close()
	for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		if uri := value(c.Call(ctx, s.master, "lookupNode", "/attack", "/poise")); uri != nil {
			node, _ := uri.(string)
			if list, _ := value(c.Call(ctx, node, "requestTopic", "/attack", "/joint_states", []any{[]any{"TCPROS"}})).([]any); len(list) == 3 {
				port, _ := list[2].(int)
				return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
			}
		}
	}
	return ""
}

// value returns what an answer of ROS holds, nil if it is no success.
func value(answer any, err error) any {
	list, _ := answer.([]any)
	if err != nil || len(list) != 3 || list[0] != 1 {
		return nil
	}
	return list[2]
}

// publishers lets nodes publish on a topic that the server reads.
func (s *process) publishers(ctx context.Context, count int, do func(p *raw.Publisher, i int)) {
	var all sync.WaitGroup
	for i := range count {
		all.Go(func() {
			n, err := raw.Join(ctx, ros1.Config{Master: s.master}, fmt.Sprintf("/attack%d", i))
			if err != nil {
				return
			}
			defer n.Close()
			typ, _ := registry.For[msgs.JointTrajectory]()
			p, err := n.Advertise(ctx, "/joint_trajectory", raw.Kind{Type: typ.Name(msgs.ROS1), MD5: typ.MD5(), Definition: typ.FullText(msgs.ROS1)})
			if err != nil {
				return
			}
			for p.Subscribers() == 0 && ctx.Err() == nil {
				time.Sleep(5 * time.Millisecond)
			}
			do(p, i)
		})
	}
	all.Wait()
}

// trajectoryOf serialises a trajectory of many points of the pony's neck.
func trajectoryOf(points int) []byte {
	t := &msgs.JointTrajectory{JointNames: []string{"joint52"}}
	for i := range points {
		t.Points = append(t.Points, msgs.JointTrajectoryPoint{Positions: []float64{float64(i%1000) * 1e-6}, TimeFromStart: msgs.DurationFromSeconds(float64(i + 1))})
	}
	typ, _ := registry.For[msgs.JointTrajectory]()
	return codec.For(typ, msgs.ROS1).Append(nil, t)
}

// goalAndDeath sends a goal and goes without a word, names and all left behind.
func (s *process) goalAndDeath(ctx context.Context, name string) {
	n, err := raw.Join(ctx, ros1.Config{Master: s.master}, name)
	if err != nil {
		time.Sleep(20 * time.Millisecond)
		return
	}
	defer n.Close()
	a, _, err := registry.ActionNamed("control_msgs/FollowJointTrajectoryAction")
	if err != nil {
		return
	}
	p, err := n.Advertise(ctx, "/follow_joint_trajectory/goal", raw.Kind{Type: a.ActionGoal.Name(msgs.ROS1), MD5: a.ActionGoal.MD5(), Definition: a.ActionGoal.FullText(msgs.ROS1)})
	if err != nil {
		return
	}
	for end := time.Now().Add(time.Second); p.Subscribers() == 0 && time.Now().Before(end); {
		time.Sleep(2 * time.Millisecond)
	}
	g := &msgs.ActionGoal[msgs.FollowJointTrajectoryGoal]{GoalID: msgs.GoalID{ID: name}}
	g.Goal.Trajectory = msgs.JointTrajectory{JointNames: []string{"joint52"}, Points: []msgs.JointTrajectoryPoint{{Positions: []float64{0.1}, TimeFromStart: msgs.DurationFromSeconds(5)}}}
	p.Publish(codec.For(a.ActionGoal, msgs.ROS1).Append(nil, g))
	p.Drain(ctx)
}

// masterAt reads where the master is from a line of the server.
func masterAt(line string) string {
	m := listening.FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	u := url.URL{Scheme: "http", Host: m[1]}
	return u.String()
}
