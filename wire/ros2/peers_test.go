package ros2

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"poise/action"
	"poise/graph"
	"poise/msgs"
	"poise/msgs/codec"
	"poise/msgs/registry"
	"poise/rtps"
	"poise/rtps/rtpstest"
)

// seeds returns how many networks a test of losses is run on.
func seeds() uint64 {
	if os.Getenv("POISE_SOAK") != "" {
		return 300
	}
	return 10
}

// TestNodesHaveTheirNamesUnderLoss: whatever is lost at the beginning, what another node offers,
// sends and calls is its own in the graph in the end, by the name of the node; with a tenth lost
// from the first message on.
func TestNodesHaveTheirNamesUnderLoss(t *testing.T) {
	for seed := range seeds() {
		for _, loss := range []float64{0.1, 0.3} {
			t.Run(fmt.Sprintf("seed %d, %.0f %%", seed, 100*loss), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					network := rtpstest.New(seed)
					network.Loss, network.Jitter = loss, 2*time.Millisecond
					namesUnderLoss(t, network)
				})
			})
		}
	}
}

func namesUnderLoss(t *testing.T, network *rtpstest.Network) {
	const their = "/there/robot"
	g, theirs := newGraph(t), newGraph(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var caller string
	_, err := graph.Service(g, "home", func(ctx context.Context, _ *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) {
		caller = graph.Caller(ctx)
		return &msgs.SetBoolResponse{Success: true}, nil
	}, graph.ServiceOptions{})
	must(err)
	heard, err := g.Subscribe("/there/said", graph.SubscribeOptions{Type: "std_msgs/msg/String"})
	must(err)
	serveTalk(t, theirs)
	_, err = graph.Service(theirs, "home", func(context.Context, *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) {
		return &msgs.SetBoolResponse{Success: true}, nil
	}, graph.ServiceOptions{})
	must(err)
	out, err := graph.Topic[msgs.String](theirs, "said", graph.TopicOptions{})
	must(err)
	c, o := on(network, 0), on(network, 1)
	c.Imports, c.Names = true, Names{Namespace: "/here", Node: "poise"}
	o.Imports, o.Names = true, Names{Namespace: "/there", Node: "robot"}
	run(t, g, c)
	run(t, theirs, o)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	var saying sync.WaitGroup
	defer saying.Wait()
	defer cancel()

	saying.Go(func() {
		for ; ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
			out.Publish(&msgs.String{Data: "hello"})
		}
	})
	message, _, err := heard.Next(ctx)
	must(err)
	if network.Loss < 0.2 && message.From != their {
		t.Errorf("the first message is of %s", message.From)
	}
	until(t, "their offers are listed by the name of the node", func() bool {
		service, _ := g.ServiceInfo("/there/home")
		follow, _ := g.ActionInfo("/there/follow")
		topic, _ := g.TopicInfo("/there/said")
		mine, _ := theirs.ServiceInfo("/here/home")
		return service.Node == their && follow.Node == their && mine.Node == "/here/poise" && len(topic.Publishers) == 1 && topic.Publishers[0].Node == their
	})
	_, err = graph.Call[msgs.SetBoolRequest, msgs.SetBoolResponse](ctx, theirs, "/here/home", &msgs.SetBoolRequest{})
	must(err)
	if caller != their {
		t.Errorf("the call is of %s", caller)
	}
}

// TestANameThatComesLate: what a participant of ROS has is in the graph when its name has come; without one
// after a while, and under its name when that comes later still. One that tells no names has none.
func TestANameThatComesLate(t *testing.T) {
	for _, c := range []struct {
		tells        bool
		after        time.Duration // of which the name comes
		first, later string        // how it is called
	}{
		{true, nameWithin - time.Second, "/there/robot", "/there/robot"},
		{true, nameWithin + time.Second, family + "/participant_", "/there/robot"},
		{false, time.Second, family + "/participant_", family + "/participant_"},
	} {
		synctest.Test(t, func(t *testing.T) {
			network := rtpstest.New(1)
			g := newGraph(t)
			heard, err := g.Subscribe("/said", graph.SubscribeOptions{Type: "std_msgs/msg/String", QoS: graph.QoS{Depth: 10}})
			if err != nil {
				t.Fatal(err)
			}
			on := on(network, 0)
			on.Imports = true
			_, end := runNode(t, g, on)
			defer end()
			client := newClient(t, network, 1, g)
			defer client.Close()
			qos := rtps.QoS{Reliable: true, TransientLocal: true, Depth: 10}
			topic := infoTopic
			if !c.tells {
				topic = "another_topic"
			}
			info, err := client.p.NewWriter(rtps.WriterConfig{Topic: topic, Type: infoType, QoS: qos})
			if err != nil {
				t.Fatal(err)
			}
			typ, _ := registry.For[msgs.String]()
			w, err := client.p.NewWriter(rtps.WriterConfig{Topic: "rt/said", Type: typeName(typ), QoS: qos})
			if err != nil {
				t.Fatal(err)
			}
			say := func(text string) {
				until(t, "the writer is matched", func() bool { return w.Matched() > 0 })
				_, _ = w.Write(codec.For(typ, msgs.Jazzy).Append(nil, &msgs.String{Data: text}), nil)
			}
			service, _, _ := registry.ServiceNamed("std_srvs/srv/SetBool")
			client.listen("rq/homeRequest", service.Request, rtps.QoS{Reliable: true})
			began := time.Now()
			say("first")
			go func() {
				time.Sleep(c.after)
				_, _ = info.Write(nodeInfo(client.p.GUID(), "/there", "robot"), nil)
			}()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			m, _, err := heard.Next(ctx)
			if err != nil || !strings.HasPrefix(m.From, c.first) {
				t.Errorf("%+v: the first message is of %q, %v", c, m.From, err)
			}
			waited, want := time.Since(began), time.Duration(0)
			if c.tells {
				want = min(c.after, nameWithin)
			}
			if (waited - want).Abs() > time.Second/2 {
				t.Errorf("%+v: the first message came after %v, not %v", c, waited, want)
			}
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if s, there := g.ServiceInfo("/home"); !there || !strings.HasPrefix(s.Node, c.later) {
				t.Errorf("%+v: the service is of %q", c, s.Node)
			}
			say("second")
			if m, _, err = heard.Next(ctx); err != nil || !strings.HasPrefix(m.From, c.later) || m.Value.(*msgs.String).Data != "second" {
				t.Errorf("%+v: the second message %v is of %q, %v", c, m.Value, m.From, err)
			}
			if said, _ := g.TopicInfo("/said"); len(said.Publishers) != 1 {
				t.Errorf("%+v: published by %v", c, said.Publishers)
			}
		})
	}
}

// TestANameThatIsFreeAgain: a program that is killed and started again has its old name when what is left of its
// first life has expired.
func TestANameThatIsFreeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := rtpstest.New(1)
		g := newGraph(t)
		if _, err := g.Subscribe("/said", graph.SubscribeOptions{Type: "std_msgs/msg/String", QoS: graph.QoS{Depth: 10}}); err != nil {
			t.Fatal(err)
		}
		c := on(network, 0)
		c.Imports = true
		_, end := runNode(t, g, c)
		defer end()
		typ, _ := registry.For[msgs.String]()
		qos := rtps.QoS{Reliable: true, TransientLocal: true, Depth: 10}
		life := func(index int) *client {
			c := newClient(t, network, index, g)
			info, err := c.p.NewWriter(rtps.WriterConfig{Topic: infoTopic, Type: infoType, QoS: qos})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.p.NewWriter(rtps.WriterConfig{Topic: "rt/said", Type: typeName(typ), QoS: qos}); err != nil {
				t.Fatal(err)
			}
			_, _ = info.Write(nodeInfo(c.p.GUID(), "/there", "robot"), nil)
			time.Sleep(2 * time.Second)
			synctest.Wait()
			return c
		}
		first := life(1)
		if !g.Present("/there/robot") {
			t.Fatal(g.Nodes())
		}
		second := life(2)
		defer second.Close()
		byGUID := fmt.Sprintf("%s/participant_%x", family, second.p.GUID().Prefix)
		if !g.Present("/there/robot") || !g.Present(byGUID) {
			t.Fatalf("beside its first life: %v", g.Nodes())
		}
		first.Close()
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if !g.Present("/there/robot") || g.Present(byGUID) {
			t.Errorf("its first life is over: %v", g.Nodes())
		}
	})
}

// nodeInfo is what a participant tells of its one node.
func nodeInfo(of rtps.GUID, namespace, name string) []byte {
	e := text{b: []byte{0, 1, 0, 0}}
	e.gid(of, 16)
	e.count(1)
	e.string(namespace)
	e.string(name)
	e.count(0)
	e.count(0)
	return e.b
}

// TestOneWithoutANameHoldsUpNoOthers: a participant of ROS that never tells its name calls and calls; its calls
// wait, within its share, and another's are answered meanwhile. In the end its own are, too.
func TestOneWithoutANameHoldsUpNoOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := rtpstest.New(1)
		g := newGraph(t)
		called := map[string]int{}
		var mu sync.Mutex
		if _, err := graph.Service(g, "/home", func(ctx context.Context, _ *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) {
			mu.Lock()
			defer mu.Unlock()
			called[graph.Caller(ctx)]++
			return &msgs.SetBoolResponse{Success: true}, nil
		}, graph.ServiceOptions{}); err != nil {
			t.Fatal(err)
		}
		c := on(network, 0)
		c.Limits.Calls = 8
		n, end := runNode(t, g, c)
		defer end()
		silent := newSilent(t, network, g)
		defer silent.Close()
		typ, _, _ := registry.ServiceNamed("std_srvs/srv/SetBool")
		began := time.Now()
		k := silent.caller("/home", typ.Request, typ.Response)
		until(t, "the service is reached", func() bool { return k.w.Matched() > 0 })
		for range 20 {
			if _, err := k.w.Write(codec.For(typ.Request, msgs.Jazzy).Append(nil, &msgs.SetBoolRequest{}), nil); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(100 * time.Millisecond)
		other := newClient(t, network, 2, g)
		defer other.Close()
		ctx, cancel := context.WithTimeout(t.Context(), nameWithin/2)
		defer cancel()
		var answer msgs.SetBoolResponse
		if err := other.Call(ctx, "/home", "std_srvs/srv/SetBool", &msgs.SetBoolRequest{}, &answer); err != nil {
			t.Errorf("the other's call: %v", err)
		}
		time.Sleep(nameWithin - time.Since(began) - time.Second)
		count := func() int {
			mu.Lock()
			defer mu.Unlock()
			return called[n.peers.nameless(silent.p.GUID().Prefix)]
		}
		if got := count(); got != 0 {
			t.Errorf("%d calls did not wait for a name", got)
		}
		time.Sleep(2 * time.Second)
		if got := count(); got != c.Limits.Calls/4 {
			t.Errorf("%d calls were carried out, %d is its share", got, c.Limits.Calls/4)
		}
	})
}

// newSilent returns a participant of ROS that never tells its name.
func newSilent(t *testing.T, network *rtpstest.Network, g *graph.Graph) *client {
	t.Helper()
	p, err := rtps.New(rtps.Config{Name: "silent", UserData: []byte("enclave=/;"), Dial: func() rtps.Transport { return network.Join("127.0.0.1", 1) }})
	if err != nil {
		t.Fatal(err)
	}
	return &client{t: t, p: p, host: g, calls: map[string]*testCaller{}}
}

// TestAStopWaitsForNoName: of a mirrored robot whose name has not come the stop is there at once, the rest later.
func TestAStopWaitsForNoName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := rtpstest.New(1)
		g := newGraph(t)
		c := on(network, 0)
		c.Mirror = "real"
		_, end := runNode(t, g, c)
		defer end()
		silent := newSilent(t, network, g)
		defer silent.Close()
		typ, _, _ := registry.ServiceNamed("std_srvs/srv/Trigger")
		for _, topic := range []string{"rq/stopRequest", "rq/homeRequest"} {
			silent.listen(topic, typ.Request, rtps.QoS{Reliable: true})
		}
		there := func() [2]bool {
			synctest.Wait()
			_, stop := g.ServiceInfo("/real/stop")
			_, home := g.ServiceInfo("/real/home")
			return [2]bool{stop, home}
		}
		time.Sleep(time.Second)
		if got := there(); got != [2]bool{true, false} {
			t.Errorf("after a second: stop and home are there: %v", got)
		}
		time.Sleep(nameWithin)
		if got := there(); got != [2]bool{true, true} {
			t.Errorf("later: stop and home are there: %v", got)
		}
	})
}

// TestALateNameEndsNoGoal: the name of a server's node comes while it carries out a goal; the action changes its
// node only when the goal has ended.
func TestALateNameEndsNoGoal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := rtpstest.New(1)
		g, theirs := newGraph(t), newGraph(t)
		serveTalk(t, theirs)
		c, o := on(network, 0), on(network, 1)
		c.Imports, o.Names = true, Names{Namespace: "/there", Node: "robot"}
		n, end := runNode(t, g, c)
		defer end()
		robot, endRobot := runNode(t, theirs, o)
		defer endRobot()
		node := func() string { a, _ := g.ActionInfo("/there/follow"); return a.Node }
		until(t, "the action is there", func() bool { return node() == "/there/robot" })
		n.infos.forget(robot.p.GUID().Prefix) // as if it had not come
		n.mu.Lock()
		n.peers.mu.Lock()
		one := n.peers.all[robot.p.GUID().Prefix]
		delete(n.peers.all, one.prefix)
		n.peers.seen[one.prefix] = sight{node: true}
		n.peers.mu.Unlock()
		n.peers.leave([]*peer{one})
		n.mu.Unlock()
		n.lookAgain()
		until(t, "the action is a participant's", func() bool { return strings.HasPrefix(node(), family) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		goal, err := g.SendGoal("/there/follow", follow("wait"), graph.GoalOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for u := (graph.GoalUpdate{}); u.State != action.Active; {
			if u, err = goal.Next(ctx); err != nil {
				t.Fatal(err)
			}
		}
		robot.mu.Lock()
		robot.infos.tell()
		robot.mu.Unlock()
		time.Sleep(5 * time.Second)
		if !strings.HasPrefix(node(), family) {
			t.Errorf("the action is of %s while it has a goal", node())
		}
		goal.Cancel()
		if u, err := goal.Result(ctx); err != nil || u.State != action.Preempted {
			t.Errorf("the goal: %v, %v", u.State, err)
		}
		until(t, "the action is the node's", func() bool { return node() == "/there/robot" })
	})
}
