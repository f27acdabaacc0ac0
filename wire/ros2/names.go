package ros2

import (
	"fmt"
	"strings"

	"poise/graph"
	"poise/msgs"
	"poise/msgs/registry"
)

// Names says how the names of the graph appear in ROS: under a namespace, and some by
// another name.
type Names struct {
	Namespace string            // "/" or "/robot1"
	Node      string            // the node's own name without its namespace: "poise"
	Remaps    map[string]string // names in full: what the wire would use → what it uses
}

// globals are the topics that ROS has once, whatever the namespace.
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
				if n.Namespace, err = graph.Clean(strings.TrimSuffix(to, "/")); err != nil {
					return n, fmt.Errorf("remap %q: %w", remap, err)
				}
			}
		case from == "__node" || from == "__name":
			if _, err := graph.Clean(to); err != nil || strings.Contains(to, "/") {
				return n, fmt.Errorf("remap %q: a node's own name has letters, digits and _, and no slash", remap)
			}
			n.Node = to
		case strings.HasPrefix(from, "__"):
			return n, fmt.Errorf("remap %q: %s is unknown (__ns, __node)", remap, from)
		default:
			later = append(later, [2]string{from, to})
		}
	}
	for _, pair := range later {
		from, err := n.resolve(pair[0])
		if err == nil {
			n.Remaps[from], err = n.resolve(pair[1])
		}
		if err != nil {
			return n, fmt.Errorf("remap %s:=%s: %w", pair[0], pair[1], err)
		}
	}
	return n, nil
}

// Self returns the node's name in full.
func (n Names) Self() string { return strings.TrimSuffix(n.Namespace, "/") + "/" + n.Node }

// resolve returns a name as a user writes it in full: /a global, ~/a the node's, a in the
// namespace.
func (n Names) resolve(name string) (string, error) {
	switch {
	case strings.HasPrefix(name, "~"):
		name = n.Self() + "/" + strings.TrimPrefix(name[1:], "/")
	case !strings.HasPrefix(name, "/"):
		name = strings.TrimSuffix(n.Namespace, "/") + "/" + name
	}
	return graph.Clean(name)
}

// ROS returns the name in ROS of a name of the graph.
func (n Names) ROS(name string) string {
	full := name
	if n.Namespace != "/" && !globals[name] {
		full = n.Namespace + name
	}
	if to, ok := n.Remaps[full]; ok {
		return to
	}
	return full
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
