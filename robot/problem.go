package robot

import (
	"errors"
	"fmt"

	"poise/urdf"
)

// Problem is one thing wrong with a robot, or worth a second look: which rule,
// where, what, and by how much. Build returns problems that forbid a model as
// errors and the others as warnings.
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
	TwoParents        Rule = "link with two parents"
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

// problems gathers what is found, so that everything is reported at once.
type problems struct{ errs, warns []*Problem }

func (ps *problems) errorf(r Rule, at urdf.Pos, thing, format string, a ...any) {
	ps.errs = append(ps.errs, &Problem{r, at, thing, fmt.Sprintf(format, a...)})
}

func (ps *problems) warnf(r Rule, at urdf.Pos, thing, format string, a ...any) {
	ps.warns = append(ps.warns, &Problem{r, at, thing, fmt.Sprintf(format, a...)})
}

// err returns all errors joined, nil if there are none.
func (ps *problems) err() error {
	all := make([]error, len(ps.errs))
	for i, p := range ps.errs {
		all[i] = p
	}
	return errors.Join(all...)
}

func link(name string) string  { return fmt.Sprintf("link %q", name) }
func joint(name string) string { return fmt.Sprintf("joint %q", name) }
