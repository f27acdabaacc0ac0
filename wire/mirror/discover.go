package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"poise/graph"
	"poise/msgs/registry"
	"poise/wire/rosbridge/client"
)

// Discover asks a robot by its rosapi what it has, and returns what can be
// mirrored under prefix: topics that it publishes or, where it does not, reads,
// services and actions, as far as their types are known here and their names valid.
// skipped says what was left out, and why.
func Discover(ctx context.Context, c *client.Client, prefix string) (s Spec, skipped []error, err error) {
	prefix = strings.TrimSuffix(prefix, "/")
	local := func(name string) string { return prefix + "/" + strings.TrimPrefix(name, "/") }

	var actions struct {
		Names []string `json:"action_servers"`
	}
	if err := ask(ctx, c, "action_servers", "", &actions); err != nil {
		return Spec{}, nil, err
	}
	actions.Names = first("actions", actions.Names, &skipped)
	var topics topicList
	if err := ask(ctx, c, "topics", "", &topics); err != nil {
		return Spec{}, nil, err
	}
	if err := s.topics(ctx, c, topics, actions.Names, local, &skipped); err != nil {
		return Spec{}, nil, err
	}
	if err := s.services(ctx, c, local, &skipped); err != nil {
		return Spec{}, nil, err
	}
	if err := s.actions(ctx, c, topics, actions.Names, local, &skipped); err != nil {
		return Spec{}, nil, err
	}
	return s, skipped, nil
}

// topicList is how rosapi lists topics.
type topicList struct{ Topics, Types []string }

// topics adds the topics that the robot publishes and those that it reads, without those of actions.
func (s *Spec) topics(ctx context.Context, c *client.Client, t topicList, actions []string, local func(string) string, skipped *[]error) error {
	ofAction := map[string]bool{}
	for _, name := range actions {
		for _, part := range []string{"/goal", "/cancel", "/status", "/feedback", "/result"} {
			ofAction[name+part] = true
		}
	}
	for i, name := range first("topics", t.Topics, skipped) {
		if i >= len(t.Types) || ofAction[name] {
			continue
		}
		_, err := graph.Clean(local(name))
		if err == nil {
			_, _, err = registry.Message(t.Types[i])
		}
		isInput := false
		if err == nil {
			isInput, err = reads(ctx, c, name)
		}
		if err != nil {
			if gone(ctx, err) {
				return err
			}
			*skipped = append(*skipped, fmt.Errorf("topic %q: %w", name, err))
			continue
		}
		n := Name{Remote: name, Type: t.Types[i], Local: local(name)}
		if isInput {
			s.Publish = append(s.Publish, n)
			continue
		}
		n.Latched = slices.ContainsFunc(latched, func(end string) bool { return strings.HasSuffix(name, "/"+end) })
		s.Topics = append(s.Topics, n)
	}
	return nil
}

// actions adds the actions of the robot.
func (s *Spec) actions(ctx context.Context, c *client.Client, t topicList, names []string, local func(string) string, skipped *[]error) error {
	for _, name := range names {
		typ := ""
		_, err := graph.Clean(local(name))
		if err == nil {
			typ, err = actionType(ctx, c, name, t.Topics, t.Types)
		}
		if err == nil {
			_, _, err = registry.ActionNamed(typ)
		}
		if err != nil {
			if gone(ctx, err) {
				return err
			}
			*skipped = append(*skipped, fmt.Errorf("action %q: %w", name, err))
			continue
		}
		s.Actions = append(s.Actions, Name{Remote: name, Type: typ, Local: local(name)})
	}
	return nil
}

// maxNames is how many topics, services and actions of a robot are mirrored, each.
const maxNames = 1000

// first returns as many names as are mirrored, and says how many are not.
func first(kind string, names []string, skipped *[]error) []string {
	if len(names) <= maxNames {
		return names
	}
	*skipped = slices.Insert(*skipped, 0, fmt.Errorf("%d of %d %s: the limit is %d", len(names)-maxNames, len(names), kind, maxNames)) // the first are told
	return names[:maxNames]
}

// gone reports whether an error is about the robot and not about one of its names.
func gone(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, client.ErrDisconnected) || errors.Is(err, client.ErrClosed)
}

// object is a JSON object of one member.
func object(member, value string) string {
	text, err := json.Marshal(map[string]string{member: value})
	if err != nil {
		panic("mirror: " + err.Error()) // a map of strings always has a text
	}
	return string(text)
}

// latched are topics that are published once; rosapi does not tell which these are.
var latched = []string{"tf_static", "robot_description", "robot_description_semantic", "map", "resource_assignment"}

// reads reports whether a topic is one that the robot reads and does not publish.
// Clients of its bridge do not count: this mirror is one of them.
func reads(ctx context.Context, c *client.Client, topic string) (bool, error) {
	args := object("topic", topic)
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
	for _, name := range first("services", list.Services, skipped) {
		if strings.HasPrefix(name, "/rosapi/") {
			continue // this graph has its own rosapi
		}
		var r struct{ Type string }
		_, err := graph.Clean(local(name))
		if err == nil {
			err = ask(ctx, c, "service_type", object("service", name), &r)
		}
		if err == nil {
			_, _, err = registry.ServiceNamed(r.Type)
		}
		if err != nil {
			if gone(ctx, err) {
				return err
			}
			*skipped = append(*skipped, fmt.Errorf("service %q: %w", name, err))
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
	err := ask(ctx, c, "action_type", object("action", name), &r)
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
