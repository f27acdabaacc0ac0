package arbiter

import "poise/robot"

// Hooks are the decisions of a controller in its own switching. They are called
// from within Client methods and must not call the arbiter.
type Hooks interface {
	// CanStart answers an offer: are the conditions to start with these leaves
	// met? It takes nothing; the offer may still be withdrawn.
	CanStart(offer robot.Set) bool

	// ResourcesChanged tells an operational controller what it owns from now on,
	// when it begins and whenever that changes. It returns false to quit. It is
	// not called for the loss of a needed leaf: then the controller is out.
	ResourcesChanged(owned robot.Set) bool
}

// Client is the arbiter's counterpart in a controller: what it asked for, what it runs on,
// what it owns. Methods return the Event to be sent to the arbiter. The
// controller's own code runs only while Operational.
type Client struct {
	id       ClientID
	phase    Phase
	ready    bool   // has said so for its present request
	request  uint64 // newest request it made
	held     uint64 // request it runs on
	serial   uint64 // newest assignment it followed
	asked    int64  // when it made its newest request
	patience int64  // how long it waits for an answer
	runs     needs  // what it runs on
	asks     needs  // what it asks for
	owned    robot.Set
	denied   Reason // why its last request was denied
}

type needs struct{ need, want robot.Set }

// NewClient makes the client of a controller registered as id, whose request
// ids begin above first. A request unanswered for patience (ns) is given up;
// 0 is without end.
func NewClient(id ClientID, first uint64, patience int64) Client {
	return Client{id: id, request: first, patience: patience}
}

// Phase returns the phase as the client knows it.
func (c *Client) Phase() Phase { return c.phase }

// Operational reports whether the controller's own code may run.
func (c *Client) Operational() bool { return c.phase&Operational != 0 }

// Owned returns the leaves that the client owns as far as it knows.
func (c *Client) Owned() robot.Set { return c.owned }

// Denied returns why the last request was denied, OK if it was not.
func (c *Client) Denied() Reason { return c.denied }

// Request asks for a claim. A running client asks for another one and runs on
// meanwhile; an earlier request without an answer is replaced. The claim must
// not change until the arbiter has handled the event.
func (c *Client) Request(now int64, claim *Claim) Event {
	c.request++
	c.asked = now
	c.ready = false
	c.denied = Reason{Who: NoClient}
	c.phase |= Pending
	c.asks = needs{claim.Need, claim.Want.Minus(claim.Need)}
	return c.event(now, Request, c.request, Event{Claim: claim})
}

// Release gives leaves back and no longer asks for them; with nothing left to
// ask for the client quits. A client that is not operational has nothing to
// give: ok is false.
func (c *Client) Release(now int64, leaves robot.Set) (e Event, ok bool) {
	if !c.Operational() {
		return Event{}, false
	}
	c.runs.need, c.runs.want = c.runs.need.Minus(leaves), c.runs.want.Minus(leaves)
	c.owned = c.owned.Minus(leaves)
	e = c.event(now, Release, c.held, Event{Leaves: leaves})
	if c.runs == (needs{}) {
		c.stop()
	}
	return e, true
}

// Quit ends all the client does and asks for. ok is false if that is nothing.
func (c *Client) Quit(now int64) (e Event, ok bool) {
	if c.phase == NonOperational {
		return Event{}, false
	}
	c.stop()
	c.withdraw(OK)
	return c.event(now, Quit, c.request, Event{}), true
}

// Stop ends what the client runs on; a request under way goes on. ok is false if it is not
// operational.
func (c *Client) Stop(now int64) (e Event, ok bool) {
	if !c.Operational() {
		return Event{}, false
	}
	e = c.event(now, Quit, c.held, Event{})
	c.stop()
	return e, true
}

// Report is the sign of life to be sent a few times per lease. ok is false for
// a client that is not engaged.
func (c *Client) Report(now int64) (e Event, ok bool) {
	switch {
	case c.Operational():
		return c.confirm(now), true
	case c.phase == Pending:
		return c.event(now, Report, c.request, Event{}), true
	}
	return Event{}, false
}

// Alive is a sign of life that renews the lease and confirms nothing.
func (c *Client) Alive(now int64) (e Event, ok bool) {
	if e, ok = c.Report(now); ok {
		e.Serial, e.Leaves = 0, robot.Set{}
	}
	return e, ok
}

// GiveUpAt returns when the client stops waiting for an answer.
func (c *Client) GiveUpAt() (at int64, pending bool) {
	return c.asked + c.patience, c.phase&Pending != 0 && c.patience > 0
}

// Tick gives up a request that has waited too long for an answer.
func (c *Client) Tick(now int64) (e Event, ok bool) {
	at, pending := c.GiveUpAt()
	if !pending || now < at {
		return Event{}, false
	}
	c.withdraw(Unknown)
	return c.event(now, Refuse, c.request, Event{}), true
}

// Withdraw takes back the request under way. ok is false if there is none.
func (c *Client) Withdraw(now int64) (e Event, ok bool) {
	if c.phase&Pending == 0 {
		return Event{}, false
	}
	c.withdraw(OK)
	return c.event(now, Refuse, c.request, Event{}), true
}

// Receive takes a message of the arbiter and returns the answer, if it needs
// one. A client that is not concerned ignores it. h may be nil: then the
// controller can always start and lives with every change.
func (c *Client) Receive(now int64, m *Message, h Hooks) (e Event, ok bool) {
	mine := c.phase&Pending != 0 && m.Request == c.request
	newer := m.Serial > c.serial
	switch {
	case m.Kind == Offer && mine:
		return c.offered(now, m.Leaves, h), true
	case m.Kind == Deny && mine:
		c.withdraw(OK)
		c.denied = m.Reason
	case m.Kind == Revoke && mine:
		c.withdraw(Unknown)
	case m.Kind == Offer || m.Kind == Deny:
	case mine && (c.ready || m.Kind == Grant) && newer: // a Grant, or an Assign that overtook it
		c.held, c.runs = c.request, c.asks
		c.phase = OperationalPending
		c.withdraw(OK)
		return c.assigned(now, m, true, h), true
	case c.Operational() && newer && (m.Kind == Revoke || m.Request != c.held):
		// not known to the arbiter, or known with a request that it has given up
		e = c.event(now, Quit, m.Request, Event{})
		c.stop()
		return e, true
	case c.Operational() && newer:
		return c.assigned(now, m, false, h), true
	case c.Operational() && m.Serial == c.serial:
		return c.confirm(now), true // its confirmation was lost, or is on its way
	}
	return Event{}, false
}

// offered answers an offer.
func (c *Client) offered(now int64, offer robot.Set, h Hooks) Event {
	if !c.ready && h != nil && !h.CanStart(offer) {
		c.withdraw(Refused)
		return c.event(now, Refuse, c.request, Event{})
	}
	c.ready = true
	return c.event(now, Ready, c.request, Event{})
}

// assigned takes over what the client owns from now on, if it can live with
// it. What it has released meanwhile it does not take back.
func (c *Client) assigned(now int64, m *Message, granted bool, h Hooks) Event {
	before := c.owned
	c.serial, c.owned = m.Serial, m.Leaves.Intersect(c.runs.need.Union(c.runs.want))
	lives := c.owned.Contains(c.runs.need)
	if lives && (granted || c.owned != before) && h != nil {
		lives = h.ResourcesChanged(c.owned)
	}
	if lives {
		return c.confirm(now)
	}
	e := c.event(now, Quit, c.held, Event{})
	c.stop()
	return e
}

// withdraw forgets the request under way.
func (c *Client) withdraw(why Code) {
	c.phase &^= Pending
	c.ready, c.asked, c.asks = false, 0, needs{}
	c.denied = Reason{Code: why, Who: NoClient}
}

// stop ends what the client runs on; a request under way goes on.
func (c *Client) stop() {
	c.phase &^= Operational
	c.held, c.serial, c.owned, c.runs = 0, 0, robot.Set{}, needs{}
}

func (c *Client) confirm(now int64) Event {
	return c.event(now, Report, c.held, Event{Serial: c.serial, Leaves: c.owned})
}

func (c *Client) event(now int64, kind EventKind, request uint64, e Event) Event {
	e.At, e.Kind, e.From, e.Request = now, kind, c.id, request
	return e
}
