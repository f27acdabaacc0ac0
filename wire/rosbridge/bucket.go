package rosbridge

import (
	"math"
	"time"
)

// bucket allows so many messages per second, and twice as many in a burst.
type bucket struct {
	rate, level float64
	last        time.Time
	told        time.Time
}

const burstSeconds = 2

func newBucket(rate float64) bucket { return bucket{rate: rate, level: rate * burstSeconds} }

func (b *bucket) take(now time.Time) bool {
	if !b.last.IsZero() {
		b.level = math.Min(b.level+b.rate*now.Sub(b.last).Seconds(), b.rate*burstSeconds)
	}
	b.last = now
	if b.level < 1 {
		return false
	}
	b.level--
	return true
}

// tell reports once a second that it is time to complain.
func (b *bucket) tell() bool {
	if b.last.Sub(b.told) < time.Second {
		return false
	}
	b.told = b.last
	return true
}
