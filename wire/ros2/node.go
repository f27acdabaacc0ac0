package ros2

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"poise/graph"
	"poise/rtps"
	"poise/wire"
	"poise/wire/rosnet"
)

// Node shows a graph to ROS 2. It is a wire.Wire.
type Node struct {
	g     *graph.Graph
	c     Config
	self  string // the node's name in full
	names rosnet.Mapping
	p     *rtps.Participant

	life    context.Context
	end     context.CancelFunc
	running sync.WaitGroup
	changed chan struct{} // others came, went or changed
	peers   *peers
	infos   *infos

	mu       sync.Mutex
	pubs     map[string]*publication  // by name in ROS
	subs     map[string]*subscription // by name in ROS
	services map[string]*service      // by name in ROS
	actions  map[string]*actionServer // by name in ROS
	params   []*service               // of the node's parameters
	foreign  *imports
	clashes  map[string]bool // names of the graph that have no name of their own in ROS; said once

	calls  atomic.Int64 // under way
	stats  struct{ received, sent, lost, refused atomic.Uint64 }
	warner wire.Warner
}

var _ wire.Wire = (*Node)(nil)

// New returns a node of the graph that others find; Run then shows the graph. Run or Close
// ends it.
func New(g *graph.Graph, c Config) (*Node, error) {
	c.finish()
	n := &Node{g: g, c: c, self: c.Names.Self(), names: rosnet.Mapping{Names: c.Names, Globals: globals, Topics: c.Topics, Mirror: c.Mirror}, changed: make(chan struct{}, 1),
		pubs: map[string]*publication{}, subs: map[string]*subscription{}, services: map[string]*service{}, actions: map[string]*actionServer{}, clashes: map[string]bool{}}
	n.warner.Log = c.Log
	n.life, n.end = context.WithCancel(context.Background())
	n.peers, n.foreign = newPeers(n), newImports(n)
	var err error
	n.p, err = rtps.New(rtps.Config{Domain: c.Domain, Name: n.self, Open: c.Open, Peers: c.peers(), Dial: c.Dial, UserData: []byte("enclave=" + c.Enclave + ";"), Program: c.Program,
		Limits: rtps.Limits{Participants: c.Limits.Participants, SampleBytes: c.Limits.MessageBytes}, Changed: n.lookAgain})
	if err != nil {
		n.end()
		return nil, err
	}
	if n.infos, err = newInfos(n); err == nil {
		err = n.serveParams()
	}
	if err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}

// Close ends a node that is not run.
func (n *Node) Close() {
	n.end()
	n.p.Close()
}

// Name returns "ros2".
func (n *Node) Name() string { return "ros2" }

// Addresses returns where peers find the node: in its domain.
func (n *Node) Addresses() []wire.Address {
	peers := fmt.Sprintf("rclcpp, rclpy, RViz …; ROS_DOMAIN_ID %d, %v; node %s", n.c.Domain, n.c.Form, n.self)
	if n.c.Open {
		peers += "; OPEN to the network: anybody there may move the robot"
	}
	return []wire.Address{{URL: fmt.Sprintf("dds://domain-%d", n.c.Domain), Peers: peers}}
}

// Health returns nil: there is nothing that a node must reach.
func (n *Node) Health() error { return nil }

// Stats returns what a metrics page shows.
func (n *Node) Stats() wire.Stats {
	now, ever := n.peers.counts()
	d := n.p.Stats()
	return wire.Stats{Clients: now, Connected: ever, Refused: n.stats.refused.Load() + d.Refused + d.Foreign,
		Received: n.stats.received.Load(), Sent: n.stats.sent.Load(), Lost: n.stats.lost.Load() + d.Lost}
}

// Run shows the graph until ctx is done, and tells others that it is gone.
func (n *Node) Run(ctx context.Context) error {
	watcher := n.g.Watch(n.lookAgain)
	n.look(watcher)
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-n.peers.overdue():
			n.look(watcher)
		case <-n.changed:
			n.look(watcher)
			// changes come in bursts: at most a hundred looks a second
			select {
			case <-ctx.Done():
			case <-time.After(lookPause):
			}
		}
	}
	watcher.Close()
	n.p.Close() // which tells the others
	n.end()
	n.mu.Lock()
	for _, s := range n.subs {
		s.close()
	}
	for _, p := range n.pubs {
		p.stop()
	}
	n.foreign.close()
	n.mu.Unlock()
	n.running.Wait()
	n.peers.leaveAll()
	return nil
}

// lookPause is how long after a look at everything the next one waits.
const lookPause = 10 * time.Millisecond

// lookAgain has everything looked at soon.
func (n *Node) lookAgain() {
	select {
	case n.changed <- struct{}{}:
	default:
	}
}

// look takes over what changed in the graph and among the others.
func (n *Node) look(w *graph.Watcher) {
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.endpoints()
	for {
		change, ok := w.Poll()
		if !ok {
			break
		}
		switch {
		case change.All:
			n.lookAtAll()
		case change.Kind == graph.TopicKind:
			n.lookAtTopic(change.Name)
		case change.Kind == graph.ServiceKind:
			n.lookAtService(change.Name)
		case change.Kind == graph.ActionKind:
			n.lookAtAction(change.Name)
		}
	}
	others := n.p.Others()
	n.peers.look(others)
	for _, s := range n.subs {
		s.wake() // which may hold messages of one whose name has come
	}
	n.lookAtWriters(others)
	if n.c.Imports {
		n.foreign.look(others)
	}
	for _, p := range n.pubs {
		p.look()
	}
	if n.endpoints() != before || !n.infos.told {
		n.infos.tell()
	}
}

// endpoints counts what the node has, in a way that differs when something is replaced.
func (n *Node) endpoints() [4]int {
	sum := [4]int{len(n.pubs), len(n.subs), len(n.services), len(n.actions)}
	for _, p := range n.pubs {
		g := p.writer.GUID().Entity
		sum[0] += int(g[0])<<20 | int(g[1])<<12 | int(g[2])<<4
	}
	return sum
}

// lookAtAll looks at everything that is or was in the graph.
func (n *Node) lookAtAll() {
	names := map[string]bool{}
	for _, t := range n.g.Topics() {
		names[t.Name] = true
	}
	for _, p := range n.pubs {
		names[p.name] = true
	}
	for _, s := range n.subs {
		names[s.name] = true
	}
	for name := range names {
		n.lookAtTopic(name)
	}
	names = map[string]bool{}
	for _, s := range n.g.Services() {
		names[s.Name] = true
	}
	for _, s := range n.services {
		names[s.name] = true
	}
	for name := range names {
		n.lookAtService(name)
	}
	names = map[string]bool{}
	for _, a := range n.g.Actions() {
		names[a.Name] = true
	}
	for _, a := range n.actions {
		names[a.name] = true
	}
	for name := range names {
		n.lookAtAction(name)
	}
}

// clash says once that two things of the graph would have one name in ROS: the first has it.
func (n *Node) clash(kind, ros, first, name string) {
	if n.clashes[kind+name] || len(n.clashes) >= maxImports {
		return
	}
	n.clashes[kind+name] = true
	n.c.Log.Warn("not shown to ROS 2: its name there is taken", kind, name, "in_ros", ros, "has", first)
}

// warn logs a line about a peer, at most a few a second.
func (n *Node) warn(text string, args ...any) { n.warner.Warn(text, args...) }
