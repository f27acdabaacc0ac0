package profile

import (
	"errors"
	"fmt"
	"math"
)

// ErrInput is matched by errors.Is when numbers were refused.
var ErrInput = errors.New("refused input")

// ErrLimit is matched by errors.Is when a profile that was asked for would break
// a limit.
var ErrLimit = errors.New("limit exceeded")

// InputError says which number cannot be used.
type InputError struct {
	Quantity string
	Value    float64
	Rule     string // what would have been accepted
}

func (e *InputError) Error() string {
	return fmt.Sprintf("profile: %s is %g, must be %s", e.Quantity, e.Value, e.Rule)
}

// Is makes every InputError an ErrInput.
func (e *InputError) Is(target error) bool { return target == ErrInput }

// LimitError says which limit stands against what was asked for.
type LimitError struct {
	Quantity     string // such as "duration" or "velocity"
	Value, Bound float64
	AtLeast      bool // Bound is a lower bound
}

func (e *LimitError) Error() string {
	rule := "at most"
	if e.AtLeast {
		rule = "at least"
	}
	return fmt.Sprintf("profile: %s of %g, %s %g is possible", e.Quantity, e.Value, rule, e.Bound)
}

// Is makes every LimitError an ErrLimit.
func (e *LimitError) Is(target error) bool { return target == ErrLimit }

// Numbers outside this range are refused: with them a duration could leave the
// range of float64.
const (
	largest  = 1e15
	smallest = 1e-15
)

// Bounds are the limits that trapezoids keep.
type Bounds struct {
	vel, acc, dec float64
}

// NewBounds returns limits of velocity, acceleration and deceleration. Only their
// sizes count, so a deceleration may be given as negative.
func NewBounds(velocity, acceleration, deceleration float64) (Bounds, error) {
	b := Bounds{math.Abs(velocity), math.Abs(acceleration), math.Abs(deceleration)}
	err := errors.Join(
		positive("velocity", b.vel, false),
		positive("acceleration", b.acc, false),
		positive("deceleration", b.dec, false),
	)
	if err != nil {
		return Bounds{}, err
	}
	return b, nil
}

// Symmetric returns limits with the same acceleration and deceleration.
func Symmetric(velocity, acceleration float64) (Bounds, error) {
	return NewBounds(velocity, acceleration, acceleration)
}

// Velocity returns the limit of velocity, Acceleration and Deceleration those of
// speeding up and slowing down; all are positive.
func (b Bounds) Velocity() float64     { return b.vel }
func (b Bounds) Acceleration() float64 { return b.acc }
func (b Bounds) Deceleration() float64 { return b.dec }

func positive(quantity string, v float64, infinite bool) error {
	if v >= smallest && v <= largest || infinite && math.IsInf(v, 1) {
		return nil
	}
	rule := fmt.Sprintf("between %g and %g", smallest, largest)
	if infinite {
		rule += ", or infinite"
	}
	return &InputError{quantity, v, rule}
}

// bounded refuses numbers that are not finite or beyond all reason.
func bounded(quantity string, v float64) error {
	if math.Abs(v) <= largest {
		return nil
	}
	return &InputError{quantity, v, fmt.Sprintf("at most %g in size", largest)}
}

// ends checks both ends of a motion.
func ends(start, goal float64) error {
	return errors.Join(bounded("start", start), bounded("goal", goal))
}
