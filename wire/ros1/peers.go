package ros1

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"poise/graph"
	"poise/internal/budget"
)

// peers are the other ROS nodes that have something to do with this one.
type peers struct {
	n *Node

	mu   sync.Mutex
	all  map[string]*peer // by the name that the node gives itself
	ever uint64
	node map[string]bool // names in the graph
}

// peer is another node. It is a client of the graph while it has a connection, and after
// that until the master does not know it any more, or it does not answer.
type peer struct {
	caller  string
	client  *graph.Client
	account *budget.Account
	pace    *pace // of its messages
	refs    int
	watched bool
	gone    bool
}

func newPeers(n *Node) *peers {
	return &peers{n: n, all: map[string]*peer{}, node: map[string]bool{}}
}

// foreign is where node names that would be taken for those of others stand.
const foreign = "/ros1"

// enter notes a connection of a node. exit ends it.
func (p *peers) enter(caller string) (*peer, error) {
	name, err := graph.Clean(caller)
	if err != nil {
		return nil, fmt.Errorf("callerid: %w", err)
	}
	if name == p.n.self {
		return nil, fmt.Errorf("callerid %s is this node's own", name)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for one := p.all[name]; one != nil; one = p.all[name] {
		if !one.gone {
			one.refs++
			return one, nil
		}
		p.mu.Unlock() // its namesake is leaving
		time.Sleep(time.Millisecond)
		p.mu.Lock()
	}
	if limit := p.n.c.Limits.Nodes; len(p.all) >= limit {
		return nil, fmt.Errorf("too many nodes: the limit is %d", limit)
	}
	own := name
	if strings.HasPrefix(name, "/rosbridge/") || strings.HasPrefix(name, foreign+"/") || name == p.n.g.Options().Node {
		own = foreign + name
	}
	client, err := p.n.g.Join(own)
	if err != nil {
		if client, err = p.n.g.Join(foreign + name); err != nil {
			return nil, err
		}
	}
	one := &peer{caller: name, client: client, account: p.n.c.Budget.Open(), pace: perSecond(p.n.c.Limits.MessageRate), refs: 1}
	p.all[name], p.node[client.Node()] = one, true
	p.ever++
	return one, nil
}

// exit ends a connection of a node.
func (p *peers) exit(one *peer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one.refs--; one.refs > 0 || one.watched || one.gone {
		return
	}
	one.watched = true
	p.n.running.Go(func() { p.linger(one) })
}

// How a node without connections is looked at.
const (
	lookEvery  = time.Second
	lookWithin = 2 * time.Second
	lookTries  = 3 // of a master that does not answer
)

// linger waits until a node without connections is gone, or has one again.
func (p *peers) linger(one *peer) {
	silent := 0
	for {
		known, err := p.alive(one.caller)
		if err != nil {
			silent++
		} else {
			silent = 0
		}
		p.mu.Lock()
		if one.refs > 0 {
			one.watched = false
			p.mu.Unlock()
			return
		}
		if !known && (err == nil || silent >= lookTries) || p.n.life.Err() != nil {
			one.gone, one.watched = true, false
			p.mu.Unlock()
			p.leave(one)
			return
		}
		p.mu.Unlock()
		select {
		case <-time.After(lookEvery):
		case <-p.n.life.Done():
		}
	}
}

// alive asks the master where a node is, and the node whether it is. An error is a master
// that does not answer.
func (p *peers) alive(caller string) (bool, error) {
	ctx, cancel := context.WithTimeout(p.n.life, lookWithin)
	defer cancel()
	code, v, err := p.n.callMaster(ctx, "lookupNode", caller)
	if err != nil {
		return false, err
	}
	uri, ok := v.(string)
	if code != success || !ok {
		return false, nil
	}
	_, err = p.n.client.Call(ctx, uri, "getPid", p.n.self)
	return err == nil, nil
}

// leave takes a node out of the graph, and then its name: while it is leaving, no other
// client is taken for it.
func (p *peers) leave(one *peer) {
	one.client.Leave()
	one.account.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all[one.caller] == one {
		delete(p.all, one.caller)
		delete(p.node, one.client.Node())
	}
}

func (p *peers) leaveAll() {
	p.mu.Lock()
	var left []*peer
	for _, one := range p.all {
		one.gone = true
		left = append(left, one)
	}
	p.mu.Unlock()
	for _, one := range left {
		p.leave(one)
	}
}

// has reports whether a node of the graph is a ROS node.
func (p *peers) has(node string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.node[node]
}

func (p *peers) counts() (now int, ever uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all), p.ever
}
