package move

import (
	"errors"
	"fmt"
	"math"
)

// Sync says how the axes of a motion go together.
type Sync uint8

const (
	// Time lets all axes arrive at the same moment, the soonest that all can.
	Time Sync = iota
	// Phase is Time, and all axes keep to the straight line between their states
	// if they begin on it and if that costs no time.
	Phase
	// Straight keeps to the line if the axes begin on it, also if it takes longer.
	Straight
	// Free lets each axis be as fast as it can.
	Free
)

// Options choose among the motions that join two states. The zero value asks for
// the fastest that is synchronised in time.
type Options struct {
	Sync        Sync
	MinDuration float64 // take at least this long, s; every axis if Sync is Free
	Period      float64 // make the duration a whole multiple of this, s; 0 for any
}

// Motion moves any number of axes together. It is not safe for concurrent use
// while it is being planned; all methods but New, and SetLimits with more axes
// than ever before, are loop-safe.
type Motion struct {
	limits   []Limits
	axes     []axis
	profiles []Profile
	duration float64
	straight bool

	// of straight motions
	line   axis
	ratio  []float64
	bounds Limits
}

// New makes a motion for axes with these limits. It stands still at zero until it
// is planned.
func New(limits []Limits) (*Motion, error) {
	m := &Motion{}
	if err := m.SetLimits(limits); err != nil {
		return nil, err
	}
	return m, nil
}

// SetLimits replaces the limits, and the number of axes if there are more or
// fewer. The next plan obeys them; all problems are reported, joined, and then
// nothing changes.
func (m *Motion) SetLimits(limits []Limits) error {
	var errs []error
	for i, l := range limits {
		if err := l.Validate(i); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	n := len(limits)
	if n > cap(m.limits) {
		m.limits = make([]Limits, n)
		m.axes = make([]axis, n)
		m.profiles = append(make([]Profile, 0, n), m.profiles...)
		m.ratio = make([]float64, n)
	}
	m.limits, m.axes, m.ratio = m.limits[:n], m.axes[:n], m.ratio[:n]
	m.profiles = m.profiles[:n]
	copy(m.limits, limits)
	return nil
}

// NumAxes returns the number of axes.
func (m *Motion) NumAxes() int { return len(m.limits) }

// Duration returns when the last axis arrives.
func (m *Motion) Duration() float64 { return m.duration }

// OnLine reports whether all axes keep to the straight line between their states.
func (m *Motion) OnLine() bool { return m.straight }

// Axis returns the motion of one axis, valid until the next plan.
func (m *Motion) Axis(i int) *Profile { return &m.profiles[i] }

// StatesTo writes the states of all axes at time t.
func (m *Motion) StatesTo(dst []State, t float64) {
	mustLen("dst", len(dst), len(m.profiles))
	for i := range dst {
		dst[i] = m.profiles[i].At(t)
	}
}

// Reach plans from states to states. What cannot be planned is refused with all
// reasons joined, each an *InputError, and then the motion stays as it was.
func (m *Motion) Reach(from, to []State, o Options) error {
	mustLen("from", len(from), len(m.limits))
	mustLen("to", len(to), len(m.limits))
	if !sane(from, largest) || !m.reachable(to) || !o.sane() {
		return m.explain(from, to, nil, o)
	}
	for i := range m.axes {
		m.axes[i].reach(&m.limits[i], from[i], to[i])
	}
	m.join(o)
	return nil
}

// ReachVelocity plans from states to steady velocities, as fast as the limits of
// acceleration and jerk allow; the limits of velocity do not count.
func (m *Motion) ReachVelocity(from []State, velocities []float64, o Options) error {
	mustLen("from", len(from), len(m.limits))
	mustLen("velocities", len(velocities), len(m.limits))
	ok := sane(from, largest) && o.sane()
	for _, v := range velocities {
		ok = ok && math.Abs(v) <= largest
	}
	if !ok {
		return m.explain(from, nil, velocities, o)
	}
	for i := range m.axes {
		m.axes[i].reachVelocity(&m.limits[i], from[i], velocities[i])
	}
	m.join(o)
	return nil
}

// Stop plans the shortest way from states to rest, wherever that is.
func (m *Motion) Stop(from []State, o Options) error {
	mustLen("from", len(from), len(m.limits))
	if !sane(from, largest) || !o.sane() {
		return m.explain(from, nil, nil, o)
	}
	for i := range m.axes {
		m.axes[i].reachVelocity(&m.limits[i], from[i], 0)
	}
	m.join(o)
	return nil
}

// join chooses the durations and writes the profiles.
func (m *Motion) join(o Options) {
	m.straight = false
	m.duration = 0
	if o.Sync == Free {
		for i := range m.axes {
			x := &m.axes[i]
			t := x.fit(0, o)
			x.writeTo(&m.profiles[i], t)
			m.duration = max(m.duration, t)
		}
		return
	}
	t := m.together(o)
	if o.Sync != Time && m.alongLine(t, o) {
		return
	}
	m.duration = t
	for i := range m.axes {
		m.axes[i].writeTo(&m.profiles[i], t)
	}
}

// together returns the shortest duration that all axes can have: each moves it up
// to what it can do, until nobody does.
func (m *Motion) together(o Options) float64 {
	t := 0.0
	for again := true; again; {
		again = false
		for i := range m.axes {
			if up := m.axes[i].fit(t, o); up > t {
				t, again = up, i > 0 || again
			}
		}
	}
	return t
}

// fit returns the shortest possible duration of an axis that is not below t and
// agrees with the options.
func (x *axis) fit(t float64, o Options) float64 {
	t = max(t, o.MinDuration)
	for {
		t = x.next(t)
		if o.Period <= 0 {
			return t
		}
		whole := math.Ceil(t/o.Period*(1-tiny)) * o.Period
		if whole <= t {
			return t
		}
		t = whole
	}
}

// tiny is the rounding of a division: a duration that is a whole number of
// periods up to this is one.
const tiny = 1e-15

func mustLen(what string, got, want int) {
	if got != want {
		panic(fmt.Sprintf("move: len(%s) = %d, want %d", what, got, want))
	}
}
