// Package budget bounds what clients can make the server hold.
//
// A Ledger has a row per Kind of thing: bytes of frames, of latched messages, of answers,
// names, goals. Each row has three numbers: the share guaranteed to every client, the most that one
// client may hold, and the most that all clients together may hold beyond their guaranteed shares. So the
// memory is bounded, and no client can exhaust anything for another:
//
//	ledger := budget.New(budget.Standard)
//	client := ledger.Open()
//	if err := client.Take(budget.Latched, 4096); err != nil { … } // names what, asked, held, limit
//	client.Give(budget.Latched, 4096)
//	client.Close() // everything comes back; of goals that run on, when they end
//
// An Account is a client's part of it; a nil Account is that of the server itself, which is
// not bounded. Taking and giving never waits, and all of it may be called from any goroutine.
// Account.Work bounds how much work of clients runs at a time, Turns how many jobs of a kind,
// Pace how many bytes of long messages come per second; these wait.
package budget

import (
	"fmt"
	"sync"
	"time"
)

// Kind is what is counted.
type Kind uint8

// The kinds. Bytes are counted before they are taken.
const (
	Frames   Kind = iota // frames being read, joined from fragments, or handled
	Messages             // goals and calls that are not over, published messages on their way
	Latched              // messages kept for late subscribers
	Streams              // messages of topics that wait for a slow reader
	Answers              // answers that wait to be read
	Names                // topics, services and actions advertised or subscribed to
	numKinds
)

// Row is the budget of one kind.
type Row struct {
	Name   string // as metrics and errors show it
	Unit   string
	Sure   int64  // every client may hold this much, whatever others hold
	Client int64  // one client may hold this much
	All    int64  // all clients together may hold this much beyond what is sure to them
	Then   string // what happens at the limit
}

// Table is the budget of every kind.
type Table [numKinds]Row

// Standard is the budget of a server.
var Standard = Table{
	Frames:   {"frames", "bytes", 64 << 10, 24 << 20, 128 << 20, "the message is skipped and refused"},
	Messages: {"messages", "bytes", 256 << 10, 64 << 20, 128 << 20, "the goal, call or message is refused"},
	Latched:  {"latched", "bytes", 64 << 10, 16 << 20, 64 << 20, "the message is refused; the last one stays"},
	Streams:  {"streams", "bytes", 256 << 10, 32 << 20, 96 << 20, "the oldest message of the topic is lost, and counted"},
	Answers:  {"answers", "bytes", 256 << 10, 128 << 20, 192 << 20, "the answer is replaced by a refusal; a client that reads nothing is cut off"},
	Names:    {"names", "names", 32, 2000, 8192, "the name is refused"},
}

// Bytes returns how much all kinds of bytes can come to with so many clients.
func (t Table) Bytes(clients int) (sum int64) {
	for _, r := range t {
		if r.Unit == "bytes" {
			sum += r.All + int64(clients)*r.Sure
		}
	}
	return sum
}

// Error is a budget that does not allow what was asked for.
type Error struct {
	Row   Row
	Asked int64
	Held  int64 // by the client, or by all
	All   bool  // all clients together hold too much
}

func (e *Error) Error() string {
	if e.All {
		return fmt.Sprintf("%s: %d %s more do not fit: all clients together hold %d beyond their sure shares of %d, the limit is %d",
			e.Row.Name, e.Asked, e.Row.Unit, e.Held, e.Row.Sure, e.Row.All)
	}
	return fmt.Sprintf("%s: %d %s more do not fit: this client holds %d, the limit is %d", e.Row.Name, e.Asked, e.Row.Unit, e.Held, e.Row.Client)
}

// Limit returns the limit that was reached.
func (e *Error) Limit() int64 {
	if e.All {
		return e.Row.All
	}
	return e.Row.Client
}

// Ledger holds the accounts of all clients.
type Ledger struct {
	table Table
	work  *workshop
	Pace  Pace // of long messages; it does not change once there are clients

	mu      sync.Mutex
	clients int
	held    [numKinds]int64 // by all
	shared  [numKinds]int64 // the part of it beyond sure shares
	peak    [numKinds]int64
	refused [numKinds]uint64

	active       map[*Account]time.Time // clients that sent long messages of late, and when
	long, thrown level                  // bytes of long messages that were kept, and that were not
}

// New returns a ledger without clients.
func New(t Table) *Ledger {
	return &Ledger{table: t, work: newWorkshop(workPlaces()), Pace: StandardPace, active: map[*Account]time.Time{}}
}

// Open returns the account of a new client; without a ledger it bounds nothing.
func (l *Ledger) Open() *Account {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clients++
	return &Account{ledger: l, turn: make(chan struct{}, 1)}
}

// Line is a row and how it stands.
type Line struct {
	Row
	Held    int64 // now, by all
	Peak    int64 // the most that was ever held
	Refused uint64
}

// Lines returns how every kind stands.
func (l *Ledger) Lines() []Line {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]Line, numKinds)
	for k := range all {
		all[k] = Line{Row: l.table[k], Held: l.held[k], Peak: l.peak[k], Refused: l.refused[k]}
	}
	return all
}

// Account is what one client holds.
type Account struct {
	ledger *Ledger
	turn   chan struct{}   // of the client
	held   [numKinds]int64 // with the ledger's lock
	long   level           // bytes of its long messages, with the ledger's lock
	slowed bool            // it has waited in Discard
	closed bool
}

// Take takes n of a kind, all of it or nothing. A closed account takes nothing more.
func (a *Account) Take(k Kind, n int64) error { return a.take(k, n, capped) }

// TakeAlone is Take for something that may exceed what one client may hold, as long as the
// client holds nothing else of the kind and all clients together have room.
func (a *Account) TakeAlone(k Kind, n int64) error { return a.take(k, n, alone) }

// TakeUncapped is Take for what another bound of the client's own holds already.
func (a *Account) TakeUncapped(k Kind, n int64) error { return a.take(k, n, uncapped) }

// rule is how the bound of one client is applied.
type rule uint8

const (
	capped rule = iota
	alone
	uncapped
)

func (a *Account) take(k Kind, n int64, r rule) error {
	if a == nil {
		return nil
	}
	if n < 0 {
		panic(fmt.Sprintf("budget: %d of %s are taken", n, a.ledger.table[k].Name))
	}
	l := a.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	row, held := &l.table[k], a.held[k]
	if a.closed || n > row.Client-held && r != uncapped && !(r == alone && held == 0) {
		l.refused[k]++
		return &Error{Row: *row, Asked: n, Held: held}
	}
	beyond := max(held+n-row.Sure, 0) - max(held-row.Sure, 0) // not closed: it has its sure share
	if beyond > 0 && beyond > row.All-l.shared[k] {
		l.refused[k]++
		return &Error{Row: *row, Asked: n, Held: l.shared[k], All: true}
	}
	a.held[k] += n
	l.held[k] += n
	l.shared[k] += beyond
	l.peak[k] = max(l.peak[k], l.held[k])
	return nil
}

// Give gives n of a kind back. Of a closed account all but messages has come back already.
func (a *Account) Give(k Kind, n int64) {
	if a == nil {
		return
	}
	a.ledger.mu.Lock()
	defer a.ledger.mu.Unlock()
	if !a.closed || k == Messages {
		a.give(k, n)
	}
}

// give is Give with the lock held.
func (a *Account) give(k Kind, n int64) {
	l := a.ledger
	row, held := &l.table[k], a.held[k]
	if n < 0 || n > held {
		panic(fmt.Sprintf("budget: %d of %s come back, %d are held", n, row.Name, held))
	}
	sure := row.Sure
	if a.closed {
		sure = 0
	}
	a.held[k] -= n
	l.held[k] -= n
	l.shared[k] -= max(held-sure, 0) - max(held-n-sure, 0)
}

// Held returns how much of a kind the client holds.
func (a *Account) Held(k Kind) int64 {
	if a == nil {
		return 0
	}
	a.ledger.mu.Lock()
	defer a.ledger.mu.Unlock()
	return a.held[k]
}

// Close gives everything back, once, but the messages of goals and calls that are not over:
// those come back with their ends, and until then nothing of them is sure.
func (a *Account) Close() {
	if a == nil {
		return
	}
	a.ledger.mu.Lock()
	defer a.ledger.mu.Unlock()
	if a.closed {
		return
	}
	for k := range numKinds {
		if k != Messages {
			a.give(k, a.held[k])
		}
	}
	a.ledger.shared[Messages] += min(a.held[Messages], a.ledger.table[Messages].Sure)
	a.closed = true
	delete(a.ledger.active, a)
	a.ledger.clients--
}
