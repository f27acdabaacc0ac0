package stream

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"poise/wire/rosbridge/frame"
)

// Want is what one subscription asks for.
type Want struct {
	Throttle time.Duration // between messages
	Queue    int           // messages that wait meanwhile; 0 for the usual number
	Fragment int           // bytes of a frame; 0 for whole messages
	Packing  string        // compression
}

// and is what serves two subscriptions: the least throttling, the longest queue, the
// smallest fragments, and a compression only if both ask for it.
func (w Want) and(x Want) Want {
	if w.Fragment == 0 || x.Fragment > 0 && x.Fragment < w.Fragment {
		w.Fragment = x.Fragment
	}
	if w.Packing != x.Packing {
		w.Packing = "none"
	}
	w.Throttle, w.Queue = min(w.Throttle, x.Throttle), max(w.Queue, x.Queue)
	return w
}

// compressions that are served. cbor-raw holds the message in ROS's own
// serialization.
var compressions = []string{"", "none", "cbor", "cbor-raw"}

// WantOf reads what a subscribe message asks for, and finds numbers that cannot be
// meant.
func WantOf(m *frame.Message) (Want, error) {
	const day = 24 * 3600 * 1000 // ms
	switch {
	case m.ThrottleRate < 0 || m.ThrottleRate > day:
		return Want{}, fmt.Errorf("throttle_rate is %g ms, must be 0 to %d", m.ThrottleRate, day)
	case m.QueueLength < 0:
		return Want{}, fmt.Errorf("queue_length is %d, must not be negative", m.QueueLength)
	case m.FragmentSize < 0:
		return Want{}, fmt.Errorf("fragment_size is %d, must not be negative", m.FragmentSize)
	}
	if !slices.Contains(compressions, m.Compression) {
		return Want{}, fmt.Errorf("compression %q is not served; use none, cbor or cbor-raw", m.Compression)
	}
	return Want{Throttle: time.Duration(m.ThrottleRate * float64(time.Millisecond)),
		Queue: m.QueueLength, Fragment: m.FragmentSize, Packing: cmp.Or(m.Compression, "none")}, nil
}
