package ros1

import (
	"context"
	"maps"
	"slices"

	"poise/graph"
	"poise/msgs"
	"poise/msgs/registry"
)

// publication is a topic of the graph that the node publishes in ROS.
type publication struct {
	g         *graph.Graph // the node's, or that of its imports
	ros, name string       // in ROS and in the graph
	typ       *registry.Type
}

// watch follows the graph and notes what is to be registered.
func (n *Node) watch(ctx context.Context, w *graph.Watcher) {
	for {
		change, err := w.Next(ctx)
		if err != nil {
			return
		}
		switch {
		case change.All:
			n.refreshAll()
		case change.Kind == graph.TopicKind:
			n.refreshTopic(change.Name)
		case change.Kind == graph.ServiceKind:
			n.refreshService(change.Name)
		}
	}
}

// refreshAll looks at everything that is or was in the graph.
func (n *Node) refreshAll() {
	for _, t := range n.g.Topics() {
		n.refreshTopic(t.Name)
	}
	for _, s := range n.g.Services() {
		n.refreshService(s.Name)
	}
	n.mu.Lock()
	names := map[string]bool{}
	for _, p := range n.pubs {
		names[p.name] = true
	}
	for _, s := range n.subs {
		names[s.name] = true
	}
	n.mu.Unlock()
	for name := range names {
		n.refreshTopic(name)
	}
	for _, name := range *n.services.Load() {
		n.refreshService(name)
	}
}

// rosNames returns the names in ROS of a topic of the graph. It is called with the lock of the
// node.
func (n *Node) rosNames(name string) []string {
	if ros, isOther := n.others[name]; isOther { // which may be outside the namespace
		return []string{ros}
	}
	return n.names.ROSTopics(name)
}

// refreshTopic decides whether a topic is published or read in ROS.
func (n *Node) refreshTopic(name string) {
	info, exists := n.g.TopicInfo(name)
	exists = exists && info.Type != nil
	own := func(e graph.Endpoint) bool { return !n.peers.has(e.Node) }
	publish := exists && slices.ContainsFunc(info.Publishers, own)
	read := exists && info.Owner == "" && slices.ContainsFunc(info.Subscribers, own)
	changed := false
	n.mu.Lock()
	for _, ros := range n.rosNames(name) {
		if n.isImport(ros) {
			continue
		}
		publish := publish && (n.c.Mirror == "" || n.readers[ros])
		if p := n.pubs[ros]; publish && (p == nil || p.typ != info.Type) {
			n.pubs[ros] = &publication{g: n.g, ros: ros, name: name, typ: info.Type}
			changed = true
		} else if !publish && p != nil && p.name == name {
			delete(n.pubs, ros)
			changed = true
		}
		if s := n.subs[ros]; s != nil && (!read || s.typ != info.Type) && s.name == name {
			s.close()
			delete(n.subs, ros)
			changed = true
		}
		if read && n.subs[ros] == nil && n.life.Err() == nil {
			n.subs[ros] = newSubscription(n, n.g, ros, name, info.Type)
			changed = true
		}
	}
	n.mu.Unlock()
	if changed {
		n.keeper.wake()
	}
}

// refreshService decides whether a service is offered in ROS.
func (n *Node) refreshService(name string) {
	if n.c.Mirror != "" {
		return // it offers none
	}
	info, exists := n.g.ServiceInfo(name)
	exists = exists && !n.peers.has(info.Node)
	ros := n.names.ROS(name)
	n.mu.Lock()
	old := *n.services.Load()
	if _, had := old[ros]; had == exists {
		n.mu.Unlock()
		return
	}
	// a stop looks here without a lock
	next := maps.Clone(old)
	if exists {
		next[ros] = name
	} else {
		delete(next, ros)
	}
	n.services.Store(&next)
	n.mu.Unlock()
	n.keeper.wake()
}

// publicationOf returns what is published under a name in ROS.
func (n *Node) publicationOf(ros string) *publication {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.pubs[ros]
}

// typeName returns the name of a type in ROS 1.
func typeName(t *registry.Type) string { return t.Name(msgs.ROS1) }
