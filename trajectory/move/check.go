package move

import (
	"errors"
	"fmt"
	"math"
)

// ErrInput is matched by errors.Is when a plan was refused for what was asked.
var ErrInput = errors.New("refused input")

// InputError says which number cannot be planned with.
type InputError struct {
	Axis     int     // −1 for an option
	Quantity string  // such as "limit of jerk"
	Value    float64 // what was given
	Rule     string  // what would have been accepted
}

func (e *InputError) Error() string {
	if e.Axis < 0 {
		return fmt.Sprintf("move: %s is %g, must be %s", e.Quantity, e.Value, e.Rule)
	}
	return fmt.Sprintf("move: axis %d: %s is %g, must be %s", e.Axis, e.Quantity, e.Value, e.Rule)
}

// Is makes every InputError an ErrInput.
func (e *InputError) Is(target error) bool { return target == ErrInput }

// Numbers beyond these are refused: products of a few of them would leave the
// range of float64. No machine comes near them.
const (
	largest  = 1e15
	smallest = 1e-15
)

// problems collects what is wrong; it allocates only if something is.
type problems struct {
	axis int
	errs []error
}

func (p *problems) add(quantity string, value float64, rule string) {
	p.errs = append(p.errs, &InputError{p.axis, quantity, value, rule})
}

// within refuses what is outside, and NaN.
func (p *problems) within(quantity string, value, lo, hi float64) {
	if !(value >= lo && value <= hi) {
		p.add(quantity, value, fmt.Sprintf("within [%g, %g]", lo, hi))
	}
}

// usable reports whether the size of a limit is one to compute with.
func usable(size float64) bool { return size >= smallest && size <= largest || size == inf }

func (l *Limits) usable() bool {
	return usable(l.VelMax) && usable(-l.VelMin) && usable(l.AccMax) && usable(-l.AccMin) && usable(l.Jerk)
}

func (p *problems) limit(quantity string, value, sign float64) {
	if !usable(value * sign) {
		p.add("limit of "+quantity, value, fmt.Sprintf("between %g and %g, or %g", sign*smallest, sign*largest, sign*inf))
	}
}

func (p *problems) limits(l *Limits) {
	p.limit("velocity upwards", l.VelMax, 1)
	p.limit("velocity downwards", l.VelMin, -1)
	p.limit("acceleration upwards", l.AccMax, 1)
	p.limit("acceleration downwards", l.AccMin, -1)
	p.limit("jerk", l.Jerk, 1)
	if l.Jerk == inf && (l.AccMax == inf || l.AccMin == -inf) {
		p.add("limit of acceleration", inf, "finite when the jerk is unlimited")
	}
}

func (p *problems) start(s *State) {
	p.within("start position", s.P, -largest, largest)
	p.within("start velocity", s.V, -largest, largest)
	p.within("start acceleration", s.A, -largest, largest)
}

// target refuses states outside the limits, and those that cannot have been
// reached or left inside them: a ramp of acceleration takes some velocity.
func (p *problems) target(s *State, l *Limits) {
	p.within("target position", s.P, -largest, largest)
	p.within("target acceleration", s.A, grain*l.AccMin, grain*l.AccMax)
	velMin, velMax := grain*l.VelMin, grain*l.VelMax
	p.within("target velocity", s.V, velMin, velMax)
	if swing := s.A * math.Abs(s.A) / (2 * l.Jerk); swing != 0 {
		p.within("velocity before the target", s.V-swing, velMin, velMax)
		p.within("velocity after the target", s.V+swing, velMin, velMax)
	}
}

func (p *problems) options(o *Options) {
	p.axis = -1
	p.within("option Sync", float64(o.Sync), 0, float64(Free))
	p.within("option MinDuration", o.MinDuration, 0, largest)
	p.within("option Period", o.Period, 0, largest)
}
