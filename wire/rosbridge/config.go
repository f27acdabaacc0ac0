package rosbridge

import (
	"log/slog"
	"strconv"
	"time"

	"poise/internal/budget"
	"poise/stop"
)

// Config is how a server behaves; zero values take the defaults.
type Config struct {
	Address            string // host and port of the HTTP server that it is part of, for Addresses
	Limits             Limits
	Budget             *budget.Ledger // that clients are charged to; nil makes one of budget.Standard
	Origins            []string       // of pages that may connect, besides those on loopback names
	CancelOnDisconnect bool           // goals of a client that goes away are cancelled; ROS lets them run on
	Audit              func(Entry)
	Log                *slog.Logger
	Stop               *stop.Line // the way of a stop, ahead of all limits; nil has none
}

// Limits bound what one client can use. A message beyond a limit is refused with the
// limit; nothing is truncated silently.
type Limits struct {
	Connections    int           // clients at a time; default 100
	MessageBytes   int           // of one message, fragments joined; default 8 MiB
	MessageRate    float64       // messages per second of one client; default 2000
	Subscriptions  int           // of one client; default 1000
	Advertisements int           // topics, services and actions that one client advertises; default 1000
	Goals          int           // of one client, not over yet; default 100
	Calls          int           // service calls of one client under way; default 100
	Queue          int           // messages of one topic that wait for a slow client; default 100
	QueueBytes     int           // all that waits for one client; default 32 MiB
	PingEvery      time.Duration // interval between pings; default 15 s
	PongWithin     time.Duration // how long a client may take to answer a ping, or to read a message; default 30 s
}

func (l Limits) withDefaults() Limits {
	positive(&l.Connections, 100)
	positive(&l.MessageBytes, 8<<20)
	positive(&l.MessageRate, 2000)
	positive(&l.Subscriptions, 1000)
	positive(&l.Advertisements, 1000)
	positive(&l.Goals, 100)
	positive(&l.Calls, 100)
	positive(&l.Queue, 100)
	positive(&l.QueueBytes, 32<<20)
	positive(&l.PingEvery, 15*time.Second)
	positive(&l.PongWithin, 30*time.Second)
	return l
}

func positive[T int | float64 | time.Duration](v *T, otherwise T) {
	if *v <= 0 {
		*v = otherwise
	}
}

// LimitError is a limit that a client has reached.
type LimitError struct {
	What  string
	Limit float64
}

func (e *LimitError) Error() string {
	return e.What + ": the limit is " + strconv.FormatFloat(e.Limit, 'f', -1, 64)
}

// Kind is what an audit entry is about.
type Kind string

// The kinds of entries. Cancel and Goal come from either dialect; Publish is the
// first message of a client on a topic.
const (
	Goal    Kind = "goal"
	Cancel  Kind = "cancel"
	Call    Kind = "call"
	Publish Kind = "publish"
)

// Entry is one line of the audit: who asked for what, and what came of it. A goal
// has two: when it was accepted or refused, and when it ended.
type Entry struct {
	Time   time.Time
	Client Client
	Kind   Kind
	Name   string // of the topic, service or action
	ID     string // the client's, may be empty
	Result string // accepted, done, succeeded, aborted …, or why not
}

// Client describes the other end of a connection.
type Client struct {
	Node   string // its name in the graph: /rosbridge/client_7
	Addr   string
	Agent  string // User-Agent of its HTTP request
	Origin string // the page, if it is one
}

func (c Client) String() string { return c.Node + " (" + c.Addr + ")" }
