// Package rosnet is what the wires of ROS 1 and ROS 2 have in common: the names of the graph in
// ROS, and how the robots of a mirrored network are stopped.
package rosnet

import (
	"strings"

	"poise/graph"
)

// Names says how the names of the graph appear in ROS: under a namespace, and some by
// another name.
type Names struct {
	Namespace string            // "/" or "/robot1"
	Node      string            // the node's own name without its namespace: "poise"
	Remaps    map[string]string // names in full: what the wire would use → what it uses
}

// Self returns the node's name in full.
func (n Names) Self() string { return join(n.Namespace, n.Node) }

// Resolve returns a name as a user writes it in full: /a global, ~a and ~/a the node's, a in
// the namespace.
func (n Names) Resolve(name string) (string, error) {
	switch {
	case strings.HasPrefix(name, "~"):
		name = join(n.Self(), strings.TrimPrefix(name[1:], "/"))
	case !strings.HasPrefix(name, "/"):
		name = join(n.Namespace, name)
	}
	return graph.Clean(name)
}

// join puts a relative name under a namespace.
func join(namespace, name string) string {
	return strings.TrimSuffix(namespace, "/") + "/" + name
}

// Mapping maps the names of the graph to those of ROS and back, as one node does.
type Mapping struct {
	Names
	Globals map[string]bool   // topics that this ROS has once, whatever the namespace
	Topics  map[string]string // names in ROS whose topics have another name in the graph
	Mirror  string            // what the whole network is shown below, such as /real; empty for none
}

// ROS returns the name in ROS of a name of the graph. In a mirrored network what is not below
// its prefix has none.
func (m *Mapping) ROS(name string) string {
	if m.Mirror != "" {
		ros, inside := strings.CutPrefix(name, m.Mirror+"/")
		if !inside {
			return ""
		}
		return "/" + ros
	}
	full := name
	if m.Namespace != "/" && !m.Globals[name] {
		full = m.Namespace + name
	}
	if to, ok := m.Remaps[full]; ok {
		return to
	}
	return full
}

// ROSTopics returns the names in ROS of a topic of the graph.
func (m *Mapping) ROSTopics(name string) (all []string) {
	if m.Mirror != "" {
		if ros := m.ROS(name); ros != "" {
			all = append(all, ros)
		}
		return all
	}
	if other, replaced := m.Topics[name]; !replaced || other == name {
		all = append(all, m.ROS(name))
	}
	for ros, of := range m.Topics {
		if of == name && ros != name {
			all = append(all, m.ROS(ros))
		}
	}
	return all
}

// Graph returns the name in the graph of something of another node: as in ROS, without the
// node's own namespace.
func (m *Mapping) Graph(ros string) string {
	if m.Mirror != "" {
		return m.Mirror + ros
	}
	if m.Namespace != "/" {
		if rest, inside := strings.CutPrefix(ros, m.Namespace+"/"); inside {
			return "/" + rest
		}
	}
	return ros
}
