package arbiter

import (
	"errors"
	"fmt"

	"poise/robot"
)

// Errors of calls that cannot be made.
var (
	ErrBusy = errors.New("arbiter: called from inside a hook")        // it would wait for itself
	ErrFull = fmt.Errorf("arbiter: more than %d clients", MaxClients) // no room for another name
	ErrName = errors.New("arbiter: no such client")                   // never registered
)

// Direct is the machine with plain calls and names: register, request, release,
// check. What a call causes is done when it returns, the hooks of all
// controllers included. A hook that calls back is refused with ErrBusy: it would
// wait for itself. Direct is meant for one goroutine.
type Direct struct {
	*Machine
	names   []string
	ids     map[string]ClientID
	clients [MaxClients]Client
	hooks   [MaxClients]Hooks
	inside  bool
}

// NewDirect makes an arbiter with no controllers.
func NewDirect(cfg Config) *Direct {
	return &Direct{Machine: NewMachine(cfg), ids: map[string]ClientID{}}
}

// Register makes a controller known by name; h may be nil. A name that is known
// begins a new life: what it held is free.
func (d *Direct) Register(now int64, name string, h Hooks) (ClientID, error) {
	if d.inside {
		return NoClient, ErrBusy
	}
	id, known := d.ids[name]
	if !known {
		if len(d.names) == MaxClients {
			return NoClient, fmt.Errorf("%q: %w", name, ErrFull)
		}
		id = ClientID(len(d.names))
		d.names, d.ids[name] = append(d.names, name), id
	}
	first := d.client[id].request
	d.clients[id], d.hooks[id] = NewClient(id, first, 0), h
	d.do(&Event{At: now, Kind: Register, From: id, Local: true, Request: first})
	return id, nil
}

// RegisterRemote makes a controller known that answers for itself, later: see Remote.
func (d *Direct) RegisterRemote(now int64, name string, h Remote) (ClientID, error) {
	id, err := d.Register(now, name, h)
	if err == nil {
		d.do(&Event{At: now, Kind: Register, From: id, Request: d.client[id].request})
	}
	return id, err
}

// Remote are the hooks of a controller whose answers come later.
type Remote interface {
	Hooks
	// Told is given every message before the client's stand-in hears it. It returns true
	// to keep the message back: then Answer goes on with it.
	Told(m *Message) (later bool)
}

// Answer goes on with a message that Told has kept back: the stand-in hears it now, asks
// its hooks, and answers.
func (d *Direct) Answer(now int64, c ClientID, m *Message) error {
	if err := d.usable(c); err != nil {
		return err
	}
	d.inside = true
	e, ok := d.clients[c].Receive(now, m, d.hooks[c])
	d.inside = false
	if ok {
		d.do(&e)
	}
	return nil
}

// Stop gives back what a client runs on; a request of it that is not answered yet goes on.
func (d *Direct) Stop(now int64, c ClientID) error {
	if err := d.usable(c); err != nil {
		return err
	}
	if e, ok := d.clients[c].Stop(now); ok {
		d.do(&e)
	}
	return nil
}

// Alive is a sign of life of a remote client, which confirms nothing.
func (d *Direct) Alive(now int64, c ClientID) error {
	if err := d.usable(c); err != nil {
		return err
	}
	if e, ok := d.clients[c].Alive(now); ok {
		d.do(&e)
	}
	return nil
}

// Withdraw takes back the request of a client that is not answered yet; what it runs on
// goes on.
func (d *Direct) Withdraw(now int64, c ClientID) error {
	if err := d.usable(c); err != nil {
		return err
	}
	if e, ok := d.clients[c].Withdraw(now); ok {
		d.do(&e)
	}
	return nil
}

// Tick decides what is overdue at now: rounds past their time, leases that have ended.
func (d *Direct) Tick(now int64) {
	for range maxOverdue {
		if at, any := d.Due(); !any || at > now {
			return
		}
		d.do(&Event{At: now, Kind: Tick})
	}
}

// maxOverdue bounds what one Tick decides; the rest is for the next.
const maxOverdue = 8

// Lookup returns the number of a name.
func (d *Direct) Lookup(name string) (ClientID, bool) {
	id, ok := d.ids[name]
	return id, ok
}

// Name returns the name of a client, "" for NoClient.
func (d *Direct) Name(c ClientID) string {
	if int(c) >= len(d.names) {
		return ""
	}
	return d.names[c]
}

// Request asks for a claim. When it returns the client is operational, or the
// reason says why not; then no owner has lost anything.
func (d *Direct) Request(now int64, c ClientID, claim *Claim) (Reason, error) {
	if err := d.usable(c); err != nil {
		return Reason{Who: NoClient}, err
	}
	e := d.clients[c].Request(now, claim)
	d.do(&e)
	return d.clients[c].Denied(), nil
}

// Release gives leaves back and no longer asks for them.
func (d *Direct) Release(now int64, c ClientID, leaves robot.Set) error {
	if err := d.usable(c); err != nil {
		return err
	}
	if e, ok := d.clients[c].Release(now, leaves); ok {
		d.do(&e)
	}
	return nil
}

// Quit gives back everything.
func (d *Direct) Quit(now int64, c ClientID) error {
	if err := d.usable(c); err != nil {
		return err
	}
	if e, ok := d.clients[c].Quit(now); ok {
		d.do(&e)
	}
	return nil
}

// Check says whether the client could start on the claim now, its own
// conditions included. It takes nothing.
func (d *Direct) Check(c ClientID, claim *Claim) (gets robot.Set, r Reason, err error) {
	if err := d.usable(c); err != nil {
		return robot.Set{}, Reason{Who: NoClient}, err
	}
	gets, r = d.Machine.Check(c, claim)
	if r.Code == OK && d.hooks[c] != nil {
		d.inside = true
		defer func() { d.inside = false }()
		if !d.hooks[c].CanStart(gets) {
			return robot.Set{}, Reason{Code: Refused, Who: NoClient}, nil
		}
	}
	return gets, r, nil
}

// Client returns the client's own view, to be read.
func (d *Direct) Client(c ClientID) *Client { return &d.clients[c] }

// Deliver makes a Direct the Port of its machine.
func (d *Direct) Deliver(now int64, m *Message) (Event, bool) {
	if h, ok := d.hooks[m.To].(Remote); ok && h.Told(m) {
		return Event{}, false
	}
	return d.clients[m.To].Receive(now, m, d.hooks[m.To])
}

func (d *Direct) usable(c ClientID) error {
	if d.inside {
		return ErrBusy
	}
	if int(c) >= len(d.names) {
		return fmt.Errorf("%w: number %d", ErrName, c)
	}
	return nil
}

func (d *Direct) do(e *Event) {
	d.inside = true
	defer func() { d.inside = false }()
	d.Do(e, d)
}
