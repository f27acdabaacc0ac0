package trajectory

import (
	"errors"
	"fmt"
	"math"

	"poise/trajectory/spline"
)

// Limits are the bounds of joints as plain arrays, one entry per joint, SI. A
// nil slice or an infinite entry is no limit. All but the positions are
// magnitudes, > 0. Deceleration bounds the acceleration that opposes the
// velocity, Acceleration the one that goes with it; without Deceleration,
// Acceleration bounds both.
type Limits struct {
	Lower, Upper               []float64
	Velocity                   []float64
	Acceleration, Deceleration []float64
	Jerk                       []float64
}

// LimitError is one thing wrong with limits themselves.
type LimitError struct {
	Quantity string // "velocity", "lower position", …
	Joint    int    // −1: the number of entries is wrong
	Value    float64
	Bound    float64 // the wanted number of entries, the lower position, or 0
}

func (e *LimitError) Error() string {
	switch {
	case e.Joint < 0:
		return fmt.Sprintf("%s limits: %.0f entries, want %.0f", e.Quantity, e.Value, e.Bound)
	case e.Quantity == "upper position":
		return fmt.Sprintf("%s limit of joint %d is %g, not above the lower one, %g", e.Quantity, e.Joint, e.Value, e.Bound)
	}
	return fmt.Sprintf("%s limit of joint %d is %g, want a number above 0", e.Quantity, e.Joint, e.Value)
}

// Check reports everything wrong with the limits for n joints, in *LimitError.
func (l *Limits) Check(n int) error {
	var bad []error
	for _, column := range []struct {
		name   string
		values []float64
		signed bool
	}{
		{"lower position", l.Lower, true}, {"upper position", l.Upper, true}, {"velocity", l.Velocity, false},
		{"acceleration", l.Acceleration, false}, {"deceleration", l.Deceleration, false}, {"jerk", l.Jerk, false},
	} {
		if column.values != nil && len(column.values) != n {
			bad = append(bad, &LimitError{Quantity: column.name, Joint: -1, Value: float64(len(column.values)), Bound: float64(n)})
		}
		for j, v := range column.values {
			if math.IsNaN(v) || !column.signed && !(v > 0) {
				bad = append(bad, &LimitError{Quantity: column.name, Joint: j, Value: v})
			}
		}
	}
	if len(l.Lower) == len(l.Upper) {
		for j := range l.Lower {
			if l.Upper[j] <= l.Lower[j] {
				bad = append(bad, &LimitError{Quantity: "upper position", Joint: j, Value: l.Upper[j], Bound: l.Lower[j]})
			}
		}
	}
	if bad == nil {
		return nil
	}
	return fmt.Errorf("trajectory: %w", errors.Join(bad...))
}

// Of returns the limits of one joint, infinite where there are none;
// deceleration is never absent when acceleration is given.
func (l *Limits) Of(joint int) (lower, upper, velocity, acceleration, deceleration, jerk float64) {
	lower, upper = at(l.Lower, joint, math.Inf(-1)), at(l.Upper, joint, math.Inf(1))
	velocity = at(l.Velocity, joint, math.Inf(1))
	acceleration = at(l.Acceleration, joint, math.Inf(1))
	deceleration = at(l.Deceleration, joint, acceleration)
	jerk = at(l.Jerk, joint, math.Inf(1))
	return
}

func at(x []float64, i int, absent float64) float64 {
	if x == nil {
		return absent
	}
	return x[i]
}

// Violation is a limit that a motion breaks, at its worst.
type Violation struct {
	Joint    int
	Quantity spline.Derivative
	Braking  bool // it is the deceleration limit
	Time     float64
	Value    float64 // signed
	Limit    float64 // signed like the value
}

// Ratio returns how far the value goes beyond the limit: 1 is just within. For a
// position the distance beyond it is given instead, plus one.
func (v Violation) Ratio() float64 {
	if v.Quantity == spline.Position {
		return 1 + math.Abs(v.Value-v.Limit)
	}
	return v.Value / v.Limit
}

func (v Violation) String() string {
	word := v.Quantity.String()
	if v.Braking {
		word = "deceleration"
	}
	return fmt.Sprintf("%s of joint %d is %g at %g s, limit %g", word, v.Joint, v.Value, v.Time, v.Limit)
}

// Violations returns where a curve breaks limits by more than a relative slack
// (of positions: of one radian or metre), for each joint and quantity the worst
// place, in order of joints. It asks the exact extremes of the curve: what it
// does not find is not there. Where acceleration and deceleration limits differ,
// segments are split where the velocity changes sign.
func (l *Limits) Violations(s *spline.Spline, slack float64) []Violation {
	var all []Violation
	for j := range s.Joints() {
		lower, upper, vel, acc, dec, jerk := l.Of(j)
		all = appendWorst(all, s, j, spline.Position, lower-slack, upper+slack, lower, upper)
		for _, column := range []struct {
			d     spline.Derivative
			limit float64
		}{{spline.Velocity, vel}, {spline.Acceleration, acc}, {spline.Jerk, jerk}} {
			if column.d == spline.Acceleration && acc != dec {
				all = appendBraking(all, s, j, acc, dec, 1+slack)
				continue
			}
			most := column.limit * (1 + slack)
			all = appendWorst(all, s, j, column.d, -most, most, -column.limit, column.limit)
		}
	}
	return all
}

// Use returns the largest shares of the velocity and acceleration limits that a
// curve uses, exact like Violations: 1 is up to the limit. What has no limit uses
// nothing.
func (l *Limits) Use(s *spline.Spline) (velocity, acceleration float64) {
	for j := range s.Joints() {
		_, _, vel, acc, dec, _ := l.Of(j)
		velocity = math.Max(velocity, math.Abs(s.Peak(j, spline.Velocity, s.Start(), s.End()).Value)/vel)
		if acc == dec {
			acceleration = math.Max(acceleration, math.Abs(s.Peak(j, spline.Acceleration, s.Start(), s.End()).Value)/acc)
			continue
		}
		for _, v := range appendBraking(nil, s, j, acc, dec, 0) {
			acceleration = math.Max(acceleration, v.Ratio())
		}
	}
	return velocity, acceleration
}

// appendWorst adds the worst place where a quantity leaves [low, high].
func appendWorst(all []Violation, s *spline.Spline, j int, d spline.Derivative, low, high, lower, upper float64) []Violation {
	var worst Violation
	knots := s.Knots()
	for i := range s.Segments() {
		if s.Within(i, j, d, low, high) {
			continue
		}
		least, most := s.SegmentRange(i, j, d, knots[i], knots[i+1])
		if most.Value > high {
			worst.raise(Violation{Joint: j, Quantity: d, Time: most.Time, Value: most.Value, Limit: upper})
		}
		if least.Value < low {
			worst.raise(Violation{Joint: j, Quantity: d, Time: least.Time, Value: least.Value, Limit: lower})
		}
	}
	return worst.appendTo(all)
}

// appendBraking adds the worst accelerations with and against the velocity.
func appendBraking(all []Violation, s *spline.Spline, j int, acc, dec, over float64) []Violation {
	var with, against Violation
	knots, strict := s.Knots(), math.Min(acc, dec)*over
	still := atRest * math.Abs(s.Peak(j, spline.Velocity, s.Start(), s.End()).Value)
	var dst [6]float64
	for i := range s.Segments() {
		if s.Within(i, j, spline.Acceleration, -strict, strict) {
			continue
		}
		from := knots[i]
		turns := s.Zeros(&dst, i, j, spline.Velocity)
		for k := range len(turns) + 1 {
			to := knots[i+1]
			if k < len(turns) {
				to = turns[k]
			}
			up, down := acc, dec // bounds of positive and negative acceleration
			switch v := velocity(s, i, j, (from+to)/2); {
			case math.Abs(v) <= still: // neither with nor against
				up = math.Max(acc, dec)
				down = up
			case v < 0:
				up, down = dec, acc
			}
			least, most := s.SegmentRange(i, j, spline.Acceleration, from, to)
			for _, v := range []Violation{
				{Joint: j, Quantity: spline.Acceleration, Braking: up == dec, Time: most.Time, Value: most.Value, Limit: up},
				{Joint: j, Quantity: spline.Acceleration, Braking: down == dec, Time: least.Time, Value: least.Value, Limit: -down},
			} {
				if v.Ratio() > over && v.Braking {
					against.raise(v)
				} else if v.Ratio() > over {
					with.raise(v)
				}
			}
			from = to
		}
	}
	return against.appendTo(with.appendTo(all))
}

// raise keeps the worse of two violations; one without a limit is not set yet.
func (v *Violation) raise(x Violation) {
	if v.Limit == 0 && v.Value == 0 || x.Ratio() > v.Ratio() {
		*v = x
	}
}

func (v *Violation) appendTo(all []Violation) []Violation {
	if v.Limit == 0 && v.Value == 0 {
		return all
	}
	return append(all, *v)
}

// atRest is the share of a joint's largest velocity below which it is taken for
// the rounding of none.
const atRest = 1e-9

// velocity returns that of a joint on a segment.
func velocity(s *spline.Spline, segment, joint int, t float64) float64 {
	x := t - s.Knots()[segment]
	c := s.Coefficients(segment, joint)
	v := 0.0
	for k := len(c) - 1; k > 0; k-- {
		v = v*x + float64(k)*c[k]
	}
	return v
}
