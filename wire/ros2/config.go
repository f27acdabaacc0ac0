package ros2

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"poise/internal/budget"
	"poise/msgs"
	"poise/problem"
	"poise/rtps"
	"poise/stop"
)

// Config is how a node is made; zero values take the defaults.
type Config struct {
	Domain int       // 0 to 232
	Form   msgs.Form // of the distribution that peers speak: msgs.Humble, Jazzy or ROS2 (Rolling)
	Open   bool      // reach other machines, and let them in
	Peers  []string  // machines that are told of the node beside the multicast group
	Names  Names     // default node /poise

	Enclave string // that others are told; default /

	Imports bool // topics, services and actions of other nodes are in the graph, too

	// Mirror is a prefix in the graph, such as /real, that the whole ROS network is shown below:
	// /real/joint_states is /joint_states in ROS. The node then offers nothing of the graph, but
	// writes what other nodes read. It implies Imports. Names.Namespace and Remaps do not hold.
	Mirror string

	Program [4]byte // nodes of one program that have the same do not meet; zero meets all

	Topics map[string]string // names in ROS whose topics have another name in the graph
	Params map[string]any    // of the node: bool, int, float64, string, []bool, []int64, []float64, []string
	Limits Limits
	Budget *budget.Ledger        // that clients are charged to; nil makes one of budget.Standard
	Stop   *stop.Line            // the way of a stop, ahead of all limits; nil has none
	Log    *slog.Logger          // nil is silent
	Dial   func() rtps.Transport // nil is UDP
}

// Limits bound what peers can use.
type Limits struct {
	Participants int // others at a time; default 200
	MessageBytes int // of one message; default 8 MiB
	Queue        int // messages of one topic that wait to be read, at least; default 100
	Calls        int // calls of all peers that are under way; default 256
}

func (l Limits) withDefaults() Limits {
	for _, one := range []struct {
		v         *int
		otherwise int
	}{{&l.Participants, 200}, {&l.MessageBytes, 8 << 20}, {&l.Queue, 100}, {&l.Calls, 256}} {
		if *one.v <= 0 {
			*one.v = one.otherwise
		}
	}
	return l
}

// Environment returns a configuration of what ROS's variables say: ROS_DOMAIN_ID,
// ROS_STATIC_PEERS, ROS_LOCALHOST_ONLY and ROS_AUTOMATIC_DISCOVERY_RANGE. local is set if
// the last two keep the node on this machine; none of them opens it.
func Environment(get func(string) string) (c Config, local bool, err error) {
	if text := get("ROS_DOMAIN_ID"); text != "" {
		c.Domain, err = strconv.Atoi(text)
		if err != nil || c.Domain < 0 || c.Domain > 232 {
			return c, false, fmt.Errorf("ROS_DOMAIN_ID is %q, must be a number from 0 to 232", text)
		}
	}
	for _, peer := range strings.Split(get("ROS_STATIC_PEERS"), ";") {
		if peer = strings.TrimSpace(peer); peer != "" {
			c.Peers = append(c.Peers, peer)
		}
	}
	switch text := get("ROS_AUTOMATIC_DISCOVERY_RANGE"); text {
	case "", "SUBNET", "SYSTEM_DEFAULT":
	case "LOCALHOST":
		local = true
	case "OFF":
		return c, false, errors.New("ROS_AUTOMATIC_DISCOVERY_RANGE is OFF: no node would find this one; LOCALHOST keeps it on this machine")
	default:
		return c, false, fmt.Errorf("ROS_AUTOMATIC_DISCOVERY_RANGE is %q, must be OFF, LOCALHOST, SUBNET or SYSTEM_DEFAULT%s", text,
			problem.Hint(text, []string{"OFF", "LOCALHOST", "SUBNET", "SYSTEM_DEFAULT"}))
	}
	return c, local || get("ROS_LOCALHOST_ONLY") == "1", nil
}

// finish fills the defaults.
func (c *Config) finish() {
	c.Limits = c.Limits.withDefaults()
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Budget == nil {
		c.Budget = budget.New(budget.Standard)
	}
	if c.Mirror != "" {
		c.Mirror, c.Imports = "/"+strings.Trim(c.Mirror, "/"), true
	}
	if c.Enclave == "" {
		c.Enclave = "/"
	}
	if c.Names.Node == "" {
		c.Names.Node = "poise"
	}
	if c.Names.Namespace == "" {
		c.Names.Namespace = "/"
	}
}

// resolveWithin is how long a name may take to be looked up.
const resolveWithin = 2 * time.Second

// peers looks up the machines that are told of the node.
func (c *Config) peers() (all []netip.Addr) {
	for _, host := range c.Peers {
		ctx, cancel := context.WithTimeout(context.Background(), resolveWithin)
		found, err := net.DefaultResolver.LookupNetIP(ctx, "ip4", host)
		cancel()
		if err != nil {
			c.Log.Warn("a peer of ROS_STATIC_PEERS is not found", "host", host, "why", err)
			continue
		}
		for _, a := range found {
			if a = a.Unmap(); !c.Open && !isOwn(a) {
				c.Log.Warn("a peer of ROS_STATIC_PEERS is left out: ROS 2 is kept on this machine; --ros2-open opens it", "host", host)
				continue
			}
			all = append(all, a)
		}
	}
	return all
}

// isOwn reports whether an address is one of this machine.
func isOwn(a netip.Addr) bool {
	if a.IsLoopback() {
		return true
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, own := range all {
		if p, err := netip.ParsePrefix(own.String()); err == nil && p.Addr().Unmap() == a {
			return true
		}
	}
	return false
}

// Distribution returns the form of a distribution of ROS 2 by its name.
func Distribution(name string) (msgs.Form, error) {
	switch name {
	case "humble":
		return msgs.Humble, nil
	case "jazzy", "":
		return msgs.Jazzy, nil
	case "rolling":
		return msgs.ROS2, nil
	}
	return 0, fmt.Errorf("the distribution %q of ROS 2 is not known: humble, jazzy, rolling%s", name, problem.Hint(name, []string{"humble", "jazzy", "rolling"}))
}
