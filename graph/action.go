package graph

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"poise/action"
	"poise/internal/budget"
	"poise/msgs"
	"poise/msgs/registry"
	"poise/msgs/rosjson"
)

// GoalServer owns the goals of an action: it takes or refuses them, and reports their
// states. The action shows these to clients and on topics, and has no goal states of its
// own.
type GoalServer interface {
	// Submit takes a goal and returns its name, one of its own if the request has
	// none. Everything that becomes of the goal is told to the view, beginning with its
	// first state, from any goroutine but in order. An error means that the goal was
	// not taken; then nothing is told.
	Submit(q GoalRequest, v *GoalView) (action.ID, error)
	// Cancel asks for the end of goals, with the meaning of actionlib's GoalID: no id
	// and no stamp, all; a stamp, all that were stamped no later; an id, that one, also
	// if it has not come yet. It returns how many it reached.
	Cancel(caller string, id action.ID, stamp action.Time) int
	// Stop ends all goals of the action and takes no more. The goals of a server that
	// is gone are lost; else running ones are aborted and waiting ones rejected.
	Stop(gone bool)
}

// GoalRequest is a goal as its client sends it.
type GoalRequest struct {
	ID     action.ID   // empty lets the server choose
	Stamp  action.Time // when the client says that it asked
	Caller string      // the node that asks
	Goal   any         // pointer to the action's goal struct; shared, never written

	Account *budget.Account // that the goal is charged to until it is over; nil for the server's own
}

// ActionOptions say how an action is served.
type ActionOptions struct {
	Node     string // who serves; default the graph's own
	MaxGoals int    // goals not over yet; default 64

	Account *budget.Account // of the client that serves it; nil for the server's own
}

const (
	defaultMaxGoals = 64
	maxKept         = 4096 // goals that are known, those with kept results among them
	maxKeptBytes    = 64 << 20
)

// ActionServer is the registration of an action: it hands goals to their server, and
// publishes the states that the server reports to clients and on ROS 1's topics.
type ActionServer struct {
	g        *Graph
	o        Options // of the graph
	name     string
	node     string
	typ      *registry.Action
	goals    GoalServer
	tidy     func() // frees what goals keeps of those that are not shown any more; may be nil
	maxGoals int
	account  *budget.Account

	mu       sync.Mutex
	views    map[action.ID]*GoalView
	order    []*GoalView // by arrival
	arriving int         // goals on their way to the server
	closed   bool
	refused  []refusal // on ROS 1's topics, not long ago

	status, feedback, result *Advertisement // nil once they are closed
	ends                     []func()       // of the topics read
}

// ServeGoals registers an action whose goals have a server of their own.
func (g *Graph) ServeGoals(name string, typ *registry.Action, goals GoalServer, o ActionOptions) (*ActionServer, error) {
	s := g.newAction(typ, o)
	s.goals = goals
	if err := s.open(name); err != nil {
		return nil, err
	}
	return s, nil
}

func (g *Graph) newAction(typ *registry.Action, o ActionOptions) *ActionServer {
	if o.MaxGoals <= 0 {
		o.MaxGoals = defaultMaxGoals
	}
	return &ActionServer{g: g, o: g.o, node: cmp.Or(o.Node, g.o.Node), typ: typ, maxGoals: o.MaxGoals, account: o.Account, views: map[action.ID]*GoalView{}}
}

// open puts the action and its topics into the graph.
func (s *ActionServer) open(name string) error {
	if err := s.g.addAction(name, s); err != nil {
		return err
	}
	s.mu.Lock()
	err := s.openTopics()
	s.mu.Unlock()
	if err != nil {
		s.Close()
		return fmt.Errorf("action %s: %w", s.name, err)
	}
	s.g.changed(ActionKind, s.name)
	return nil
}

// actionNames is how many names an action has: its own, and those of its topics.
const actionNames = 6

// addAction puts an action into the graph and gives it its name in full.
func (g *Graph) addAction(name string, s *ActionServer) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	name, err := newName(g, "action", name, g.actions, func(s *ActionServer) string { return s.node })
	if err != nil {
		return err
	}
	if err := s.account.Take(budget.Names, actionNames); err != nil {
		return err
	}
	s.name = name
	g.actions[name] = s
	return nil
}

// removeAction takes the name back from an action that still has it.
func (g *Graph) removeAction(s *ActionServer) {
	g.mu.Lock()
	if g.actions[s.name] == s {
		delete(g.actions, s.name)
		s.account.Give(budget.Names, actionNames)
	}
	g.mu.Unlock()
	g.changed(ActionKind, s.name)
}

// actionNamed returns the action of a name.
func (g *Graph) actionNamed(name string) (*ActionServer, error) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	name, err := g.resolve(name)
	if err != nil {
		return nil, err
	}
	if s := g.actions[name]; s != nil {
		return s, nil
	}
	return nil, &NotFoundError{Kind: "action", Name: name, Names: hinted(&g.hints, g.actions)}
}

// actionServers returns all actions, by name.
func (g *Graph) actionServers() []*ActionServer {
	g.mu.RLock()
	defer g.mu.RUnlock()
	out := make([]*ActionServer, 0, len(g.actions))
	for _, name := range slices.Sorted(maps.Keys(g.actions)) {
		out = append(out, g.actions[name])
	}
	return out
}

// Close ends the action: running goals are aborted, waiting ones rejected.
func (s *ActionServer) Close() { s.end(false) }

// Lose ends the action of a server that is gone, a client whose connection broke:
// its goals are lost.
func (s *ActionServer) Lose() { s.end(true) }

func (s *ActionServer) end(gone bool) {
	s.mu.Lock()
	was := s.closed
	s.closed = true
	for _, v := range s.order {
		s.g.kept.Add(-v.kept)
		v.kept = 0
	}
	s.mu.Unlock()
	if !was {
		s.goals.Stop(gone)
	}
	s.closeTopics()
	s.g.removeAction(s)
}

// submit hands a goal to its server.
func (s *ActionServer) submit(q GoalRequest, clients ...*GoalClient) error {
	if err := s.admit(); err != nil {
		return err
	}
	if q.Stamp == 0 {
		q.Stamp = action.Time(s.o.Now().UnixNano())
	}
	v := &GoalView{server: s, stamp: q.Stamp, clients: clients, account: q.Account, cost: rosjson.Memory(q.Goal)}
	err := v.account.Take(budget.Messages, v.cost)
	var id action.ID
	if err != nil {
		v.account = nil
	} else {
		id, err = s.goals.Submit(q, v)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		v.giveBack()
		s.arriving--
		return err
	}
	v.begin(id)
	return nil
}

// admit lets a goal in, or says why not.
func (s *ActionServer) admit() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	switch {
	case s.closed:
		return &NotFoundError{Kind: "action", Name: s.name}
	case s.running() >= s.maxGoals:
		return &FullError{What: "goals of action " + s.name, Limit: s.maxGoals}
	case len(s.order) >= maxKept:
		return &FullError{What: "goals of action " + s.name + " within " + s.o.KeepResults.String(), Limit: maxKept}
	}
	s.arriving++
	return nil
}

// running counts the goals that are not over. The lock is held.
func (s *ActionServer) running() int {
	n := s.arriving
	for _, v := range s.order {
		if !v.last.State.Terminal() {
			n++
		}
	}
	return n
}

// openGoals returns how many goals are not over.
func (s *ActionServer) openGoals() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running()
}

// forget drops goals that have been over for long enough. The lock is held.
func (s *ActionServer) forget() {
	now := s.o.Now()
	s.order = slices.DeleteFunc(s.order, func(v *GoalView) bool {
		// large results of many goals are not kept as long as others, oldest first
		if !v.last.State.Terminal() || now.Sub(v.ended) <= s.o.KeepResults && s.g.kept.Load() <= maxKeptBytes {
			return false
		}
		s.g.kept.Add(-v.kept)
		if s.views[v.id] == v {
			delete(s.views, v.id)
		}
		v.forgotten = true
		return true
	})
}

// beat tells where goals stand and forgets old results; the graph calls it every
// StatusPeriod.
func (s *ActionServer) beat() {
	s.mu.Lock()
	if !s.closed {
		s.forget()
		s.tellStatus()
	}
	s.mu.Unlock()
	if s.tidy != nil {
		s.tidy()
	}
}

// failure is the result of a goal that did not succeed and whose server gave it none:
// in many types no error code is that of success.
func (s *ActionServer) failure(why string) any {
	r := s.typ.Result.New()
	v := reflect.ValueOf(r).Elem()
	if code := v.FieldByName("ErrorCode"); code.IsValid() {
		switch x := code.Addr().Interface().(type) {
		case *int32:
			*x = -1
		case *msgs.MoveItErrorCodes:
			x.Val, x.Message = msgs.ErrorFailure, why
		}
	}
	if text := v.FieldByName("ErrorString"); text.IsValid() {
		text.SetString(why)
	}
	return r
}

// check panics for a value of the wrong type: goals are served by code, and wires
// check what they read before.
func (s *ActionServer) check(v any, t *registry.Type) {
	if !t.Holds(v) {
		panic("graph: " + wrongValue("action", s.name, v, t).Error())
	}
}

// stampOf returns a moment as the header of a message has it.
func stampOf(t time.Time) msgs.Time { return msgs.TimeOf(t.UnixNano()) }
