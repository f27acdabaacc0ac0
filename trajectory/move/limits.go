package move

import (
	"errors"
	"fmt"
	"math"
)

// State is where an axis is and how it moves: position, velocity, acceleration.
type State struct{ P, V, A float64 }

// Limits bound one axis. Each direction has its own velocity and acceleration;
// the jerk is the same up and down. math.Inf(1) and math.Inf(-1) mean that there
// is no such limit, but either the jerk or both accelerations must be bounded.
type Limits struct {
	VelMin, VelMax float64 // < 0, > 0
	AccMin, AccMax float64 // < 0, > 0
	Jerk           float64 // > 0; +Inf lets the acceleration jump
}

// Symmetric returns limits that are the same in both directions.
func Symmetric(vel, acc, jerk float64) Limits {
	return Limits{VelMin: -vel, VelMax: vel, AccMin: -acc, AccMax: acc, Jerk: jerk}
}

// ErrInput is matched by errors.Is when a plan was refused for what was asked.
var ErrInput = errors.New("refused input")

// InputError says which number of which axis cannot be planned with.
type InputError struct {
	Axis     int
	Quantity string  // such as "limit of jerk"
	Value    float64 // what was given
	Rule     string  // what would have been accepted
}

func (e *InputError) Error() string {
	return fmt.Sprintf("move: axis %d: %s is %g, must be %s", e.Axis, e.Quantity, e.Value, e.Rule)
}

// Is makes every InputError an ErrInput.
func (e *InputError) Is(target error) bool { return target == ErrInput }

var inf = math.Inf(1)

// Numbers beyond this are refused: products of a few of them would leave the
// range of float64. No machine comes near it.
const (
	largest  = 1e15
	smallest = 1e-15
)

// Validate reports every limit that cannot be used, joined; axis numbers the
// axis in the errors.
func (l Limits) Validate(axis int) error {
	var errs []error
	check := func(quantity string, value, sign float64) {
		switch m := value * sign; {
		case math.IsNaN(m) || m < smallest:
			errs = append(errs, &InputError{axis, "limit of " + quantity, value, bound(sign)})
		case m > largest && !math.IsInf(m, 1):
			errs = append(errs, &InputError{axis, "limit of " + quantity, value, bound(sign)})
		}
	}
	check("velocity upwards", l.VelMax, 1)
	check("velocity downwards", l.VelMin, -1)
	check("acceleration upwards", l.AccMax, 1)
	check("acceleration downwards", l.AccMin, -1)
	check("jerk", l.Jerk, 1)
	if math.IsInf(l.Jerk, 1) && (math.IsInf(l.AccMax, 1) || math.IsInf(l.AccMin, -1)) {
		errs = append(errs, &InputError{axis, "limit of acceleration", math.Inf(1), "finite when the jerk is unlimited"})
	}
	return errors.Join(errs...)
}

func bound(sign float64) string {
	if sign < 0 {
		return fmt.Sprintf("between %g and %g, or -Inf", -largest, -smallest)
	}
	return fmt.Sprintf("between %g and %g, or +Inf", smallest, largest)
}

// checkState reports what is wrong with a state to start from.
func checkState(axis int, what string, s State) (errs []error) {
	for _, c := range [...]struct {
		name  string
		value float64
	}{{"position", s.P}, {"velocity", s.V}, {"acceleration", s.A}} {
		if !(math.Abs(c.value) <= largest) {
			errs = append(errs, &InputError{axis, what + " " + c.name, c.value, fmt.Sprintf("at most %g in size", largest)})
		}
	}
	return errs
}

// checkTarget reports what keeps a state from being a target: it must lie within
// the limits, and so must what came before and what will come after it.
func (l *Limits) checkTarget(axis int, s State) []error {
	errs := checkState(axis, "target", s)
	if len(errs) > 0 {
		return errs
	}
	within := func(quantity string, value, lo, hi float64) {
		if value < lo || value > hi {
			errs = append(errs, &InputError{axis, quantity, value, fmt.Sprintf("within [%g, %g]", lo, hi)})
		}
	}
	within("target velocity", s.V, l.VelMin, l.VelMax)
	within("target acceleration", s.A, l.AccMin, l.AccMax)
	// the velocities that the acceleration must have come from and leads to
	if swing := s.A * math.Abs(s.A) / (2 * l.Jerk); len(errs) == 0 {
		within("velocity before the target", s.V-swing, l.VelMin, l.VelMax)
		within("velocity after the target", s.V+swing, l.VelMin, l.VelMax)
	}
	return errs
}

// sane reports whether all numbers are finite and not beyond all reason.
func sane(states []State, most float64) bool {
	ok := true
	for i := range states {
		s := &states[i]
		ok = ok && math.Abs(s.P) <= most && math.Abs(s.V) <= most && math.Abs(s.A) <= most
	}
	return ok
}

func (o *Options) sane() bool {
	return o.MinDuration >= 0 && o.MinDuration <= largest && o.Period >= 0 && o.Period <= largest && o.Sync <= Free
}

// reachable reports whether all states can be targets.
func (m *Motion) reachable(to []State) bool {
	for i := range to {
		s, l := &to[i], &m.limits[i]
		if s.V == 0 && s.A == 0 && math.Abs(s.P) <= largest {
			continue
		}
		if len(l.checkTarget(i, *s)) > 0 {
			return false
		}
	}
	return true
}

// explain says why a task is refused, with all reasons.
func (m *Motion) explain(from, to []State, velocities []float64, o Options) error {
	var errs []error
	for i, s := range from {
		errs = append(errs, checkState(i, "start", s)...)
	}
	for i, s := range to {
		errs = append(errs, m.limits[i].checkTarget(i, s)...)
	}
	for i, v := range velocities {
		if !(math.Abs(v) <= largest) {
			errs = append(errs, &InputError{i, "target velocity", v, fmt.Sprintf("at most %g in size", largest)})
		}
	}
	if !(o.MinDuration >= 0 && o.MinDuration <= largest) {
		errs = append(errs, &OptionError{"MinDuration", o.MinDuration})
	}
	if !(o.Period >= 0 && o.Period <= largest) {
		errs = append(errs, &OptionError{"Period", o.Period})
	}
	if o.Sync > Free {
		errs = append(errs, &OptionError{"Sync", float64(o.Sync)})
	}
	return errors.Join(errs...)
}

// OptionError says which option cannot be used.
type OptionError struct {
	Option string
	Value  float64
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("move: option %s is %g, must be within [0, %g] and defined", e.Option, e.Value, largest)
}

// Is makes every OptionError an ErrInput.
func (e *OptionError) Is(target error) bool { return target == ErrInput }
