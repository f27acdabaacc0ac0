package actions

import (
	"context"
	"sync"

	"poise/action"
	"poise/graph"
	"poise/msgs/registry"
)

// Update is one piece of news about a goal: a new state, or feedback.
type Update struct {
	State    action.State
	Cause    action.Cause
	Text     string
	Feedback *graph.Message // set if this is feedback
	Result   *graph.Message // set if State is final
	Lost     int            // feedback lost before this one
}

// SendOptions say how a goal is sent and watched.
type SendOptions struct {
	ID    action.ID   // empty lets the server name it
	Stamp action.Time // when the client asked; zero takes now
	Node  string      // who asks
	Queue int         // feedback kept for a slow reader; default 10
	Wake  func()      // called when there is news; may only signal
}

// Bounds of the feedback that waits for a slow reader.
const (
	defaultQueue = 10
	maxQueue     = 4096
)

// Client watches a goal. States and the result are never lost; feedback is,
// oldest first, when the reader is slow.
type Client struct {
	server *Server
	id     action.ID
	queue  int
	wake   func()
	ready  chan struct{}

	mu       sync.Mutex
	news     []Update
	feedback int // in news
	lost     int
	closed   bool
}

// Send sends a goal, a pointer to the action's goal struct. What becomes of it
// comes as updates; an error means that it never got to the server.
func Send(g *graph.Graph, name string, goal any, o SendOptions) (*Client, error) {
	s, err := named(g, name)
	if err != nil {
		return nil, err
	}
	if !s.typ.Goal.Holds(goal) {
		return nil, graph.WrongValue("action", s.name, goal, s.typ.Goal)
	}
	return s.send(goal, o)
}

// SendJSON sends a goal as JSON of either form. A type name is checked if
// given.
func SendJSON(g *graph.Graph, name, typeName string, args []byte, o SendOptions) (*Client, error) {
	s, err := named(g, name)
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
			return nil, &graph.TypeError{Kind: "action", Name: s.name, Got: asked.String(), Want: s.typ.String()}
		}
		form = f
	}
	goal := s.typ.Goal.New()
	if err := graph.ReadArgs(args, goal, s.typ.Goal, form); err != nil {
		return nil, err
	}
	return s.send(goal, o)
}

func (s *Server) send(goal any, o SendOptions) (*Client, error) {
	if o.Stamp == 0 {
		o.Stamp = action.Time(s.o.Now().UnixNano())
	}
	c := s.client(o)
	rec := &goalRecord{caller: o.Node, clients: []*Client{c}}
	if err := s.submit(o.ID, o.Stamp, goal, rec); err != nil {
		return nil, err
	}
	return c, nil
}

func (s *Server) client(o SendOptions) *Client {
	if o.Queue <= 0 {
		o.Queue = defaultQueue
	}
	return &Client{server: s, id: o.ID, queue: min(o.Queue, maxQueue), wake: o.Wake, ready: make(chan struct{}, 1)}
}

// Watch follows a goal that somebody else sent, or that ended not long ago: its
// present state is the first update.
func Watch(g *graph.Graph, name string, id action.ID, o SendOptions) (*Client, error) {
	s, err := named(g, name)
	if err != nil {
		return nil, err
	}
	o.ID = id
	c := s.client(o)
	s.mu.Lock()
	defer s.mu.Unlock()
	rec := s.goals[id]
	if rec == nil {
		return nil, &graph.NotFoundError{Kind: "goal of action " + s.name + ",", Name: string(id)}
	}
	rec.clients = append(rec.clients, c)
	c.push(rec.last)
	return c, nil
}

// Cancel asks for the end of goals, with the meaning of actionlib's GoalID: no id
// and no stamp, all; a stamp, all that were stamped no later; an id, that one. It
// returns how many it reached.
func Cancel(g *graph.Graph, name string, id action.ID, stamp action.Time) (int, error) {
	s, err := named(g, name)
	if err != nil {
		return 0, err
	}
	return s.cancel(id, stamp), nil
}

// named returns the server of an action.
func named(g *graph.Graph, name string) (*Server, error) {
	a, err := g.Actor(name)
	if err != nil {
		return nil, err
	}
	s, ok := a.(*Server)
	if !ok {
		return nil, &graph.NotFoundError{Kind: "action", Name: name}
	}
	return s, nil
}

// push adds an update. The server's lock is held.
func (c *Client) push(u Update) {
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

func (c *Client) dropOldest() {
	for i := range c.news {
		if c.news[i].Feedback != nil {
			c.news = append(c.news[:i], c.news[i+1:]...)
			c.feedback--
			c.lost++
			return
		}
	}
}

func (c *Client) signal() {
	select {
	case c.ready <- struct{}{}:
	default:
	}
	if c.wake != nil {
		c.wake()
	}
}

// ID returns the goal's name.
func (c *Client) ID() action.ID { return c.id }

// Type returns the action's type.
func (c *Client) Type() *registry.Action { return c.server.typ }

// Poll returns the oldest update, if there is one.
func (c *Client) Poll() (Update, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.news) == 0 {
		return Update{}, false
	}
	u := c.news[0]
	c.news[0] = Update{}
	c.news = c.news[1:]
	if u.Feedback != nil {
		c.feedback--
		u.Lost, c.lost = c.lost, 0
	}
	return u, true
}

// Next waits for an update.
func (c *Client) Next(ctx context.Context) (Update, error) {
	for {
		if u, ok := c.Poll(); ok {
			return u, nil
		}
		c.mu.Lock()
		closed := c.closed
		c.mu.Unlock()
		if closed {
			return Update{}, graph.ErrClosed
		}
		select {
		case <-c.ready:
		case <-ctx.Done():
			return Update{}, ctx.Err()
		}
	}
}

// Result waits for the end of the goal and returns the last update.
func (c *Client) Result(ctx context.Context) (Update, error) {
	for {
		u, err := c.Next(ctx)
		if err != nil || u.Result != nil {
			return u, err
		}
	}
}

// Cancel asks for the end of the goal.
func (c *Client) Cancel() { c.server.cancel(c.id, 0) }

// Close ends the watching; the goal goes on.
func (c *Client) Close() {
	c.server.mu.Lock()
	if rec := c.server.goals[c.id]; rec != nil {
		for i, x := range rec.clients {
			if x == c {
				rec.clients = append(rec.clients[:i], rec.clients[i+1:]...)
				break
			}
		}
	}
	c.server.mu.Unlock()
	c.mu.Lock()
	c.closed = true
	c.news = nil
	c.mu.Unlock()
	c.signal()
}
