package rtps

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// QoS is what a writer offers or a reader asks for. The zero value is best effort, volatile,
// the last sample.
type QoS struct {
	Reliable       bool
	TransientLocal bool // the writer's history is for readers that come later
	Depth          int  // samples that are kept; 0 is 1
}

// Infinite is a duration without end.
const Infinite time.Duration = 1<<63 - 1

// policies are what an endpoint announces, as far as it decides about a match.
type policies struct {
	reliable        bool
	durability      uint32 // 0 volatile, 1 transient local, 2 transient, 3 persistent
	deadline        time.Duration
	latency         time.Duration
	liveliness      uint32 // 0 automatic, 1 by participant, 2 by topic
	livelinessLease time.Duration
	exclusive       bool
	bySource        bool // destination order
	partitions      []string
	representations []uint16 // of data: 0 XCDR1, 2 XCDR2; empty is XCDR1
}

// defaults are the policies of an endpoint that says nothing: a writer is reliable, a
// reader best effort.
func defaults(writer bool) policies {
	return policies{reliable: writer, deadline: Infinite, livelinessLease: Infinite}
}

func (q QoS) policies() policies {
	p := defaults(q.Reliable)
	if q.TransientLocal {
		p.durability = 1
	}
	return p
}

// manualByTopic is the liveliness of a writer that asserts it for itself.
const manualByTopic = 2

// silentFor returns for how long a writer has not shown that it is alive, if that is longer than
// the lease that it offers. Those that are alive with their participant go with that.
func (e *endpoint) silentFor(now time.Time) (time.Duration, bool) {
	q := &e.policies
	silent := now.Sub(e.asserted)
	return silent, q.liveliness == manualByTopic && q.livelinessLease != Infinite && silent > q.livelinessLease
}

// xcdr1 is the only representation of data that is written and read here.
const xcdr1 = 0

// mismatch returns why an offer does not meet what is asked for, empty if it does: the
// table of DDS 1.4, section 2.2.3.
func mismatch(offer, ask *policies) string {
	durabilities := [...]string{"volatile", "transient local", "transient", "persistent"}
	switch {
	case ask.reliable && !offer.reliable:
		return "the reader asks for reliable delivery, the writer offers best effort"
	case ask.durability > offer.durability:
		return fmt.Sprintf("the reader asks for durability %s, the writer offers %s", durabilities[min(ask.durability, 3)], durabilities[min(offer.durability, 3)])
	case ask.deadline < offer.deadline:
		return fmt.Sprintf("the reader asks for a deadline of %v, the writer offers %s", ask.deadline, spoken(offer.deadline))
	case ask.latency < offer.latency:
		return fmt.Sprintf("the reader asks for a latency budget of %v, the writer offers %s", ask.latency, spoken(offer.latency))
	case ask.liveliness > offer.liveliness:
		return fmt.Sprintf("the reader asks for liveliness of kind %d, the writer offers %d", ask.liveliness, offer.liveliness)
	case ask.livelinessLease < offer.livelinessLease:
		return fmt.Sprintf("the reader asks for a liveliness lease of %v, the writer offers %s", ask.livelinessLease, spoken(offer.livelinessLease))
	case ask.exclusive != offer.exclusive:
		return "one side has exclusive ownership, the other shared"
	case ask.bySource && !offer.bySource:
		return "the reader asks for the order of the source, the writer offers that of reception"
	case !meet(offer.partitions, ask.partitions):
		return fmt.Sprintf("the reader is in partitions %q, the writer in %q", ask.partitions, offer.partitions)
	case !represented(offer, ask):
		return "the writer's data representation is not among those of the reader (plain CDR is written and read here)"
	}
	return ""
}

func spoken(d time.Duration) string {
	if d == Infinite {
		return "none"
	}
	return d.String()
}

// represented reports whether the reader takes the first representation that the writer
// offers.
func represented(offer, ask *policies) bool {
	first := uint16(xcdr1)
	if len(offer.representations) > 0 {
		first = offer.representations[0]
	}
	if len(ask.representations) == 0 {
		return first == xcdr1
	}
	return slices.Contains(ask.representations, first)
}

// meet reports whether two lists of partitions have one in common; an empty list is the
// partition with the empty name.
func meet(a, b []string) bool {
	if len(a) == 0 {
		a = []string{""}
	}
	if len(b) == 0 {
		b = []string{""}
	}
	for _, x := range a {
		for _, y := range b {
			if x == y || wild(x, y) || wild(y, x) {
				return true
			}
		}
	}
	return false
}

// wild reports whether a pattern with * at its end, or alone, covers a name.
func wild(pattern, name string) bool {
	before, found := strings.CutSuffix(pattern, "*")
	return found && strings.HasPrefix(name, before)
}
