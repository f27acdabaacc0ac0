package server_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"poise/msgs"
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
