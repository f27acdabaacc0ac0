package explain

import (
	"slices"
	"strings"

	"poise/arbiter"
	"poise/control"
	"poise/problem"
	"poise/robot"
)

// Words knows the names that reasons need. Make one with New; it is safe for
// concurrent use.
type Words struct {
	model      *robot.Model
	resources  *robot.Resources
	controller func(arbiter.ClientID) string
	missing    robot.Set // joints whose servos were not found
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

// Limbs lists joints in the fewest words: resources all of whose joints are among them,
// then single joints.
func (w *Words) Limbs(joints robot.Set) []string {
	var all robot.Set
	for i, leaf := range w.resources.Leaves() {
		if leaf.Kind == robot.JointLeaf {
			all = all.With(robot.LeafID(i))
		}
	}
	set := joints.Intersect(all)
	for _, r := range w.resources.List() {
		if own := r.Set.Intersect(all); !own.Empty() && joints.Contains(own) {
			set = set.Union(r.Set)
		}
	}
	return w.Names(set)
}

// limits returns those of a joint.
func (w *Words) limits(id robot.JointID) (none robot.Limits) {
	if id < 0 || int(id) >= len(w.model.Joints()) {
		return none
	}
	return w.model.Joints()[id].Limits
}

// WithMissing returns words that know which joints' servos were not found: torque-on does not help them.
func (w *Words) WithMissing(joints robot.Set) *Words {
	other := *w
	other.missing = joints
	return &other
}

// Unpowered explains which of some leaves are among the joints without torque, limb by
// limb, if any are.
func (w *Words) Unpowered(limp, of robot.Set) (all []problem.Problem) {
	for leaf := range limp.Intersect(of).Intersect(w.missing).All {
		name := w.Joint(robot.JointID(leaf))
		all = append(all, problem.Problem{Code: "servo_missing", Resource: w.Resource(leaf), Joint: name,
			Text: "joint " + name + " has no torque: its servo was missing when the robot was opened",
			Help: "connect it: poise bus scan shows which servos answer"})
	}
	lost := len(all)
	for leaf := range limp.Intersect(of).Minus(w.missing).All {
		name := w.Resource(leaf)
		if slices.ContainsFunc(all[lost:], func(x problem.Problem) bool { return x.Resource == name }) {
			continue
		}
		x := w.Reason(control.PowerOff.At(robot.JointID(leaf), 0, 0), "")
		x.Resource, x.Help = name, ""
		all = append(all, x)
	}
	if len(all) > lost {
		all[len(all)-1].Help = "give it torque with set_torque, or the whole robot with set_power"
	}
	return all
}

// Set returns the leaves under some names: resources, groups, joints or leaves.
// Names that are none of these are explained, all of them.
func (w *Words) Set(names []string) (set robot.Set, unknown []problem.Problem) {
	for _, name := range names {
		s, ok := w.resources.Find(name)
		if !ok {
			unknown = append(unknown, problem.Problem{Code: "unknown_resource", Resource: name,
				Text: "the robot has no resource, group or joint " + quoted(name), Help: problem.DidYouMean(name, w.resources.Names())})
			continue
		}
		set = set.Union(s)
	}
	return set, unknown
}

func (w *Words) who(id arbiter.ClientID) string {
	if id == arbiter.NoClient || w.controller == nil {
		return ""
	}
	return w.controller(id)
}

// Code returns the name of a code of the cycle, for programs.
func Code(c control.Code) problem.Code { return Underscored(c.String()) }

// Underscored makes a code of words.
func Underscored(s string) problem.Code { return problem.Code(strings.ReplaceAll(s, " ", "_")) }

func quoted(s string) string { return "\"" + s + "\"" }
