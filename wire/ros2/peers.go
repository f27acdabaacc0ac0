package ros2

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"poise/graph"
	"poise/internal/budget"
	"poise/rtps"
)

// peers are the other participants that have something to do with the graph.
type peers struct {
	n *Node

	mu   sync.Mutex
	all  map[rtps.Prefix]*peer
	node map[string]bool // names in the graph
	ever uint64
	gone bool // the node ends
}

// peer is another participant, a client of the graph.
type peer struct {
	prefix  rtps.Prefix
	client  *graph.Client
	account *budget.Account
	calls   atomic.Int64 // under way

	mu   sync.Mutex
	pubs map[string]*graph.Advertisement // by name in the graph
}

func newPeers(n *Node) *peers {
	return &peers{n: n, all: map[rtps.Prefix]*peer{}, node: map[string]bool{}}
}

// everyone is the node in the graph that reads for all peers: in DDS they share a writer.
const everyone = "/ros2"

// enter returns the client of a participant, and makes it for a new one.
func (p *peers) enter(prefix rtps.Prefix) (*peer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.all[prefix]; one != nil {
		return one, nil
	}
	if p.gone {
		return nil, graph.ErrClosed
	}
	if limit := p.n.c.Limits.Participants; len(p.all) >= limit {
		p.n.stats.refused.Add(1)
		return nil, fmt.Errorf("too many participants: the limit is %d", limit)
	}
	own := fmt.Sprintf("%s/participant_%x", everyone, prefix[:])
	client, err := p.join(p.n.infos.nodeOf(prefix))
	if err != nil {
		if client, err = p.n.g.Join(own); err != nil {
			return nil, err
		}
	}
	one := &peer{prefix: prefix, client: client, account: p.n.c.Budget.Open(), pubs: map[string]*graph.Advertisement{}}
	p.all[prefix], p.node[client.Node()] = one, true
	p.ever++
	return one, nil
}

// join joins the graph by the name that a node gives itself, unless it would be taken for
// another.
func (p *peers) join(name string) (*graph.Client, error) {
	name, err := graph.Clean(name)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(name, "/rosbridge/") || strings.HasPrefix(name, everyone) || name == p.n.g.Options().Node || name == p.n.self {
		return nil, fmt.Errorf("the name %s is another's", name)
	}
	return p.n.g.Join(name)
}

// look drops those that are gone.
func (p *peers) look(others []rtps.ParticipantInfo) {
	present := map[rtps.Prefix]bool{}
	for _, o := range others {
		present[o.GUID.Prefix] = true
	}
	p.mu.Lock()
	var left []*peer
	for prefix, one := range p.all {
		if !present[prefix] {
			left = append(left, one)
			delete(p.all, prefix)
		}
	}
	p.mu.Unlock()
	p.leave(left)
}

// leave takes peers out of the graph, and then their names.
func (p *peers) leave(left []*peer) {
	for _, one := range left {
		one.mu.Lock()
		for _, a := range one.pubs {
			a.Close()
		}
		one.pubs = nil
		one.mu.Unlock()
		one.client.Leave()
		one.account.Close()
		p.mu.Lock()
		delete(p.node, one.client.Node())
		p.mu.Unlock()
	}
}

func (p *peers) leaveAll() {
	p.mu.Lock()
	p.gone = true
	var left []*peer
	for _, one := range p.all {
		left = append(left, one)
	}
	clear(p.all)
	p.mu.Unlock()
	p.leave(left)
}

// has reports whether a node of the graph is one of ROS 2.
func (p *peers) has(node string) bool {
	if node == everyone {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.node[node]
}

func (p *peers) counts() (now int, ever uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all), p.ever
}
