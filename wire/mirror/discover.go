package mirror

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"poise/msgs/registry"
	"poise/wire/rosbridge/client"
)

// Discover asks a robot by its rosapi what it has, and returns what can be
// mirrored under prefix: topics that it publishes or, where it does not, reads,
// services and actions, as far as their types are known here. skipped says what was
// left out, and why.
func Discover(ctx context.Context, c *client.Client, prefix string) (s Spec, skipped []error, err error) {
	prefix = strings.TrimSuffix(prefix, "/")
	local := func(name string) string { return prefix + "/" + strings.TrimPrefix(name, "/") }

	var actions struct {
		Names []string `json:"action_servers"`
	}
	if err := ask(ctx, c, "action_servers", "", &actions); err != nil {
		return Spec{}, nil, err
	}
	ofAction := map[string]bool{}
	for _, name := range actions.Names {
		for _, part := range []string{"/goal", "/cancel", "/status", "/feedback", "/result"} {
			ofAction[name+part] = true
		}
	}
	var topics struct{ Topics, Types []string }
	if err := ask(ctx, c, "topics", "", &topics); err != nil {
		return Spec{}, nil, err
	}
	for i, name := range topics.Topics {
		if i >= len(topics.Types) || ofAction[name] {
			continue
		}
		if _, _, err := registry.Message(topics.Types[i]); err != nil {
			skipped = append(skipped, fmt.Errorf("topic %s: %w", name, err))
			continue
		}
		isInput, err := reads(ctx, c, name)
		if err != nil {
			return Spec{}, nil, err
		}
		n := Name{Remote: name, Type: topics.Types[i], Local: local(name)}
		if isInput {
			s.Publish = append(s.Publish, n)
			continue
		}
		n.Latched = slices.ContainsFunc(latched, func(end string) bool { return strings.HasSuffix(name, "/"+end) })
		s.Topics = append(s.Topics, n)
	}
	if err := s.services(ctx, c, local, &skipped); err != nil {
		return Spec{}, nil, err
	}
	for _, name := range actions.Names {
		typ, err := actionType(ctx, c, name, topics.Topics, topics.Types)
		if err == nil {
			_, _, err = registry.ActionNamed(typ)
		}
		if err != nil {
			skipped = append(skipped, fmt.Errorf("action %s: %w", name, err))
			continue
		}
		s.Actions = append(s.Actions, Name{Remote: name, Type: typ, Local: local(name)})
	}
	return s, skipped, nil
}

// latched are topics that are published once; rosapi does not tell which these are.
var latched = []string{"tf_static", "robot_description", "robot_description_semantic", "map", "resource_assignment"}

// reads reports whether a topic is one that the robot reads and does not publish.
// Clients of its bridge do not count: this mirror is one of them.
func reads(ctx context.Context, c *client.Client, topic string) (bool, error) {
	args := fmt.Sprintf(`{"topic":%q}`, topic)
	client := func(node string) bool { return strings.Contains(node, "rosbridge") }
	var from struct{ Publishers []string }
	if err := ask(ctx, c, "publishers", args, &from); err != nil {
		return false, err
	}
	if len(from.Publishers) == 0 {
		return true, nil
	}
	if slices.ContainsFunc(from.Publishers, func(node string) bool { return !client(node) }) {
		return false, nil
	}
	var to struct{ Subscribers []string }
	if err := ask(ctx, c, "subscribers", args, &to); err != nil {
		return false, err
	}
	return slices.ContainsFunc(to.Subscribers, func(node string) bool { return !client(node) }), nil
}

func (s *Spec) services(ctx context.Context, c *client.Client, local func(string) string, skipped *[]error) error {
	var list struct{ Services []string }
	if err := ask(ctx, c, "services", "", &list); err != nil {
		return err
	}
	for _, name := range list.Services {
		if strings.HasPrefix(name, "/rosapi/") {
			continue // this graph has its own rosapi
		}
		var r struct{ Type string }
		if err := ask(ctx, c, "service_type", fmt.Sprintf(`{"service":%q}`, name), &r); err != nil {
			return err
		}
		if _, _, err := registry.ServiceNamed(r.Type); err != nil {
			*skipped = append(*skipped, fmt.Errorf("service %s: %w", name, err))
			continue
		}
		s.Services = append(s.Services, Name{Remote: name, Type: r.Type, Local: local(name)})
	}
	return nil
}

// actionType asks for an action's type; a robot of ROS 1 has no such service, and
// there the type of the goal topic tells.
func actionType(ctx context.Context, c *client.Client, name string, topics, types []string) (string, error) {
	var r struct{ Type string }
	err := ask(ctx, c, "action_type", fmt.Sprintf(`{"action":%q}`, name), &r)
	if err == nil && r.Type != "" {
		return r.Type, nil
	}
	for i, topic := range topics {
		if topic == name+"/goal" && i < len(types) {
			return strings.TrimSuffix(types[i], "Goal"), nil
		}
	}
	if err == nil {
		err = fmt.Errorf("the robot does not say its type")
	}
	return "", err
}

func ask(ctx context.Context, c *client.Client, name, args string, answer any) error {
	values, err := c.Call(ctx, "/rosapi/"+name, []byte(args))
	if err != nil {
		return err
	}
	return json.Unmarshal(values, answer)
}
