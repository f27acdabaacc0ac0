package graph

import (
	"maps"
	"sort"

	"poise/msgs/registry"
)

// TopicInfo is a topic as listings show it.
type TopicInfo struct {
	Name        string
	Type        *registry.Type // nil while it is not known
	QoS         QoS            // of all publishers together: reliable if all are, latched if one is, the largest depth
	Publishers  []Endpoint
	Subscribers []Endpoint
	Unmatched   []Unmatched // pairs that exchange no messages
	Action      string      // the action that the topic is a part of, or empty
	Owner       string      // the node whose own the topic is: others do not publish on it; empty if they may
}

// Endpoint is a publisher with what it offers, or a subscriber with what it asks for.
type Endpoint struct {
	Node string
	QoS  QoS
}

// Unmatched is a publisher that does not offer what a subscriber asks for.
type Unmatched struct{ Publisher, Subscriber, Reason string }

// ServiceInfo is a service as listings show it.
type ServiceInfo struct {
	Name string
	Type *registry.Service
	Node string
}

// ActionInfo is an action as listings show it.
type ActionInfo struct {
	Name  string
	Type  *registry.Action
	Node  string
	Goals int // not over yet
}

// Topics returns all topics by name, under their second names too.
func (g *Graph) Topics() []TopicInfo {
	g.mu.RLock()
	defer g.mu.RUnlock()
	var out []TopicInfo
	for _, t := range g.topics {
		i := t.info()
		i.Action = g.actionOf(t.name)
		out = append(out, i)
		for _, second := range g.secondNames(t.name) {
			i.Name = second
			out = append(out, i)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// TopicInfo returns the topic of a name, or of a second name.
func (g *Graph) TopicInfo(name string) (TopicInfo, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	own, err := g.resolve(name)
	t := g.topics[own]
	if err != nil || t == nil {
		return TopicInfo{}, false
	}
	i := t.info()
	i.Action = g.actionOf(own)
	i.Name, _ = Clean(name) // resolve found it valid
	return i, true
}

func (t *topic) info() TopicInfo {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := TopicInfo{Name: t.name, Type: t.typ}
	if owner := t.owner.Load(); owner != nil && owner.others == nil {
		i.Owner = owner.node
	}
	for n, a := range t.pubs {
		if n == 0 {
			i.QoS = a.qos
		}
		i.QoS.Reliability = min(i.QoS.Reliability, a.qos.Reliability)
		i.QoS.Latched = i.QoS.Latched || a.qos.Latched
		i.QoS.Depth = max(i.QoS.Depth, a.qos.Depth)
		i.Publishers = append(i.Publishers, Endpoint{a.node, a.qos})
	}
	for _, s := range t.subs {
		asked := s.QoS()
		i.Subscribers = append(i.Subscribers, Endpoint{s.node, asked})
		for _, a := range t.pubs {
			if why := a.qos.Unmet(asked); why != "" {
				i.Unmatched = append(i.Unmatched, Unmatched{Publisher: a.node, Subscriber: s.node, Reason: why})
			}
		}
	}
	for range t.sinks {
		i.Subscribers = append(i.Subscribers, Endpoint{t.g.o.Node, QoS{}.asked()})
	}
	return i
}

// actionOf returns the action that a topic belongs to. The lock is held.
func (g *Graph) actionOf(name string) string {
	for _, part := range []string{"/goal", "/cancel", "/status", "/feedback", "/result"} {
		if n := len(name) - len(part); n > 0 && name[n:] == part && g.actions[name[:n]] != nil {
			return name[:n]
		}
	}
	return ""
}

// Services returns all services by name, under their second names too.
func (g *Graph) Services() []ServiceInfo {
	g.mu.RLock()
	defer g.mu.RUnlock()
	var out []ServiceInfo
	for _, s := range g.services {
		for _, name := range append(g.secondNames(s.name), s.name) {
			out = append(out, ServiceInfo{Name: name, Type: s.typ, Node: s.node})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// ServiceInfo returns the service of a name, or of a second name.
func (g *Graph) ServiceInfo(name string) (ServiceInfo, bool) {
	s, err := g.serviceNamed(name)
	if err != nil {
		return ServiceInfo{}, false
	}
	name, _ = Clean(name)
	return ServiceInfo{Name: name, Type: s.typ, Node: s.node}, true
}

// Actions returns all actions by name, under their second names too.
func (g *Graph) Actions() []ActionInfo {
	g.mu.RLock()
	byName := maps.Clone(g.actions)
	g.mu.RUnlock()
	var out []ActionInfo
	for own, a := range byName {
		i := ActionInfo{Type: a.typ, Node: a.node, Goals: a.openGoals()} // takes the action's own lock
		g.mu.RLock()
		for _, name := range append(g.secondNames(own), own) {
			i.Name = name
			out = append(out, i)
		}
		g.mu.RUnlock()
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// ActionInfo returns the action of a name, or of a second name.
func (g *Graph) ActionInfo(name string) (ActionInfo, bool) {
	s, err := g.actionNamed(name)
	if err != nil {
		return ActionInfo{}, false
	}
	name, _ = Clean(name)
	return ActionInfo{Name: name, Type: s.typ, Node: s.node, Goals: s.openGoals()}, true
}

// Nodes returns the names of all nodes that publish, subscribe or serve.
func (g *Graph) Nodes() []string {
	seen := map[string]bool{g.o.Node: true}
	for _, t := range g.Topics() {
		for _, e := range append(t.Publishers, t.Subscribers...) {
			seen[e.Node] = true
		}
	}
	for _, s := range g.Services() {
		seen[s.Node] = true
	}
	for _, a := range g.Actions() {
		seen[a.Node] = true
	}
	out := make([]string, 0, len(seen))
	for n := range seen {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}
