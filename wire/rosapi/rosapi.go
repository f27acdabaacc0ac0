// Package rosapi serves /rosapi/*: how clients of rosbridge find out which topics,
// services, actions, nodes and types there are.
//
//	end, err := rosapi.Serve(g, rosapi.Options{})
//
// The services are ordinary ones of the graph, and show up in their own lists.
// Types are named and described in the form that was asked for: pkg/T for ROS 1,
// pkg/msg/T and the like for ROS 2; listings use ROS 2's names, but for types that
// only ROS 1 has. A name that is not known gets an empty answer where the original
// gives one, and an error where an empty answer could be taken for a type without
// fields.
//
// Parameters can be read if Options gives some. They cannot be set: the behaviour of a
// running server is changed by its services.
package rosapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"poise/graph"
	"poise/msgs"
	api "poise/msgs/rosapimsgs"
	"poise/problem"
)

// Options hold what the graph does not know.
type Options struct {
	Now    func() time.Time // default time.Now
	Params map[string]any   // shown by get_param, as JSON; never written
}

// node answers the calls of the services.
type node struct {
	g        *graph.Graph
	now      func() time.Time
	params   map[string]any
	services []*graph.ServiceServer
	errs     []error
}

// Node is the name under which the services are listed.
const Node = "/rosapi"

// Serve puts the services into the graph. What it returns takes them out again.
func Serve(g *graph.Graph, o Options) (end func(), err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &node{g: g, now: o.Now, params: o.Params}
	s.lists()
	s.names()
	s.details()
	s.parameters()
	end = func() {
		for _, x := range s.services {
			x.Close()
		}
	}
	if err := errors.Join(s.errs...); err != nil {
		end()
		return nil, err
	}
	return end, nil
}

// add registers one service.
func add[Q, R any](s *node, name string, answer func(q *Q) (*R, error)) {
	x, err := graph.Service(s.g, "/rosapi/"+name, func(_ context.Context, q *Q) (*R, error) { return answer(q) },
		graph.ServiceOptions{Node: Node})
	if err != nil {
		s.errs = append(s.errs, err)
		return
	}
	s.services = append(s.services, x)
}

// lists serves what takes no argument.
func (s *node) lists() {
	add(s, "topics", func(*api.TopicsRequest) (*api.TopicsResponse, error) {
		r := &api.TopicsResponse{}
		for _, t := range s.typedTopics() {
			r.Topics = append(r.Topics, t.Name)
			r.Types = append(r.Types, t.Type.String())
		}
		return r, nil
	})
	add(s, "topics_and_raw_types", func(*api.TopicsAndRawTypesRequest) (*api.TopicsAndRawTypesResponse, error) {
		r := &api.TopicsAndRawTypesResponse{}
		for _, t := range s.typedTopics() {
			r.Topics = append(r.Topics, t.Name)
			r.Types = append(r.Types, t.Type.String())
			// what a subscription without a type carries, whatever the name says: viewers
			// read its bytes by this text
			r.TypedefsFullText = append(r.TypedefsFullText, t.Type.FullText(msgs.ROS2))
		}
		return r, nil
	})
	add(s, "services", func(*api.ServicesRequest) (*api.ServicesResponse, error) {
		r := &api.ServicesResponse{}
		for _, x := range s.g.Services() {
			r.Services = append(r.Services, x.Name)
		}
		return r, nil
	})
	add(s, "action_servers", func(*api.GetActionServersRequest) (*api.GetActionServersResponse, error) {
		r := &api.GetActionServersResponse{}
		for _, x := range s.g.Actions() {
			r.ActionServers = append(r.ActionServers, x.Name)
		}
		return r, nil
	})
	add(s, "nodes", func(*api.NodesRequest) (*api.NodesResponse, error) {
		return &api.NodesResponse{Nodes: s.g.Nodes()}, nil
	})
	add(s, "interfaces", func(*api.InterfacesRequest) (*api.InterfacesResponse, error) {
		return &api.InterfacesResponse{Interfaces: interfaces()}, nil
	})
	add(s, "get_time", func(*api.GetTimeRequest) (*api.GetTimeResponse, error) {
		return &api.GetTimeResponse{Time: msgs.TimeOf(s.now().UnixNano())}, nil
	})
	// clients ask to know which names and times to expect: ROS 2's
	add(s, "get_ros_version", func(*api.GetROSVersionRequest) (*api.GetROSVersionResponse, error) {
		return &api.GetROSVersionResponse{Version: 2, Distro: "poise"}, nil
	})
}

// typedTopics returns the topics whose type is known: others cannot be read.
func (s *node) typedTopics() []graph.TopicInfo {
	return slices.DeleteFunc(s.g.Topics(), func(t graph.TopicInfo) bool { return t.Type == nil })
}

// names serves questions about one name.
func (s *node) names() {
	add(s, "topic_type", func(q *api.TopicTypeRequest) (*api.TopicTypeResponse, error) {
		r := &api.TopicTypeResponse{}
		if t, ok := s.g.TopicInfo(q.Topic); ok && t.Type != nil {
			r.Type = t.Type.String()
		}
		return r, nil
	})
	add(s, "publishers", func(q *api.PublishersRequest) (*api.PublishersResponse, error) {
		t, _ := s.g.TopicInfo(q.Topic)
		return &api.PublishersResponse{Publishers: nodes(t.Publishers)}, nil
	})
	add(s, "subscribers", func(q *api.SubscribersRequest) (*api.SubscribersResponse, error) {
		t, _ := s.g.TopicInfo(q.Topic)
		return &api.SubscribersResponse{Subscribers: nodes(t.Subscribers)}, nil
	})
	add(s, "service_type", func(q *api.ServiceTypeRequest) (*api.ServiceTypeResponse, error) {
		r := &api.ServiceTypeResponse{}
		if x, ok := s.g.ServiceInfo(q.Service); ok {
			r.Type = x.Type.String()
		}
		return r, nil
	})
	add(s, "service_node", func(q *api.ServiceNodeRequest) (*api.ServiceNodeResponse, error) {
		x, _ := s.g.ServiceInfo(q.Service)
		return &api.ServiceNodeResponse{Node: x.Node}, nil
	})
	add(s, "service_host", func(q *api.ServiceHostRequest) (*api.ServiceHostResponse, error) {
		r := &api.ServiceHostResponse{}
		if _, ok := s.g.ServiceInfo(q.Service); ok {
			host, err := os.Hostname()
			if err != nil {
				return nil, err
			}
			r.Host = host
		}
		return r, nil
	})
	add(s, "action_type", func(q *api.ActionTypeRequest) (*api.ActionTypeResponse, error) {
		r := &api.ActionTypeResponse{}
		for _, x := range s.g.Actions() {
			if sameName(x.Name, q.Action) {
				r.Type = x.Type.String()
			}
		}
		return r, nil
	})
	add(s, "topics_for_type", s.topicsForType)
	add(s, "services_for_type", func(q *api.ServicesForTypeRequest) (*api.ServicesForTypeResponse, error) {
		return &api.ServicesForTypeResponse{Services: s.servicesOf(q.Type)}, nil
	})
	// the original asks for a type here too, whatever the field's name says
	add(s, "service_providers", s.serviceProviders)
	add(s, "node_details", s.nodeDetails)
}

func sameName(a, b string) bool { return strings.TrimPrefix(a, "/") == strings.TrimPrefix(b, "/") }

// nodes returns the names of those who publish or subscribe.
func nodes(ends []graph.Endpoint) (names []string) {
	for _, e := range ends {
		names = append(names, e.Node)
	}
	return names
}

func (s *node) topicsForType(q *api.TopicsForTypeRequest) (*api.TopicsForTypeResponse, error) {
	r := &api.TopicsForTypeResponse{}
	for _, t := range s.typedTopics() {
		if t.Type.Name(msgs.ROS1) == q.Type || t.Type.Name(msgs.ROS2) == q.Type {
			r.Topics = append(r.Topics, t.Name)
		}
	}
	return r, nil
}

// servicesOf returns the services of a type.
func (s *node) servicesOf(typeName string) (names []string) {
	for _, x := range s.g.Services() {
		if x.Type.Name(msgs.ROS1) == typeName || x.Type.Name(msgs.ROS2) == typeName {
			names = append(names, x.Name)
		}
	}
	return names
}

func (s *node) serviceProviders(q *api.ServiceProvidersRequest) (*api.ServiceProvidersResponse, error) {
	r := &api.ServiceProvidersResponse{}
	for _, x := range s.g.Services() {
		if sameName(x.Name, q.Service) || x.Type.Name(msgs.ROS1) == q.Service || x.Type.Name(msgs.ROS2) == q.Service {
			if !slices.Contains(r.Providers, x.Node) {
				r.Providers = append(r.Providers, x.Node)
			}
		}
	}
	return r, nil
}

func (s *node) nodeDetails(q *api.NodeDetailsRequest) (*api.NodeDetailsResponse, error) {
	r := &api.NodeDetailsResponse{}
	isNode := func(n string) bool { return sameName(n, q.Node) }
	isEnd := func(e graph.Endpoint) bool { return isNode(e.Node) }
	for _, t := range s.g.Topics() {
		if slices.ContainsFunc(t.Publishers, isEnd) {
			r.Publishing = append(r.Publishing, t.Name)
		}
		if slices.ContainsFunc(t.Subscribers, isEnd) {
			r.Subscribing = append(r.Subscribing, t.Name)
		}
	}
	for _, x := range s.g.Services() {
		if isNode(x.Node) {
			r.Services = append(r.Services, x.Name)
		}
	}
	return r, nil
}

// errReadOnly is why parameters stay as they are.
const errReadOnly = "parameters cannot be changed here: use the services of the server, or its configuration"

// parameters serves the read-only part of a parameter server.
func (s *node) parameters() {
	names := slices.Sorted(maps.Keys(s.params))
	add(s, "get_param_names", func(*api.GetParamNamesRequest) (*api.GetParamNamesResponse, error) {
		return &api.GetParamNamesResponse{Names: names}, nil
	})
	add(s, "has_param", func(q *api.HasParamRequest) (*api.HasParamResponse, error) {
		_, ok := s.param(q.Name)
		return &api.HasParamResponse{Exists: ok}, nil
	})
	add(s, "search_param", func(q *api.SearchParamRequest) (*api.SearchParamResponse, error) {
		r := &api.SearchParamResponse{}
		if _, ok := s.param(q.Name); ok {
			r.GlobalName = q.Name
		}
		return r, nil
	})
	add(s, "get_param", s.getParam)
	add(s, "set_param", func(*api.SetParamRequest) (*api.SetParamResponse, error) {
		return &api.SetParamResponse{Reason: errReadOnly}, nil
	})
	add(s, "delete_param", func(*api.DeleteParamRequest) (*api.DeleteParamResponse, error) {
		return &api.DeleteParamResponse{Reason: errReadOnly}, nil
	})
}

func (s *node) param(name string) (any, bool) {
	for known, v := range s.params {
		if sameName(known, name) {
			return v, true
		}
	}
	return nil, false
}

// getParam answers with JSON text. The value of an unknown parameter is the default in the
// request, or null, which clients that do not check for success can parse.
func (s *node) getParam(q *api.GetParamRequest) (*api.GetParamResponse, error) {
	v, ok := s.param(q.Name)
	if !ok {
		r := &api.GetParamResponse{Value: "null", Reason: fmt.Sprintf("there is no parameter %s%s", q.Name, problem.Hint(q.Name, slices.Sorted(maps.Keys(s.params))))}
		for _, d := range []string{q.Default, q.DefaultValue} {
			if json.Valid([]byte(d)) {
				r.Value = d
			}
		}
		return r, nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return &api.GetParamResponse{Value: string(text), Successful: true}, nil
}
