package server_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/server/config"
	"poise/wire/rosbridge/client"
)

// told collects what a server says to a client by status messages.
type told struct {
	mu    sync.Mutex
	texts []string
}

func (s *told) hear(level, _, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts = append(s.texts, level+" "+text)
}

// with returns how many texts have all these words.
func (s *told) with(words ...string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range s.texts {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			n++
		}
	}
	return n
}

// another connects a second client, with a session of its own.
func (b *bed) another() (*client.Client, *told) {
	b.t.Helper()
	s := &told{}
	c, err := client.Dial(b.ctx, "ws://"+b.s.Address()+"/rosbridge", client.Options{HTTP: b.net.Client(), Status: s.hear})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(c.Close)
	return c, s
}

// publishOn sends messages on a topic for another client.
func (b *bed) publishOn(c *client.Client, topic, typ string, latch bool) func(text string) {
	b.t.Helper()
	p, err := c.Advertise(topic, typ, latch)
	if err != nil {
		b.t.Fatal(err)
	}
	return func(text string) {
		if p.Publish([]byte(text)) != nil { // the message before was refused
			_ = p.Publish([]byte(text))
		}
	}
}

// rosapi asks what the graph has.
func (b *bed) rosapi(service, args string, answer any) {
	b.t.Helper()
	text, err := b.c.Call(b.ctx, "/rosapi/"+service, []byte(args))
	if err == nil {
		err = json.Unmarshal(text, answer)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// TestTheServersTopicsAreItsOwn: a client is refused on every topic that the server
// publishes, by each of its names, latched or not; topics that the server reads, those
// that are shared and the client's own are open.
func TestTheServersTopicsAreItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) { c.RealSim = true })
		var all struct{ Topics, Types []string }
		b.rosapi("topics", "{}", &all)
		forger, says := b.another()
		shared := []string{"rosout", "tf", "tf_static"}
		own := 0
		for i, topic := range all.Topics {
			var by struct{ Publishers []string }
			b.rosapi("publishers", `{"topic":"`+topic+`"}`, &by)
			refused := slices.Contains(by.Publishers, "/poise") && !slices.Contains(shared, topic[strings.LastIndex(topic, "/")+1:])
			name := strings.TrimPrefix(topic, "/virtual") // whose names without a robot's name are meant
			before := says.with("error", name+" ", "alone")
			publish := b.publishOn(forger, topic, all.Types[i], i%2 == 0)
			publish("{}")
			b.rosapi("publishers", `{"topic":"`+topic+`"}`, &by)
			if got := len(by.Publishers) > 1; refused && got {
				t.Errorf("%s is published by %v", topic, by.Publishers)
			}
			if !refused {
				continue
			}
			own++
			b.until("the forger is refused on "+topic, func() bool { return says.with("error", name+" ", "alone") == before+2 })
		}
		if own < 60 { // two robots, each under its name, the first under none as well
			t.Errorf("%d topics of %d are the server's own", own, len(all.Topics))
		}
		for _, topic := range []string{"/robot_status", "/robot_description", "/joint_states", "/play_motion/result", "/real/robot_status"} {
			if says.with("error", topic) == 0 {
				t.Errorf("nothing was said about %s", topic)
			}
		}

		// a topic of the client's own is its own business
		heard := b.subscribe("/rosout")
		mine, err := b.c.Subscribe("/forger/says", "std_msgs/msg/String", client.SubscribeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		b.rosapi("get_time", "{}", &struct{}{}) // the subscription is made
		b.publishOn(forger, "/forger/says", "std_msgs/msg/String", false)(`{"data":"hello"}`)
		if m := next[msgs.String](b, mine); m.Data != "hello" {
			t.Errorf("heard %+v", m)
		}

		// a line of its log carries its name, whatever it calls itself
		line := b.publishOn(forger, "/rosout", "rcl_interfaces/msg/Log", false)
		for _, name := range []string{"poise", "/poise", "", "arm"} {
			line(`{"name":"` + name + `","msg":"audit what=stop result=ok forged"}`)
			for {
				m := next[msgs.Log](b, heard)
				if !strings.HasSuffix(m.Msg, "forged") {
					continue
				}
				want := "/rosbridge/client_2"
				if short := strings.TrimPrefix(name, "/"); short != "" {
					want += "/" + short
				}
				if m.Name != want {
					t.Errorf("a line of %q is heard from %q", name, m.Name)
				}
				break
			}
		}

		// a frame of its own may hang on the robot's; the robot's are the server's
		frames := b.subscribe("/tf")
		tf := b.publishOn(forger, "/tf", "tf2_msgs/msg/TFMessage", false)
		for _, child := range []string{"base_link", "/base_link", "real/base_link", "world"} {
			before := says.with("error", "is the server's")
			tf(`{"transforms":[{"header":{"frame_id":"tripod"},"child_frame_id":"` + child + `","transform":{"translation":{"x":77}}}]}`)
			b.until("the forger is told about "+child, func() bool { return says.with("error", "is the server's") > before })
			time.Sleep(2 * time.Second) // it is told once a second
		}
		tf(`{"transforms":[{"header":{"frame_id":"base_link"},"child_frame_id":"tripod"}]}`)
		for found := false; !found; {
			for _, x := range next[msgs.TFMessage](b, frames).Transforms {
				if x.Transform.Translation.X == 77 {
					t.Fatalf("the forged frame %s is heard", x.ChildFrameID)
				}
				found = found || x.ChildFrameID == "tripod"
			}
		}
	})
}

// tailAt publishes where joints of the tail are to be, as text.
func tailAt(q float64) string {
	return fmt.Sprintf(`{"name":["tail_joint1"],"position":[%g]}`, q)
}

// tail returns where the tail is told to be.
func (b *bed) tail() float64 {
	b.t.Helper()
	return b.joints("/joint_states")["tail_joint1"]
}

// TestAStreamIsHeardOnlyFromWhoActivatedIt: another client neither moves the joints nor
// pushes the values of the first one out, until it activates the controller itself or is
// let in.
func TestAStreamIsHeardOnlyFromWhoActivatedIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		other, says := b.another()
		on := &msgs.SetOperationalGoal{Operational: true, Resources: []string{"tail"}}
		first := b.send("/controllers/joint_state/set_operational", switchType, on)
		b.begun(first)
		before := b.tail()
		var foreign []func(string)
		for _, topic := range []string{"/joints_ref", "/controllers/joint_state/ref_joints", "/virtual/joints_ref", "/virtual/controllers/joint_state/ref_joints"} {
			foreign = append(foreign, b.publishOn(other, topic, "sensor_msgs/msg/JointState", false))
		}
		for range 100 {
			for _, publish := range foreign {
				publish(tailAt(-0.4))
			}
			time.Sleep(10 * time.Millisecond)
		}
		if q := b.tail(); q != before {
			t.Fatalf("another client moves the tail from %g to %g", before, q)
		}
		if n := says.with("error", "joint_state", "/rosbridge/client_1", "switch_controllers"); n < len(foreign) || n > 3*len(foreign) {
			t.Errorf("in a second it is told %d times: %q", n, says.texts)
		}
		own := b.publishOn(b.c, "/joints_ref", "sensor_msgs/msg/JointState", false)
		b.until("the tail follows who activated the controller", func() bool {
			for range 20 {
				foreign[0](tailAt(-0.4))
			}
			own(tailAt(0.4))
			return math.Abs(b.tail()-0.4) < 1e-3
		})

		// who activates it takes it over
		g, err := other.SendGoal(b.ctx, "/controllers/joint_state/set_operational", switchType, client.Text(on, msgs.ROS2))
		if err != nil {
			t.Fatal(err)
		}
		b.begun(g)
		b.until("the tail follows the other", func() bool {
			own(tailAt(0.4))
			foreign[0](tailAt(-0.2))
			return math.Abs(b.tail()+0.2) < 1e-3
		})
		// and no other client gives it away
		b.refused("/switch_controllers", &poisemsgs.SwitchControllersRequest{Start: []string{"joint_state"}, Publisher: "*"}, "joint_state", "/rosbridge/client_2")
		// a publisher that does not activate it itself is named by who does
		b.must("/switch_controllers", &poisemsgs.SwitchControllersRequest{Stop: []string{"joint_state"}})
		const absent = "/rosbridge/client_99"
		if a := b.must("/switch_controllers", &poisemsgs.SwitchControllersRequest{Start: []string{"joint_state"}, Publisher: absent}); !strings.Contains(a.Message, absent+" is not connected") {
			t.Errorf("a publisher that is not there: %q", a.Message)
		}
		b.must("/switch_controllers", &poisemsgs.SwitchControllersRequest{Stop: []string{"joint_state"}})
		if a := b.must("/switch_controllers", &poisemsgs.SwitchControllersRequest{Start: []string{"joint_state"}, Publisher: "/rosbridge/client_2"}); a.Message != "done" {
			t.Errorf("a publisher that is there: %q", a.Message)
		}
		b.until("the tail follows the one that was named", func() bool {
			own(tailAt(0.4))
			foreign[0](tailAt(-0.3))
			return math.Abs(b.tail()+0.3) < 1e-3
		})
		b.must("/switch_controllers", &poisemsgs.SwitchControllersRequest{Start: []string{"joint_state"}, Publisher: "*"})
		b.until("the tail follows any client", func() bool {
			own(tailAt(0.1))
			return math.Abs(b.tail()-0.1) < 1e-3
		})
	})
}

// outside asks for resources on behalf of an external controller, by a client of its own.
type outside struct {
	request, state, ref func(text string)
}

func (b *bed) outside(c *client.Client, name string) outside {
	b.t.Helper()
	return outside{
		request: b.publishOn(c, "/resource_request", "resource_control_msgs/msg/ResourceRequest", false),
		state:   b.publishOn(c, "/resource_requester_state", "resource_control_msgs/msg/ResourceRequesterState", false),
		ref:     b.publishOn(c, "/controllers/"+name+"/ref_joints", "sensor_msgs/msg/JointState", false),
	}
}

// confirmed answers for an external controller until it owns a resource.
func (b *bed) confirmed(o outside, name string, id int, resource string) {
	b.t.Helper()
	b.until(name+" owns the "+resource, func() bool {
		o.state(lives(name, id, true))
		return b.owns(name, resource)
	})
}

func asks(name string, id int, resource string) string {
	return fmt.Sprintf(`{"requester_name":%q,"request_id":%d,"resources":[%q]}`, name, id, resource)
}

func lives(name string, id int, operational bool) string {
	return fmt.Sprintf(`{"requester_name":%q,"request_id":%d,"is_operational":%v}`, name, id, operational)
}

// TestAControllersNameBelongsToTheSessionThatTookIt: another client can neither use it,
// nor end it, nor keep it alive, nor move what it has.
func TestAControllersNameBelongsToTheSessionThatTookIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		other, says := b.another()
		mine, theirs := b.outside(b.c, "gait"), b.outside(other, "gait")
		mine.request(asks("gait", 1, "tail"))
		b.confirmed(mine, "gait", 1, "tail")
		before := b.tail()
		for range 100 {
			mine.state(lives("gait", 1, true))
			theirs.state(lives("gait", 1, false))
			theirs.request(asks("gait", 2, "head"))
			theirs.ref(tailAt(0.4))
			time.Sleep(20 * time.Millisecond)
		}
		if q := b.tail(); q != before || !b.owns("gait", "tail") || b.owns("gait", "head") {
			t.Fatalf("the tail is at %g, was at %g", q, before)
		}
		if len(b.log.lines("msg=audit", "resource request", "belongs to /rosbridge/client_1")) == 0 {
			t.Error("the request under a foreign name is not audited")
		}
		for _, words := range [][]string{{"resource_requester_state", "whose messages alone count"}, {"controllers/gait/ref_joints", "takes values from it alone"}} {
			if says.with(append(words, "error", "/rosbridge/client_1")...) == 0 {
				t.Errorf("the other is not told %q: %q", words, says.texts)
			}
		}
		b.until("its own values count", func() bool {
			mine.ref(tailAt(0.2))
			return math.Abs(b.tail()-0.2) < 1e-3
		})
		// it falls silent, and no other client keeps its lease
		b.until("the lease is over", func() bool {
			theirs.state(lives("gait", 1, true))
			theirs.ref(tailAt(0.2))
			return !b.owns("gait", "tail")
		})
		// a controller of the server is not a name to be had
		theirs.request(asks("joint_state", 3, "tail"))
		b.until("the name of a controller inside is refused", func() bool {
			return len(b.log.lines("msg=audit", "joint_state (/rosbridge/client_2)", "belongs to a controller of the server")) > 0
		})
		b.begun(b.send("/controllers/joint_state/set_operational", switchType, &msgs.SetOperationalGoal{Operational: true, Resources: []string{"tail"}}))
		b.publishOn(b.c, "/joints_ref", "sensor_msgs/msg/JointState", false)(tailAt(0))
	})
}

// TestSeatsOfControllersOutsideAreGivenBack: clients come and go, names come and go, and
// the next one is served as the first was.
func TestSeatsOfControllersOutsideAreGivenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		topics := func() int {
			var all struct{ Topics []string }
			b.rosapi("topics", "{}", &all)
			return len(all.Topics)
		}
		before := topics()
		for i := range 100 { // a session each, all by the same name, and gone without a word
			c, _ := b.another()
			o := b.outside(c, "gait")
			o.request(asks("gait", i+1, "tail"))
			b.confirmed(o, "gait", i+1, "tail")
			c.Close()
			b.until("what it had is free", func() bool { return !b.owns("gait", "tail") })
		}
		b.until("its names are gone", func() bool { return topics() == before })
		many := b.outside(b.c, "last") // one session with many names
		for i := range 200 {
			name := fmt.Sprintf("gait_%d", i)
			many.request(asks(name, 1, "tail"))
			b.confirmed(many, name, 1, "tail")
			many.state(lives(name, 1, false))
			b.until(name+" is done", func() bool { return !b.owns(name, "tail") })
		}
		// 64 names with five streams each, under two names of the graph, and the client's own
		if n := topics() - before; n > 64*5*2+2 {
			t.Errorf("%d topics are left", n)
		}
		c, _ := b.another()
		o := b.outside(c, "other")
		o.request(asks("other", 1, "head"))
		b.confirmed(o, "other", 1, "head")
	})
}

// TestThePageRefusesToBeFramed, and so does every other answer.
func TestThePageRefusesToBeFramed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		web := b.net.Client()
		defer web.CloseIdleConnections()
		for _, path := range []string{"/", "/healthz", "/readyz", "/metrics", "/rosbridge", "/no/such/page", "/mesh/none.stl"} {
			r, err := web.Get("http://" + b.s.Address() + path)
			if err != nil {
				t.Fatal(err)
			}
			r.Body.Close()
			if csp := r.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "frame-ancestors 'none'") || r.Header.Get("X-Frame-Options") != "DENY" || r.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %q %q", path, csp, r.Header)
			}
		}
	})
}
