package follow

import (
	"errors"
	"fmt"
)

// ProblemKind is what is wrong with a goal.
type ProblemKind uint8

// The kinds of problems.
const (
	UnknownJoint   ProblemKind = iota + 1 // no joint or chain of that name, or one that cannot be led
	NoPoints                              // or no columns
	TooMuch                               // more points, or longer, than is played
	WrongSize                             // Value numbers, Limit wanted
	NotFinite                             // Value is NaN or an infinity
	NotRising                             // the time Value is not after Limit
	BeyondPosition                        // the curve comes to Value at At
	BeyondVelocity
	BeyondAcceleration
	MovesAtEnd   // the last point has velocity Value
	NoStart      // it depends on a start pose that is not known
	StartTooFar  // the start pose is Value off, Limit is allowed
	BadTolerance // a joint that is not in the goal, or named twice
	BadEvent     // an event at At, outside the motion
	BadOption    // Value of an option
	OpenLoop     // the end is Value from the beginning, and no move back is allowed
	CannotExtend // the goal does not fit the motion that it shall extend
)

var kindNames = [...]string{"", "unknown joint", "no points", "too much", "wrong size", "not a number", "time does not increase",
	"beyond position limit", "beyond velocity limit", "beyond acceleration limit", "moves at its end", "no start pose",
	"start too far", "bad tolerance", "bad event", "bad option", "open loop", "cannot extend"}

// String names the kind in a few words.
func (k ProblemKind) String() string { return kindNames[k] }

// Problem is one thing wrong with a goal: the thing, the value, the limit, and
// what would help.
type Problem struct {
	Kind             ProblemKind
	Joint            string  // or the column; "" if it is not about one
	Point            int     // −1 if it is not about one
	At, Value, Limit float64 // time in s; value and limit in SI
	Text             string  // what is wrong, in words
	Help             string  // what would make it pass; "" if that is plain
}

// Error says what is wrong, and what would help.
func (p *Problem) Error() string {
	if p.Help != "" {
		return p.Text + "; " + p.Help
	}
	return p.Text
}

// Problems returns what is wrong with a goal, out of an error of this package.
func Problems(err error) (all []*Problem) {
	switch e := err.(type) {
	case *Problem:
		return []*Problem{e}
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			all = append(all, Problems(one)...)
		}
	case interface{ Unwrap() error }:
		return Problems(e.Unwrap())
	}
	return all
}

// maxReported bounds how many problems one error lists.
const maxReported = 20

// problems collects what is wrong.
type problems struct {
	list []error
	more int
}

// add takes a problem; its words are made of the format.
func (p *problems) add(x Problem, format string, args ...any) {
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
