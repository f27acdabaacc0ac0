package ros2

import (
	"context"
	"encoding/binary"
	"log/slog"
	"net"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"poise/graph"
	"poise/msgs"
	"poise/msgs/codec"
	"poise/msgs/registry"
	"poise/rtps"
	"poise/rtps/rtpstest"
)

// runNode runs a node until the test ends it.
func runNode(t *testing.T, g *graph.Graph, c Config) (n *Node, end func()) {
	t.Helper()
	n, err := New(g, c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	return n, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestTypesAreDescribed: the service that every node has since Iron gives what the hash of a type is made
// of, and its text; what is not so is said.
func TestTypesAreDescribed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := rtpstest.New(2)
		g := newGraph(t)
		_, end := runNode(t, g, on(network, 0))
		defer end()
		client := newClient(t, network, 1, g)
		defer client.Close()
		typ, _, err := registry.ServiceNamed("type_description_interfaces/srv/GetTypeDescription")
		if err != nil {
			t.Fatal(err)
		}
		k := client.caller("/poise/get_type_description", typ.Request, typ.Response)
		ask := func(q msgs.GetTypeDescriptionRequest) (a msgs.GetTypeDescriptionResponse) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := k.wait(ctx, func() bool { return true }); err != nil {
				t.Fatal(err)
			}
			if err := k.call(ctx, &q, &a); err != nil {
				t.Fatal(err)
			}
			return a
		}
		const hash = "RIHS01_a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e" // of rosbags, for JointState
		a := ask(msgs.GetTypeDescriptionRequest{TypeName: "sensor_msgs/msg/JointState", TypeHash: hash, IncludeTypeSources: true})
		parts := a.TypeDescription.ReferencedTypeDescriptions
		if !a.Successful || len(parts) != 2 || parts[0].TypeName != "builtin_interfaces/msg/Time" || parts[1].TypeName != "std_msgs/msg/Header" {
			t.Fatalf("%+v", a)
		}
		fields := a.TypeDescription.TypeDescription.Fields
		want := []msgs.FieldDescription{{Name: "header", Type: msgs.FieldType{TypeID: 1, NestedTypeName: "std_msgs/msg/Header"}}, {Name: "name", Type: msgs.FieldType{TypeID: 161}},
			{Name: "position", Type: msgs.FieldType{TypeID: 155}}, {Name: "velocity", Type: msgs.FieldType{TypeID: 155}}, {Name: "effort", Type: msgs.FieldType{TypeID: 155}}}
		if !reflect.DeepEqual(fields, want) {
			t.Errorf("fields: %+v", fields)
		}
		if len(a.TypeSources) != 2 || a.TypeSources[0].TypeName != "sensor_msgs/msg/JointState" || !strings.Contains(a.TypeSources[0].RawFileContents, "float64[] position\n") {
			t.Errorf("sources: %+v", a.TypeSources)
		}
		for _, c := range []struct {
			q   msgs.GetTypeDescriptionRequest
			why string
		}{
			{msgs.GetTypeDescriptionRequest{TypeName: "sensor_msgs/msg/JointState", TypeHash: "RIHS01_00"}, "the hash of sensor_msgs/msg/JointState is " + hash + ` here, not "RIHS01_00"`},
			{msgs.GetTypeDescriptionRequest{TypeName: "sensor_msgs/msg/JointStat"}, "sensor_msgs/msg/JointStat"},
			{msgs.GetTypeDescriptionRequest{TypeName: "control_msgs/FollowJointTrajectoryActionGoal"}, "has no type control_msgs/FollowJointTrajectoryActionGoal"},
		} {
			if a := ask(c.q); a.Successful || !strings.Contains(a.FailureReason, c.why) {
				t.Errorf("%+v: %+v", c.q, a)
			}
		}
	})
}

// TestEndpointsTellTheHashOfTheirType: those of topics, of services and of actions do, in Jazzy; in Humble none
// does, and there is no service that describes types.
func TestEndpointsTellTheHashOfTheirType(t *testing.T) {
	for _, form := range []msgs.Form{msgs.Jazzy, msgs.Humble} {
		synctest.Test(t, func(t *testing.T) {
			network := rtpstest.New(5)
			g := newGraph(t)
			if _, err := graph.Topic[msgs.JointState](g, "joint_states", graph.TopicOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := hearCommands(g); err != nil { // with the service home
				t.Fatal(err)
			}
			if err := serveGoals(g); err != nil {
				t.Fatal(err)
			}
			c := on(network, 0)
			c.Form = form
			_, end := runNode(t, g, c)
			defer end()
			client := newClient(t, network, 1, g)
			defer client.Close()
			var other rtps.ParticipantInfo
			until(t, "all endpoints", func() bool {
				others := client.p.Others()
				if len(others) == 1 {
					other = others[0]
				}
				return len(other.Writers) >= 13 && len(other.Readers) >= 13
			})
			told := map[string]string{}
			for _, e := range append(other.Writers, other.Readers...) {
				told[e.Topic] = string(e.UserData)
				if has := strings.HasPrefix(told[e.Topic], "typehash=RIHS01_"); e.Topic != infoTopic && has != (form == msgs.Jazzy) {
					t.Errorf("%v: %s tells %q", form, e.Topic, e.UserData)
				}
			}
			if _, there := told["rr/poise/get_type_descriptionReply"]; there != (form == msgs.Jazzy) {
				t.Errorf("%v: get_type_description is there: %v", form, there)
			}
			request, _, _ := registry.ServiceNamed("std_srvs/srv/SetBool")
			if want := "typehash=" + request.Request.Hash(form) + ";"; form == msgs.Jazzy && told["rq/homeRequest"] != want {
				t.Errorf("home tells %q, not %q", told["rq/homeRequest"], want)
			}
		})
	}
}

// TestGidsByDistribution: in ros_discovery_info a Gid has 24 bytes in Humble and 16 since; both sides read
// each other.
func TestGidsByDistribution(t *testing.T) {
	for form, size := range map[msgs.Form]int{msgs.Humble: 24, msgs.Jazzy: 16, msgs.ROS2: 16} {
		synctest.Test(t, func(t *testing.T) {
			network := rtpstest.New(6)
			node := func(index int, name string) (*Node, func()) {
				c := on(network, index)
				c.Form, c.Names = form, Names{Namespace: "/robot1", Node: name}
				return runNode(t, newGraph(t), c)
			}
			a, endA := node(0, "left")
			defer endA()
			b, endB := node(1, "right")
			defer endB()
			in := newInbox()
			client := newClient(t, network, 2, nil)
			defer client.Close()
			if _, err := client.p.NewReader(rtps.ReaderConfig{Topic: infoTopic, Type: infoType, QoS: rtps.QoS{Reliable: true, TransientLocal: true}, Receive: in.receive}); err != nil {
				t.Fatal(err)
			}
			until(t, "both to know each other's names", func() bool {
				return b.infos.nodeOf(a.p.GUID().Prefix) == "/robot1/left" && a.infos.nodeOf(b.p.GUID().Prefix) == "/robot1/right"
			})
			s, err := in.next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			own, body := s.Writer.Prefix, s.Payload[encapsulationSize:]
			if string(body[:12]) != string(own[:]) || binary.LittleEndian.Uint32(body[size:]) != 1 {
				t.Errorf("%v: %x begins not with a Gid of %d bytes and one node", form, body[:40], size)
			}
		})
	}
}

// TestResultsAreForgotten: the result of a goal is given for half a minute after its end, and then the goal is
// as one that never was: status 0.
func TestResultsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := rtpstest.New(7)
		g := newGraph(t)
		if err := serveGoals(g); err != nil {
			t.Fatal(err)
		}
		_, end := runNode(t, g, on(network, 0))
		defer end()
		client := newClient(t, network, 1, g)
		defer client.Close()
		goal := follow("knee")
		goal.Trajectory.Points = []msgs.JointTrajectoryPoint{{TimeFromStart: msgs.Duration{Sec: 1}}}
		sent, err := client.SendGoal(t.Context(), "/arm/follow_joint_trajectory", "control_msgs/action/FollowJointTrajectory", goal)
		if err != nil {
			t.Fatal(err)
		}
		status := func() int {
			t.Helper()
			var r msgs.FollowJointTrajectoryResult
			got, err := sent.Result(t.Context(), &r)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		if got := status(); got != msgs.StatusSucceeded {
			t.Fatalf("a goal ends by %d", got)
		}
		time.Sleep(25 * time.Second)
		if got := status(); got != msgs.StatusSucceeded {
			t.Errorf("25 s after its end the state of the goal is %d", got)
		}
		time.Sleep(10 * time.Second)
		// another goal's coming is when the old ones are looked at
		another, err := client.SendGoal(t.Context(), "/arm/follow_joint_trajectory", "control_msgs/action/FollowJointTrajectory", goal)
		if err != nil {
			t.Fatal(err)
		}
		if got := status(); got != msgs.StatusUnknown {
			t.Errorf("35 s after its end the state of the goal is %d", got)
		}
		sent = another
		if got := status(); got != msgs.StatusSucceeded {
			t.Errorf("the other goal ends by %d", got)
		}
	})
}

// TestPeersOfThisMachine: a closed node tells peers at every address of this machine, and leaves those of
// others out with a word.
func TestPeersOfThisMachine(t *testing.T) {
	own := netip.Addr{}
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Unmap().Is4() && !p.Addr().IsLoopback() {
			own = p.Addr().Unmap()
		}
	}
	peers := []string{"127.0.0.1", "192.0.2.7"} // the second is no machine's
	want := []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	if own.IsValid() {
		peers, want = append(peers, own.String()), append(want, own)
	}
	var said strings.Builder
	c := Config{Peers: peers, Log: slog.New(slog.NewTextHandler(&said, nil))}
	if got := c.peers(); !reflect.DeepEqual(got, want) {
		t.Errorf("closed: %v, not %v", got, want)
	}
	if text := said.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "192.0.2.7") || !strings.Contains(text, "--ros2-open") {
		t.Errorf("said: %q", text)
	}
	c.Open = true
	if got := c.peers(); len(got) != len(peers) {
		t.Errorf("open: %v", got)
	}
}

// TestOtherNamesInROS: a topic of the graph that has another name in ROS is there under it: what is measured as
// joint_states, and what is commanded as joint_states_reference.
func TestOtherNamesInROS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := rtpstest.New(8)
		g := newGraph(t)
		for i, name := range []string{"joint_states", "joint_states_real"} {
			p, err := graph.Topic[msgs.JointState](g, name, graph.TopicOptions{QoS: graph.QoS{Latched: true}})
			if err != nil {
				t.Fatal(err)
			}
			p.Publish(&msgs.JointState{Name: []string{"knee"}, Position: []float64{float64(i)}})
		}
		c := on(network, 0)
		c.Topics = map[string]string{"/joint_states_reference": "/joint_states", "/joint_states": "/joint_states_real"}
		_, end := runNode(t, g, c)
		defer end()
		client := newClient(t, network, 1, g)
		defer client.Close()
		typ, _ := registry.For[msgs.JointState]()
		for ros, want := range map[string]float64{"/joint_states": 1, "/joint_states_reference": 0, "/joint_states_real": 1} {
			in, _ := client.listen("rt"+ros, typ, rtps.QoS{Reliable: true, TransientLocal: true})
			s, err := in.next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var m msgs.JointState
			if err := codec.For(typ, msgs.Jazzy).Decode(s.Payload, &m); err != nil || m.Position[0] != want {
				t.Errorf("%s has %v, not %v: %v", ros, m.Position, want, err)
			}
		}
	})
}

// TestTwoOfOneName: another node of the same name is told of, as is something of the graph that would have
// the name of another in ROS.
func TestTwoOfOneName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said strings.Builder
		network := rtpstest.New(4)
		g := newGraph(t)
		for _, name := range []string{"states", "others"} {
			if _, err := graph.Topic[msgs.String](g, name, graph.TopicOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := graph.Service(g, "set_"+name, func(context.Context, *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) {
				return &msgs.SetBoolResponse{}, nil
			}, graph.ServiceOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		c := on(network, 0)
		c.Names = Names{Namespace: "/", Node: "poise", Remaps: map[string]string{"/others": "/states", "/set_others": "/set_states"}}
		c.Log = slog.New(slog.NewTextHandler(&said, nil))
		n, end := runNode(t, g, c)
		_, endOther := runNode(t, newGraph(t), on(network, 1))
		for range 3 {
			time.Sleep(time.Second)
			n.lookAgain()
		}
		endOther()
		end()
		for _, want := range []string{"has the name of this one", "topic=/", "service=/set_"} {
			if count := strings.Count(said.String(), want); count != 1 {
				t.Errorf("%q is said %d times:\n%s", want, count, said.String())
			}
		}
	})
}
