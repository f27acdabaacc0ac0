package ros1

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"poise/graph"
	"poise/internal/budget"
	"poise/wire"
	"poise/wire/admission"
	"poise/wire/loopback"
	"poise/wire/ros1/master"
	"poise/wire/ros1/xmlrpc"
)

// Node shows a graph to ROS 1. It is a wire.Wire.
type Node struct {
	g     *graph.Graph
	c     Config
	self  string // the node's name in full
	uri   string // of its XML-RPC
	rpc   string // rosrpc:// of its services
	peers *peers

	calls   net.Listener // XML-RPC
	links   net.Listener // TCPROS
	core    net.Listener // of the master of its own
	master  *master.Master
	client  *xmlrpc.Client
	large   *budget.Turns // of long messages
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
	services atomic.Pointer[map[string]string]

	stats struct{ received, sent, lost, refused, skipped atomic.Uint64 }
	count atomic.Int64 // links
	said  said
}

var _ wire.Wire = (*Node)(nil)

// New returns a node of the graph and listens; Run then shows it. Run or Close ends it.
func New(g *graph.Graph, c Config) (*Node, error) {
	if err := c.finish(); err != nil {
		return nil, err
	}
	n := &Node{g: g, c: c, self: c.Names.Self(), large: budget.NewTurns(1), room: roomWithin, pubs: map[string]*publication{}, subs: map[string]*subscription{}, others: map[string]string{}}
	n.services.Store(&map[string]string{})
	n.client = xmlrpc.NewClient(n.c.dial)
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
	return n, nil
}

func (n *Node) listen() error {
	var err error
	if n.c.OwnMaster {
		u, _ := url.Parse(n.c.Master) // finish has read it
		at := net.JoinHostPort(n.c.listenHost(), u.Port())
		if n.core, err = net.Listen("tcp", at); errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf("another program listens at port %s, perhaps a roscore: leave --ros1-master out to join it, or choose another port by ROS_MASTER_URI", u.Port())
		} else if err != nil {
			return fmt.Errorf("the ROS 1 master cannot listen: %w", err)
		}
		if u.Port() == "0" {
			u.Host = net.JoinHostPort(u.Hostname(), portOf(n.core))
			n.c.Master = u.String()
		}
		n.master = master.New(master.Config{URI: "http://" + net.JoinHostPort(n.c.Host, portOf(n.core)) + "/", Client: n.client, Log: n.c.Log})
		if err := n.master.SetParam("/run_id", runID()); err != nil {
			return err
		}
	}
	if n.calls, err = net.Listen("tcp", net.JoinHostPort(n.c.listenHost(), "0")); err != nil {
		return fmt.Errorf("ROS 1 cannot listen: %w", err)
	}
	if n.links, err = net.Listen("tcp", net.JoinHostPort(n.c.listenHost(), "0")); err != nil {
		return fmt.Errorf("ROS 1 cannot listen: %w", err)
	}
	return nil
}

// runID names a run of the master, as roscore does.
func runID() string {
	return fmt.Sprintf("poise-%d-%d", os.Getpid(), time.Now().UnixNano())
}

func portOf(l net.Listener) string {
	_, port, _ := net.SplitHostPort(l.Addr().String()) // a listener's address has one
	return port
}

// Close ends a node that is not run.
func (n *Node) Close() {
	n.end()
	for _, l := range []net.Listener{n.core, n.calls, n.links} {
		if l != nil {
			l.Close()
		}
	}
	if n.master != nil {
		n.master.Close()
	}
	if n.foreign != nil {
		n.foreign.side.Close()
	}
	n.client.Close()
}

// Config returns how other nodes of this program join the same master.
func (n *Node) Config() Config {
	c := n.c
	c.OwnMaster, c.Stop, c.Budget = false, nil, nil
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

// Bounds of HTTP.
const (
	headerWithin = 5 * time.Second
	callWithin   = 30 * time.Second
	idleWithin   = 60 * time.Second
	maxHTTP      = 512 // connections to the master or to the node
)

// serve answers XML-RPC on a listener until it is closed.
func (n *Node) serve(l net.Listener, h http.Handler) {
	guarded := n.guard(h)
	bounded := admission.Listen(l, admission.Config{Most: admission.Room(maxHTTP), Urgent: guarded, Log: n.c.Log})
	web := &http.Server{Handler: guarded, ReadHeaderTimeout: headerWithin, ReadTimeout: callWithin, WriteTimeout: callWithin, IdleTimeout: idleWithin,
		MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(n.c.Log.Handler(), slog.LevelDebug)}
	n.running.Go(func() { _ = web.Serve(bounded) }) // until it is closed
	n.running.Go(func() {
		<-n.life.Done()
		web.Close()
		bounded.Close()
	})
}

// guard refuses what a page in a browser sends: ROS peers have no origin. On loopback the
// host must be this machine, too.
func (n *Node) guard(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); origin != "" {
			http.Error(w, "pages may not call ROS 1", http.StatusForbidden)
			return
		}
		if host, _, err := net.SplitHostPort(r.Host); !n.c.Open && (err != nil || !loopback.IsName(host) && !isHere(host)) {
			http.Error(w, (&loopback.HostError{Host: r.Host}).Error(), http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// endWithin is how long the names may take to be taken back.
const endWithin = 1500 * time.Millisecond

// Run shows the graph until ctx is done, and takes the names back.
func (n *Node) Run(ctx context.Context) error {
	defer n.Close()
	if n.core != nil {
		n.serve(n.core, n.master)
	}
	n.serve(n.calls, n.slave())
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

// said keeps what peers bring about from filling the log.
type said struct {
	mu   sync.Mutex
	last time.Time
	left int
}

// warn logs a line about a peer, at most a few a second.
func (n *Node) warn(text string, args ...any) {
	n.said.mu.Lock()
	now := time.Now()
	if now.Sub(n.said.last) < time.Second/5 {
		n.said.left++
		n.said.mu.Unlock()
		return
	}
	if n.said.left > 0 {
		args = append(args, "left_out", n.said.left)
	}
	n.said.last, n.said.left = now, 0
	n.said.mu.Unlock()
	n.c.Log.Warn(text, args...)
}
