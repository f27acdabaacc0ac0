package control

import (
	"errors"
	"fmt"
	"math"

	"poise/robot"
	"poise/trajectory/move"
)

// Transition is what hand-overs and stops assume where a robot gives no limit. It
// is used for nothing else: a limit is never invented.
type Transition struct {
	Acceleration float64 // rad/s² or m/s²; 0 takes the robot's own transition_acceleration
	JerkTime     float64 // s to build up an acceleration where no jerk limit is given; 0 is 0.1
}

const defaultJerkTime = 0.1 // s

// JointLimits returns what transitions of a robot's joints may use, and what the
// gate enforces: only the first has assumed values. Joints of more than one
// coordinate, and joints without any acceleration to hand them over with, are
// reported all at once.
func JointLimits(m *robot.Model, assumed Transition) ([]move.Limits, []Bounds, error) {
	if assumed.Acceleration == 0 {
		assumed.Acceleration = m.TransitionAcceleration().Value
	}
	if assumed.JerkTime == 0 {
		assumed.JerkTime = defaultJerkTime
	}
	var moves []move.Limits
	var gates []Bounds
	var errs []error
	for i := range m.Joints() {
		j := &m.Joints()[i]
		if j.Kind.NumQ() != 1 {
			errs = append(errs, fmt.Errorf("control: joint %q has %d coordinates, and only joints of one are controlled", j.Name, j.Kind.NumQ()))
			continue
		}
		b := bounds(j)
		acc, vel := min(b.Acceleration, b.Deceleration), b.Velocity
		if math.IsInf(acc, 1) {
			acc = assumed.Acceleration
		} else if g := m.TransitionVelocity(); g.Has { // a fast joint is gentle where nothing is in a hurry
			acc, vel = min(acc, assumed.Acceleration), min(vel, g.Value)
		}
		if !(acc > 0) {
			errs = append(errs, fmt.Errorf("control: joint %q has no acceleration limit, and no transition_acceleration is given to hand it over with", j.Name))
			acc = 1
		}
		moves = append(moves, move.Symmetric(vel, acc, orElse(j.Limits.Jerk, acc/assumed.JerkTime)))
		gates = append(gates, b)
	}
	return moves, gates, errors.Join(errs...)
}

// fastLimits returns what transitions of joints may use that are faster than their usual
// limits of transitions: those of the robot for it, or else the usual ones.
func fastLimits(m *robot.Model, assumed Transition, usual []move.Limits) []move.Limits {
	fast := append([]move.Limits(nil), usual...)
	a := m.FastTransitionAcceleration()
	if !a.Has {
		return fast
	}
	if assumed.JerkTime == 0 {
		assumed.JerkTime = defaultJerkTime
	}
	for i := range m.Joints() {
		j := &m.Joints()[i]
		if b := bounds(j); !math.IsInf(min(b.Acceleration, b.Deceleration), 1) {
			acc := min(b.Acceleration, b.Deceleration, a.Value)
			fast[i] = move.Symmetric(b.Velocity, acc, orElse(j.Limits.Jerk, acc/assumed.JerkTime))
		}
	}
	return fast
}

// bounds are the limits that a joint has.
func bounds(j *robot.Joint) Bounds {
	l := j.Limits
	b := Unbounded
	b.Velocity, b.Acceleration = orElse(l.Velocity, b.Velocity), orElse(l.Acceleration, b.Acceleration)
	b.Deceleration = orElse(l.Deceleration, b.Acceleration)
	b.Effort = orElse(l.Effort, b.Effort)
	if j.Kind != robot.Continuous && l.Lower.Has && l.Upper.Has {
		b.Lower, b.Upper = l.Lower.Value, l.Upper.Value
	}
	return b
}

func orElse(l robot.Limit, absent float64) float64 {
	if l.Has {
		return math.Abs(l.Value)
	}
	return absent
}

// Wraps tells which joints are angles without limits: they go the short way.
func Wraps(m *robot.Model) (all []bool) {
	for _, j := range m.Joints() {
		all = append(all, j.Kind == robot.Continuous)
	}
	return all
}

// Bounds of setpoints beyond those of the command: what a wrong servo model could
// ask for, and a right one never does.
const (
	guardMargin   = 0.2 // beyond the position limits, rad
	guardRate     = 3.0 // times the velocity limit
	guardDistance = 1.0 // from the measured position, rad
	guardFastest  = 50  // rad/s where no velocity limit is given
)

// JointGuards returns what the servos of a robot may be told.
func JointGuards(m *robot.Model) (all []GuardBounds) {
	for i := range m.Joints() {
		b := bounds(&m.Joints()[i])
		g := GuardBounds{Lower: b.Lower - guardMargin, Upper: b.Upper + guardMargin, Rate: guardFastest, Distance: guardDistance, Effort: b.Effort}
		if !math.IsInf(b.Velocity, 1) {
			g.Rate = guardRate * b.Velocity
		}
		all = append(all, g)
	}
	return all
}
