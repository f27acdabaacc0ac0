package graph

import (
	"context"
	"slices"
	"sync"

	"poise/action"
	"poise/internal/budget"
	"poise/msgs/poisemsgs"
	"poise/msgs/registry"
)

// GoalUpdate is one piece of news about a goal: a new state, or feedback.
type GoalUpdate struct {
	State    action.State
	Cause    action.Cause
	Text     string
	Feedback *Message // set if this is feedback
	Result   *Message // set if State is final
	Lost     int      // feedback lost before this one

	// Info comes with feedback: how far the goal is. Nil if its server does not say.
	Info *poisemsgs.GoalInfo
	// Explanations come with a final state: why it ended, if not because it was done, and
	// what else should be known of it. Empty if its server gave none.
	Explanations []poisemsgs.Explanation
}

// GoalOptions say how a goal is sent and watched.
type GoalOptions struct {
	ID    action.ID   // empty lets the server name it
	Stamp action.Time // when the client asked; zero takes now
	Node  string      // of the client that asks
	Queue int         // feedback kept for a slow reader; default 10
	Wake  func()      // called when there is news; may only signal

	Account *budget.Account // that the goal is charged to until it is over; nil for the server's own
}

// GoalClient watches a goal. States and the result are never lost; feedback is,
// oldest first, when the reader is slow.
type GoalClient struct {
	server *ActionServer
	node   string // of the client that asks
	id     action.ID
	queue  int
	wake   func()
	ready  chan struct{}

	mu       sync.Mutex
	news     []GoalUpdate
	feedback int // in news
	lost     int
	closed   bool
}

// SendGoal sends a goal, a pointer to the action's goal struct. What becomes of it
// comes as updates; an error means that it never got to the server.
func (g *Graph) SendGoal(name string, goal any, o GoalOptions) (*GoalClient, error) {
	s, err := g.actionNamed(name)
	if err != nil {
		return nil, err
	}
	if !s.typ.Goal.Holds(goal) {
		return nil, wrongValue("action", s.name, goal, s.typ.Goal)
	}
	return s.send(goal, o)
}

// SendGoalJSON sends a goal as JSON of either form. A type name is checked if
// given.
func (g *Graph) SendGoalJSON(name, typeName string, args []byte, o GoalOptions) (*GoalClient, error) {
	s, err := g.actionNamed(name)
	if err != nil {
		return nil, err
	}
	form := s.typ.Goal.Form()
	if typeName != "" {
		asked, f, err := registry.ActionNamed(typeName)
		if err != nil {
			return nil, err
		}
		if asked != s.typ {
			return nil, &TypeError{Kind: "action", Name: s.name, Got: asked.String(), Want: s.typ.String()}
		}
		form = f
	}
	goal := s.typ.Goal.New()
	if err := readArgs(args, goal, s.typ.Goal, form); err != nil {
		return nil, err
	}
	return s.send(goal, o)
}

func (s *ActionServer) send(goal any, o GoalOptions) (*GoalClient, error) {
	c := s.client(o)
	if err := s.submit(GoalRequest{ID: o.ID, Stamp: o.Stamp, Caller: o.Node, Goal: goal, Account: o.Account}, c); err != nil {
		return nil, err
	}
	return c, nil
}

func (s *ActionServer) client(o GoalOptions) *GoalClient {
	if o.Queue <= 0 {
		o.Queue = defaultDepth
	}
	return &GoalClient{server: s, node: o.Node, id: o.ID, queue: min(o.Queue, MaxDepth), wake: o.Wake, ready: make(chan struct{}, 1)}
}

// WatchGoal follows a goal that another client sent, or that ended not long ago: its
// present state is the first update.
func (g *Graph) WatchGoal(name string, id action.ID, o GoalOptions) (*GoalClient, error) {
	s, err := g.actionNamed(name)
	if err != nil {
		return nil, err
	}
	o.ID = id
	c := s.client(o)
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.views[id]
	if v == nil {
		return nil, &NotFoundError{Kind: "goal of action " + s.name + ",", Name: string(id)}
	}
	v.clients = append(v.clients, c)
	c.push(v.last)
	return c, nil
}

// CancelGoals asks for the end of goals on behalf of a node, with the meaning of
// actionlib's GoalID: see GoalServer. It returns how many it reached.
func (g *Graph) CancelGoals(name, node string, id action.ID, stamp action.Time) (int, error) {
	s, err := g.actionNamed(name)
	if err != nil {
		return 0, err
	}
	return s.goals.Cancel(node, id, stamp), nil
}

// push adds an update. The server's lock is held.
func (c *GoalClient) push(u GoalUpdate) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	if u.Feedback != nil {
		if c.feedback == c.queue {
			c.dropOldest()
		}
		c.feedback++
	}
	c.news = append(c.news, u)
	first := len(c.news) == 1
	c.mu.Unlock()
	if first {
		c.signal()
	}
}

func (c *GoalClient) dropOldest() {
	for i := range c.news {
		if c.news[i].Feedback != nil {
			c.news = append(c.news[:i], c.news[i+1:]...)
			c.feedback--
			c.lost++
			return
		}
	}
}

func (c *GoalClient) signal() {
	select {
	case c.ready <- struct{}{}:
	default:
	}
	if c.wake != nil {
		c.wake()
	}
}

// ID returns the goal's name.
func (c *GoalClient) ID() action.ID { return c.id }

// Type returns the action's type.
func (c *GoalClient) Type() *registry.Action { return c.server.typ }

// Poll returns the oldest update, if there is one.
func (c *GoalClient) Poll() (GoalUpdate, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.news) == 0 {
		return GoalUpdate{}, false
	}
	u := c.news[0]
	c.news[0] = GoalUpdate{}
	c.news = c.news[1:]
	if u.Feedback != nil {
		c.feedback--
		u.Lost, c.lost = c.lost, 0
	}
	return u, true
}

// Next waits for an update.
func (c *GoalClient) Next(ctx context.Context) (GoalUpdate, error) {
	for {
		if u, ok := c.Poll(); ok {
			return u, nil
		}
		c.mu.Lock()
		closed := c.closed
		c.mu.Unlock()
		if closed {
			return GoalUpdate{}, ErrClosed
		}
		select {
		case <-c.ready:
		case <-ctx.Done():
			return GoalUpdate{}, ctx.Err()
		}
	}
}

// Result waits for the end of the goal and returns the last update.
func (c *GoalClient) Result(ctx context.Context) (GoalUpdate, error) {
	for {
		u, err := c.Next(ctx)
		if err != nil || u.Result != nil {
			return u, err
		}
	}
}

// Cancel asks for the end of the goal.
func (c *GoalClient) Cancel() { c.server.goals.Cancel(c.node, c.id, 0) }

// Close ends the watching; the goal goes on.
func (c *GoalClient) Close() {
	c.server.mu.Lock()
	if v := c.server.views[c.id]; v != nil {
		v.clients = slices.DeleteFunc(v.clients, func(x *GoalClient) bool { return x == c })
	}
	c.server.mu.Unlock()
	c.mu.Lock()
	c.closed = true
	c.news = nil
	c.mu.Unlock()
	c.signal()
}
