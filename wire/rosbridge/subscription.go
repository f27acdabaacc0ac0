package rosbridge

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"poise/wire/rosbridge/frame"
)

// subscription is what one subscribe message asks for.
type subscription struct {
	throttle    time.Duration // between messages
	queue       int           // messages that wait meanwhile; 0 for the usual number
	fragment    int           // bytes of a frame; 0 for whole messages
	compression string
}

// and returns what serves two subscriptions: the least throttling, the longest queue,
// the smallest fragments, and a compression only if both ask for it.
func (s subscription) and(o subscription) subscription {
	if s.fragment == 0 || o.fragment > 0 && o.fragment < s.fragment {
		s.fragment = o.fragment
	}
	if s.compression != o.compression {
		s.compression = "none"
	}
	s.throttle, s.queue = min(s.throttle, o.throttle), max(s.queue, o.queue)
	return s
}

// compressions that are served. cbor-raw holds the message in ROS's own
// serialization.
var compressions = []string{"", "none", "cbor", "cbor-raw"}

// readSubscription reads what a subscribe message asks for, and refuses numbers that
// cannot be meant.
func readSubscription(m *frame.Message) (subscription, error) {
	const day = 24 * 3600 * 1000 // ms
	switch {
	case m.ThrottleRate < 0 || m.ThrottleRate > day:
		return subscription{}, fmt.Errorf("throttle_rate is %g ms, must be 0 to %d", m.ThrottleRate, day)
	case m.QueueLength < 0:
		return subscription{}, fmt.Errorf("queue_length is %d, must not be negative", m.QueueLength)
	case m.FragmentSize < 0:
		return subscription{}, fmt.Errorf("fragment_size is %d, must not be negative", m.FragmentSize)
	}
	if !slices.Contains(compressions, m.Compression) {
		return subscription{}, fmt.Errorf("compression %q is not served; use none, cbor or cbor-raw", m.Compression)
	}
	return subscription{throttle: time.Duration(m.ThrottleRate * float64(time.Millisecond)),
		queue: m.QueueLength, fragment: m.FragmentSize, compression: cmp.Or(m.Compression, "none")}, nil
}
