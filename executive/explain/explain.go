package explain

import (
	"errors"
	"fmt"
	"strings"

	"poise/arbiter"
	"poise/control"
	"poise/planner"
	"poise/problem"
	"poise/robot"
)

// Explanation tells why something was refused or ended. Fields that it has nothing
// to say about are empty.
type Explanation struct {
	Code     string  // stable, for programs: "start_too_far"
	Text     string  // one sentence, for people
	Joint    string  // which joint it is about
	Resource string  // which resource it is about
	Owner    string  // who owns it, or who caused it
	At       float64 // when, s: on the clock of the motion, or since the cycle began
	Value    float64 // what there was
	Limit    float64 // what would have been allowed
	Help     string  // what would make it pass
}

// Error makes an explanation an error.
func (x Explanation) Error() string {
	if x.Help == "" {
		return x.Text
	}
	return x.Text + "; " + x.Help
}

// Because returns an explanation of a code and a sentence.
func Because(code, text string) Explanation { return Explanation{Code: code, Text: text} }

// With returns the explanation with a word on what would help.
func (x Explanation) With(help string) Explanation {
	x.Help = help
	return x
}

// Join puts all explanations into one text, a line each.
func Join(all []Explanation) string {
	lines := make([]string, len(all))
	for i := range all {
		lines[i] = all[i].Error()
	}
	return strings.Join(lines, "\n")
}

// Words knows the names that reasons need. Make one with New; it is safe for
// concurrent use.
type Words struct {
	model      *robot.Model
	resources  *robot.Resources
	controller func(arbiter.ClientID) string
}

// New returns the words for a robot. controller names its controllers, "" for one
// that it does not know.
func New(m *robot.Model, controller func(arbiter.ClientID) string) (*Words, error) {
	res, err := m.Resources()
	if err != nil {
		return nil, err
	}
	return &Words{model: m, resources: res, controller: controller}, nil
}

// Joint returns the name of a joint, "" for none.
func (w *Words) Joint(id robot.JointID) string {
	if id < 0 || int(id) >= len(w.model.Joints()) {
		return ""
	}
	return w.model.Joints()[id].Name
}

// Unit returns the unit in which a joint is measured.
func (w *Words) Unit(id robot.JointID) string {
	if id >= 0 && int(id) < len(w.model.Joints()) && w.model.Joints()[id].Kind == robot.Prismatic {
		return "m"
	}
	return "rad"
}

// Resource returns the name of the resource that a leaf belongs to, its own name
// if it belongs to none.
func (w *Words) Resource(leaf robot.LeafID) string {
	for _, r := range w.resources.List() {
		if r.Set.Has(leaf) {
			return r.Name
		}
	}
	if leaves := w.resources.Leaves(); int(leaf) < len(leaves) {
		return leaves[leaf].Name
	}
	return ""
}

// Names lists a set of leaves in the fewest words: resources where they are whole,
// leaves where they are not.
func (w *Words) Names(set robot.Set) (all []string) {
	for _, r := range w.resources.List() {
		if !r.Set.Empty() && set.Contains(r.Set) {
			all = append(all, r.Name)
			set = set.Minus(r.Set)
		}
	}
	leaves := w.resources.Leaves()
	for leaf := range set.All {
		if int(leaf) < len(leaves) {
			all = append(all, leaves[leaf].Name)
		}
	}
	return all
}

// Set returns the leaves under some names: resources, groups, joints or leaves.
// Names that are none of these are explained, all of them.
func (w *Words) Set(names []string) (set robot.Set, unknown []Explanation) {
	for _, name := range names {
		s, ok := w.resources.Find(name)
		if !ok {
			x := Because("unknown_resource", "the robot has no resource, group or joint "+quoted(name))
			x.Resource = name
			unknown = append(unknown, x.With(problem.DidYouMean(name, w.everyName())))
			continue
		}
		set = set.Union(s)
	}
	return set, unknown
}

func (w *Words) everyName() (all []string) {
	for _, r := range w.resources.List() {
		all = append(all, r.Name)
	}
	for _, l := range w.resources.Leaves() {
		all = append(all, l.Name)
	}
	return all
}

func (w *Words) who(id arbiter.ClientID) string {
	if id == arbiter.NoClient || w.controller == nil {
		return ""
	}
	return w.controller(id)
}

// Refusal turns the planner's answer into an explanation.
func Refusal(r *planner.Refusal) Explanation {
	text := r.What
	if r.Item != planner.None {
		text = fmt.Sprintf("item %d: %s", r.Item, r.What)
	}
	return Explanation{Code: "plan_" + Underscored(r.Kind.String()), Text: text, Joint: r.Joint,
		At: r.Time, Value: r.Value, Limit: r.Limit, Help: r.Help}
}

// Errors explains an error and all that are joined in it. code is for those that
// have none of their own.
func Errors(code string, err error) (all []Explanation) {
	if err == nil {
		return nil
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			all = append(all, Errors(code, e)...)
		}
		return all
	}
	var x Explanation
	var r *planner.Refusal
	switch p := problem.In(err); {
	case errors.As(err, &x):
	case errors.As(err, &r):
		x = Refusal(r)
	case len(p) == 1 && p[0].Code != "" && p[0].Error() == err.Error():
		x = Problem(p[0])
	default:
		x = Because(code, err.Error())
	}
	return append(all, x)
}

// Problem turns what is wrong with a file, a goal or a motion into an explanation.
func Problem(p *problem.Problem) Explanation {
	told := *p
	told.Help = ""
	return Explanation{Code: string(p.Code), Text: told.Error(), Joint: p.Joint, Resource: p.Resource, Owner: p.Owner,
		At: p.At, Value: p.Value, Limit: p.Limit, Help: p.Help}
}

// UnknownName explains a name that is not among those there are.
func UnknownName(code, what, name string, names []string) Explanation {
	p := problem.Unknown(problem.Code(code), what, name, names)
	return Because(code, p.Text).With(p.Help)
}

// Code returns the name of a code of the cycle, for programs.
func Code(c control.Code) string { return Underscored(c.String()) }

// Underscored makes a code of words.
func Underscored(s string) string { return strings.ReplaceAll(s, " ", "_") }

func quoted(s string) string { return "\"" + s + "\"" }
