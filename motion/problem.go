package motion

import (
	"errors"
	"fmt"
	"math"

	"poise/problem"
)

// What can be wrong with an edit, a table or a goal: the codes of its problems.
const (
	ErrOperation    problem.Code = "bad_operation" // it cannot be understood
	ErrRow          problem.Code = "no_such_row"
	ErrName         problem.Code = "bad_name"
	ErrUnknownJoint problem.Code = "unknown_joint"
	ErrUnknownChain problem.Code = "unknown_chain"
	ErrMissing      problem.Code = "value_not_captured"
	ErrOrder        problem.Code = "order_of_times"
	ErrMark         problem.Code = "mark"
	ErrSize         problem.Code = "sizes_differ"
	ErrNotFinite    problem.Code = "not_finite"
	ErrMirror       problem.Code = "no_mirror_image"
	ErrAtRest       problem.Code = "beyond_limits_at_rest" // more time does not help
	ErrTooLong      problem.Code = "too_long"              // to be fitted
)

// placed names the row of a problem, if it is about one.
func placed(p problem.Problem) *problem.Problem {
	if p.Row > 0 {
		p.Thing = fmt.Sprintf("row %d", p.Row)
	}
	return &p
}

// problems gathers problems, so that all are told at once. The zero value is empty.
type problems struct{ all []error }

// add gathers one more.
func (p *problems) add(one problem.Problem) { p.all = append(p.all, placed(one)) }

// len returns how many there are.
func (p *problems) len() int { return len(p.all) }

// err returns all of them as one error, nil if there is none.
func (p *problems) err() error { return errors.Join(p.all...) }

// finite gathers a number that is not finite, of a row (−1 for none) and a joint.
func (p *problems) finite(x float64, what string, row int, joint string) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		p.add(problem.Problem{Code: ErrNotFinite, Joint: joint, Row: row + 1, Value: x,
			Text: fmt.Sprintf("%s is %v, must be a finite number", what, x)})
	}
}
