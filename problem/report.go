package problem

import (
	"errors"
	"fmt"
)

// Report gathers problems, so that a person sees everything at once: what forbids,
// and what is worth a second look. The zero value is empty.
type Report struct {
	Errors, Warnings []*Problem

	compared int // letters, for hints
}

// Errorf adds a problem that forbids.
func (r *Report) Errorf(code Code, at Pos, thing, format string, a ...any) {
	r.Errors = append(r.Errors, &Problem{Code: code, Pos: at, Thing: thing, Text: fmt.Sprintf(format, a...)})
}

// Warnf adds a problem with which all works nevertheless.
func (r *Report) Warnf(code Code, at Pos, thing, format string, a ...any) {
	r.Warnings = append(r.Warnings, &Problem{Code: code, Pos: at, Thing: thing, Text: fmt.Sprintf(format, a...)})
}

// Err returns all errors joined, nil if there are none.
func (r *Report) Err() error {
	all := make([]error, len(r.Errors))
	for i, p := range r.Errors {
		all[i] = p
	}
	return errors.Join(all...)
}

// maxCompared bounds the work that the hints of one report may cost, in pairs of
// letters: many wrong names in a large robot must not take long to tell.
const maxCompared = 1 << 24

// Hint is the function of that name as long as the report's hints have not cost
// much; later problems are told without one.
func (r *Report) Hint(name string, candidates []string) string {
	if r.compared > maxCompared {
		return ""
	}
	for _, c := range candidates {
		r.compared += 1 + len(name)*len(c)
	}
	if r.compared > maxCompared {
		return ""
	}
	return Hint(name, candidates)
}
