package graph

import "fmt"

// Reliability says whether a message may be lost between a publisher and a subscriber
// that keeps up. Inside a process, and over a stream such as rosbridge's, none is; a
// wire over datagrams tells its peers what is declared here.
type Reliability uint8

// Values of Reliability, each including what those before it promise.
const (
	DefaultReliability Reliability = iota // publishers offer Reliable, subscribers ask for BestEffort
	BestEffort                            // sent once
	Reliable                              // sent again until it arrives, or is no longer kept
)

func (r Reliability) String() string {
	switch r {
	case BestEffort:
		return "best effort"
	case Reliable:
		return "reliable"
	}
	return "default"
}

// QoS is the quality of service that a publisher offers, or that a subscriber asks for.
// The zero value takes the defaults.
type QoS struct {
	Reliability Reliability
	Latched     bool // the last messages are kept for subscribers that come later; DDS: transient local
	Depth       int  // messages kept: by a publisher for late subscribers, by a subscriber until it reads them
}

// MaxDepth is the most that a queue can be asked to hold. Subscribers of a topic share its
// messages, so a topic keeps that many at most, however many are slow.
const MaxDepth = 1 << 16

// Depths that are taken if none is asked for.
const (
	defaultDepth        = 10
	defaultLatchedDepth = 1
)

// offered fills the defaults of a publisher.
func (q QoS) offered() QoS {
	if q.Reliability == DefaultReliability {
		q.Reliability = Reliable
	}
	switch {
	case q.Depth <= 0 && q.Latched:
		q.Depth = defaultLatchedDepth
	case q.Depth <= 0:
		q.Depth = defaultDepth
	}
	q.Depth = min(q.Depth, MaxDepth)
	return q
}

// asked fills the defaults of a subscriber.
func (q QoS) asked() QoS {
	if q.Reliability == DefaultReliability {
		q.Reliability = BestEffort
	}
	q.Depth = min(max(q.Depth, 0), MaxDepth)
	return q
}

// Unmet returns why an offer does not meet what is asked for, empty if it does: the rule
// of DDS. A publisher may offer more than a subscriber asks for, not less; depths are
// each side's own.
func (offer QoS) Unmet(ask QoS) string {
	offer, ask = offer.offered(), ask.asked()
	switch {
	case offer.Reliability < ask.Reliability:
		return "the subscriber asks for " + ask.Reliability.String() + " delivery, the publisher offers " + offer.Reliability.String()
	case ask.Latched && !offer.Latched:
		return "the subscriber asks for latched messages, the publisher does not latch"
	}
	return ""
}

// meets is Unmet for QoS with their defaults filled in, on the way of every message.
func (offer *QoS) meets(ask *QoS) bool {
	return offer.Reliability >= ask.Reliability && (offer.Latched || !ask.Latched)
}

// String returns "reliable, 1, latched".
func (q QoS) String() string {
	s := fmt.Sprintf("%v, %d", q.Reliability, q.Depth)
	if q.Latched {
		s += ", latched"
	}
	return s
}
