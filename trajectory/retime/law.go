package retime

import (
	"fmt"
	"math"
	"sort"
)

// Law is motion along a path: s over time, in segments of constant path jerk
// (zero where the law was not smoothed). The zero Law is ready for Solve, which
// uses its memory again.
type Law struct {
	nodes  []node
	spans  []LimitSpan
	factor float64
	length float64
}

// node is the state where a segment begins; the last one is the end.
type node struct {
	t, s       float64
	v, a, jerk float64 // ṡ, s̈ after t, and how s̈ changes
}

// Duration returns the time from start to end.
func (l *Law) Duration() float64 {
	if len(l.nodes) == 0 {
		return 0
	}
	return l.nodes[len(l.nodes)-1].t
}

// Nodes returns how many nodes the law has; between them path jerk is constant.
func (l *Law) Nodes() int { return len(l.nodes) }

// Node returns time and path position of a node.
func (l *Law) Node(i int) (t, s float64) { return l.nodes[i].t, l.nodes[i].s }

// Slowed returns by which factor the whole motion had to be slowed because
// limits could not be kept by slowing parts of it: 1 if it was not.
func (l *Law) Slowed() float64 { return l.factor }

// Slow makes the whole motion take by times as long.
func (l *Law) Slow(by float64) {
	per := 1 / by
	for i := range l.nodes {
		n := &l.nodes[i]
		n.t, n.v, n.a, n.jerk = n.t*by, n.v*per, n.a*per*per, n.jerk*per*per*per
	}
	for i := range l.spans {
		l.spans[i].Slowest *= per
	}
	l.factor *= by
}

// LimitSpans returns which limit was active where, in order along the path. The
// slice is shared: read only.
func (l *Law) LimitSpans() []LimitSpan { return l.spans }

// At returns path position, speed and acceleration at a time; before the start
// and after the end the path rests there. Loop-safe.
func (l *Law) At(t float64) (s, v, a float64) {
	i := sort.Search(len(l.nodes), func(i int) bool { return l.nodes[i].t > t })
	return l.at(i-1, t)
}

// Reader reads a law at times that mostly rise, without searching for each.
type Reader struct {
	law *Law
	i   int // the segment of the last time
}

// Reader returns one that begins at the start.
func (l *Law) Reader() Reader { return Reader{law: l} }

// At returns what Law.At does.
func (r *Reader) At(t float64) (s, v, a float64) {
	nodes := r.law.nodes
	if r.i >= len(nodes) || t < nodes[r.i].t {
		r.i = max(0, sort.Search(len(nodes), func(i int) bool { return nodes[i].t > t })-1)
		if len(nodes) == 0 || t < nodes[0].t {
			return r.law.at(-1, t)
		}
	}
	for r.i+1 < len(nodes) && nodes[r.i+1].t <= t {
		r.i++
	}
	return r.law.at(r.i, t)
}

// at evaluates segment i at time t.
func (l *Law) at(i int, t float64) (s, v, a float64) {
	switch last := len(l.nodes) - 1; {
	case last < 0:
		return 0, 0, 0
	case i < 0:
		return l.nodes[0].s, 0, 0
	case i >= last && t > l.nodes[last].t:
		return l.nodes[last].s, 0, 0
	case i >= last:
		n := &l.nodes[last]
		return n.s, n.v, n.a
	}
	n := &l.nodes[i]
	x := t - n.t
	s = n.s + x*(n.v+x*(n.a/2+x*n.jerk/6))
	v = n.v + x*(n.a+x*n.jerk/2)
	return math.Min(math.Max(s, n.s), l.nodes[i+1].s), math.Max(v, 0), n.a + x*n.jerk
}

// when returns the time at which segment i passes s, which it does once.
func (l *Law) when(i int, s float64) float64 {
	from, to := l.nodes[i].t, l.nodes[i+1].t
	t := from + (to-from)/2
	for range 60 {
		at, v, _ := l.at(i, t)
		if at < s {
			from = t
		} else {
			to = t
		}
		next := t + (s-at)/v
		if !(next > from && next < to) {
			next = from + (to-from)/2
		}
		if next == t {
			break
		}
		t = next
	}
	return t
}

// Motion is a path together with its law: what happens to the joints over time.
// It remembers where it is; each user makes one.
type Motion struct {
	path       Path
	law        *Law
	i, piece   int
	q, dq, ddq []float64
}

// NewMotion returns the motion of a path under a law.
func NewMotion(path Path, law *Law) *Motion {
	n := path.Joints() + path.Measures()
	return &Motion{path: path, law: law, q: make([]float64, n), dq: make([]float64, n), ddq: make([]float64, n)}
}

// Joints returns how many joints move.
func (m *Motion) Joints() int { return m.path.Joints() }

// Start returns zero.
func (m *Motion) Start() float64 { return 0 }

// End returns the duration.
func (m *Motion) End() float64 { return m.law.Duration() }

// StateTo stores positions, velocities and accelerations of the joints, or of
// joints and measures if the slices are that long, at time t. Loop-safe if the
// path is.
func (m *Motion) StateTo(q, v, a []float64, t float64) {
	n := m.path.Joints()
	if len(q) != n && len(q) != len(m.q) || len(v) != len(q) || len(a) != len(q) {
		panic(fmt.Sprintf("retime: len(q), len(v), len(a) = %d, %d, %d, want %d", len(q), len(v), len(a), n))
	}
	s, rate, acc := m.law.at(m.seek(t), t)
	m.path.StateTo(m.q, m.dq, m.ddq, m.pieceAt(s), s)
	for j := range q {
		q[j] = m.q[j]
		v[j] = m.dq[j] * rate
		a[j] = m.ddq[j]*rate*rate + m.dq[j]*acc
	}
}

// seek returns the segment that holds at t, looking near the last one first.
func (m *Motion) seek(t float64) int {
	nodes := m.law.nodes
	i := m.i
	if i >= len(nodes) || t < nodes[i].t || i+8 < len(nodes) && t >= nodes[i+8].t {
		i = sort.Search(len(nodes), func(i int) bool { return nodes[i].t > t }) - 1
	}
	for i+1 < len(nodes) && t >= nodes[i+1].t {
		i++
	}
	m.i = max(i, 0)
	return i
}

// pieceAt returns the piece that contains s.
func (m *Motion) pieceAt(s float64) int {
	breaks := m.path.Breaks()
	p := m.piece
	for p > 0 && s < breaks[p] {
		p--
	}
	for p+2 < len(breaks) && s >= breaks[p+1] {
		p++
	}
	m.piece = p
	return p
}
