package follow

import (
	"errors"
	"fmt"

	"poise/problem"
)

// What can be wrong with a goal: the codes of its problems.
const (
	UnknownJoint       problem.Code = "unknown_joint" // no joint or chain of that name, or one that cannot be led
	NoPoints           problem.Code = "no_points"     // or no columns
	TooMuch            problem.Code = "too_much"      // more points, or longer, than is played
	WrongSize          problem.Code = "wrong_size"    // Value numbers, Limit wanted
	NotFinite          problem.Code = "not_a_number"  // Value is NaN or an infinity
	NotRising          problem.Code = "time_does_not_increase"
	BeyondPosition     problem.Code = "beyond_position_limit" // the curve comes to Value at At
	BeyondVelocity     problem.Code = "beyond_velocity_limit"
	BeyondAcceleration problem.Code = "beyond_acceleration_limit"
	MovesAtEnd         problem.Code = "moves_at_its_end" // the last point has velocity Value
	NoStart            problem.Code = "no_start_pose"    // it depends on a start pose that is not known
	StartTooFar        problem.Code = "start_too_far"    // the start pose is Value off, Limit is allowed
	BadTolerance       problem.Code = "bad_tolerance"    // a joint that is not in the goal, or named twice
	BadEvent           problem.Code = "bad_event"        // an event at At, outside the motion
	BadOption          problem.Code = "bad_option"       // Value of an option
	OpenLoop           problem.Code = "open_loop"        // the end is Value from the beginning, and no move back is allowed
	CannotExtend       problem.Code = "cannot_extend"    // the goal does not fit the motion that it shall extend
)

// maxReported bounds how many problems one error lists.
const maxReported = 20

// problems collects what is wrong.
type problems struct {
	list []error
	more int
}

// add takes a problem; its words are made of the format.
func (p *problems) add(x problem.Problem, format string, args ...any) {
	if p.full() {
		p.more++
		return
	}
	x.Text = fmt.Sprintf(format, args...)
	p.list = append(p.list, &x)
}

// full reports whether further problems are only counted.
func (p *problems) full() bool { return len(p.list) >= maxReported }

func (p *problems) any() bool { return len(p.list) > 0 }

func (p *problems) err() error {
	switch {
	case p.more > 0:
		return fmt.Errorf("follow: %w\nand %d more", errors.Join(p.list...), p.more)
	case len(p.list) > 0:
		return fmt.Errorf("follow: %w", errors.Join(p.list...))
	}
	return nil
}
