package scenario

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"poise/arbiter"
	"poise/robot"
)

// Frame is the arbiter's state at a time.
type Frame struct {
	At    int64              // ns
	Owner []arbiter.ClientID // of each resource
	State []arbiter.Phase    // of each controller
}

// AppendJSON appends the frame as one line of JSON, without its end:
// resources and controllers stand in the order of the script.
func (s *Scenario) AppendJSON(dst []byte, f Frame) []byte {
	dst = append(dst, `{"t":`...)
	dst = strconv.AppendFloat(dst, float64(f.At)/1e9, 'f', -1, 64)
	dst = append(dst, `,"owner":{`...)
	for i, name := range s.Resources {
		dst = appendKey(dst, i, name)
		if c := f.Owner[i]; c == arbiter.NoClient {
			dst = append(dst, "null"...)
		} else {
			dst = appendText(dst, s.Controllers[c].Name)
		}
	}
	dst = append(dst, `},"state":{`...)
	for i, c := range s.Controllers {
		dst = appendKey(dst, i, c.Name)
		dst = appendText(dst, f.State[i].String())
	}
	return append(dst, "}}"...)
}

func appendKey(dst []byte, i int, name string) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return append(appendText(dst, name), ':')
}

func appendText(dst []byte, s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic("scenario: " + err.Error()) // a string always marshals
	}
	return append(dst, b...)
}

// packet is a message on its way, to the arbiter or to a client.
type packet struct {
	at       int64
	toClient bool
	event    arbiter.Event
	message  arbiter.Message
}

// runner is one run of a scenario.
type runner struct {
	s       *Scenario
	now     int64
	state   arbiter.State
	effects arbiter.Effects
	clients []arbiter.Client
	dead    []bool
	wire    []packet    // in the order of arrival, then of sending
	faults  []wireFault // still to come
	last    Frame
	emit    func(Frame)
}

// maxMoves bounds what may happen at one instant. The machine comes to rest
// after a few messages for each client; more than this is a fault of ours.
const maxMoves = 1000 * arbiter.MaxClients

// Run plays the script to its end, until nothing is under way and nothing can
// fall due any more. It gives emit the first state and then every change.
func (s *Scenario) Run(emit func(Frame)) {
	r := &runner{s: s, emit: emit}
	r.state.Init(s.config)
	patience := s.config.RoundTimeout + s.config.Lease
	for c := range s.Controllers {
		r.clients = append(r.clients, arbiter.NewClient(arbiter.ClientID(c), 0, patience))
		r.dead = append(r.dead, false)
		r.state.Handle(&arbiter.Event{Kind: arbiter.Register, From: arbiter.ClientID(c)}, &r.effects)
	}
	r.last = r.frame()
	emit(r.last)
	script := s.events
	for {
		t, any := r.due()
		if len(script) > 0 && (!any || script[0].at <= t) {
			t, any = script[0].at, true
		}
		if !any {
			return
		}
		r.now = max(r.now, t)
		r.deliver()
		for len(script) > 0 && script[0].at == r.now {
			r.play(&script[0])
			script = script[1:]
			r.deliver()
		}
		r.tick()
		r.deliver()
	}
}

// due returns when the next message arrives or the next time runs out. The
// lease of a client that lives, and knows its state, never does.
func (r *runner) due() (at int64, any bool) {
	next := func(t int64, ok bool) {
		if ok && (!any || t < at) {
			at, any = t, true
		}
	}
	if len(r.wire) > 0 {
		next(r.wire[0].at, true)
	}
	for i := range r.clients {
		c := arbiter.ClientID(i)
		next(r.state.RoundDue(c))
		if !r.dead[c] {
			next(r.clients[c].GiveUpAt())
		}
		if e, engaged := r.clients[c].Alive(r.now); r.dead[c] || !engaged || e.Request != r.state.Running(c) {
			next(r.state.LeaseDue(c))
		}
	}
	return at, any
}

// deliver brings what has arrived to where it goes, and the answers back, until
// nothing arrives at this instant any more.
func (r *runner) deliver() {
	for n := 0; len(r.wire) > 0 && r.wire[0].at <= r.now; n++ {
		if n > maxMoves {
			panic(fmt.Sprintf("scenario: no end of messages at %d ns", r.now))
		}
		p := r.wire[0]
		r.wire = r.wire[1:]
		if !p.toClient {
			r.handle(p.event)
			continue
		}
		c := p.message.To
		if r.dead[c] {
			continue
		}
		if e, ok := r.clients[c].Receive(r.now, &p.message, &r.s.Controllers[c]); ok {
			r.send(packet{event: e})
		}
	}
}

// CanStart says whether the controller's conditions to start are met.
func (c *Controller) CanStart(robot.Set) bool { return !c.Refuses }

// ResourcesChanged lets the controller live with what it still needs.
func (c *Controller) ResourcesChanged(robot.Set) bool { return true }

// handle gives the arbiter an event and sends off what it causes.
func (r *runner) handle(e arbiter.Event) {
	e.At = r.now
	r.state.Handle(&e, &r.effects)
	f := r.frame()
	for _, m := range r.effects.Messages() {
		if e.Kind == arbiter.Request && m.Kind == arbiter.Deny && m.Request == e.Request {
			r.show(f.pending(e.From)) // denied in the same breath
		}
		r.send(packet{toClient: true, message: m})
	}
	r.show(f)
}

// show emits a frame that differs from the one before.
func (r *runner) show(f Frame) {
	if !slices.Equal(f.Owner, r.last.Owner) || !slices.Equal(f.State, r.last.State) {
		r.last = f
		r.emit(f)
	}
}

// pending returns the frame with one controller's request under way.
func (f Frame) pending(c arbiter.ClientID) Frame {
	f.State = slices.Clone(f.State)
	f.State[c] |= arbiter.Pending
	return f
}

func (r *runner) frame() Frame {
	f := Frame{At: r.now}
	for leaf := range r.s.Resources {
		f.Owner = append(f.Owner, r.state.Owner(robot.LeafID(leaf)))
	}
	for c := range r.s.Controllers {
		f.State = append(f.State, r.state.Phase(arbiter.ClientID(c)))
	}
	return f
}

// send puts a packet on its wire, where the next fault of that wire befalls it.
func (r *runner) send(p packet) {
	client := p.event.From
	if p.toClient {
		client = p.message.To
	}
	p.at = r.now
	copies := 1
	for i := range r.faults {
		f := &r.faults[i]
		if f.client != client || f.toArbiter == p.toClient {
			continue
		}
		switch {
		case f.lose > 0:
			f.lose--
			return
		case f.delay > 0 && p.at == r.now:
			f.delay--
			p.at += f.by
		case f.double > 0 && copies == 1:
			f.double--
			copies = 2
		}
	}
	r.faults = slices.DeleteFunc(r.faults, func(f wireFault) bool { return f.lose+f.delay+f.double == 0 })
	for range copies {
		i, _ := slices.BinarySearchFunc(r.wire, p.at+1, func(q packet, t int64) int {
			if q.at < t {
				return -1
			}
			return 1
		})
		r.wire = slices.Insert(r.wire, i, p)
	}
}

// play does what the script says. A controller that has crashed does nothing.
func (r *runner) play(e *event) {
	if e.verb == fault {
		r.faults = append(r.faults, e.fault)
		return
	}
	if r.dead[e.who] {
		return
	}
	c := &r.clients[e.who]
	switch e.verb {
	case request:
		r.send(packet{event: c.Request(r.now, e.claim)})
	case release:
		r.alive(e.who)
		give := func(now int64) (arbiter.Event, bool) { return c.Release(now, e.leaves) }
		if e.leaves.Empty() {
			give = c.Quit
		}
		if out, ok := give(r.now); ok {
			r.send(packet{event: out})
		}
	case crash:
		r.alive(e.who)
		r.dead[e.who] = true
	}
}

// alive renews a client's lease. Signs of life are no messages: they come at
// every instant and are never lost, so a lease counts from the crash.
func (r *runner) alive(c arbiter.ClientID) {
	_, leased := r.state.LeaseDue(c)
	if e, ok := r.clients[c].Alive(r.now); ok && leased {
		r.handle(e)
	}
}

// tick lets fall due what does at this instant.
func (r *runner) tick() {
	for i := range r.clients {
		c := arbiter.ClientID(i)
		if r.dead[c] {
			continue
		}
		if at, leased := r.state.LeaseDue(c); leased && at <= r.now {
			r.alive(c)
		}
		if e, ok := r.clients[c].Tick(r.now); ok {
			r.send(packet{event: e})
		}
	}
	for at, any := r.state.Due(); any && at <= r.now; at, any = r.state.Due() {
		r.handle(arbiter.Event{Kind: arbiter.Tick, From: arbiter.NoClient})
	}
}
