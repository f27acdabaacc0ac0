package ros1

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"poise/internal/budget"
	"poise/stop"
	"poise/wire/loopback"
)

// Config is how a node is made; zero values take the defaults.
type Config struct {
	Master    string // URI; default DefaultMaster
	OwnMaster bool   // the node has a master of its own, at that URI's port
	Core      *Core  // that master, if it runs already
	Open      bool   // listen on every interface, and reach other machines
	Host      string // that others reach the node by; default loopback, or with Open the machine's name
	Names     Names  // default node /poise

	Imports bool // topics, services and actions of other nodes are in the graph, too

	// Mirror is a prefix in the graph, such as /real, that the whole ROS network is shown below:
	// /real/joint_states is /joint_states in ROS. The node then offers nothing of the graph, but
	// publishes what other nodes read. It implies Imports. Names.Namespace and Remaps do not hold.
	Mirror string

	Program *Program // the nodes of this program, that the node joins; nil has no others
	Outside bool     // what other nodes of the Program have is neither read nor shown

	Topics map[string]string // names in ROS whose topics have another name in the graph
	Params map[string]any    // that the master is given, by names in full; taken back at the end
	Level  Level             // of the log, for ~set_logger_level; nil cannot be set

	Limits   Limits
	Budget   *budget.Ledger   // that clients are charged to; nil makes one of budget.Standard
	Stop     *stop.Line       // the way of a stop, ahead of all limits; nil has none
	Log      *slog.Logger     // nil is silent
	Shutdown func(why string) // is called when ROS ends the node: rosnode kill, another node of its name
}

// DefaultMaster is where a master is if nothing says otherwise.
const DefaultMaster = "http://127.0.0.1:11311"

// Level is the level of a log: debug, info, warn, error or fatal.
type Level interface {
	Level() string
	SetLevel(level string) error
}

// Limits bound what peers can use.
type Limits struct {
	Nodes        int     // other nodes at a time; default 200
	Connections  int     // of all of them, a topic of a node takes one; default 4096
	MessageBytes int     // of one message; default 8 MiB
	MessageRate  float64 // messages per second of one node, beyond which they wait with it; 0 is any number
	Queue        int     // messages of one topic that wait for a slow reader, at least; default 100
}

func (l Limits) withDefaults() Limits {
	for _, one := range []struct {
		v         *int
		otherwise int
	}{{&l.Nodes, 200}, {&l.Connections, 4096}, {&l.MessageBytes, 8 << 20}, {&l.Queue, 100}} {
		if *one.v <= 0 {
			*one.v = one.otherwise
		}
	}
	return l
}

// RemoteError is a master, or an address of the node's own, on another machine while the
// node is on loopback.
type RemoteError struct{ What, Host string }

func (e *RemoteError) Error() string {
	return fmt.Sprintf("%s is on %s, another machine, and ROS 1 is kept on this one: --ros1-open opens it to the network", e.What, e.Host)
}

// Environment returns a configuration of what ROS's variables say: ROS_MASTER_URI, ROS_IP,
// ROS_HOSTNAME.
func Environment(get func(string) string) Config {
	c := Config{Master: get("ROS_MASTER_URI"), Host: get("ROS_HOSTNAME")}
	if c.Host == "" {
		c.Host = get("ROS_IP")
	}
	return c
}

// Finished returns the configuration with its defaults, or what cannot work.
func (c Config) Finished() (Config, error) {
	err := c.finish()
	return c, err
}

// finish fills the defaults and returns what cannot work.
func (c *Config) finish() error {
	c.Limits = c.Limits.withDefaults()
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Budget == nil {
		c.Budget = budget.New(budget.Standard)
	}
	if c.Shutdown == nil {
		c.Shutdown = func(string) {}
	}
	if c.Names.Node == "" {
		c.Names.Node = "poise"
	}
	if c.Names.Namespace == "" {
		c.Names.Namespace = "/"
	}
	if c.Core != nil {
		c.Master = c.Core.uri
	}
	if c.Master == "" {
		c.Master = DefaultMaster
	}
	if c.Mirror != "" {
		c.Imports, c.Mirror = true, "/"+strings.Trim(c.Mirror, "/")
		c.Names.Namespace, c.Names.Remaps = "/", nil
	}
	u, err := url.Parse(c.Master)
	if err != nil || u.Scheme != "http" || u.Hostname() == "" || u.Port() == "" {
		return fmt.Errorf("ROS_MASTER_URI is %q: it must be such as %s", c.Master, DefaultMaster)
	}
	if !c.Open && !isHere(u.Hostname()) {
		return &RemoteError{What: "the master of ROS_MASTER_URI", Host: u.Hostname()}
	}
	return c.chooseHost()
}

// chooseHost decides what others reach the node by.
func (c *Config) chooseHost() error {
	switch {
	case !c.Open && c.Host != "" && !loopback.IsName(c.Host):
		c.Log.Warn("ROS_IP and ROS_HOSTNAME name an address that ROS 1 does not listen on: it is kept on loopback; --ros1-open opens it", "host", c.Host)
		c.Host = loopbackHost
	case !c.Open && c.Host == "":
		c.Host = loopbackHost
	case c.Host == "":
		name, err := os.Hostname()
		if err != nil || name == "" {
			return fmt.Errorf("this machine has no name that others reach it by: set ROS_IP")
		}
		c.Host = name
	}
	return nil
}

const loopbackHost = "127.0.0.1"

// listenHost is what the node's sockets are bound to.
func (c *Config) listenHost() string {
	if c.Open {
		return ""
	}
	return loopbackHost
}

// resolveWithin is how long a name may take to be looked up.
const resolveWithin = 2 * time.Second

// isHere reports whether a host is this machine: a loopback name, its own name, or one that
// means addresses of its own alone.
func isHere(host string) bool {
	if loopback.IsName(host) {
		return true
	}
	if name, err := os.Hostname(); err == nil && strings.EqualFold(name, host) {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), resolveWithin)
	defer cancel()
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(all) == 0 {
		return false
	}
	for _, a := range all {
		if !isOurs(a) {
			return false
		}
	}
	return true
}

// isOurs reports whether an address is one of this machine.
func isOurs(a netip.Addr) bool {
	a = a.Unmap()
	if a.IsLoopback() {
		return true
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, o := range own {
		if p, err := netip.ParsePrefix(o.String()); err == nil && p.Addr().Unmap() == a {
			return true
		}
	}
	return false
}

// dial connects to a peer. On loopback no other machine is reached, whatever a master says.
func (c *Config) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialWithin}
	if c.Open {
		return d.DialContext(ctx, network, address)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if !isHere(host) {
		return nil, &RemoteError{What: "a node", Host: host}
	}
	conn, err := d.DialContext(ctx, network, address)
	if err != nil && !loopback.IsName(host) {
		// a name of this machine may mean an interface on which a peer on loopback does not listen
		return d.DialContext(ctx, network, net.JoinHostPort(loopbackHost, port))
	}
	return conn, err
}

// Dial connects to a peer as the node of a finished configuration does.
func (c *Config) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return c.dial(ctx, network, address)
}

// Listen listens at a free port, where others reach a node of a finished configuration.
func (c *Config) Listen() (net.Listener, error) {
	return net.Listen("tcp", net.JoinHostPort(c.listenHost(), "0"))
}

const dialWithin = 3 * time.Second
