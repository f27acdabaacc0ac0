package control

import (
	"math"
	"slices"

	"poise/servo"
)

// GuardBounds are what a servo may be told.
type GuardBounds struct {
	Lower, Upper float64 // range of positions; infinite if unknown
	Rate         float64 // largest velocity, and largest change of a position per second
	Distance     float64 // largest distance of a position from the measured one
	Effort       float64 // largest effort, N·m or N; infinite if unknown
}

// Guard is the gate on the setpoint, after the servo model has been inverted: the
// last thing before the wire. A setpoint that is not finite is replaced by the last
// one that was, without its velocity.
type Guard struct {
	given  []GuardBounds
	bounds []GuardBounds    // given, with the reach of servo models
	last   []servo.Setpoint // that passed
	ready  []bool           // last holds something
}

// NewGuard returns the gate for servos with the given bounds.
func NewGuard(bounds []GuardBounds) *Guard {
	return &Guard{given: bounds, bounds: slices.Clone(bounds), last: make([]servo.Setpoint, len(bounds)), ready: make([]bool, len(bounds))}
}

// Reach lets the positions of a joint be beyond its limits, and farther from the measured one, by
// as much as its servo's model may need; low and high are the servo's own range. Loop-safe.
func (g *Guard) Reach(joint int, reach, low, high float64) {
	b := g.given[joint]
	reach = min(reach, maxReach)
	b.Lower, b.Upper, b.Distance = b.Lower-reach, b.Upper+reach, b.Distance+reach
	if b.Lower < low { // but never tighter than without a model
		b.Lower = min(low, g.given[joint].Lower)
	}
	if b.Upper > high {
		b.Upper = max(high, g.given[joint].Upper)
	}
	g.bounds[joint] = b
}

// maxReach bounds what a model may add to a goal whatever it says of its servo, rad.
const maxReach = 3

// Reset forgets the last setpoint of a joint: at torque-on there is none.
func (g *Guard) Reset(joint int) { g.ready[joint] = false }

// Trip says why a setpoint was changed, one bit each.
type Trip uint8

// The trips.
const (
	TripFinite   Trip = 1 << iota // a number of it was not finite, or no time was left
	TripRange                     // beyond the servo's range or out of it, or a gain below zero
	TripRate                      // too fast, or too far from the last
	TripDistance                  // too far from where the joint is
	TripEffort                    // more than the joint can give
)

// Apply makes a setpoint sane. measured is where the joint is; if it was never
// read, distance is not judged. A joint without torque passes unchanged.
// Loop-safe.
func (g *Guard) Apply(joint int, s *servo.Setpoint, measured *servo.Reading, dt float64) (trip Trip) {
	if !s.Mode.Powered() {
		g.ready[joint] = false
		return 0
	}
	b := &g.bounds[joint]
	if !s.Finite() || s.Mode == servo.Position && s.PlayTime <= 0 {
		trip |= TripFinite
		*s = g.fallback(joint, measured, dt)
	}
	trip |= within(&s.Effort, -b.Effort, b.Effort, TripEffort)
	trip |= within(&s.Velocity, -b.Rate, b.Rate, TripRate)
	switch s.Mode {
	case servo.Position:
		trip |= within(&s.Stiffness, 0, 1, TripRange)
		trip |= g.position(joint, s, measured, dt)
	case servo.Impedance:
		trip |= within(&s.Kp, 0, math.MaxFloat64, TripRange)
		trip |= within(&s.Kd, 0, math.MaxFloat64, TripRange)
		trip |= g.position(joint, s, measured, dt)
	case servo.Velocity, servo.Effort:
		trip |= g.outwards(b, s, measured, dt)
	}
	g.last[joint], g.ready[joint] = *s, true
	return trip
}

// position bounds where a servo is to go.
func (g *Guard) position(joint int, s *servo.Setpoint, measured *servo.Reading, dt float64) (trip Trip) {
	b := &g.bounds[joint]
	if measured.Age != servo.Never && finite(measured.Position) {
		trip |= within(&s.Position, measured.Position-b.Distance, measured.Position+b.Distance, TripDistance)
	}
	if last := &g.last[joint]; g.ready[joint] && hasPosition(last.Mode) {
		step := b.Rate * dt
		trip |= within(&s.Position, last.Position-step, last.Position+step, TripRate)
	}
	// the range comes last: nothing else may lead out of it, a wrong reading least
	trip |= within(&s.Position, b.Lower, b.Upper, TripRange)
	return trip
}

// outwards keeps a servo that is told no position within its range: no velocity leads
// out of it in a period, and at its end no effort pushes on. The velocity of a joint
// that was never read is zero, for nothing is known of where it would lead.
func (g *Guard) outwards(b *GuardBounds, s *servo.Setpoint, measured *servo.Reading, dt float64) (trip Trip) {
	bounded := !math.IsInf(b.Lower, -1) || !math.IsInf(b.Upper, 1)
	if measured.Age == servo.Never || !finite(measured.Position) {
		if bounded && s.Mode == servo.Velocity {
			trip |= within(&s.Velocity, 0, 0, TripRange)
		}
		return trip
	}
	below, above := b.Lower-measured.Position, b.Upper-measured.Position // distances to the ends; ≤ 0 and ≥ 0 inside
	if s.Mode == servo.Velocity {
		trip |= within(&s.Velocity, min(0, below/dt), max(0, above/dt), TripRange)
		return trip
	}
	if above <= 0 && s.Effort > 0 || below >= 0 && s.Effort < 0 {
		s.Effort, trip = 0, trip|TripRange
	}
	return trip
}

// hasPosition reports whether the position of a setpoint counts in a mode.
func hasPosition(m servo.Mode) bool { return m == servo.Position || m == servo.Impedance }

// fallback is the last setpoint that was sane, at rest, or to stay where the joint
// is.
func (g *Guard) fallback(joint int, measured *servo.Reading, dt float64) servo.Setpoint {
	if g.ready[joint] {
		s := g.last[joint]
		s.Velocity = 0
		return s
	}
	s := servo.Setpoint{Mode: servo.Position, Stiffness: 1, PlayTime: dt}
	if measured.Age != servo.Never && finite(measured.Position) {
		s.Position = measured.Position
	} else {
		s.Position = min(max(0, g.bounds[joint].Lower), g.bounds[joint].Upper)
	}
	return s
}

// within bounds x, and says so if it had to.
func within(x *float64, low, high float64, kind Trip) Trip {
	switch {
	case *x < low:
		*x = low
		return kind
	case *x > high:
		*x = high
		return kind
	}
	return 0
}

func finite(x float64) bool { return x-x == 0 }
