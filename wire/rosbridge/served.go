package rosbridge

import (
	"fmt"
	"sync"

	"poise/graph"
	"poise/wire/rosbridge/frame"
)

// served holds the services and actions that a client serves. The client is asked by
// call_service and send_action_goal, and answers by service_response, action_feedback
// and action_result. Methods that take a message are called by the session's
// worker.
type served struct {
	session  *session
	services map[string]*graph.ServiceServer // by name as spelled
	actions  map[string]*servedAction

	mu       sync.Mutex
	pending  map[string]chan *frame.Message // calls that the client is to answer
	callSeq  uint64
	handling map[string]*servedGoal // that the client works on
}

func newServed(ses *session) *served {
	return &served{session: ses, services: map[string]*graph.ServiceServer{}, actions: map[string]*servedAction{},
		pending: map[string]chan *frame.Message{}, handling: map[string]*servedGoal{}}
}

// names returns how many services and actions the client serves.
func (c *served) names() int { return len(c.services) + len(c.actions) }

// withdraw takes everything out of the graph: services end, and goals are lost.
func (c *served) withdraw() {
	for _, s := range c.services {
		s.Close()
	}
	for _, a := range c.actions {
		a.server.Lose()
	}
}

// textOf returns an explanation as plain text, whatever its kind, or otherwise if
// there is none.
func textOf(values []byte, otherwise string) string {
	if len(values) == 0 {
		return otherwise
	}
	return frame.IDText(string(values))
}

// missing is a member that an op cannot do without.
func missing(member string) error { return fmt.Errorf("the member %q is missing", member) }

// servedGoal is a goal that the client works on.
type servedGoal struct {
	*graph.GoalHandle
	act       *servedAction
	cancelled bool
}
