package motion

import (
	"errors"
	"fmt"
	"math"
)

// What can be wrong with an edit, a table or a goal; errors.Is finds them.
var (
	ErrOperation    = errors.New("the operation cannot be understood")
	ErrRow          = errors.New("no such row")
	ErrName         = errors.New("bad name")
	ErrUnknownJoint = errors.New("unknown joint")
	ErrUnknownChain = errors.New("unknown chain")
	ErrMissing      = errors.New("value not captured")
	ErrOrder        = errors.New("order of times")
	ErrMark         = errors.New("mark")
	ErrSize         = errors.New("sizes differ")
	ErrNotFinite    = errors.New("not a finite number")
	ErrMirror       = errors.New("no mirror image")
)

// Problem is one thing that stands in the way, with what would explain it.
type Problem struct {
	Kind   error  // one of the Err values above
	Text   string // what is wrong, without the row
	Joint  string // joint or chain, "" if it is not about one
	Row    int    // counted from 0; only if HasRow
	HasRow bool
	Value  float64 // what was found, and
	Limit  float64 // what it is measured against, where that makes sense
}

// Error names the row as people count, from one.
func (p *Problem) Error() string {
	if p.HasRow {
		return fmt.Sprintf("row %d: %s", p.Row+1, p.Text)
	}
	return p.Text
}

// Is matches the kind.
func (p *Problem) Is(target error) bool { return target == p.Kind }

// problems gathers problems, so that all are told at once. The zero value is empty.
type problems struct{ all []error }

// add gathers one more.
func (p *problems) add(one Problem) { p.all = append(p.all, &one) }

// len returns how many there are.
func (p *problems) len() int { return len(p.all) }

// err returns all of them as one error, nil if there is none.
func (p *problems) err() error { return errors.Join(p.all...) }

// finite gathers a number that is not finite, of a row (−1 for none) and a joint.
func (p *problems) finite(x float64, what string, row int, joint string) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		p.add(Problem{Kind: ErrNotFinite, Joint: joint, Row: row, HasRow: row >= 0, Value: x,
			Text: fmt.Sprintf("%s is %v, must be a finite number", what, x)})
	}
}
