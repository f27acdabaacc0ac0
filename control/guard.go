package control

import (
	"math"

	"poise/servo"
)

// GuardBounds are what a servo may be told.
type GuardBounds struct {
	Lower, Upper float64 // range of targets; infinite if unknown
	Rate         float64 // largest change of a target per second
	Distance     float64 // largest distance of a target from the measured position
}

// Guard is the gate on the setpoint, after the servo model has been inverted: the
// last thing before the wire. What it cannot make sane it replaces by the last
// setpoint that was.
type Guard struct {
	bounds []GuardBounds
	last   []float64
	ready  []bool // last holds something
}

// NewGuard returns the gate for servos with the given bounds.
func NewGuard(bounds []GuardBounds) *Guard {
	return &Guard{bounds: bounds, last: make([]float64, len(bounds)), ready: make([]bool, len(bounds))}
}

// Reset forgets the last setpoint of a joint: at torque-on there is none.
func (g *Guard) Reset(joint int) { g.ready[joint] = false }

// Trip says why a setpoint was changed, one bit each.
type Trip uint8

// The trips.
const (
	TripFinite   Trip = 1 << iota // it was not a number
	TripRange                     // beyond the servo's range
	TripRate                      // too far from the last
	TripDistance                  // too far from where the joint is
)

// Apply makes a setpoint sane. measured is where the joint is; if it was never
// read, distance is not judged. A joint without torque passes: it goes nowhere.
func (g *Guard) Apply(joint int, s *servo.Setpoint, measured *servo.Reading, dt float64) (trip Trip) {
	if s.Mode != servo.Position {
		g.ready[joint] = false
		return 0
	}
	b := &g.bounds[joint]
	fresh := measured.Age != servo.Never
	if !finite(s.Position) || !finite(s.PlayTime) || !finite(s.Stiffness) || s.PlayTime <= 0 {
		trip |= TripFinite
		s.Position, s.PlayTime, s.Stiffness = g.fallback(joint, measured), dt, 1
	}
	if fresh && finite(measured.Position) {
		s.Position, trip = within(s.Position, measured.Position-b.Distance, measured.Position+b.Distance, trip, TripDistance)
	}
	if g.ready[joint] {
		step := b.Rate * dt
		s.Position, trip = within(s.Position, g.last[joint]-step, g.last[joint]+step, trip, TripRate)
	}
	// the range comes last: nothing else may lead out of it, a wrong reading least
	s.Position, trip = within(s.Position, b.Lower, b.Upper, trip, TripRange)
	g.last[joint], g.ready[joint] = s.Position, true
	return trip
}

// fallback is the last target that was sane, or where the joint is.
func (g *Guard) fallback(joint int, measured *servo.Reading) float64 {
	switch {
	case g.ready[joint]:
		return g.last[joint]
	case measured.Age != servo.Never && finite(measured.Position):
		return measured.Position
	}
	return min(max(0, g.bounds[joint].Lower), g.bounds[joint].Upper)
}

func within(x, low, high float64, trip, kind Trip) (float64, Trip) {
	switch {
	case x < low:
		return low, trip | kind
	case x > high:
		return high, trip | kind
	}
	return x, trip
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
