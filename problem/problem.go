// Package problem is how Poise tells people and programs what is wrong: one type,
// one way to print it, one "did you mean".
//
// A Problem names the thing, the value and the limit, where it stands in a file if
// it does, and what would make it pass. It is an error; several are joined with
// errors.Join, and All takes them apart again. Its Code is stable: programs ask for
// it with errors.Is, people read the text.
//
//	return &problem.Problem{Code: UnknownJoint, Thing: "row 3", Text: `joint "nee" does not exist`,
//		Help: problem.DidYouMean("nee", names)}
//
//	row 3: joint "nee" does not exist; did you mean "knee"?
package problem

import (
	"cmp"
	"fmt"
	"strings"
)

// Pos is a place in a file. Line counts from 1; 0 is no line.
type Pos struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

func (p Pos) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// Code is the kind of a problem: a stable word for programs, such as unknown_link.
// It is an error so that errors.Is can ask for it.
type Code string

func (c Code) Error() string { return strings.ReplaceAll(string(c), "_", " ") }

// Problem is one thing that is wrong, or worth a second look. Fields that it has
// nothing to say about are empty.
type Problem struct {
	Code     Code    `json:"code,omitempty"`
	Pos              // where it stands; zero if it was not read from a file
	Thing    string  `json:"thing,omitempty"`    // what it is about: joint "knee", loop.period, row 3
	Text     string  `json:"text"`               // what is wrong: the value and the limit, in words
	Excerpt  string  `json:"excerpt,omitempty"`  // the text in question, as it stands in the file
	Joint    string  `json:"joint,omitempty"`    // the joint or chain it is about
	Resource string  `json:"resource,omitempty"` // the resource it is about
	Owner    string  `json:"owner,omitempty"`    // who holds that, or caused it
	Row      int     `json:"row,omitempty"`      // of a table or list, counted from 1
	At       float64 `json:"at,omitempty"`       // when, s: on the clock of the motion, or since the cycle began
	Until    float64 `json:"until,omitempty"`    // when it ends, if it lasts
	WorstAt  float64 `json:"worst_at,omitempty"` // when it is worst, if it lasts
	Value    float64 `json:"value,omitempty"`    // what there was, SI
	Limit    float64 `json:"limit,omitempty"`    // what would have been allowed
	Help     string  `json:"help,omitempty"`     // what would make it pass
	Via      string  `json:"via,omitempty"`      // how the place was reached: macros, includes
}

// Error prints the problem: place, thing, text, excerpt, way there, help.
func (p Problem) Error() string {
	var b strings.Builder
	if p.Pos != (Pos{}) {
		b.WriteString(p.Pos.String())
		b.WriteString(": ")
	}
	if p.Thing != "" {
		b.WriteString(p.Thing)
		b.WriteString(": ")
	}
	b.WriteString(p.Text)
	if p.Excerpt != "" {
		fmt.Fprintf(&b, ": %q", p.Excerpt)
	}
	if p.Via != "" {
		fmt.Fprintf(&b, " (%s)", p.Via)
	}
	if p.Help != "" {
		b.WriteString("; ")
		b.WriteString(p.Help)
	}
	return b.String()
}

// String is Error: a problem is more than the place that it embeds.
func (p Problem) String() string { return p.Error() }

// Is matches the code.
func (p Problem) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == p.Code && code != ""
}

// New returns a problem of a code and a sentence.
func New(code Code, format string, a ...any) *Problem {
	return &Problem{Code: code, Text: fmt.Sprintf(format, a...)}
}

// With returns the problem with what would help.
func (p *Problem) With(format string, a ...any) *Problem {
	p.Help = fmt.Sprintf(format, a...)
	return p
}

// WithoutHelp prints the problem as Error does, without what would make it pass.
func (p Problem) WithoutHelp() string {
	p.Help = ""
	return p.Error()
}

// Join prints problems, a line each.
func Join(all []Problem) string {
	lines := make([]string, len(all))
	for i := range all {
		lines[i] = all[i].Error()
	}
	return strings.Join(lines, "\n")
}

// All takes an error apart: joined errors one by one, what is wrapped as a whole. An
// error that is no problem becomes one of a code, a problem without code gets it.
func All(code Code, err error) (all []Problem) {
	switch e := err.(type) {
	case nil:
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			all = append(all, All(code, one)...)
		}
	default:
		one := Problem{Text: err.Error()}
		if in := In(err); len(in) == 1 && in[0].Error() == err.Error() {
			one = *in[0]
		}
		one.Code = cmp.Or(one.Code, code)
		all = []Problem{one}
	}
	return all
}

// In returns the problems in an error, however they are wrapped and joined.
func In(err error) (all []*Problem) {
	switch e := err.(type) {
	case *Problem:
		return []*Problem{e}
	case Problem:
		return []*Problem{&e}
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			all = append(all, In(one)...)
		}
	case interface{ Unwrap() error }:
		return In(e.Unwrap())
	}
	return all
}

// Named names a thing of some kind: joint "knee".
func Named(kind, name string) string { return fmt.Sprintf("%s %q", kind, name) }

// Link names a link.
func Link(name string) string { return Named("link", name) }

// Joint names a joint.
func Joint(name string) string { return Named("joint", name) }

// Count says how many things there are: 1 joint, 2 joints.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// List quotes names for a sentence, and cuts long lists.
func List(names []string) string {
	const most = 8
	quoted := make([]string, 0, most+1)
	for i, n := range names {
		if i == most {
			quoted = append(quoted, "…")
			break
		}
		quoted = append(quoted, fmt.Sprintf("%q", n))
	}
	return strings.Join(quoted, ", ")
}
