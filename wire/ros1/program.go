package ros1

import "sync"

// Program is the nodes of one program, which may meet at the same master: the one that shows
// its graph must not be taken for a robot by those that look for one (Config.Outside).
type Program struct {
	mu    sync.Mutex
	nodes map[string]string // names by URI
}

func (p *Program) add(uri, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.nodes == nil {
		p.nodes = map[string]string{}
	}
	p.nodes[uri] = name
}

func (p *Program) remove(uri string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.nodes, uri)
}

// isOwn reports whether the node at a URI is this one, or one of its program that it leaves out.
func (n *Node) isOwn(uri string) bool {
	if uri == n.uri {
		return true
	}
	p := n.c.Program
	if p == nil || !n.c.Outside {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, own := p.nodes[uri]
	return own
}

// isOwnName is isOwn by the node's name.
func (n *Node) isOwnName(name string) bool {
	if name == n.self {
		return true
	}
	p := n.c.Program
	if p == nil || !n.c.Outside {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, own := range p.nodes {
		if own == name {
			return true
		}
	}
	return false
}
