package retime

import (
	"errors"
	"math"

	"poise/trajectory"
	"poise/trajectory/reach"
	"poise/trajectory/spline"
)

// Path is the geometry that a motion follows; see package reach.
type Path = reach.Path

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
	// Stop, if not nil, is asked now and then; its error ends Solve, which returns
	// it.
	Stop func() error
	// Grid is how many intervals the path is cut into at least; 0 means 256.
	Grid int
}

// What Solve can refuse; errors.Is finds them.
var (
	ErrPath   = reach.ErrPath   // *PathError
	ErrSpeed  = reach.ErrSpeed  // *SpeedError
	ErrFree   = reach.ErrFree   // *FreeError
	ErrBroken = reach.ErrBroken // *BrokenError
)

// The errors that say so.
type (
	PathError   = reach.PathError
	SpeedError  = reach.SpeedError
	FreeError   = reach.FreeError
	BrokenError = reach.BrokenError
)

// sharp returns the problem without what smoothing adds to it.
func (p *Problem) sharp() reach.Problem {
	return reach.Problem{Path: p.Path, Limits: p.Limits, StartSpeed: p.StartSpeed, EndSpeed: p.EndSpeed, Grid: p.Grid}
}

// stopped returns why a problem is no longer to be solved.
func (p *Problem) stopped() error {
	if p.Stop == nil {
		return nil
	}
	return p.Stop()
}

// check reports everything wrong with a problem.
func (p *Problem) check() error {
	sharp := p.sharp()
	err := sharp.Check()
	if !(p.Period >= 0) || math.IsInf(p.Period, 1) {
		err = errors.Join(err, &trajectory.PeriodError{Period: p.Period})
	}
	return err
}

// FromSpline makes a path of a curve: its time becomes the path parameter, its
// segments the pieces.
func FromSpline(s *spline.Spline) Path { return reach.FromSpline(s) }
