package ros2

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"poise/graph"
	"poise/internal/budget"
	"poise/msgs/registry"
	"poise/rtps"
)

// peers are the other participants that have something to do with the graph.
type peers struct {
	n        *Node
	everyone string // the node in the graph that reads for all peers: in DDS they share a writer

	mu   sync.Mutex
	all  map[rtps.Prefix]*peer
	seen map[rtps.Prefix]sight
	ever uint64
	gone bool // the node ends

	nodes sync.Map // their names in the graph; read within the graph's own locks
}

// sight is a participant as it was last looked at.
type sight struct {
	node  bool      // it is one of ROS, and tells the names of its nodes
	since time.Time // when that was first seen
}

// nameWithin is how long what a participant of ROS has and sends waits for the name of its node,
// which comes on a topic of its own and may be lost at first. Then it is in the graph by its GUID.
const nameWithin = 10 * time.Second

// errNoName says that the name of a participant's node has not come yet.
var errNoName = errors.New("the name of its node has not come yet")

// peer is another participant, a client of the graph once it is known by which name.
type peer struct {
	prefix  rtps.Prefix
	account *budget.Account
	calls   atomic.Int64  // under way
	settled chan struct{} // closed when it has joined the graph, or left before that
	client  *graph.Client // set before settled is closed, by the lock of peers
	byGUID  bool          // when it joined, no name of a node had come, or another had it

	mu   sync.Mutex
	pubs map[string]*graph.Advertisement // by name in the graph

	refused map[string]*registry.Type // topics that it may not publish, by name in the graph
}

func newPeers(n *Node) *peers {
	everyone := family
	if n.c.Mirror != "" {
		everyone += "_of" + strings.ReplaceAll(n.c.Mirror, "/", "_")
	}
	return &peers{n: n, everyone: everyone, all: map[rtps.Prefix]*peer{}, seen: map[rtps.Prefix]sight{}}
}

// family is how names of peers in the graph begin that have none of their own.
const family = "/ros2"

// nameless returns the name in the graph of a participant without a node of its own.
func (p *peers) nameless(prefix rtps.Prefix) string {
	return fmt.Sprintf("%s/participant_%x", p.everyone, prefix[:])
}

// meet returns a participant, whether it is in the graph already or not.
func (p *peers) meet(prefix rtps.Prefix) (*peer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.find(prefix)
}

// find returns a participant, and notes a new one. The lock is held.
func (p *peers) find(prefix rtps.Prefix) (*peer, error) {
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
	one := &peer{prefix: prefix, account: p.n.c.Budget.Open(), settled: make(chan struct{}), pubs: map[string]*graph.Advertisement{}, refused: map[string]*registry.Type{}}
	p.all[prefix] = one
	p.ever++
	return one, nil
}

// enter returns a participant that is in the graph; errNoName if its name is waited for.
func (p *peers) enter(prefix rtps.Prefix) (*peer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, err := p.find(prefix)
	if err != nil {
		return nil, err
	}
	if one.client == nil {
		if err := p.settle(one); err != nil {
			return nil, err
		}
	}
	return one, nil
}

// await returns when a participant is in the graph, or an error if it has left before that.
func (p *peers) await(ctx context.Context, one *peer) error {
	p.mu.Lock()
	if one.client == nil && p.all[one.prefix] == one {
		_ = p.settle(one) // or later
	}
	p.mu.Unlock()
	select {
	case <-one.settled:
	case <-ctx.Done():
		return ctx.Err()
	}
	if one.client == nil {
		return graph.ErrClosed
	}
	return nil
}

// settle has a participant join the graph by the name of its node, or by its GUID if it has none
// or that is another's. The lock is held.
func (p *peers) settle(one *peer) error {
	name := p.n.infos.nodeOf(one.prefix)
	if at, known := p.seen[one.prefix]; name == "" && (!known || at.node && time.Since(at.since) < nameWithin) {
		return errNoName
	}
	client, err := p.join(name)
	one.byGUID = err != nil
	if err != nil {
		if client, err = p.n.g.Join(p.nameless(one.prefix)); err != nil {
			return err
		}
	}
	one.client = client
	p.nodes.Store(client.Node(), true)
	close(one.settled)
	return nil
}

// join joins the graph by the name that a node gives itself, unless it would be taken for
// another.
func (p *peers) join(name string) (*graph.Client, error) {
	name, err := p.allowed(name)
	if err != nil {
		return nil, err
	}
	return p.n.g.Join(name)
}

// allowed returns the name that a node gives itself as the graph has names; those of the server are
// not to be had.
func (p *peers) allowed(name string) (string, error) {
	name, err := graph.Clean(name)
	if err == nil && (strings.HasPrefix(name, "/rosbridge/") || strings.HasPrefix(name, family) || name == p.n.g.Options().Node || name == p.n.self) {
		err = fmt.Errorf("the name %s belongs to another node", name)
	}
	return name, err
}

// renamed says whether a participant that is in the graph by its GUID can have the name of its node by
// now: it came late, or the one that had it is gone, such as the same program before it was killed.
func (p *peers) renamed(one *peer) bool {
	if !one.byGUID {
		return false
	}
	name, err := p.allowed(p.n.infos.nodeOf(one.prefix))
	return err == nil && !p.n.g.Present(name)
}

// isNode reports whether a participant is one of ROS: such tell the names of their nodes. Those of
// ros2-client have nothing that says so before their writers are known, but their vendor.
func isNode(o *rtps.ParticipantInfo) bool {
	return o.Vendor == rtps.VendorRustDDS || bytes.Contains(o.UserData, []byte("enclave=")) || slices.ContainsFunc(o.Writers, func(w rtps.EndpointInfo) bool { return w.Topic == infoTopic })
}

// look drops those that are gone, and has join those whose names have come. One that joined
// without a name, as that came too late or was another's, leaves and joins again by it when no goal or
// call of it is under way. The node is locked.
func (p *peers) look(others []rtps.ParticipantInfo) {
	present := map[rtps.Prefix]sight{}
	p.mu.Lock()
	for i := range others {
		o := &others[i]
		at := p.seen[o.GUID.Prefix]
		if !at.node && isNode(o) {
			at = sight{node: true, since: time.Now()}
		}
		present[o.GUID.Prefix] = at
	}
	for prefix := range p.seen {
		if _, there := present[prefix]; !there && !p.n.p.Knows(prefix) {
			p.n.infos.forget(prefix)
		}
	}
	p.seen = present
	var left []*peer
	for prefix, one := range p.all {
		_, there := present[prefix]
		there = there || p.n.p.Knows(prefix) // it came since
		if !there || p.renamed(one) && !p.n.foreign.busy(one) {
			left = append(left, one)
			delete(p.all, prefix)
		} else if one.client == nil {
			_ = p.settle(one) // or later
		}
	}
	p.mu.Unlock()
	p.leave(left)
}

// overdue tells when the first of the names that are waited for has been waited for long enough, and
// soon if one has come that is not used yet; nil if there is neither.
func (p *peers) overdue() <-chan time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	var first time.Time
	for prefix, at := range p.seen {
		if end := at.since.Add(nameWithin); at.node && p.n.infos.nodeOf(prefix) == "" && time.Now().Before(end) && (first.IsZero() || end.Before(first)) {
			first = end
		}
	}
	for _, one := range p.all {
		if p.renamed(one) {
			first = time.Now().Add(time.Second)
		}
	}
	if first.IsZero() {
		return nil
	}
	return time.After(time.Until(first))
}

// present reports whether a participant is the one that is known by now.
func (p *peers) present(one *peer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[one.prefix] == one
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
		if one.client == nil {
			close(one.settled)
		} else {
			one.client.Leave()
			p.nodes.Delete(one.client.Node())
		}
		one.account.Close()
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
	if node == p.everyone {
		return true
	}
	_, one := p.nodes.Load(node)
	return one
}

func (p *peers) counts() (now int, ever uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all), p.ever
}
