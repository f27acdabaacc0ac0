// Package rule names what a robot must obey, and reports where it does not.
//
// A Problem is one breach: which rule, where, which thing, what value against
// what limit. Some rules forbid a model, others only warn; a Report gathers
// both, so that a person sees everything at once.
package rule

import (
	"errors"
	"fmt"
	"strings"

	"poise/urdf"
)

// Problem is one thing wrong with a robot, or worth a second look.
type Problem struct {
	Rule  Rule
	Pos   urdf.Pos // zero if the robot was not read from a file
	Thing string   // such as `joint "knee"`
	Text  string   // says the value and the limit
}

func (p *Problem) Error() string {
	text := p.Text
	if p.Thing != "" {
		text = p.Thing + ": " + text
	}
	if p.Pos.File == "" && p.Pos.Line == 0 {
		return text
	}
	return fmt.Sprintf("%s: %s", p.Pos, text)
}

// Is makes errors.Is(err, rule) find the problems of a rule.
func (p *Problem) Is(target error) bool { return target == error(p.Rule) }

// Rule names what a robot must obey. It is an error so that errors.Is can ask
// for it.
type Rule string

func (r Rule) Error() string { return string(r) }

// Rules whose breach is an error.
const (
	BadName           Rule = "name missing or used twice"
	UnknownLink       Rule = "unknown link"
	Loop              Rule = "loop in the tree"
	TwoRoots          Rule = "more than one root"
	NotFinite         Rule = "number not finite"
	NegativeMass      Rule = "negative mass"
	IndefiniteInertia Rule = "indefinite inertia"
	ZeroAxis          Rule = "zero axis"
	MissingLimit      Rule = "missing limit"
	InvertedLimits    Rule = "inverted limits"
	NegativeLimit     Rule = "negative limit"
	LooserLimit       Rule = "limit looser than the description's"
	BadLimit          Rule = "limit of the wrong sign or kind"
	BadMimic          Rule = "impossible mimic"
	BadDescription    Rule = "impossible declaration"
	SharedResource    Rule = "resources overlap"
	TooManyLeaves     Rule = "too many leaf resources"
)

// Rules whose breach is a warning.
const (
	ZeroMass           Rule = "zero mass"
	ZeroInertia        Rule = "zero inertia"
	TriangleInequality Rule = "broken triangle inequality"
	MissingMesh        Rule = "missing mesh"
	UnsetLimit         Rule = "limit written as zero"
	EmptyRange         Rule = "empty range"
	UnusedLimit        Rule = "unused limit"
	FollowerLimit      Rule = "follower driven past its limit"
	UnknownJoint       Rule = "unknown joint"
	PoseOutOfLimits    Rule = "pose outside the limits"
	UnevenMirror       Rule = "mirrored limits differ"
	Ignored            Rule = "ignored"
)

// Report gathers what is found.
type Report struct {
	Errors, Warnings []*Problem

	compared int // letters, for hints
}

// Errorf adds a problem that forbids a model.
func (r *Report) Errorf(rule Rule, at urdf.Pos, thing, format string, a ...any) {
	r.Errors = append(r.Errors, &Problem{rule, at, thing, fmt.Sprintf(format, a...)})
}

// Warnf adds a problem that a robot works with all the same.
func (r *Report) Warnf(rule Rule, at urdf.Pos, thing, format string, a ...any) {
	r.Warnings = append(r.Warnings, &Problem{rule, at, thing, fmt.Sprintf(format, a...)})
}

// Err returns all errors joined, nil if there are none.
func (r *Report) Err() error {
	all := make([]error, len(r.Errors))
	for i, p := range r.Errors {
		all[i] = p
	}
	return errors.Join(all...)
}

// Link names a link for a message.
func Link(name string) string { return Named("link", name) }

// Joint names a joint for a message.
func Joint(name string) string { return Named("joint", name) }

// Named names a thing of some kind for a message.
func Named(kind, name string) string { return fmt.Sprintf("%s %q", kind, name) }

// List joins names for a message, and cuts long lists.
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
