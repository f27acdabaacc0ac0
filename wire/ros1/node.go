package ros1

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"poise/graph"
	"poise/internal/budget"
	"poise/wire"
	"poise/wire/ros1/xmlrpc"
	"poise/wire/rosnet"
)

// Node shows a graph to ROS 1. It is a wire.Wire.
type Node struct {
	g     *graph.Graph
	c     Config
	self  string // the node's name in full
	names rosnet.Mapping
	uri   string // of its XML-RPC
	rpc   string // rosrpc:// of its services
	peers *peers

	calls   net.Listener // XML-RPC
	links   net.Listener // TCPROS
	core    *Core        // the master of its own, if it has made one
	client  *xmlrpc.Client
	large   *budget.Turns // of long messages
	tries   *pace         // of publishers that are to be reached: a master may list any number that are not there
	keeper  *registrar
	foreign *imports // nil if there are none
	greet   *greeting
	room    time.Duration // how long a message waits for it; roomWithin
	life    context.Context
	end     context.CancelFunc
	running sync.WaitGroup

	mu       sync.Mutex
	pubs     map[string]*publication  // by name in ROS
	subs     map[string]*subscription // by name in ROS
	others   map[string]string        // names in ROS of topics of other nodes, by those in the graph
	readers  map[string]bool          // of a mirror: topics that other nodes read, by name in ROS
	services atomic.Pointer[map[string]string]

	stats struct{ received, sent, lost, refused, skipped atomic.Uint64 }
	count atomic.Int64 // links

	sources atomic.Int64 // publishers that are read, or tried to be
	warner  wire.Warner
}

var _ wire.Wire = (*Node)(nil)

// How often publishers are tried to be reached, of all topics together, and how many at once.
const (
	tryEvery = 5 * time.Millisecond
	triesNow = 200
)

// New returns a node of the graph and listens; Run then shows it. Run or Close ends it.
func New(g *graph.Graph, c Config) (*Node, error) {
	if err := c.finish(); err != nil {
		return nil, err
	}
	n := &Node{g: g, c: c, self: c.Names.Self(), names: rosnet.Mapping{Names: c.Names, Globals: globals, Topics: c.Topics, Mirror: c.Mirror}, large: budget.NewTurns(1), tries: &pace{every: tryEvery, burst: triesNow}, room: roomWithin, pubs: map[string]*publication{}, subs: map[string]*subscription{}, others: map[string]string{}, readers: map[string]bool{}}
	n.services.Store(&map[string]string{})
	n.client = xmlrpc.NewClient(n.c.dial)
	n.warner.Log = c.Log
	n.life, n.end = context.WithCancel(context.Background())
	if err := n.listen(); err != nil {
		n.Close()
		return nil, err
	}
	n.uri = "http://" + net.JoinHostPort(c.Host, portOf(n.calls)) + "/"
	n.rpc = "rosrpc://" + net.JoinHostPort(c.Host, portOf(n.links))
	n.peers = newPeers(n)
	n.keeper = newRegistrar(n)
	n.greet = newGreeting()
	if c.Imports {
		n.foreign = newImports(n)
	}
	if c.Program != nil {
		c.Program.add(n.uri, n.self)
	}
	return n, nil
}

func (n *Node) listen() error {
	var err error
	if n.c.OwnMaster && n.c.Core == nil {
		if n.core, err = NewCore(n.c); err != nil {
			return err
		}
		n.c.Master = n.core.uri
	}
	if n.calls, err = net.Listen("tcp", net.JoinHostPort(n.c.listenHost(), "0")); err != nil {
		return fmt.Errorf("ROS 1 cannot listen: %w", err)
	}
	if n.links, err = net.Listen("tcp", net.JoinHostPort(n.c.listenHost(), "0")); err != nil {
		return fmt.Errorf("ROS 1 cannot listen: %w", err)
	}
	return nil
}

func portOf(l net.Listener) string {
	_, port, _ := net.SplitHostPort(l.Addr().String()) // a listener's address has one
	return port
}

// Close ends a node that is not run.
func (n *Node) Close() {
	n.end()
	if n.c.Program != nil {
		n.c.Program.remove(n.uri)
	}
	for _, l := range []net.Listener{n.calls, n.links} {
		if l != nil {
			l.Close()
		}
	}
	if n.core != nil {
		n.core.Close()
	}
	if n.foreign != nil {
		n.foreign.side.Close()
	}
	n.client.Close()
}

// Config returns how other nodes of this program join the same master.
func (n *Node) Config() Config {
	c := n.c
	c.OwnMaster, c.Core, c.Stop, c.Budget = false, nil, nil, nil
	return c
}

// Name returns "ros1".
func (n *Node) Name() string { return "ros1" }

// Addresses returns where peers find the node: at its master.
func (n *Node) Addresses() []wire.Address {
	peers := "rospy, roscpp, RViz …; ROS_MASTER_URI"
	if n.c.OwnMaster {
		peers += ", a master of our own"
	}
	if n.c.Open {
		peers += "; OPEN to the network: anybody there may move the robot"
	}
	return []wire.Address{{URL: n.c.Master, Peers: peers + "; node " + n.self}}
}

// Health returns why the node is not registered at the master.
func (n *Node) Health() error { return n.keeper.health() }

// Stats returns what a metrics page shows.
func (n *Node) Stats() wire.Stats {
	now, ever := n.peers.counts()
	lost := n.stats.lost.Load() + n.stats.skipped.Load()
	for _, l := range n.greet.list() {
		if l.queue != nil {
			lost += l.lost()
		}
	}
	return wire.Stats{Clients: now, Connected: ever, Refused: n.stats.refused.Load(),
		Received: n.stats.received.Load(), Sent: n.stats.sent.Load(), Lost: lost}
}

// endWithin is how long the names may take to be taken back.
const endWithin = 1500 * time.Millisecond

// Run shows the graph until ctx is done, and takes the names back.
func (n *Node) Run(ctx context.Context) error {
	defer n.Close()
	n.c.serve(n.life, &n.running, n.calls, n.slave())
	loggers := n.serveLoggers()
	n.running.Go(n.accept)
	watching, endWatch := context.WithCancel(n.life)
	defer endWatch()
	watcher := n.g.Watch(nil)
	n.running.Go(func() { n.watch(watching, watcher) })
	keeping, endKeep := context.WithCancel(n.life)
	defer endKeep()
	kept := make(chan struct{})
	go func() { defer close(kept); n.keeper.run(keeping) }()
	imported := make(chan struct{})
	go func() {
		defer close(imported)
		if n.foreign != nil {
			n.foreign.run(keeping)
		}
	}()
	<-ctx.Done()
	endWatch()
	watcher.Close()
	endKeep()
	<-kept
	<-imported
	leaving, cancel := context.WithTimeout(context.Background(), endWithin)
	defer cancel()
	n.keeper.leave(leaving)
	for _, s := range loggers {
		s.Close()
	}
	n.end()
	n.links.Close()
	n.closeAll()
	n.running.Wait()
	n.peers.leaveAll()
	return nil
}

// closeAll ends everything that the node has in the graph.
func (n *Node) closeAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range n.subs {
		s.close()
	}
	clear(n.subs)
	clear(n.pubs)
}

// warn logs a line about a peer, at most a few a second.
func (n *Node) warn(text string, args ...any) { n.warner.Warn(text, args...) }
