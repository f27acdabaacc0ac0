package clock

import "math"

// Clock plays a track. The zero Clock stands and has nothing to play; Start sets
// it. It holds no memory of its own and is owned by one goroutine.
type Clock struct {
	track *Track
	cell  int
	now   float64 // σ, the motion's own time
	rate  float64 // σ̇
	accel float64 // σ̈ of the last step's end
}

// State is where a clock has come to.
type State struct {
	Time  float64 // of the motion, its own
	Rate  float64 // at which it runs now; 1 is as planned
	Held  bool    // it runs slower than wanted because of a limit,
	Joint int     // that of this joint, or −1: the rate's own acceleration, or what is ahead
	Done  bool    // the motion's end is reached
}

// Start puts the clock at a time of a track, running at a rate. It reports
// whether it may: otherwise the clock is left as it was, and the highest possible
// rate is returned. Loop-safe.
func (c *Clock) Start(t *Track, at, rate float64) (highest float64, ok bool) {
	at = max(t.motion.Start(), min(at, t.motion.End()))
	if highest = t.Ceiling(at); !(rate >= 0 && rate <= highest) {
		return highest, false
	}
	*c = Clock{track: t, cell: t.find(at), now: at, rate: rate}
	return highest, true
}

// Time returns the motion's own time.
func (c *Clock) Time() float64 { return c.now }

// Rate returns how fast it runs.
func (c *Clock) Rate() float64 { return c.rate }

// Done reports whether the end of the motion is reached.
func (c *Clock) Done() bool { return c.track == nil || c.cell >= len(c.track.cells)-1 }

// Step lets dt seconds pass while a rate is wanted: 0 pauses, 1 is as planned.
// The rate changes as fast as limits allow until it is the wanted one, and stays
// below what limits allow, here and further on. What is not a number means
// pause. Every millisecond of dt is decided upon by itself: a step is for a cycle,
// not for a minute. Loop-safe.
func (c *Clock) Step(dt, wanted float64) State {
	if c.Done() {
		c.rate, c.accel = 0, 0
		return State{Time: c.now, Joint: -1, Done: true}
	}
	t := c.track
	want := max(0, min(wanted, t.option.MaxRate))
	if math.IsNaN(wanted) {
		want = 0
	}
	slew := math.Inf(1)
	if t.option.Jerk > 0 {
		slew = t.option.Jerk * dt
	}
	before, by := c.accel, -1
	for left := dt; left > 0 && !c.Done() && (c.rate > 0 || want > 0); {
		var s span
		var passed float64
		s, passed = c.advance(min(left, decision), want, before, slew)
		by = s.by
		left -= passed
	}
	if c.rate == 0 && want == 0 {
		c.accel = 0
	}
	if c.Done() {
		c.rate, c.accel = 0, 0
	}
	s := State{Time: c.now, Rate: c.rate, Joint: -1, Done: c.Done()}
	if s.Held = c.rate < want && !s.Done; s.Held {
		s.Joint = by
	}
	return s
}

// decision is the time in seconds after which an acceleration of the rate is
// thought over. What is known to be safe for longer is safe for the rest of a
// cell; less is needed for less, so that it pays to look again.
const decision = 0.001

// advance lets the clock run with one acceleration until time is up, the wanted
// rate is met, or the cell ends. It returns the time that passed.
func (c *Clock) advance(remaining, want, before, slew float64) (span, float64) {
	t := c.track
	end := t.cells[c.cell+1].start
	h := end - c.now
	if !(h > 0) {
		c.cell++
		return span{by: -1}, 0
	}
	s := t.span(c.cell, c.now, c.rate, want)
	u := c.choose(s, want, before, slew)

	// what comes first?
	const (
		timeIsUp = iota
		wantedRate
		cellEnds
	)
	event, passed := timeIsUp, remaining
	if toward := (want - c.rate) / u; u != 0 && toward > 0 && toward <= passed {
		event, passed = wantedRate, toward
	}
	exit := c.rate*c.rate + 2*u*h
	if out := 2 * h / (c.rate + math.Sqrt(exit)); out <= passed { // not if it stops before: NaN
		event, passed = cellEnds, out
	}
	next := min(end, c.now+passed*(c.rate+u*passed/2))
	switch event {
	case wantedRate:
		c.rate = want
	case cellEnds:
		c.rate, next = math.Sqrt(exit), end
		c.cell++
	default:
		c.rate = max(0, c.rate+u*passed)
	}
	c.now = max(c.now, next)
	c.accel = u
	return s, passed
}

// choose returns the acceleration of the rate that a requested rate comes to.
func (c *Clock) choose(s span, want, before, slew float64) float64 {
	most := c.track.option.Acceleration
	gap := want - c.rate
	u := 0.0
	switch {
	case gap == 0:
	case math.IsInf(slew, 1):
		u = math.Copysign(most, gap)
	default:
		// as much as can still be taken back before the wanted rate is met
		u = math.Copysign(min(most, math.Sqrt(2*taken*c.track.option.Jerk*math.Abs(gap))), gap)
		u = max(before-slew, min(u, before+slew))
	}
	// either it stays until the cell ends, or it ends when the wanted rate is met
	switch {
	case u < s.low && s.least < s.low:
		return min(max(u, s.least), s.fastest)
	case u > s.high && s.fastest > s.high:
		return max(min(u, s.fastest), s.least)
	}
	return max(s.low, min(u, s.high))
}

// taken is the share of the rate's jerk that its acceleration counts on when it
// is taken back: steps come late.
const taken = 0.8

// StateTo stores positions, velocities and accelerations of the joints now.
// Loop-safe.
func (c *Clock) StateTo(q, v, a []float64) {
	t := c.track
	k := c.cell
	if k > 0 && c.now == t.cells[k].start {
		k-- // the last step was in the cell before
	}
	t.motion.SegmentTo(q, v, a, int(t.cells[k].segment), c.now)
	if c.now == t.motion.End() {
		t.motion.PositionTo(q, c.now) // the end bit for bit
	}
	for j := range q {
		v[j], a[j] = v[j]*c.rate, a[j]*c.rate*c.rate+v[j]*c.accel
	}
}

// Stopping returns how long the motion runs on, and how far in its own time, if
// it is paused from now on (a rate jerk not counted). Loop-safe.
func (c *Clock) Stopping() (time, way float64) {
	copy := *c
	copy.accel = 0
	for !copy.Done() && copy.rate > 0 {
		_, passed := copy.advance(decision, 0, 0, math.Inf(1))
		time += passed
	}
	return time, copy.now - c.now
}
