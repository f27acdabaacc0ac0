package rosapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"poise/graph"
	"poise/msgs"
	"poise/msgs/registry"
	"poise/wire/rosapi"
)

func newGraph(t *testing.T) *graph.Graph {
	g := graph.New(graph.Options{})
	t.Cleanup(g.Close)
	for _, err := range []error{
		second(rosapi.Serve(g, rosapi.Options{Now: func() time.Time { return time.Unix(5, 6) }, Params: map[string]any{"/a/b": []int{1}, "/c": "x"}})),
		second(graph.Topic[msgs.JointState](g, "joint_states", graph.TopicOptions{})),
		second(graph.Service(g, "set", func(context.Context, *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) {
			return &msgs.SetBoolResponse{}, nil
		}, graph.ServiceOptions{Node: "/other"})),
		second(g.ServeAction("text", "text_msgs/action/TextAction", graph.ActionHandler{Goal: func(*graph.GoalHandle) {}}, graph.ActionOptions{})),
		second(g.Subscribe("joint_states", graph.SubscribeOptions{Node: "/reader"})),
		second(g.Subscribe("silent", graph.SubscribeOptions{Node: "/reader"})),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return g
}

func second[T any](_ T, err error) error { return err }

func call(t *testing.T, g *graph.Graph, name, args string) string {
	t.Helper()
	values, err := g.CallJSON(t.Context(), "/rosapi/"+name, "", []byte(args))
	if err != nil {
		t.Fatal(err)
	}
	return string(values)
}

func TestAnswers(t *testing.T) {
	g := newGraph(t)
	for _, tc := range []struct{ name, args, want string }{
		{"topic_type", `{"topic":"/joint_states"}`, `{"type":"sensor_msgs/msg/JointState"}`},
		{"topic_type", `{"topic":"joint_states"}`, `{"type":"sensor_msgs/msg/JointState"}`},
		{"topic_type", `{"topic":"/nowhere"}`, `{"type":""}`},
		{"topic_type", `{"topic":"/text/goal"}`, `{"type":"text_msgs/TextActionActionGoal"}`},
		{"topics_for_type", `{"type":"sensor_msgs/JointState"}`, `{"topics":["/joint_states"]}`},
		{"topics_for_type", `{"type":"sensor_msgs/msg/JointState"}`, `{"topics":["/joint_states"]}`},
		{"publishers", `{"topic":"/joint_states"}`, `{"publishers":["/poise"]}`},
		{"subscribers", `{"topic":"/joint_states"}`, `{"subscribers":["/reader"]}`},
		{"subscribers", `{"topic":"/nowhere"}`, `{"subscribers":[]}`},
		{"service_type", `{"service":"/set"}`, `{"type":"std_srvs/srv/SetBool"}`},
		{"service_type", `{"service":"/rosapi/topics"}`, `{"type":"rosapi_msgs/srv/Topics"}`},
		{"services_for_type", `{"type":"std_srvs/SetBool"}`, `{"services":["/set"]}`},
		{"service_node", `{"service":"/set"}`, `{"node":"/other"}`},
		{"service_providers", `{"service":"std_srvs/srv/SetBool"}`, `{"providers":["/other"]}`},
		{"service_providers", `{"service":"/set"}`, `{"providers":["/other"]}`},
		{"action_servers", ``, `{"action_servers":["/text"]}`},
		{"action_type", `{"action":"text"}`, `{"type":"text_msgs/action/TextAction"}`},
		{"node_details", `{"node":"/other"}`, `{"subscribing":[],"publishing":[],"services":["/set"]}`},
		{"node_details", `{"node":"/reader"}`, `{"subscribing":["/joint_states","/silent"],"publishing":[],"services":[]}`},
		{"get_time", ``, `{"time":{"sec":5,"nanosec":6}}`},
		{"get_ros_version", ``, `{"version":2,"distro":"poise"}`},
		{"get_param_names", ``, `{"names":["/a/b","/c"]}`},
		{"has_param", `{"name":"c"}`, `{"exists":true}`},
		{"get_param", `{"name":"/a/b"}`, `{"value":"[1]","successful":true,"reason":""}`},
		{"get_param", `{"name":"/a/bb"}`, `{"value":"null","successful":false,"reason":"there is no parameter /a/bb; did you mean \"/a/b\"?"}`},
		{"get_param", `{"name":"/no","default_value":"7"}`, `{"value":"7","successful":false,"reason":"there is no parameter /no"}`},
		{"get_param", `{"name":"/no"}`, `{"value":"null","successful":false,"reason":"there is no parameter /no"}`},
		{"search_param", `{"name":"/no"}`, `{"global_name":""}`},
	} {
		if got := call(t, g, tc.name, tc.args); got != tc.want {
			t.Errorf("%s %s\n got %s\nwant %s", tc.name, tc.args, got, tc.want)
		}
	}
	for _, name := range []string{"set_param", "delete_param"} {
		if got := call(t, g, name, `{"name":"/c"}`); !strings.Contains(got, `"successful":false,"reason":"parameters cannot be changed`) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := call(t, g, "nodes", ""); !strings.Contains(got, `"/other"`) || !strings.Contains(got, `"/rosapi"`) {
		t.Errorf("nodes: %s", got)
	}
}

// TestListsAgree holds what is listed against what can be asked for.
func TestListsAgree(t *testing.T) {
	g := newGraph(t)
	var list struct {
		Topics, Types, Services, Interfaces []string
		Raw                                 []string `json:"typedefs_full_text"`
	}
	read := func(name string) {
		t.Helper()
		if err := json.Unmarshal([]byte(call(t, g, name, "")), &list); err != nil {
			t.Fatal(err)
		}
	}
	read("topics_and_raw_types")
	if len(list.Topics) != 6 || slices.Contains(list.Topics, "/silent") {
		t.Errorf("topics %v", list.Topics)
	}
	for i, name := range list.Topics {
		if got := call(t, g, "topic_type", fmt.Sprintf(`{"topic":%q}`, name)); got != fmt.Sprintf(`{"type":%q}`, list.Types[i]) {
			t.Errorf("%s: %s, listed as %s", name, got, list.Types[i])
		}
		if list.Raw[i] == "" {
			t.Errorf("%s has no text", name)
		}
	}
	read("services")
	for _, name := range list.Services {
		var r struct{ Type string }
		if err := json.Unmarshal([]byte(call(t, g, "service_type", fmt.Sprintf(`{"service":%q}`, name))), &r); err != nil || r.Type == "" {
			t.Errorf("%s has no type: %v", name, err)
		}
		call(t, g, "service_request_details", fmt.Sprintf(`{"type":%q}`, r.Type))
		call(t, g, "service_response_details", fmt.Sprintf(`{"type":%q}`, r.Type))
	}
	read("interfaces")
	if !slices.Contains(list.Interfaces, "text_msgs/action/TextAction") || !slices.IsSorted(list.Interfaces) {
		t.Error("interfaces are not sorted or not complete")
	}
}

// TestEveryTypeIsDescribedToItsLeaves follows every field of every type: what is
// not built in must be described in the same answer.
func TestEveryTypeIsDescribedToItsLeaves(t *testing.T) {
	g := newGraph(t)
	for i, typ := range registry.Messages() {
		if testing.Short() && i%10 != 0 {
			continue
		}
		for _, form := range []msgs.Form{msgs.ROS1, msgs.ROS2} {
			var r struct {
				Typedefs []struct {
					Type                             string
					Fieldnames, Fieldtypes, Examples []string
					Fieldarraylen                    []int
					Constnames, Constvalues          []string
				}
			}
			if err := json.Unmarshal([]byte(call(t, g, "message_details", fmt.Sprintf(`{"type":%q}`, typ.Name(form)))), &r); err != nil {
				t.Fatal(err)
			}
			known := map[string]bool{}
			for _, d := range r.Typedefs {
				if known[d.Type] {
					t.Errorf("%s: %s is described twice", typ.Name(form), d.Type)
				}
				known[d.Type] = true
				if len(d.Fieldnames) != len(d.Fieldtypes) || len(d.Fieldnames) != len(d.Examples) || len(d.Fieldnames) != len(d.Fieldarraylen) || len(d.Constnames) != len(d.Constvalues) {
					t.Errorf("%s: lengths of %s differ", typ.Name(form), d.Type)
				}
			}
			for _, d := range r.Typedefs {
				for _, f := range d.Fieldtypes {
					if strings.Contains(f, "/") && !known[f] {
						t.Errorf("%s: %s is not described", typ.Name(form), f)
					}
				}
			}
		}
	}
}

func TestUnknownTypesAreNamed(t *testing.T) {
	g := newGraph(t)
	for _, name := range []string{"message_details", "service_request_details", "service_response_details", "action_goal_details", "action_result_details", "action_feedback_details"} {
		_, err := g.CallJSON(t.Context(), "/rosapi/"+name, "", []byte(`{"type":"no/Such"}`))
		if err == nil || !strings.Contains(err.Error(), "no/Such") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestServeTwiceIsRefused(t *testing.T) {
	g := newGraph(t)
	if _, err := rosapi.Serve(g, rosapi.Options{}); err == nil || !strings.Contains(err.Error(), "/rosapi/topics is served by /rosapi already") {
		t.Errorf("error %v", err)
	}
	call(t, g, "topics", "") // the first ones are still there
}
