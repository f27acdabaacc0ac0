package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
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
	{"ROS 1: 4 publishers of short messages", false, func(ctx context.Context, s *process) {
		s.publishers(ctx, 4, func(p *raw.Publisher, i int) {
			data := trajectoryOf(1)
			for ctx.Err() == nil {
				for range 500 {
					p.Publish(data)
				}
				p.Drain(ctx)
			}
		})
	}},
	{"ROS 1: 8 callers with 6 MB", false, func(ctx context.Context, s *process) {
		at := s.links(ctx)
		typ, _, err := registry.ServiceNamed("poise_msgs/CheckGoal")
		if err != nil {
			panic(err)
		}
		body := tcpros.AppendBody(nil, func(b []byte) []byte { return append(b, make([]byte, 6<<20)...) })
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for ctx.Err() == nil {
					callWith(ctx, at, fmt.Sprintf("/calls%d", i), "/check_goal", typ.MD5(), body)
				}
			})
		}
		all.Wait()
	}},
	{hangs, false, func(ctx context.Context, _ *process) { <-ctx.Done() }},
	{lies, false, func(ctx context.Context, _ *process) { <-ctx.Done() }},
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

// masters are those of attacks whose server joins the master of another.
var masters = map[string]http.Handler{
	hangs: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then it is noticed that the other side goes
		<-r.Context().Done()
	}),
	lies: lyingMaster(),
}

// lyingMaster has never heard of the server, again and again, and lists ten thousand topics,
// services and actions of nodes that are not there.
func lyingMaster() http.Handler {
	text := func(s string) string { return "<value><string>" + s + "</string></value>" }
	list := func(items ...string) string {
		return "<value><array><data>" + strings.Join(items, "") + "</data></array></value>"
	}
	answer := func(code int, value string) []byte {
		return []byte("<?xml version='1.0'?><methodResponse><params><param>" +
			list(fmt.Sprintf("<value><int>%d</int></value>", code), text(""), value) + "</param></params></methodResponse>")
	}
	var names, types, publishers []string
	for i := range 10000 {
		name := text(fmt.Sprintf("/lie%d/goal", i))
		names = append(names, list(name, list(text(fmt.Sprintf("/node%d", i)))))
		types = append(types, list(name, text("std_msgs/String")))
	}
	for i := range 200 {
		publishers = append(publishers, text(fmt.Sprintf("http://127.0.0.1:%d/", 1+i)))
	}
	all := list(names...)
	answers := map[string][]byte{"lookupNode": answer(-1, text("")), "getSystemState": answer(1, list(all, all, all)),
		"getTopicTypes": answer(1, list(types...)), "registerSubscriber": answer(1, list(publishers...))}
	other := answer(1, text("http://127.0.0.1:1/"))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		w.Header().Set("Content-Type", "text/xml")
		for method, a := range answers {
			if bytes.Contains(body, []byte("<methodName>"+method+"<")) {
				_, _ = w.Write(a)
				return
			}
		}
		_, _ = w.Write(other)
	})
}

// Names of the attacks by masters.
const (
	hangs = "ROS 1: a master that hangs"
	lies  = "ROS 1: a master that lies"
)

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

// callWith calls a service with a request, and reads what comes.
func callWith(ctx context.Context, at, caller, service, sum string, body []byte) {
	c, err := net.Dial("tcp", at)
	if err != nil {
		time.Sleep(10 * time.Millisecond)
		return
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if tcpros.WriteHeader(c, tcpros.Header{"callerid": caller, "service": service, "md5sum": sum, "persistent": "1"}) != nil {
		return
	}
	go func() { _, _ = io.Copy(io.Discard, c) }()
	for ctx.Err() == nil {
		if _, err := c.Write(body); err != nil {
			return
		}
	}
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
