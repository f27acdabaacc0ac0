package retime

import "poise/trajectory/spline"

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
