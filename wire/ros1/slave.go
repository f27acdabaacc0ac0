package ros1

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"

	"poise/wire/ros1/xmlrpc"
)

// slave is the API that the master and other nodes call.
func (n *Node) slave() *xmlrpc.Handler {
	methods := map[string]xmlrpc.Method{}
	for name, f := range map[string]struct {
		args int
		call func(args []any) (any, error)
	}{
		"getPid":           {1, func([]any) (any, error) { return os.Getpid(), nil }},
		"getMasterUri":     {1, func([]any) (any, error) { return n.c.Master, nil }},
		"getName":          {1, func([]any) (any, error) { return n.self, nil }},
		"getBusInfo":       {1, func([]any) (any, error) { return n.busInfo(), nil }},
		"getBusStats":      {1, func([]any) (any, error) { return n.busStats(), nil }},
		"getPublications":  {1, func([]any) (any, error) { return n.publications(), nil }},
		"getSubscriptions": {1, func([]any) (any, error) { return n.subscriptions(), nil }},
		"publisherUpdate": {3, func(args []any) (any, error) {
			topic, ok := args[1].(string)
			if !ok {
				return nil, fmt.Errorf("the topic is no string")
			}
			n.publishersOf(topic, args[2], true)
			return 0, nil
		}},
		"paramUpdate":  {3, func([]any) (any, error) { return 0, nil }}, // the node watches none
		"requestTopic": {3, func(args []any) (any, error) { return n.requestTopic(args[1], args[2]) }},
	} {
		methods[name] = func(_ context.Context, args []any) (any, error) {
			if len(args) != f.args {
				return []any{-1, fmt.Sprintf("%s takes %d arguments, got %d", name, f.args, len(args)), 0}, nil
			}
			v, err := f.call(args)
			if err != nil {
				return []any{-1, err.Error(), 0}, nil
			}
			return []any{success, "", v}, nil
		}
	}
	methods["shutdown"] = func(_ context.Context, args []any) (any, error) {
		why := "a call of shutdown"
		if len(args) > 0 {
			why = fmt.Sprintf("shutdown by %v", args[0])
		}
		if len(args) > 1 {
			why += fmt.Sprintf(": %v", args[1])
		}
		n.c.Log.Warn("ROS 1 ends the node", "why", why)
		go n.c.Shutdown(why)
		return []any{success, "shutdown", 0}, nil
	}
	return &xmlrpc.Handler{Methods: methods, MaxBytes: 4 << 20}
}

// requestTopic answers a subscriber that asks how to connect.
func (n *Node) requestTopic(topic, protocols any) (any, error) {
	name, _ := topic.(string)
	if n.publicationOf(name) == nil {
		return nil, fmt.Errorf("not a publisher of [%s]", name)
	}
	offered, _ := protocols.([]any)
	for _, p := range offered {
		if list, ok := p.([]any); ok && len(list) > 0 && list[0] == "TCPROS" {
			_, port, _ := net.SplitHostPort(n.links.Addr().String())
			number, err := strconv.Atoi(port)
			return []any{"TCPROS", n.c.Host, number}, err
		}
	}
	return nil, fmt.Errorf("no supported protocol implementations: this node has TCPROS")
}

func (n *Node) publications() []any {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := []any{}
	for _, ros := range slices.Sorted(maps.Keys(n.pubs)) {
		out = append(out, []any{ros, typeName(n.pubs[ros].typ)})
	}
	return out
}

func (n *Node) subscriptions() []any {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := []any{}
	for _, ros := range slices.Sorted(maps.Keys(n.subs)) {
		out = append(out, []any{ros, typeName(n.subs[ros].typ)})
	}
	return out
}

// busInfo lists the connections: number, other side, direction, transport, topic, whether it
// is connected, and a text.
func (n *Node) busInfo() []any {
	out := []any{}
	for _, l := range n.greet.list() {
		out = append(out, []any{l.number, l.peer, l.direction, "TCPROS", l.topic, true, l.text()})
	}
	return out
}

// busStats lists bytes and messages of the connections, by topic: those published, those
// read, and none of services.
func (n *Node) busStats() []any {
	published, read := map[string][]any{}, map[string][]any{}
	bytes := map[string]int{}
	for _, l := range n.greet.list() {
		sum := int(min(l.bytes.Load(), 1<<31-1))
		if l.direction == outward {
			published[l.topic] = append(published[l.topic], []any{l.number, sum, int(min(l.messages.Load(), 1<<31-1)), true})
			bytes[l.topic] = min(bytes[l.topic]+sum, 1<<31-1)
		} else {
			read[l.topic] = append(read[l.topic], []any{l.number, sum, -1, int(min(l.lost(), 1<<31-1)), true})
		}
	}
	pubs, subs := []any{}, []any{}
	for _, topic := range slices.Sorted(maps.Keys(published)) {
		pubs = append(pubs, []any{topic, bytes[topic], published[topic]})
	}
	for _, topic := range slices.Sorted(maps.Keys(read)) {
		subs = append(subs, []any{topic, read[topic]})
	}
	return []any{pubs, subs, []any{0, 0, 0}}
}
