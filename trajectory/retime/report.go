package retime

import (
	"fmt"
	"math"
)

// LimitSpan is a part of the path along which one limit was active.
type LimitSpan struct {
	From, To float64 // path positions
	Limit    Limit
	Row      int     // a joint, or after them a measure; −1 with None
	Slowest  float64 // the lowest path speed in it,
	At       float64 // and where that is
}

func (s LimitSpan) String() string {
	if s.Limit == None {
		return fmt.Sprintf("s %.4g–%.4g: nothing", s.From, s.To)
	}
	return fmt.Sprintf("s %.4g–%.4g: %v of row %d", s.From, s.To, s.Limit, s.Row)
}

// Active returns the share of the path's length along which some limit is active.
func (l *Law) Active() float64 {
	if !(l.length > 0) {
		return 1
	}
	sum := 0.0
	for _, s := range l.spans {
		if s.Limit != None {
			sum += s.To - s.From
		}
	}
	return sum / l.length
}

// Tightest returns the bottleneck: the place where the motion is furthest below
// the speeds that it reaches both before and after, and the span it lies in.
// If there is no such place it is where the motion is fastest: what holds that
// back. Given rows, only spans of those are looked at. It returns false if
// there is none.
func (l *Law) Tightest(rows ...int) (tight LimitSpan, ok bool) {
	after := 0.0 // the highest speed still to come, from the end
	ahead := make([]float64, len(l.nodes))
	for i := len(l.nodes) - 1; i >= 0; i-- {
		after = max(after, l.nodes[i].v)
		ahead[i] = after
	}
	before, deepest, k := 0.0, math.Inf(-1), 0
	for i, n := range l.nodes {
		before = max(before, n.v)
		for k < len(l.spans)-1 && n.s >= l.spans[k].To {
			k++
		}
		if k == len(l.spans) || l.spans[k].Limit == None || !among(l.spans[k].Row, rows) {
			continue
		}
		// on a tie of no drop at all, the fastest
		drop := min(before, ahead[i]) - n.v
		if drop > deepest || drop == deepest && drop == 0 && n.v > tight.Slowest {
			deepest, ok = drop, true
			tight = l.spans[k]
			tight.At, tight.Slowest = n.s, n.v
		}
	}
	return tight, ok
}

func among(row int, rows []int) bool {
	for _, r := range rows {
		if r == row {
			return true
		}
	}
	return len(rows) == 0
}

// add appends an interval to the report, merged with the one before if the same
// limit is active.
func (l *Law) add(from, to float64, b binding, v0, v1 float64) {
	slow, at := v0, from
	if v1 < v0 {
		slow, at = v1, to
	}
	if n := len(l.spans); n > 0 {
		last := &l.spans[n-1]
		if last.Limit == b.Limit && last.Row == b.Row {
			last.To = to
			if slow < last.Slowest {
				last.Slowest, last.At = slow, at
			}
			return
		}
	}
	l.spans = append(l.spans, LimitSpan{From: from, To: to, Limit: b.Limit, Row: b.Row, Slowest: slow, At: at})
}

// mostUsed is the limit of which a segment uses the largest share.
type mostUsed struct {
	binding
	share float64
}

// raise notes what a row uses if it is more than any before.
func (b *mostUsed) raise(u use, row int, braking bool) {
	most := max(b.share, active)
	if u.vel > most {
		*b, most = mostUsed{binding{Limit: Velocity, Row: row}, u.vel}, u.vel
	}
	if u.acc > most {
		*b, most = mostUsed{binding{Limit: Acceleration, Row: row}, u.acc}, u.acc
		if braking {
			b.Limit = Deceleration
		}
	}
	if u.jerk > most {
		*b = mostUsed{binding{Limit: Jerk, Row: row}, u.jerk}
	}
}
