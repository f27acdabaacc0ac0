package arbiter

import (
	"fmt"

	"poise/robot"
)

// EventKind says what an Event tells the arbiter.
type EventKind uint8

// Request begins a round. Ready and Refuse answer an offer. Report and
// Quit are the requester's state: still there, or not operational any more.
// Release gives a part back. Register and Forget come from the owner of the names
// (Direct), Tick from the owner of the clock.
const (
	Tick EventKind = iota
	Register
	Forget
	Request
	Ready
	Refuse
	Report
	Release
	Quit
)

var eventNames = [...]string{"tick", "register", "forget", "request", "ready", "refuse", "report", "release", "quit"}

func (k EventKind) String() string { return word(eventNames[:], int(k)) }

// Event is one thing that happened, at a time.
//
// Request ids grow with each request of a client and never come again, so that
// an answer finds its question and what arrives late is known to be late:
//
//	Register  the number below which ids belong to an earlier life of the client
//	Request   the id of this request
//	Ready     the request whose offer it answers; so Refuse
//	Report    the request it runs on or, while not operational, waits for
//	Release   the request it runs on
//	Quit      everything up to this request is over
type Event struct {
	At      int64 // ns
	Kind    EventKind
	From    ClientID
	Local   bool      // Register: answers within the same step, needs no lease
	Request uint64    // see above
	Serial  uint64    // Report: newest assignment it follows; 0 is a bare sign of life
	Leaves  robot.Set // Report: what it uses; Release: what it gives back
	Claim   *Claim    // Request: read during the call only
}

// MessageKind says what a Message tells a client.
type MessageKind uint8

// Offer asks whether the client can start with these leaves. Grant ends its
// round: it is operational and owns the leaves. Assign tells an operational
// client its new set, to be confirmed with a Report or answered with Quit.
// Deny ends its round with nothing changed. Revoke tells it that it is not
// operational any more, though it has not said so itself.
const (
	Offer MessageKind = iota
	Grant
	Assign
	Deny
	Revoke
)

var messageNames = [...]string{"offer", "grant", "assign", "deny", "revoke"}

func (k MessageKind) String() string { return word(messageNames[:], int(k)) }

// Message is what the arbiter tells one client.
type Message struct {
	To      ClientID
	Kind    MessageKind
	Request uint64    // the request it speaks of
	Serial  uint64    // of Grant, Assign and Revoke: grows, so that the newest is known
	Leaves  robot.Set // offered, or owned from now on
	Reason  Reason    // of Deny, and of Revoke
}

// Code says why a request was denied, or why a leaf changed its owner.
type Code uint8

// OK is no obstacle. The codes keep their numbers.
const (
	OK Code = iota

	// why a request is denied
	Nothing   // it asks for nothing
	Held      // the holder of a needed leaf has the higher rank
	Contested // another open round for a needed leaf has the higher rank
	Refused   // the winner cannot start
	Silent    // the winner did not answer its offer in time
	Replaced  // the client has made a newer request
	Unknown   // the request was lost on the way, or is over

	// why a leaf changed its owner
	Granted    // by a request
	Returned   // free, and its new owner was waiting for it
	Released   // given back
	LostNeed   // its owner quit, having lost another leaf it needs
	QuitItself // its owner quit
	Expired    // its owner gave no sign of life for a lease
	Forgotten  // its owner was removed
)

var codeNames = [...]string{"ok",
	"asks for nothing", "held", "contested", "the controller cannot start", "the controller did not answer in time",
	"replaced by a newer request of the controller", "the request is not known, or is over",
	"granted", "returned", "released", "its owner lost a leaf it needs", "its owner quit",
	"no sign of life for a lease", "forgotten"}

func (c Code) String() string { return word(codeNames[:], int(c)) }

// Reason explains a refusal: which leaf, who is in the way, and the two
// priorities that were compared. Who is NoClient where no client is in the way.
type Reason struct {
	Code         Code
	Leaf         robot.LeafID
	Who          ClientID
	Mine, Theirs float32
}

// Text puts the reason into words. Under PolicyLast the later request wins and
// the priorities say nothing.
func (r Reason) Text(leaf func(robot.LeafID) string, client func(ClientID) string) string {
	doing := map[Code]string{Held: "held by", Contested: "being asked for by"}[r.Code]
	if doing == "" {
		return r.Code.String()
	}
	return fmt.Sprintf("%s is %s %s (priority %g against %g; among equals the later request wins)",
		leaf(r.Leaf), doing, client(r.Who), r.Mine, r.Theirs)
}
