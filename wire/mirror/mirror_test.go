package mirror_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"poise/action"
	"poise/graph"
	"poise/internal/stepped"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/wire/mirror"
	"poise/wire/rosapi"
	"poise/wire/rosbridge"
	"poise/wire/rosbridge/client"
)

// robot is a graph behind a rosbridge server, as a robot far away would be.
type robot struct {
	g      *graph.Graph
	server *rosbridge.Server
	url    string
	web    *http.Client // which connects to it
	state  graph.Publisher[msgs.JointState]
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// whole wants everything to be mirrored.
func whole(m *mirror.Mirror, problems []error) *mirror.Mirror {
	return must(m, errors.Join(problems...))
}

func newRobot(t *testing.T) *robot {
	r := &robot{g: graph.New(graph.Options{})}
	must(rosapi.Serve(r.g, rosapi.Options{}))
	r.state = must(graph.Topic[msgs.JointState](r.g, "state", graph.TopicOptions{QoS: graph.QoS{Latched: true}}))
	must(graph.Service(r.g, "set", func(_ context.Context, q *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) {
		if !q.Data {
			return nil, errors.New("it must be true")
		}
		return &msgs.SetBoolResponse{Success: true, Message: "far away"}, nil
	}, graph.ServiceOptions{}))
	type goal = graph.Goal[msgs.TextActionGoal, msgs.TextActionFeedback, msgs.TextActionResult]
	must(graph.Action(r.g, "text", graph.ActionCallbacks[msgs.TextActionGoal, msgs.TextActionFeedback, msgs.TextActionResult]{
		Goal: func(h *goal) {
			command := h.Value().Command.Command
			h.Inform(&poisemsgs.GoalInfo{Phase: "moving", Time: 0.5})
			h.Explain([]poisemsgs.Explanation{{Code: command, Text: "because"}})
			if command == "refuse" {
				h.Reject(action.ConditionsUnmet, msgs.TextActionResult{}, "too cold")
				return
			}
			h.Accept()
			h.Feedback(&msgs.TextActionFeedback{Status: "on it"})
			switch command {
			case "do":
				h.Succeed(msgs.TextActionResult{ErrorString: "did"}, "")
			case "fall":
				h.Abort(action.Failed, msgs.TextActionResult{ErrorString: "fell"}, "slipped")
			}
		},
		Cancel: func(h *goal) {
			h.Withdraw(action.ClientCancel, msgs.TextActionResult{ErrorString: "stopped"}, "")
		},
	}, graph.ActionOptions{}))
	r.server = rosbridge.New(r.g, rosbridge.Config{})
	n := &stepped.Net{}
	l := must(n.Listen("tcp", "127.0.0.1:0"))
	web := &http.Server{Handler: r.server}
	go web.Serve(l)
	r.url, r.web = "ws://"+l.Addr().String(), n.Client()
	t.Cleanup(func() { r.server.Close(); web.Close(); r.g.Close() })
	return r
}

// spec mirrors everything in one dialect.
func spec(ros1 bool) mirror.Spec {
	s := mirror.Spec{
		Topics:   []mirror.Name{{Remote: "/state", Type: "sensor_msgs/msg/JointState", Local: "far/state"}},
		Publish:  []mirror.Name{{Remote: "/ref", Type: "sensor_msgs/msg/JointState", Local: "far/ref"}},
		Services: []mirror.Name{{Remote: "/set", Type: "std_srvs/srv/SetBool", Local: "far/set"}},
		Actions:  []mirror.Name{{Remote: "/text", Type: "text_msgs/action/TextAction", Local: "far/text"}},
	}
	if ros1 {
		s.Topics[0].Type, s.Publish[0].Type = "sensor_msgs/JointState", "sensor_msgs/JointState"
		s.Services[0].Type, s.Actions[0].Type = "std_srvs/SetBool", "text_msgs/TextActionAction"
	}
	return s
}

func TestMirror(t *testing.T) {
	for name, ros1 := range map[string]bool{"ROS 1": true, "ROS 2": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				r := newRobot(t)
				here := graph.New(graph.Options{})
				t.Cleanup(here.Close)
				c := must(client.Dial(ctx, r.url, client.Options{HTTP: r.web}))
				t.Cleanup(c.Close)
				m := whole(mirror.New(here, c, spec(ros1)))
				t.Cleanup(m.Close)

				// what is said there is heard here, and the other way round
				there := must(graph.Listen[msgs.JointState](r.g, "ref", graph.SubscribeOptions{}))
				near := must(graph.Listen[msgs.JointState](here, "far/state", graph.SubscribeOptions{}))
				r.state.Publish(&msgs.JointState{Header: msgs.Header{Stamp: msgs.Time{Sec: 7, Nanosec: 8}}, Position: []float64{0.5}})
				if v, _, err := near.Next(ctx); err != nil || v.Position[0] != 0.5 || v.Header.Stamp.Nanosec != 8 {
					t.Fatal(v, err)
				}
				pub := must(graph.Topic[msgs.JointState](here, "far/ref", graph.TopicOptions{}))
				pub.Publish(&msgs.JointState{Name: []string{"knee"}, Header: msgs.Header{Stamp: msgs.Time{Sec: 1, Nanosec: 2}}})
				if v, _, err := there.Next(ctx); err != nil || v.Name[0] != "knee" || v.Header.Stamp.Sec != 1 {
					t.Fatal(v, err)
				}

				if a, err := graph.Call[msgs.SetBoolRequest, msgs.SetBoolResponse](ctx, here, "far/set", &msgs.SetBoolRequest{Data: true}); err != nil || a.Message != "far away" {
					t.Error(a, err)
				}
				if _, err := graph.Call[msgs.SetBoolRequest, msgs.SetBoolResponse](ctx, here, "far/set", &msgs.SetBoolRequest{}); err == nil || !strings.Contains(err.Error(), "it must be true") {
					t.Error(err)
				}

				send := func(command string) *graph.GoalClient {
					t.Helper()
					return must(here.SendGoal("far/text", &msgs.TextActionGoal{Command: msgs.TextCommand{Command: command}}, graph.GoalOptions{}))
				}
				for _, tc := range []struct {
					command string
					state   action.State
					result  string
				}{{"do", action.Succeeded, "did"}, {"fall", action.Aborted, "fell"}, {"refuse", action.Rejected, "too cold"}} {
					u, err := send(tc.command).Result(ctx)
					if err != nil || u.State != tc.state || u.Result.Value.(*msgs.TextActionResult).ErrorString != tc.result {
						t.Errorf("%s: %+v, %v", tc.command, u, err)
					}
					if why := u.Explanations; !ros1 && (len(why) != 1 || why[0].Code != tc.command || why[0].Text != "because") {
						t.Errorf("%s: explained as %+v", tc.command, why)
					}
				}
				g := send("wait")
				for {
					u, err := g.Next(ctx)
					if err != nil {
						t.Fatal(err)
					}
					if u.Feedback != nil {
						if i := u.Info; !ros1 && (i == nil || i.Phase != "moving" || i.Time != 0.5) {
							t.Errorf("how far it is: %+v", i)
						}
						break
					}
				}
				g.Cancel()
				if u, err := g.Result(ctx); err != nil || u.State != action.Preempted || u.Cause != action.ClientCancel || u.Result.Value.(*msgs.TextActionResult).ErrorString != "stopped" {
					t.Errorf("cancelled: %+v, %v", u, err)
				}

				// the robot goes away: a goal under way does not hang
				g = send("wait")
				wait(t, "the goal runs", func() bool { return len(r.g.Actions()) == 1 && r.g.Actions()[0].Goals == 1 })
				r.server.Close()
				if u, err := g.Result(ctx); err != nil || u.State != action.Aborted {
					t.Errorf("the robot is gone: %+v, %v", u, err)
				}
			})
		})
	}
}

// wait waits, in stepped time, until something is so.
func wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Hour); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

func TestDiscover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		r := newRobot(t)
		must(graph.Listen[msgs.JointState](r.g, "ref", graph.SubscribeOptions{}))
		c := must(client.Dial(ctx, r.url, client.Options{HTTP: r.web}))
		t.Cleanup(c.Close)
		s, skipped, err := mirror.Discover(ctx, c, "far")
		if err != nil || len(skipped) != 0 {
			t.Fatal(err, skipped)
		}
		if len(s.Topics) != 1 || s.Topics[0] != (mirror.Name{Remote: "/state", Type: "sensor_msgs/msg/JointState", Local: "far/state"}) {
			t.Errorf("topics %v", s.Topics)
		}
		if len(s.Publish) != 1 || s.Publish[0] != (mirror.Name{Remote: "/ref", Type: "sensor_msgs/msg/JointState", Local: "far/ref"}) {
			t.Errorf("topics that are read there %v", s.Publish)
		}
		if len(s.Services) != 1 || s.Services[0].Type != "std_srvs/srv/SetBool" {
			t.Errorf("services %v", s.Services)
		}
		if len(s.Actions) != 1 || s.Actions[0].Type != "text_msgs/action/TextAction" {
			t.Errorf("actions %v", s.Actions)
		}
		here := graph.New(graph.Options{})
		t.Cleanup(here.Close)
		m := whole(mirror.New(here, c, s))
		m.Close()
		if n := len(here.Topics()) + len(here.Services()) + len(here.Actions()); n != 0 {
			t.Errorf("%d things are left", n)
		}
	})
}

func TestBadSpecsAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRobot(t)
		here := graph.New(graph.Options{})
		t.Cleanup(here.Close)
		c := must(client.Dial(t.Context(), r.url, client.Options{HTTP: r.web}))
		t.Cleanup(c.Close)
		m, problems := mirror.New(here, c, mirror.Spec{
			Topics:   []mirror.Name{{Remote: "/a", Type: "no/Type1"}, {Remote: "/ok", Type: "std_msgs/String"}},
			Publish:  []mirror.Name{{Remote: "/b", Type: "no/Type2"}},
			Services: []mirror.Name{{Remote: "/c", Type: "no/Type3"}},
			Actions:  []mirror.Name{{Remote: "/d", Type: "no/Type4"}},
		})
		defer m.Close()
		err := errors.Join(problems...)
		for _, want := range []string{"topic /a", "no/Type1", "no/Type2", "service /c", "no/Type3", "action /d", "no/Type4"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v does not name %s", err, want)
			}
		}
		if topics := here.Topics(); len(problems) != 4 || len(topics) != 1 || topics[0].Name != "/ok" {
			t.Errorf("%d problems, and the topics are %v", len(problems), topics)
		}
	})
}
