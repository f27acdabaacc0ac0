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
// than ever before, are loop-safe. A refusal allocates, for its words.
type Motion struct {
	limits   []Limits
	axes     []axis
	profiles []Profile
	duration float64
	onLine   bool

	// of motions along a line
	line   axis
	bounds Limits
	ratio  []float64
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
// fewer; what is planned next obeys them. All problems are reported, joined, and
// then nothing changes.
func (m *Motion) SetLimits(limits []Limits) error {
	var p problems
	for i := range limits {
		p.axis = i
		p.limits(&limits[i])
	}
	if p.errs != nil {
		return errors.Join(p.errs...)
	}
	n := len(limits)
	if n > cap(m.limits) {
		m.limits = make([]Limits, n)
		m.axes = make([]axis, n)
		m.profiles = append(make([]Profile, 0, n), m.profiles...)
		m.ratio = make([]float64, n)
	}
	m.limits, m.axes, m.profiles, m.ratio = m.limits[:n], m.axes[:n], m.profiles[:n], m.ratio[:n]
	copy(m.limits, limits)
	return nil
}

// Duration returns when the last axis arrives.
func (m *Motion) Duration() float64 { return m.duration }

// OnLine reports whether all axes keep to the straight line between their states.
func (m *Motion) OnLine() bool { return m.onLine }

// Axis returns the motion of one axis, valid until the next plan.
func (m *Motion) Axis(i int) *Profile { return &m.profiles[i] }

// StatesTo writes the states of all axes at time t.
func (m *Motion) StatesTo(dst []State, t float64) {
	mustLen("dst", len(dst), len(m.profiles))
	for i := range dst {
		dst[i] = m.profiles[i].At(t)
	}
}

// SampleTo writes positions, velocities and accelerations of all axes at time t.
// What is nil is left out.
func (m *Motion) SampleTo(p, v, a []float64, t float64) {
	for i := range m.profiles {
		s := m.profiles[i].At(t)
		if p != nil {
			p[i] = s.P
		}
		if v != nil {
			v[i] = s.V
		}
		if a != nil {
			a[i] = s.A
		}
	}
}

// Reach plans from states to states. What cannot be planned is refused with all
// reasons joined, each an *InputError, and then the motion stays as it was.
func (m *Motion) Reach(from, to []State, o Options) error {
	mustLen("from", len(from), len(m.limits))
	mustLen("to", len(to), len(m.limits))
	var p problems
	for i := range m.limits {
		p.axis = i
		p.start(&from[i])
		p.target(&to[i], &m.limits[i])
	}
	if p.options(&o); p.errs != nil {
		return errors.Join(p.errs...)
	}
	for i := range m.axes {
		m.axes[i].reach(&m.limits[i], from[i], to[i])
	}
	m.join(o)
	return nil
}

// ReachVelocity plans from states to steady velocities, or to rest if velocities is
// nil, as fast as the limits of acceleration and jerk allow; where that is, the
// targets of the axes tell. Refusals are as with Reach.
func (m *Motion) ReachVelocity(from []State, velocities []float64, o Options) error {
	mustLen("from", len(from), len(m.limits))
	if velocities != nil {
		mustLen("velocities", len(velocities), len(m.limits))
	}
	target := func(i int) (s State) {
		if velocities != nil {
			s.V = velocities[i]
		}
		return s
	}
	var p problems
	for i := range m.limits {
		p.axis = i
		p.start(&from[i])
		to := target(i)
		p.target(&to, &m.limits[i])
	}
	if p.options(&o); p.errs != nil {
		return errors.Join(p.errs...)
	}
	for i := range m.axes {
		m.axes[i].reachVelocity(&m.limits[i], from[i], target(i).V)
	}
	m.join(o)
	return nil
}

// Stop plans the shortest way to rest of each axis by itself. To stop together, or
// along a line, use ReachVelocity.
func (m *Motion) Stop(from []State) error {
	return m.ReachVelocity(from, nil, Options{Sync: Free})
}

// join chooses the durations and writes the profiles.
func (m *Motion) join(o Options) {
	m.onLine = false
	if o.Sync == Free {
		m.duration = 0
		for i := range m.axes {
			ax := &m.axes[i]
			t := ax.fit(0, o)
			ax.writeTo(&m.profiles[i], t)
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
// to what it can do, until none does.
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
func (ax *axis) fit(t float64, o Options) float64 {
	t = max(t, o.MinDuration)
	for {
		t = ax.next(t)
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
