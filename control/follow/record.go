package follow

import (
	"errors"
	"math"

	"poise/control"
	"poise/robot"
	"poise/trajectory"
	"poise/trajectory/spline"
)

// Record is what a program is made of: plain numbers, from which it can be made
// again bit for bit. Columns are the joints that it moves.
type Record struct {
	Names  []string  `json:"names"`  // of the columns
	Joints []int     `json:"joints"` // their numbers
	Wraps  []bool    `json:"wraps"`  // angles without limits
	Parts  []Segment `json:"parts"`  // each begins when the one before ends

	// what the clock may use, of each column; 0 is no limit
	Velocity     []float64 `json:"velocity"`
	Acceleration []float64 `json:"acceleration"`
	Deceleration []float64 `json:"deceleration"`
	MaxRate      float64   `json:"max_rate"`

	Path      []trajectory.Tolerance `json:"path"` // negative is no tolerance
	Final     []trajectory.Tolerance `json:"final"`
	GoalTime  float64                `json:"goal_time"`           // s that the end may take to be met; negative is for ever
	Commanded bool                   `json:"commanded,omitempty"` // tolerances look at the command, not at the measurement

	Steps  []float64 `json:"steps,omitempty"` // times from which supports hold
	Chains []Support `json:"chains,omitempty"`
	Events []Event   `json:"events,omitempty"` // by time
	Limbs  []string  `json:"limbs,omitempty"`  // chains of the robot, if events name some

	Begin     int64   `json:"begin,omitempty"` // cycle time at which its clock is at zero, ns; 0 is when it starts
	Loop      bool    `json:"loop,omitempty"`
	Again     float64 `json:"again,omitempty"`     // where a loop begins again
	Continues uint64  `json:"continues,omitempty"` // the ID of the program that it extends,
	Splice    float64 `json:"splice,omitempty"`    // from this time on,
	Extended  int     `json:"extended,omitempty"`  // after so many events
}

// Support is what one chain carries.
type Support struct {
	Chain   robot.ChainID     `json:"chain"`
	Leaf    robot.LeafID      `json:"leaf"`
	Contact robot.ContactID   `json:"contact"`         // its own
	Track   []control.Support `json:"track,omitempty"` // of each of Steps; nil is free,
	Holds   bool              `json:"holds,omitempty"` // unless it goes on carrying what it carried before the motion
}

// Segment is a part of a motion: key points, as the constructors of splines take
// them. Without V it is the local cubic that rests at both ends and on holds, with
// V a cubic, with A as well a quintic.
type Segment struct {
	Times []float64   `json:"times"`
	Q     [][]float64 `json:"q"`
	V     [][]float64 `json:"v,omitempty"`
	A     [][]float64 `json:"a,omitempty"`
}

// What counts as a hold between two points of positions alone: the joint rests at
// both. Hand-taught poses that should be equal differ by this much; a slow move
// that is sampled densely does too, and is not a hold.
const (
	holdWay   = 0.0005 // rad or m
	holdSpeed = 0.005  // per s, of the mean between the two points that are nearest in time
)

// End returns the time of its last point.
func (s *Segment) End() float64 { return s.Times[len(s.Times)-1] }

// Curve returns the curve that it means; it needs at least two points.
func (s *Segment) Curve() (*spline.Spline, error) {
	switch {
	case s.A != nil:
		return spline.Quintic(s.Times, s.Q, s.V, s.A)
	case s.V != nil:
		return spline.Hermite(s.Times, s.Q, s.V)
	}
	step := math.Inf(1)
	for i := 1; i < len(s.Times); i++ {
		step = min(step, s.Times[i]-s.Times[i-1])
	}
	if !(step > 0) {
		step = 0 // Akima says what is wrong
	}
	return spline.Akima(s.Times, s.Q, min(holdWay, holdSpeed*step))
}

var (
	errRecord = errors.New("follow: the record of a program is damaged")
	errWidth  = errors.New("follow: parts of a motion have different joints")
)

// Curve returns its parts as one curve.
func (r *Record) Curve() (*spline.Spline, error) {
	curves := make([]*spline.Spline, len(r.Parts))
	order := 0
	for i := range r.Parts {
		c, err := r.Parts[i].Curve()
		if err != nil || len(r.Parts) == 1 {
			return c, err
		}
		curves[i], order = c, max(order, len(c.Coefficients(0, 0)))
	}
	var knots, coefficients []float64
	joints := curves[0].Joints()
	for i, c := range curves {
		own := c.Knots()
		if i > 0 {
			own = own[1:] // the end of the part before
		}
		knots = append(knots, own...)
		if c.Joints() != joints {
			return nil, errWidth
		}
		for s := range c.Segments() {
			for j := range joints {
				x := c.Coefficients(s, j)
				coefficients = append(append(coefficients, x...), make([]float64, order-len(x))...)
			}
		}
	}
	return spline.Piecewise(knots, joints, coefficients)
}

// Bounds of what is built: far above what is compiled, so that a damaged record
// cannot ask for all memory there is.
const (
	maxRecordPoints   = 2 * maxPoints
	maxRecordDuration = 2 * maxDuration // s
)

// check reports whether the numbers belong together; what they say was checked
// when the goal was.
func (r *Record) check() error {
	n := len(r.Joints)
	ok := len(r.Parts) > 0 && r.Again >= 0 && len(r.Names) == n && len(r.Wraps) == n && len(r.Path) == n && len(r.Final) == n && n+len(r.Chains) > 0
	for _, limits := range [...][]float64{r.Velocity, r.Acceleration, r.Deceleration} {
		ok = ok && len(limits) == max(n, 1)
	}
	points := 0
	for i := range r.Parts {
		p := &r.Parts[i]
		points += len(p.Times)
		ok = ok && len(p.Times) > 0 && len(p.Q) > 0 && len(p.Q[0]) == max(n, 1) && (i == 0 || p.Times[0] == r.Parts[i-1].End())
	}
	for _, j := range r.Joints {
		ok = ok && j >= 0 && j < robot.MaxLeaves
	}
	for i := range r.Chains {
		c := &r.Chains[i]
		ok = ok && c.Chain >= 0 && c.Leaf < robot.MaxLeaves && (c.Track == nil || len(c.Track) == len(r.Steps))
	}
	for i := 1; i < len(r.Steps); i++ {
		ok = ok && r.Steps[i] > r.Steps[i-1]
	}
	for i := 1; i < len(r.Events); i++ {
		ok = ok && r.Events[i].Time >= r.Events[i-1].Time
	}
	if !ok || points > maxRecordPoints {
		return errRecord
	}
	if end := r.Parts[len(r.Parts)-1].End(); !(end-r.Parts[0].Times[0] <= maxRecordDuration) || !(r.Again < end) {
		return errRecord
	}
	return nil
}
