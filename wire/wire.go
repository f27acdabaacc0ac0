// Package wire is the interface of a wire: of anything that shows the graph to other
// programs in a protocol of theirs.
//
// A wire is made for a graph and then run:
//
//	w := rosbridge.New(g, rosbridge.Config{…})   // what cannot work is an error here
//	err := w.Run(ctx)
//
// Stops bypass the graph (package stop): before a wire queues, counts or decodes a call it
// asks stop.Line.Service whether the call is a stop, and if so asks its Target to stop.
//
// Package wiretest holds what every wire must do, as tests.
package wire

import (
	"context"
	"net/http"
)

// Wire shows a graph to peers.
type Wire interface {
	// Name is what the wire is called in logs and metrics: rosbridge.
	Name() string

	// Run shows the graph until ctx is done. Then it takes leave of its peers, withdraws
	// from the graph everything that they had in it, and returns nil within two seconds;
	// an error is why it ended before. Run is called once.
	Run(ctx context.Context) error

	// Addresses returns where peers find the graph.
	Addresses() []Address

	// Health returns what keeps peers from the graph, nil if nothing does.
	Health() error

	// Stats returns what a metrics page shows.
	Stats() Stats
}

// HTTP is a wire whose peers come through the HTTP port of the server.
type HTTP interface {
	Wire
	http.Handler

	// Takes reports whether a request is for the wire, and not for a page.
	Takes(r *http.Request) bool
}

// Address is where a kind of peers finds the graph.
type Address struct {
	URL   string // ws://127.0.0.1:8080/rosbridge
	Peers string // who connects there, for people: roslib, roslibpy
}

// Stats are counts since the wire began, but for Clients.
type Stats struct {
	Clients   int    // connected now
	Connected uint64 // clients that ever were
	Refused   uint64 // that were not let in
	Received  uint64 // messages
	Sent      uint64
	Lost      uint64 // messages that clients were too slow for
}

// Add adds the counts of another wire.
func (s *Stats) Add(o Stats) {
	s.Clients += o.Clients
	s.Connected += o.Connected
	s.Refused += o.Refused
	s.Received += o.Received
	s.Sent += o.Sent
	s.Lost += o.Lost
}
