package guest

import (
	"fmt"
	"sync"

	"poise/graph"
	"poise/graph/actions"
	"poise/wire/rosbridge/frame"
)

// Guest is a client as a server. Its methods that take a message are called by one
// goroutine, which reads the connection.
type Guest struct {
	g        *graph.Graph
	node     string
	tell     Teller
	gone     <-chan struct{}
	services map[string]*graph.Server // by name as spelled
	actions  map[string]*served

	mu       sync.Mutex
	pending  map[string]chan *frame.Message // calls that the client is to answer
	callSeq  uint64
	handling map[string]*goal // that the client works on
}

// Teller is how the client is spoken to. Both may be called from any goroutine.
type Teller interface {
	Ask(m *frame.Message)            // never lost
	Complain(id string, text string) // an answer that cannot be read
}

// New returns a client that serves nothing yet. gone is closed when it has left.
func New(g *graph.Graph, node string, t Teller, gone <-chan struct{}) *Guest {
	return &Guest{g: g, node: node, tell: t, gone: gone, services: map[string]*graph.Server{}, actions: map[string]*served{},
		pending: map[string]chan *frame.Message{}, handling: map[string]*goal{}}
}

// Names returns how many services and actions the client serves.
func (c *Guest) Names() int { return len(c.services) + len(c.actions) }

// Leave takes everything out of the graph.
func (c *Guest) Leave() {
	for _, s := range c.services {
		s.Close()
	}
	for _, a := range c.actions {
		a.server.Lose()
	}
}

// saying returns an explanation as plain text, whatever its kind, or otherwise if
// there is none.
func saying(values []byte, otherwise string) string {
	if len(values) == 0 {
		return otherwise
	}
	return frame.IDText(string(values))
}

// missing is a member that an op cannot do without.
func missing(member string) error { return fmt.Errorf("the member %q is missing", member) }

// goal is a goal that the client works on.
type goal struct {
	*actions.Handle
	act       *served
	cancelled bool
}
