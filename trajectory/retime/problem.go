package retime

import (
	"errors"
	"fmt"
	"math"

	"poise/trajectory"
)

// Problem is a path with the limits to obey on it.
type Problem struct {
	Path Path
	// Limits of all rows, joints then measures: one for the whole path, or one
	// for each piece. Positions are not looked at.
	Limits []trajectory.Limits
	// StartSpeed and EndSpeed are ds/dt at the ends of the path.
	StartSpeed, EndSpeed float64
	// Period, if positive, asks for a law to be sampled with it: the quintic
	// through the samples obeys the limits of the joints between them too.
	Period float64
	// Patient asks for more care with jerk limits: a faster law, found in twice
	// the time or more.
	Patient bool
	// Quick asks for a law of jerk-limited joints in few rounds, to be sampled
	// finely: it may exceed the limits by QuickExcess, which is to be held back,
	// and keeps what the quintic through samples makes of a jump of q‴.
	Quick bool
	// Stop, if not nil, is asked now and then; its error ends Solve, which returns
	// it.
	Stop func() error
	// Grid is how many intervals the path is cut into at least; 0 means 256.
	Grid int
}

// stopped returns why a problem is no longer to be solved.
func (p *Problem) stopped() error {
	if p.Stop == nil {
		return nil
	}
	return p.Stop()
}

// rows returns how many rows the path has.
func (p *Problem) rows() int { return p.Path.Joints() + p.Path.Measures() }

// check reports everything wrong with a problem.
func (p *Problem) check() error {
	var bad []error
	breaks := p.Path.Breaks()
	if len(breaks) < 2 {
		bad = append(bad, &PathError{What: "number of breaks", Row: -1, Value: float64(len(breaks))})
	}
	bad = append(bad, checkBreaks(breaks)...)
	if n := len(p.Limits); n != 1 && n != len(breaks)-1 {
		bad = append(bad, &trajectory.LimitError{Quantity: "sets of", Joint: -1, Value: float64(n), Bound: float64(len(breaks) - 1)})
	}
	for i := range p.Limits {
		if err := p.Limits[i].Check(p.rows()); err != nil {
			bad = append(bad, fmt.Errorf("piece %d: %w", i, err))
		}
		bad = append(bad, checkSize(&p.Limits[i])...)
	}
	for i, v := range []float64{p.StartSpeed, p.EndSpeed} {
		if !(v >= 0 && v <= huge) {
			bad = append(bad, &SpeedError{End: i == 1, Speed: v, Max: huge})
		}
	}
	if !(p.Period >= 0) || math.IsInf(p.Period, 1) {
		bad = append(bad, &trajectory.PeriodError{Period: p.Period})
	}
	return errors.Join(bad...)
}

// checkBreaks reports breaks that do not rise; a path of no length has two equal
// ones.
func checkBreaks(breaks []float64) (bad []error) {
	if len(breaks) < 2 {
		return []error{&PathError{What: "number of breaks", Row: -1, Value: float64(len(breaks))}}
	}
	length := breaks[len(breaks)-1] - breaks[0]
	if len(breaks) == 2 && length == 0 {
		return nil
	}
	if !(length < huge && length > 1/huge) {
		bad = append(bad, &PathError{What: "length", Row: -1, S: breaks[0], Value: length})
	}
	for i, s := range breaks {
		if math.IsNaN(s) || math.IsInf(s, 0) || i > 0 && !(s-breaks[i-1] > shortest*length) {
			bad = append(bad, &PathError{What: fmt.Sprintf("break %d", i), Row: -1, S: s, Value: s})
		}
	}
	return bad
}

// shortest is the share of a path that a piece must at least be: below it the
// places of a piece are no longer different numbers.
const shortest = 1e-11

// checkSize reports limits with which products would overflow.
func checkSize(l *trajectory.Limits) (bad []error) {
	for _, q := range []struct {
		name   string
		values []float64
	}{{"velocity", l.Velocity}, {"acceleration", l.Acceleration}, {"deceleration", l.Deceleration}, {"jerk", l.Jerk}} {
		for r, x := range q.values {
			if x > 0 && x < 1/huge || x > huge && !math.IsInf(x, 1) {
				bad = append(bad, &SizeError{Quantity: q.name, Joint: r, Value: x})
			}
		}
	}
	return bad
}
