package reach

import (
	"errors"
	"fmt"
	"math"

	"poise/trajectory"
	"poise/trajectory/spline"
)

// Path is the geometry that a motion follows: rows of numbers over a path
// parameter s, first the joints, then measures. A measure is a distance along
// the path; its derivative is the rate ds makes, never negative.
//
// The path is smooth inside pieces. At the breaks between them q′ should be
// continuous; where it is not the motion stops. q″ may jump.
type Path interface {
	Joints() int
	Measures() int
	// Breaks returns the s of the piece boundaries, strictly rising: the first
	// is the start of the path, the last its end.
	Breaks() []float64
	// StateTo stores all rows and their exact derivatives at s, on a piece that
	// contains s (also at its ends).
	StateTo(q, dq, ddq []float64, piece int, s float64)
}

// Problem is a path with the limits to obey on it.
type Problem struct {
	Path Path
	// Limits of all rows, joints then measures: one for the whole path, or one
	// for each piece. Positions are not looked at.
	Limits []trajectory.Limits
	// StartSpeed and EndSpeed are ds/dt at the ends of the path.
	StartSpeed, EndSpeed float64
	// Grid is how many intervals the path is cut into at least; 0 means 256.
	Grid int
}

// rows returns how many rows the path has.
func (p *Problem) rows() int { return p.Path.Joints() + p.Path.Measures() }

// Check reports everything wrong with a problem.
func (p *Problem) Check() error {
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

// FromSpline makes a path of a curve: its time becomes the path parameter, its
// segments the pieces.
func FromSpline(s *spline.Spline) Path { return splinePath{s} }

type splinePath struct{ *spline.Spline }

// cubic reports whether q′ is a parabola and q″ a line on every piece, so that
// the two ends of an interval tell all about it.
func (p splinePath) cubic() bool { return len(p.Coefficients(0, 0)) == 4 }

func (p splinePath) Measures() int     { return 0 }
func (p splinePath) Breaks() []float64 { return p.Knots() }
func (p splinePath) StateTo(q, dq, ddq []float64, piece int, s float64) {
	p.SegmentTo(q, dq, ddq, piece, s)
}
