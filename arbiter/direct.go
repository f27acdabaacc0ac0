package arbiter

import (
	"errors"
	"fmt"

	"poise/robot"
)

// Errors of Direct.
var (
	ErrBusy = errors.New("arbiter: called from inside a hook")        // a call that would wait for itself
	ErrFull = fmt.Errorf("arbiter: more than %d clients", MaxClients) // no room for another name
	ErrName = errors.New("arbiter: no such client")                   // never registered
)

// Names gives controllers their numbers, as they come. It stands outside the
// machine, which knows numbers alone.
type Names struct {
	names []string
	ids   map[string]ClientID
}

// Register returns the number of a name, a new one if it is new.
func (n *Names) Register(name string) (ClientID, error) {
	if id, ok := n.ids[name]; ok {
		return id, nil
	}
	if len(n.names) == MaxClients {
		return Nobody, fmt.Errorf("%q: %w", name, ErrFull)
	}
	if n.ids == nil {
		n.ids = make(map[string]ClientID)
	}
	id := ClientID(len(n.names))
	n.names = append(n.names, name)
	n.ids[name] = id
	return id, nil
}

// Lookup returns the number of a name.
func (n *Names) Lookup(name string) (ClientID, bool) {
	id, ok := n.ids[name]
	return id, ok
}

// Name returns the name of a number, "" for Nobody.
func (n *Names) Name(c ClientID) string {
	if int(c) >= len(n.names) {
		return ""
	}
	return n.names[c]
}

// Direct is the machine with plain calls: register, request, release, check.
// What a call causes is done when it returns, hooks of all controllers
// included. A hook that calls back is refused with ErrBusy: it would wait for
// itself. Direct is meant for one goroutine.
type Direct struct {
	Names
	*Machine
	clients [MaxClients]Client
	hooks   [MaxClients]Hooks
	inside  bool
}

// NewDirect makes an arbiter with no controllers.
func NewDirect(cfg Config) *Direct { return &Direct{Machine: NewMachine(cfg)} }

// Register makes a controller known by name; h may be nil. A name that is known
// begins a new life: what it held is free.
func (d *Direct) Register(now int64, name string, h Hooks) (ClientID, error) {
	if d.inside {
		return Nobody, ErrBusy
	}
	id, err := d.Names.Register(name)
	if err != nil {
		return Nobody, err
	}
	first := d.client[id].request
	d.clients[id], d.hooks[id] = NewClient(id, first, 0), h
	d.do(&Event{At: now, Kind: Register, From: id, Local: true, Request: first})
	return id, nil
}

// Request asks for a claim. When it returns the client is operational, or the
// reason says why not; then nobody has lost anything.
func (d *Direct) Request(now int64, c ClientID, claim *Claim) (Reason, error) {
	if err := d.usable(c); err != nil {
		return Reason{Who: Nobody}, err
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
		return robot.Set{}, Reason{Who: Nobody}, err
	}
	gets, r = d.Machine.Check(c, claim)
	if r.Code == OK && d.hooks[c] != nil {
		d.inside = true
		defer func() { d.inside = false }()
		if !d.hooks[c].CanStart(gets) {
			return robot.Set{}, Reason{Code: Refused, Who: Nobody}, nil
		}
	}
	return gets, r, nil
}

// Client returns the client's own view.
func (d *Direct) Client(c ClientID) Client { return d.clients[c] }

// Deliver is the Port of a Direct.
func (d *Direct) Deliver(now int64, m *Message) (Event, bool) {
	return d.clients[m.To].Receive(now, m, d.hooks[m.To])
}

func (d *Direct) usable(c ClientID) error {
	if d.inside {
		return ErrBusy
	}
	if c >= MaxClients || !d.Known(c) {
		return fmt.Errorf("%w: number %d", ErrName, c)
	}
	return nil
}

func (d *Direct) do(e *Event) {
	d.inside = true
	defer func() { d.inside = false }()
	d.Do(e, d)
}
