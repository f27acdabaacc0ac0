package ros2

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"poise/graph"
	"poise/msgs"
	"poise/msgs/registry"
	"poise/wire/rosnet"
)

// Names says how the names of the graph appear in ROS.
type Names = rosnet.Names

// globals are the topics that ROS 2 has once, whatever the namespace: those of ROS 1 but
// for /rosout_agg, since no node gathers the log.
var globals = map[string]bool{"/tf": true, "/tf_static": true, "/rosout": true, "/clock": true}

// ReadNames reads remappings as people write them behind --ros-args -r: A:=B, __ns:=/robot1,
// __node:=NAME.
func ReadNames(remaps []string) (n Names, err error) {
	n = Names{Namespace: "/", Node: "poise", Remaps: map[string]string{}}
	var later [][2]string
	for _, remap := range remaps {
		from, to, ok := strings.Cut(remap, ":=")
		switch {
		case !ok || from == "" || to == "":
			return n, fmt.Errorf("remap %q is no from:=to", remap)
		case from == "__ns":
			if n.Namespace = "/"; strings.Trim(to, "/") != "" {
				if n.Namespace, err = valid(strings.TrimSuffix(to, "/")); err != nil {
					return n, fmt.Errorf("remap %q: %w", remap, err)
				}
			}
		case from == "__node" || from == "__name":
			if _, err := valid(to); err != nil || strings.Contains(to, "/") {
				return n, fmt.Errorf("remap %q: a node's own name has letters, digits and _, begins with no digit and has no slash", remap)
			}
			n.Node = to
		case strings.HasPrefix(from, "__"):
			return n, fmt.Errorf("remap %q: %s is unknown (__ns, __node)", remap, from)
		default:
			later = append(later, [2]string{from, to})
		}
	}
	for _, pair := range later {
		if node, from, ofOne := strings.Cut(pair[0], ":"); ofOne { // -r NODE:A:=B
			if pair[0] = from; node != n.Node {
				continue
			}
		}
		from, err := n.Resolve(pair[0])
		if err == nil {
			n.Remaps[from], err = n.Resolve(pair[1])
		}
		if err == nil {
			_, err = valid(n.Remaps[from])
		}
		if err != nil {
			return n, fmt.Errorf("remap %s:=%s: %w", pair[0], pair[1], err)
		}
	}
	return n, nil
}

// ReadParams reads parameters as people write them behind --ros-args -p: NAME:=VALUE, or
// NODE:NAME:=VALUE for one of several nodes. A value is read as YAML reads it: a number, true
// or false, a list of numbers or texts in brackets, or a text.
func ReadParams(words []string, node string) (map[string]any, error) {
	params := map[string]any{}
	for _, word := range words {
		name, text, ok := strings.Cut(word, ":=")
		of, rest, ofOne := strings.Cut(name, ":")
		if ofOne {
			name = rest
		}
		if !ok || name == "" {
			return nil, fmt.Errorf("parameter %q is no name:=value", word)
		}
		if ofOne && of != node {
			continue
		}
		value, err := paramOf(text)
		if err != nil {
			return nil, fmt.Errorf("parameter %q: %w", word, err)
		}
		params[name] = value
	}
	return params, nil
}

// paramOf reads the value of a parameter.
func paramOf(text string) (any, error) {
	inner, isList := strings.CutPrefix(text, "[")
	if !isList {
		return scalarOf(text), nil
	}
	inner, isList = strings.CutSuffix(inner, "]")
	if !isList {
		return nil, errors.New("a list ends with ]")
	}
	var items []string
	if strings.TrimSpace(inner) != "" {
		items = strings.Split(inner, ",")
	}
	return listOf(items, func(one string) any { return scalarOf(strings.TrimSpace(one)) }), nil
}

// listOf returns a list as ROS 2 has it: of integers, numbers, truths or texts, as its items are; mixed
// ones, and none, are texts.
func listOf[T any](items []T, value func(T) any) any {
	integers, numbers, truths, texts := []int64{}, []float64{}, []bool{}, []string{}
	for _, one := range items {
		v := value(one)
		switch x := v.(type) {
		case int:
			integers, numbers = append(integers, int64(x)), append(numbers, float64(x))
		case float64:
			numbers = append(numbers, x)
		case bool:
			truths = append(truths, x)
		}
		texts = append(texts, fmt.Sprint(v))
	}
	switch n := len(items); {
	case n == 0:
		return texts
	case len(integers) == n:
		return integers
	case len(numbers) == n:
		return numbers
	case len(truths) == n:
		return truths
	}
	return texts
}

func scalarOf(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return int(n)
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return x
	}
	switch text {
	case "true", "True":
		return true
	case "false", "False":
		return false
	}
	return strings.Trim(text, `"'`)
}

// valid returns a name that may be used in ROS 2: more strictly than in the graph, no part of it begins
// with a digit. Other nodes could not name it.
func valid(name string) (string, error) {
	name, err := graph.Clean(name)
	if err != nil {
		return "", err
	}
	for _, part := range strings.Split(name, "/") {
		if part != "" && '0' <= part[0] && part[0] <= '9' {
			return "", fmt.Errorf("%q begins with a digit, which ROS 2 does not take", part)
		}
	}
	return name, nil
}

// typeName returns the name of a type in DDS: sensor_msgs::msg::dds_::JointState_.
func typeName(t *registry.Type) string {
	parts := strings.Split(t.Name(msgs.ROS2), "/")
	return parts[0] + "::" + parts[1] + "::dds_::" + parts[2] + "_"
}

// userData is what an endpoint says of its type: the hash of the definition, since Iron.
func (n *Node) userData(t *registry.Type) []byte {
	if n.c.Form == msgs.Humble {
		return nil
	}
	return []byte("typehash=" + t.Hash(n.c.Form) + ";")
}
