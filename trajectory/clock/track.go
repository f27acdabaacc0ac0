package clock

import (
	"errors"
	"fmt"
	"math"

	"poise/trajectory"
	"poise/trajectory/spline"
)

const (
	defaultRate = 2     // the highest rate, unless given
	longest     = 0.002 // s, of a cell,
	shortest    = 0.001 // but no segment is cut into shorter ones,
	perSegment  = 32    // and otherwise into this many
	withinOne   = 1e-8  // relative excess over the limits at rate 1 that counts as none
	highest     = 1e3   // no motion is played faster
	steepest    = 1e6   // 1/s², of a rate where nothing limits it: at once
)

// Options say how a motion may be played.
type Options struct {
	// MaxRate is the highest rate; 0 means 2.
	MaxRate float64
	// Acceleration bounds how fast the rate itself changes, in 1/s²; 0 means as
	// fast as the joints allow.
	Acceleration float64
	// Jerk bounds how fast that acceleration changes, in 1/s³; 0 means at once.
	// It gives way where the limits of the joints need it.
	Jerk float64
}

// OptionError says that an option is not a number that makes sense.
type OptionError struct {
	Option string
	Value  float64
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("clock: %s is %g, want a positive number", e.Option, e.Value)
}

// Track is a motion made ready to be played at changing rates. It never changes.
type Track struct {
	motion *spline.Spline
	limits []limit // of each joint
	option Options

	cells   []cell    // in order of time, and one more where the motion ends
	ceiling []float64 // the largest σ̇² at the start of each cell that can be survived
	steady  float64   // any σ̇² up to this is within limits while it is constant
}

// limit holds the limits of a joint, infinite where there is none, and the
// velocity below which it is taken for rounding.
type limit struct{ vel, acc, dec, noise float64 }

// cell is a short part of a segment.
type cell struct {
	start   float64
	segment int32
}

// Compile makes a motion ready for the clock, under velocity, acceleration and
// deceleration limits (positions and jerks are not looked at). A motion that
// breaks its limits at rate 1 is accepted: its rate is then held lower where it
// must be.
func Compile(motion *spline.Spline, limits *trajectory.Limits, o Options) (*Track, error) {
	if o.MaxRate == 0 {
		o.MaxRate = defaultRate
	}
	var bad []error
	for _, x := range []struct {
		name  string
		value float64
	}{{"highest rate", o.MaxRate}, {"rate acceleration", o.Acceleration}, {"rate jerk", o.Jerk}} {
		if !(x.value >= 0) || math.IsInf(x.value, 1) || x.name == "highest rate" && !(x.value > 0 && x.value <= highest) {
			bad = append(bad, &OptionError{x.name, x.value})
		}
	}
	bad = append(bad, limits.Check(motion.Joints()))
	if err := errors.Join(bad...); err != nil {
		return nil, err
	}
	if o.Acceleration == 0 {
		o.Acceleration = steepest
	}
	t := &Track{motion: motion, option: o, limits: make([]limit, motion.Joints())}
	for j := range t.limits {
		_, _, vel, acc, dec, _ := limits.Of(j)
		peak := motion.Peak(j, spline.Velocity, motion.Start(), motion.End())
		t.limits[j] = limit{vel, acc, dec, math.Abs(peak.Value) * 1e-11}
	}
	t.steady = steady(motion, limits)
	t.divide()
	t.survive()
	return t, nil
}

// Motion returns what is played.
func (t *Track) Motion() *spline.Spline { return t.motion }

// Ceiling returns the highest rate with which a clock may be at a time of the
// motion. Loop-safe.
func (t *Track) Ceiling(at float64) float64 {
	k := t.find(at)
	if k == len(t.cells)-1 {
		return math.Sqrt(t.ceiling[k])
	}
	return math.Sqrt(t.most(k, at, max(t.ceiling[k], t.ceiling[k+1])))
}

// steady returns the largest σ̇² that keeps the limits as long as it is constant:
// then velocities grow with its root and accelerations with itself.
func steady(motion *spline.Spline, limits *trajectory.Limits) float64 {
	vel, acc := limits.Use(motion)
	use := max(vel*vel, acc)
	if use > 1 && vel <= 1+withinOne && acc <= 1+withinOne {
		use = 1
	}
	return 1 / max(use, 1/(highest*highest))
}

// divide cuts the motion into cells.
func (t *Track) divide() {
	knots := t.motion.Knots()
	for i := range t.motion.Segments() {
		h := knots[i+1] - knots[i]
		n := math.Ceil(h / max(shortest, min(h/perSegment, longest)))
		n = max(1, min(n, maxCells))
		for k := range int(n) {
			at := knots[i] + h*float64(k)/n
			if last := len(t.cells) - 1; last >= 0 && !(at > t.cells[last].start) {
				continue // a segment so short that its cells are one
			}
			t.cells = append(t.cells, cell{at, int32(i)})
		}
	}
	t.cells = append(t.cells, cell{t.motion.End(), int32(t.motion.Segments() - 1)})
}

// maxCells bounds the cells of one segment.
const maxCells = 1e4

// survive goes backwards over the cells and finds from how large a σ̇² the limits
// can be kept until the end.
func (t *Track) survive() {
	n := len(t.cells) - 1
	top := t.option.MaxRate * t.option.MaxRate
	t.ceiling = make([]float64, n+1)
	for k := range t.ceiling {
		t.ceiling[k] = top
	}
	// velocities: what is allowed on a cell is allowed at both its ends
	for k := range n {
		most := t.fastest(k)
		t.ceiling[k] = min(t.ceiling[k], most)
		t.ceiling[k+1] = min(t.ceiling[k+1], most)
	}
	t.ceiling[n] = max(t.ceiling[n], min(t.steady, top))
	for k := n - 1; k >= 0; k-- {
		t.ceiling[k] = max(t.most(k, t.cells[k].start, t.ceiling[k])*inside, min(t.steady, top))
	}
}

// inside keeps ceilings a little below what can just be survived: there every
// rounding would count, and grow from cell to cell.
const inside = 1 - 1e-8

// most returns the largest σ̇² up to some top from which cell k can be survived
// from a time inside it on.
//
// The gap between the lines that bound u from above and from below is a concave
// function of x and not negative at zero, so from the right Newton's method ends
// after finitely many lines (see package phase).
func (t *Track) most(k int, at, top float64) float64 {
	x := top
	for range maxNewton {
		s := t.lines(k, at, x, 0)
		if x > s.most {
			x = s.most
			continue
		}
		if s.low <= s.high {
			break
		}
		cross := (s.upper.p - s.lower.p) / (s.upper.m - s.lower.m)
		if !(cross < x) {
			break // the crossing is x itself, up to rounding
		}
		x = max(cross, 0)
	}
	return max(x, min(t.steady, t.option.MaxRate*t.option.MaxRate))
}

// maxNewton bounds the lines that are tried; a dozen is much.
const maxNewton = 100

// find returns the cell that holds at a time, the end's if none does any more.
func (t *Track) find(at float64) int {
	low, high := 0, len(t.cells)-1
	for low < high {
		mid := (low + high + 1) / 2
		if t.cells[mid].start <= at {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}
