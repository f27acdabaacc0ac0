package graph

import (
	"maps"
	"sort"

	"poise/msgs/registry"
)

// TopicInfo is a topic as listings show it.
type TopicInfo struct {
	Name        string
	Type        *registry.Type // nil while nobody has said it
	Latched     bool
	Publishers  []string // nodes
	Subscribers []string
	Action      string // the action that the topic is a part of, or empty
}

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

func (t *topic) info() TopicInfo {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := TopicInfo{Name: t.name, Type: t.typ}
	for _, a := range t.pubs {
		i.Latched = i.Latched || a.latch
		i.Publishers = append(i.Publishers, a.node)
	}
	for _, s := range t.subs {
		i.Subscribers = append(i.Subscribers, s.node)
	}
	for range t.sinks {
		i.Subscribers = append(i.Subscribers, t.g.o.Node)
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

// Nodes returns the names of all who publish, subscribe or serve.
func (g *Graph) Nodes() []string {
	seen := map[string]bool{g.o.Node: true}
	for _, t := range g.Topics() {
		for _, n := range append(t.Publishers, t.Subscribers...) {
			seen[n] = true
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
