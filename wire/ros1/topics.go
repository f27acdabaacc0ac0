package ros1

import (
	"slices"
	"strings"

	"poise/graph"
	"poise/msgs/registry"
)

// importedTopic is a topic of another node: it is listed in the graph with its type. It is read
// from the other node as soon as it has a subscriber in the graph, as any topic.
type importedTopic struct {
	n    *Node
	name string // in the graph
	node string
	typ  *registry.Type
	who  *peer
	ad   *graph.Advertisement
}

func (t *importedTopic) close() {
	t.n.rename(t.name, "")
	t.ad.Close()
	t.n.peers.exit(t.who)
}

// rename gives a topic of the graph the name in ROS that another node has for it, or, by "",
// that of this node again.
func (n *Node) rename(name, ros string) {
	n.mu.Lock()
	before := n.rosNames(name)
	if delete(n.others, name); ros != "" {
		n.others[name] = ros
	}
	if !slices.Equal(before, n.rosNames(name)) {
		for _, old := range before {
			if s := n.subs[old]; s != nil && s.g == n.g && s.name == name {
				s.close()
				delete(n.subs, old)
			}
			if p := n.pubs[old]; p != nil && p.g == n.g && p.name == name {
				delete(n.pubs, old)
			}
		}
	}
	n.mu.Unlock()
	n.refreshTopic(name)
	n.keeper.wake()
}

// lookAtTopics gives back what is gone and takes what is new.
func (i *imports) lookAtTopics(published listing, types map[string]string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for ros, t := range i.topics {
		if typ, _, err := registry.Message(types[ros]); !published.has(ros, t.node) || err != nil || typ != t.typ || i.ofAction(ros) {
			delete(i.topics, ros)
			t.close()
		}
	}
	for ros, nodes := range published {
		nodes = slices.DeleteFunc(slices.Clone(nodes), func(node string) bool { return node != i.n.self && i.n.isOwnName(node) })
		if len(nodes) == 0 || i.topics[ros] != nil || len(i.topics) >= maxImports || globals[ros] && i.n.c.Mirror == "" || slices.Contains(nodes, i.n.self) || i.ofAction(ros) {
			continue
		}
		typ, _, err := registry.Message(types[ros])
		if err != nil {
			continue
		}
		t, err := i.list(ros, nodes[0], typ)
		if err != nil {
			i.n.c.Log.Debug("a ROS 1 topic is not in the graph", "topic", ros, "node", nodes[0], "why", err)
			continue
		}
		i.topics[ros] = t
	}
}

// lookAtReaders sees to it that what the graph publishes for other nodes, under names outside
// this node's namespace, has those names in ROS.
func (i *imports) lookAtReaders(read listing) {
	if i.n.c.Mirror != "" {
		i.n.readersAre(read)
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for ros := range i.read {
		if len(read[ros]) == 0 {
			delete(i.read, ros)
			if i.topics[ros] == nil {
				i.n.rename(i.n.names.Graph(ros), "")
			}
		}
	}
	for ros, nodes := range read {
		name := i.n.names.Graph(ros)
		if i.read[ros] || i.topics[ros] != nil || globals[ros] || slices.Contains(nodes, i.n.self) || len(i.read) >= maxImports || i.ofAction(ros) || i.n.names.ROS(name) == ros {
			continue
		}
		i.read[ros] = true
		i.n.rename(name, ros)
	}
}

// readersAre notes what other nodes read: a mirror publishes that alone.
func (n *Node) readersAre(read listing) {
	var changed []string
	n.mu.Lock()
	for ros := range n.readers {
		if len(read[ros]) == 0 {
			delete(n.readers, ros)
			changed = append(changed, ros)
		}
	}
	for ros, nodes := range read {
		if !n.readers[ros] && slices.ContainsFunc(nodes, func(node string) bool { return !n.isOwnName(node) }) {
			n.readers[ros] = true
			changed = append(changed, ros)
		}
	}
	n.mu.Unlock()
	for _, ros := range changed {
		n.refreshTopic(n.names.Graph(ros))
	}
}

// ofAction reports whether a topic is one of an imported action, which lists it itself.
func (i *imports) ofAction(ros string) bool {
	return slices.ContainsFunc(parts, func(part string) bool {
		name, is := strings.CutSuffix(ros, part)
		return is && i.actions[name] != nil
	})
}

// list puts a topic of another node into the graph.
func (i *imports) list(ros, node string, typ *registry.Type) (*importedTopic, error) {
	who, err := i.n.peers.enter(node)
	if err != nil {
		return nil, err
	}
	name := i.n.names.Graph(ros)
	ad, err := i.n.g.Advertise(name, typeName(typ), graph.TopicOptions{Node: who.client.Node(), Account: who.account})
	if err != nil {
		i.n.peers.exit(who)
		return nil, err
	}
	if i.n.names.ROS(name) != ros {
		i.n.rename(name, ros)
	}
	return &importedTopic{n: i.n, name: name, node: node, typ: typ, who: who, ad: ad}, nil
}
