package graph

import (
	"slices"
	"sync"
)

// clients are the programs behind wires that are connected now.
type clients struct {
	mu      sync.Mutex
	present map[string]*Client // by node name
	leaving []*func(node string)
}

// Client is a program behind a wire while it is connected. Its node name is who it is:
// From of what it publishes, Caller of what it calls and of the goals it sends. The wire
// chooses it and lets no program choose that of another.
type Client struct {
	g    *Graph
	node string
	once sync.Once
}

// Join registers a client by its node name, which is its alone until it leaves: no
// other client has it, and never the graph's own node.
func (g *Graph) Join(node string) (*Client, error) {
	if node == "" || node == g.o.Node {
		return nil, &NameError{Name: node, Why: "cannot be a client's"}
	}
	c := &Client{g: g, node: node}
	g.clients.mu.Lock()
	defer g.clients.mu.Unlock()
	if g.clients.present[node] != nil {
		return nil, &NameError{Name: node, Why: "is taken by another client"}
	}
	if g.clients.present == nil {
		g.clients.present = map[string]*Client{}
	}
	g.clients.present[node] = c
	return c, nil
}

// Node returns the client's name.
func (c *Client) Node() string { return c.node }

// Leave ends the registration, once the client can send nothing any more. Who asked for
// it by OnLeave is told before Leave returns, and the name is free.
func (c *Client) Leave() {
	c.once.Do(func() {
		s := &c.g.clients
		s.mu.Lock()
		delete(s.present, c.node)
		told := slices.Clone(s.leaving)
		s.mu.Unlock()
		for _, f := range told {
			(*f)(c.node)
		}
	})
}

// Present reports whether a node is there: a client that has not left, or the graph's own
// node. What a client sent may be read after it left.
func (g *Graph) Present(node string) bool {
	g.clients.mu.Lock()
	defer g.clients.mu.Unlock()
	return node == g.o.Node || g.clients.present[node] != nil
}

// OnLeave calls f with the node name of every client that leaves, from the goroutine of
// its wire, until end is called. Present is false by then.
func (g *Graph) OnLeave(f func(node string)) (end func()) {
	g.clients.mu.Lock()
	defer g.clients.mu.Unlock()
	g.clients.leaving = append(g.clients.leaving, &f)
	return func() {
		g.clients.mu.Lock()
		defer g.clients.mu.Unlock()
		g.clients.leaving = slices.DeleteFunc(g.clients.leaving, func(x *func(string)) bool { return x == &f })
	}
}
