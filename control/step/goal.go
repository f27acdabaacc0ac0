package step

import (
	"errors"
	"fmt"
	"math"

	"poise/problem"
	"poise/robot"
	"poise/spatial"
)

// Goal is a sequence of steps as plain data: where limbs and base are at some times,
// and what touches. Between the samples each coordinate goes along a local cubic
// that never leaves the range of the two samples around it and rests where they
// are equal: a hoof that stands does not move.
type Goal struct {
	Times  []float64      // of the samples, s, rising; the motion begins with the first
	Base   []spatial.Pose // X_WB at each; nil leaves the base alone, and limbs are seen from it
	Limbs  []Limb
	InBase bool // limb poses are seen from the base at their time; otherwise in the world

	// Tolerances of limbs at the start, and on the way between command and
	// measurement: 0 means 0.07 m and 0.5 rad, negative means none.
	PositionTolerance, OrientationTolerance float64

	MaySlow bool // where joints are too slow for the times, time slows down; otherwise that is a problem
}

// Limb is the motion of one chain: of its end with all coordinates, which is its
// virtual tip if it has one.
type Limb struct {
	Chain    string
	Poses    []spatial.Pose // at each time
	Contacts []string       // from each time on: the contact it stands on, "" while it is free; nil is free all the way
}

// BadStep is the code of what is wrong with a goal.
const BadStep problem.Code = "bad_step"

// Bounds of goals: ten minutes, and a table that fits into memory.
const (
	maxSamples  = 100000
	maxDuration = 600.0 // s
)

// slip is how far a limb that stands may be moved by its samples, m.
const slip = 0.005

// tolerance of a rotation matrix made of a message, per element.
const roundoff = 1e-6

// checker collects problems.
type checker struct {
	m    *robot.Model
	g    *Goal
	errs []error
}

func (c *checker) problem(p problem.Problem, format string, args ...any) {
	p.Code = BadStep
	p.Text = "step: " + fmt.Sprintf(format, args...)
	c.errs = append(c.errs, &p)
}

// check finds what is wrong with a goal before anything is computed.
func (c *checker) check() error {
	g := c.g
	n := len(g.Times)
	if len(g.Limbs) == 0 {
		c.problem(problem.Problem{}, "ee_motion names no limb, must name at least one")
	}
	if n < 2 || n > maxSamples {
		c.problem(problem.Problem{Value: float64(n), Limit: maxSamples}, "%d samples, must be 2 … %d", n, maxSamples)
	}
	c.times()
	if g.Base != nil && len(g.Base) != n {
		c.problem(problem.Problem{Value: float64(len(g.Base)), Limit: float64(n)}, "%d poses of the base at %d times", len(g.Base), n)
	}
	if g.Base != nil && !c.m.Floating() {
		c.problem(problem.Problem{}, "the base of %s does not move", c.m.Name())
	}
	c.poses("", g.Base)
	for _, x := range [...]float64{g.PositionTolerance, g.OrientationTolerance} {
		if math.IsNaN(x) {
			c.problem(problem.Problem{Value: x}, "a tolerance is not a number")
		}
	}
	seen := map[string]bool{}
	for i := range g.Limbs {
		c.limb(&g.Limbs[i], seen)
	}
	return errors.Join(c.errs...)
}

func (c *checker) times() {
	last := 0.0
	for k, t := range c.g.Times {
		switch {
		case !(t >= 0 && t <= maxDuration):
			c.problem(problem.Problem{Row: k + 1, At: t, Value: t, Limit: maxDuration}, "sample %d is at %g s, must be within 0 … %g", k, t, maxDuration)
			return
		case k > 0 && !(t > last):
			c.problem(problem.Problem{Row: k + 1, At: t, Value: t, Limit: last}, "sample %d is at %g s, not after %g s", k, t, last)
			return
		}
		last = t
	}
}

func (c *checker) limb(l *Limb, seen map[string]bool) {
	n := len(c.g.Times)
	if id, ok := c.m.Chain(l.Chain); !ok {
		c.problem(problem.Problem{Resource: l.Chain}, "%s has no chain %q%s", c.m.Name(), l.Chain, problem.Hint(l.Chain, c.m.ChainNames()))
	} else if c.m.Chains()[id].VirtualTip == robot.NoFrame {
		c.problem(problem.Problem{Resource: l.Chain}, "chain %q has no end", l.Chain)
	}
	if seen[l.Chain] {
		c.problem(problem.Problem{Resource: l.Chain}, "limb %q is given twice", l.Chain)
	}
	seen[l.Chain] = true
	if len(l.Poses) != n {
		c.problem(problem.Problem{Resource: l.Chain, Value: float64(len(l.Poses)), Limit: float64(n)}, "limb %q has %d poses at %d times", l.Chain, len(l.Poses), n)
	}
	c.poses(l.Chain, l.Poses)
	if l.Contacts != nil && len(l.Contacts) != n {
		c.problem(problem.Problem{Resource: l.Chain, Value: float64(len(l.Contacts)), Limit: float64(n)}, "limb %q has %d contacts at %d times", l.Chain, len(l.Contacts), n)
	}
	for k, name := range l.Contacts {
		if _, ok := c.m.Contact(name); name != "" && !ok {
			c.problem(problem.Problem{Resource: l.Chain, Row: k + 1}, "limb %q stands on %q at sample %d, and %s has no such contact", l.Chain, name, k, c.m.Name())
			return
		}
	}
}

// poses reports the first that is not a pose.
func (c *checker) poses(limb string, all []spatial.Pose) {
	who := "the base"
	if limb != "" {
		who = fmt.Sprintf("limb %q", limb)
	}
	for k := range all {
		if !isPose(&all[k]) {
			c.problem(problem.Problem{Resource: limb, Row: k + 1}, "the pose of %s at sample %d is not finite, or its orientation is not a rotation", who, k)
			return
		}
	}
}

// isPose reports whether something can be there: numbers, and a rotation.
func isPose(X *spatial.Pose) bool {
	E := X.R.Transpose().Mul(X.R)
	for i, e := range E {
		if !(math.Abs(e-spatial.Identity3[i]) <= roundoff) {
			return false
		}
	}
	return X.P.Finite() && X.R.Col(0).Cross(X.R.Col(1)).Dot(X.R.Col(2)) > 0
}
