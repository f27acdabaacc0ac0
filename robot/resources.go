package robot

import (
	"fmt"
	"slices"

	"poise/problem"
	"poise/robot/description"
)

// LeafKind says what a leaf resource is.
type LeafKind uint8

// The kinds of leaves, in the order of their numbers.
const (
	JointLeaf   LeafKind = iota // a joint, under its name
	BaseLeaf                    // the free base, "base"
	SupportLeaf                 // the contact of a chain, "support/<chain>"
	OutputLeaf                  // a typed value that is no joint, such as the picture of the eyes
)

// LeafResource is what one controller at a time may own.
type LeafResource struct {
	Name  string
	Kind  LeafKind
	Chain ChainID // of a SupportLeaf, else NoChain
	Type  string  // of an OutputLeaf
}

// Resource is a group as it is owned: a set of leaves under a name, disjoint
// from all other resources.
type Resource struct {
	Name  string
	Group GroupID
	Set   Set
}

// Resources are a robot's leaves and the named sets of them.
type Resources struct {
	leaves    []LeafResource
	byName    map[string]Set
	groupSets []Set
	resources []Resource
	joints    int
}

// Resources returns the robot's resources, or an error if it has more leaves
// than a Set can tell apart or two of one name: such a robot can be checked,
// computed and planned with, but not controlled.
func (m *Model) Resources() (*Resources, error) { return m.resources, m.uncontrollable }

// Leaves returns the leaves by number. The slice is shared: read only.
func (r *Resources) Leaves() []LeafResource { return r.leaves }

// List returns the resources in the order of the groups. The slice is shared:
// read only.
func (r *Resources) List() []Resource { return r.resources }

// Names returns the names that messages may use: of the resources, then of the leaves.
func (r *Resources) Names() (all []string) {
	for i := range r.resources {
		all = append(all, r.resources[i].Name)
	}
	for i := range r.leaves {
		all = append(all, r.leaves[i].Name)
	}
	return all
}

// All returns the set of all leaves.
func (r *Resources) All() (s Set) {
	for i := range r.leaves {
		s = s.With(LeafID(i))
	}
	return s
}

// Find returns the set under a name: a resource's, a leaf's, or that of a group
// that is no resource. At start-up only.
func (r *Resources) Find(name string) (Set, bool) {
	s, ok := r.byName[name]
	return s, ok
}

// OfGroup returns the leaves of a group.
func (r *Resources) OfGroup(id GroupID) Set { return r.groupSets[id] }

// OfJoint returns the leaf of a joint. Loop-safe.
func (r *Resources) OfJoint(id JointID) LeafID { return LeafID(id) }

// Joint returns the joint of a leaf; ok is false if the leaf is not a joint. Loop-safe.
func (r *Resources) Joint(id LeafID) (j JointID, ok bool) { return JointID(id), int(id) < r.joints }

// leafNames lists all leaves, however many.
func (b *builder) leafNames() []LeafResource {
	m := b.m
	leaves := make([]LeafResource, 0, len(m.joints)+len(m.chains)+1)
	for _, j := range m.joints {
		leaves = append(leaves, LeafResource{Name: j.Name, Chain: NoChain})
	}
	if m.floating {
		leaves = append(leaves, LeafResource{Name: "base", Kind: BaseLeaf, Chain: NoChain})
	}
	for i, c := range m.chains {
		if c.Contact != NoContact {
			leaves = append(leaves, LeafResource{Name: "support/" + c.Name, Kind: SupportLeaf, Chain: ChainID(i)})
		}
	}
	if d := b.opts.Description; d != nil {
		for _, o := range d.Outputs {
			leaves = append(leaves, LeafResource{Name: o.Name, Kind: OutputLeaf, Chain: NoChain, Type: o.Type})
		}
	}
	return leaves
}

// describeResources numbers the leaves, gives each group its own and checks
// that resources are disjoint.
func (b *builder) describeResources() {
	m := b.m
	leaves := b.leafNames()
	number := make(map[string]int, len(leaves))
	for i, l := range leaves {
		if first, twice := number[l.Name]; twice {
			b.leafClash(leaves[first], l)
			continue
		}
		number[l.Name] = i
	}
	members := make([][]int, len(m.groups))
	for i := range m.groups {
		members[i] = b.groupLeaves(&m.groups[i], leaves, number)
	}
	b.checkDisjoint(members, leaves, number)
	if len(leaves) > MaxLeaves {
		m.uncontrollable = &problem.Problem{Code: TooManyLeaves, Pos: b.doc.Pos, Thing: problem.Named("robot", m.name),
			Text: fmt.Sprintf("has %d leaf resources, at most %d can be controlled", len(leaves), MaxLeaves)}
	}
	if m.uncontrollable == nil {
		m.resources = newResources(m, leaves, members)
	}
}

// leafClash reports two leaves of one name. Outputs can be renamed; a joint that
// happens to be called "base" only keeps the robot from being controlled.
func (b *builder) leafClash(first, second LeafResource) {
	p := &problem.Problem{Code: BadName, Pos: b.doc.Pos, Thing: problem.Named("leaf", second.Name),
		Text: fmt.Sprintf("is the name of %s and of %s", leafWord(first), leafWord(second))}
	if second.Kind == OutputLeaf {
		p.Pos = b.opts.Description.AtKey("outputs")
		b.Errors = append(b.Errors, p)
	}
	b.m.uncontrollable = p
}

// groupLeaves lists the leaves of a group: its joints, what it declares, and
// the support of each chain whose joints are all in it.
func (b *builder) groupLeaves(g *Group, leaves []LeafResource, number map[string]int) []int {
	var all []int
	has := make(map[JointID]bool, len(g.Joints))
	for _, j := range g.Joints {
		all = append(all, int(j))
		has[j] = true
	}
	for _, name := range g.leaves {
		if d := b.opts.Description; name == "base" && d.Base == "floating" && !b.m.floating {
			continue // held by the one that asked for it
		}
		n, ok := number[name]
		if !ok || leaves[n].Kind == JointLeaf || leaves[n].Kind == SupportLeaf {
			b.Errorf(description.Impossible, g.at, problem.Named("group", g.Name),
				"leaf %q is neither a declared output nor the base of a floating robot", name)
			continue
		}
		all = append(all, n)
	}
	for n := len(b.m.joints); n < len(leaves); n++ { // the joints come first
		if l := leaves[n]; l.Kind == SupportLeaf && !slices.ContainsFunc(b.m.chains[l.Chain].Joints, func(j JointID) bool { return !has[j] }) {
			all = append(all, n)
		}
	}
	return all
}

// checkDisjoint reports resources of robot.yaml that share a leaf. A group of
// the SRDF that shares one is no resource: that file does not mention
// ownership.
func (b *builder) checkDisjoint(members [][]int, leaves []LeafResource, number map[string]int) {
	owner := make([]GroupID, len(leaves))
	for i := range owner {
		owner[i] = -1
	}
	claim := func(id GroupID, strict bool) {
		g := &b.m.groups[id]
		at, thing := g.at, problem.Named("group", g.Name)
		if n, leaf := number[g.Name]; leaf && !slices.Equal(members[id], []int{n}) {
			if strict {
				b.Errorf(SharedResource, at, thing, "has the name of %s, but is not that alone", leafWord(leaves[n]))
			}
			g.Resource = false
			return
		}
		for _, n := range members[id] {
			if other := owner[n]; other >= 0 {
				if strict {
					b.Errorf(SharedResource, at, thing, "shares %s with resource %q; resources are disjoint, \"resource: false\" makes it a mere group",
						leafWord(leaves[n]), b.m.groups[other].Name)
				}
				g.Resource = false
			}
		}
		if g.Resource {
			for _, n := range members[id] {
				owner[n] = id
			}
		}
	}
	for _, strict := range []bool{true, false} {
		for i, g := range b.m.groups {
			if g.Resource && strict == g.described {
				claim(GroupID(i), strict)
			}
		}
	}
}

func newResources(m *Model, leaves []LeafResource, members [][]int) *Resources {
	r := &Resources{leaves: leaves, byName: make(map[string]Set, len(leaves)+len(members)), joints: len(m.joints)}
	for i, g := range m.groups {
		var s Set
		for _, n := range members[i] {
			s = s.With(LeafID(n))
		}
		r.groupSets = append(r.groupSets, s)
		r.byName[g.Name] = s
		if g.Resource {
			r.resources = append(r.resources, Resource{g.Name, GroupID(i), s})
		}
	}
	for i, l := range leaves {
		r.byName[l.Name] = Leaf(LeafID(i))
	}
	for _, g := range r.resources {
		r.byName[g.Name] = g.Set
	}
	return r
}

func leafWord(l LeafResource) string {
	switch l.Kind {
	case BaseLeaf:
		return "the base"
	case SupportLeaf:
		return fmt.Sprintf("leaf %q", l.Name)
	case OutputLeaf:
		return fmt.Sprintf("output %q", l.Name)
	}
	return problem.Joint(l.Name)
}
