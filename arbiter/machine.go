package arbiter

import "poise/robot"

// Port is the way to the clients.
type Port interface {
	// Deliver carries a message to its client. A local client answers at once;
	// a message to a remote one is sent off, and answered is false.
	Deliver(now int64, m *Message) (answer Event, answered bool)
}

// Change is one leaf changing its owner.
type Change struct {
	At       int64 // ns
	Leaf     robot.LeafID
	From, To ClientID
	Why      Code
	Request  uint64 // the request the new owner runs on, 0 for NoClient
}

const (
	historySize = 512            // changes that are kept
	maxAnswers  = 8 * MaxClients // on their way inside one step: a message has one at most
)

// Machine runs a State: it carries messages to the clients and their immediate
// answers back until none is left, and keeps the history. Make one with
// NewMachine; it is meant for one goroutine.
type Machine struct {
	State
	effects Effects
	answers [maxAnswers]Event
	history [historySize]Change
	changes uint64 // so far
	before  [robot.MaxLeaves]ClientID
}

// NewMachine makes a machine for a robot that is unowned.
func NewMachine(cfg Config) *Machine {
	m := new(Machine)
	m.Init(cfg)
	m.before = m.owner
	return m
}

// Do handles an event and everything that local clients answer to what it
// causes, in order. When it returns, a hand-over among local clients is
// complete. Loop-safe.
func (m *Machine) Do(e *Event, p Port) {
	now := e.At
	head, tail := 0, 0
	for {
		m.Handle(e, &m.effects)
		m.record()
		for i := range m.effects.Messages() {
			answer, answered := p.Deliver(now, &m.effects.message[i])
			if !answered {
				continue
			}
			if tail-head == maxAnswers {
				panic("arbiter: clients answer without end")
			}
			m.answers[tail%maxAnswers] = answer
			tail++
		}
		if head == tail {
			return
		}
		e = &m.answers[head%maxAnswers]
		head++
	}
}

// record adds changes of owners to the history.
func (m *Machine) record() {
	if m.before == m.owner {
		return
	}
	for leaf, from := range m.before {
		to := m.owner[leaf]
		if from == to {
			continue
		}
		c := Change{At: m.since[leaf], Leaf: robot.LeafID(leaf), From: from, To: to, Why: m.why[leaf]}
		if to != NoClient {
			c.Request = m.client[to].held
		}
		m.history[m.changes%historySize] = c
		m.changes++
	}
	m.before = m.owner
}

// History yields the changes that are still remembered, oldest first.
func (m *Machine) History(yield func(Change) bool) {
	for i := m.changes - min(m.changes, historySize); i < m.changes; i++ {
		if !yield(m.history[i%historySize]) {
			return
		}
	}
}

// Changes returns how often a leaf has changed its owner since the beginning.
func (m *Machine) Changes() uint64 { return m.changes }
