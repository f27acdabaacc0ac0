package robot

import (
	"slices"

	"poise/problem"
	"poise/robot/description"
	"poise/urdf"
)

// GroupID numbers the groups: those of the SRDF, then those of robot.yaml.
type GroupID int

// Group is a set of joints under one name.
type Group struct {
	Name     string
	Joints   []JointID // in order: as listed in robot.yaml, that of the tree for SRDF
	Tip      FrameID   // the frame that planning moves, NoFrame if there is no single one
	Resource bool      // may be owned under this name; resources are disjoint
	Source   string    // file and line, "" if made from the tree

	at        problem.Pos
	described bool     // in robot.yaml, which alone speaks of ownership
	leaves    []string // declared beside the joints: base, outputs
}

// EndEffector is a group that another one carries.
type EndEffector struct {
	Name, Group string
	ParentLink  string
	ParentGroup string // "" if not said
}

// Groups returns the groups. The slice is shared: read only.
func (m *Model) Groups() []Group { return m.groups }

// Group finds a group by name; at start-up only.
func (m *Model) Group(name string) (GroupID, bool) {
	id, ok := m.groupByName[name]
	return id, ok
}

// EndEffectors returns the end effectors of the SRDF. The slice is shared: read
// only.
func (m *Model) EndEffectors() []EndEffector { return m.effectors }

// describeGroups makes the groups of both files; without any, one for each tip.
func (b *builder) describeGroups() {
	var plans []groupPlan
	var made []Group // tip and resource of each plan
	if b.opts.SRDF != nil {
		plans, made = b.srdfGroups(b.opts.SRDF)
	}
	if d := b.opts.Description; d != nil {
		for _, e := range d.Groups {
			p, g := b.yamlGroup(e, d)
			plans, made = append(plans, p), append(made, g)
		}
	}
	if len(plans) == 0 {
		b.tipGroups()
		return
	}
	b.m.groupByName = make(map[string]GroupID, len(plans))
	for name, i := range resolveGroups(plans, &b.Report) {
		b.m.groupByName[name] = GroupID(i)
	}
	for i, p := range plans {
		g := made[i]
		g.Name, g.Source, g.at, g.leaves = p.Name, p.At.String(), p.At, p.Leaves
		for _, j := range p.Joints {
			g.Joints = append(g.Joints, JointID(j))
		}
		if g.Tip == NoFrame {
			g.Tip = b.lastLink(g.Joints)
		}
		b.m.groups = append(b.m.groups, g)
	}
}

// yamlGroup reads a group of robot.yaml.
func (b *builder) yamlGroup(e description.Group, d *Description) (groupPlan, Group) {
	p := groupPlan{Name: e.Name, At: d.At(e.Line), Leaves: e.Leaves, Groups: e.Groups}
	g := Group{Tip: NoFrame, described: true, Resource: len(e.Chains)+len(e.Joints)+len(e.Leaves) > 0}
	if e.Resource != nil {
		g.Resource = *e.Resource
	}
	thing := problem.Named("group", e.Name)
	for _, name := range e.Chains {
		id, ok := b.m.Chain(name)
		if !ok {
			b.Errorf(description.Impossible, p.At, thing, "chain %q is not declared%s", name, b.Hint(name, b.m.ChainNames()))
			continue
		}
		p.Joints = appendInts(p.Joints, b.m.chains[id].Joints)
		g.Tip = b.m.chains[id].VirtualTip
	}
	for _, name := range e.Joints {
		if id, ok := b.jointNamed(name, p.At, thing); ok {
			p.Joints = append(p.Joints, int(id))
		}
	}
	if e.Tip != "" {
		g.Tip, _ = b.frameNamed(e.Tip, "tip", p.At, thing)
	}
	return p, g
}

// srdfGroups reads the groups of the SRDF as MoveIt does: a link stands for the
// joint above it, passive joints are left out, the order is that of the tree.
func (b *builder) srdfGroups(s *urdf.Semantics) (plans []groupPlan, made []Group) {
	passive := map[int]bool{}
	for _, p := range s.PassiveJoints {
		if id, ok := b.m.jointByName[p.Name]; ok {
			passive[int(id)] = true
		} else if _, known := b.tree.JointIndex[p.Name]; !known && !b.virtual[p.Name] {
			b.Warnf(UnknownJoint, p.Pos, problem.Joint(p.Name), "is declared passive, but does not exist%s", b.Hint(p.Name, b.tree.JointNames()))
		}
	}
	for _, sg := range s.Groups {
		p := groupPlan{Name: sg.Name, At: sg.Pos, Sorted: true}
		g := Group{Tip: NoFrame, Resource: len(sg.Joints)+len(sg.Links)+len(sg.Chains) > 0}
		for _, sub := range sg.Groups {
			p.Groups = append(p.Groups, sub.Name)
		}
		p.Joints, g.Tip = b.srdfMembers(sg)
		p.Joints = slices.DeleteFunc(p.Joints, func(j int) bool { return passive[j] })
		plans, made = append(plans, p), append(made, g)
	}
	for _, e := range s.EndEffectors {
		b.m.effectors = append(b.m.effectors, EndEffector{e.Name, e.Group, e.ParentLink, e.ParentGroup})
	}
	return plans, made
}

// srdfMembers finds the joints that a group of the SRDF lists, and the tip of
// its last chain.
func (b *builder) srdfMembers(sg urdf.Group) (joints []int, tip FrameID) {
	thing := problem.Named("group", sg.Name)
	tip = NoFrame
	for _, c := range sg.Chains {
		base, okBase := b.frameNamed(c.Base, "base_link", c.Pos, thing)
		end, okTip := b.frameNamed(c.Tip, "tip_link", c.Pos, thing)
		if okBase && okTip {
			way, _, _ := b.way(base, end, c.Pos, thing)
			joints, tip = appendInts(joints, way), end
		}
	}
	// a follower counts as its leader, a fixed joint as nothing
	move := func(docJoint int) {
		if body := b.jointBody[docJoint]; body != World {
			joints = append(joints, int(b.m.bodies[body].Joint))
		}
	}
	for _, j := range sg.Joints {
		if i, ok := b.tree.JointIndex[j.Name]; ok {
			move(i)
		} else if !b.virtual[j.Name] {
			b.jointNamed(j.Name, j.Pos, thing)
		}
	}
	for _, l := range sg.Links {
		if _, ok := b.frameNamed(l.Name, "link", l.Pos, thing); ok {
			if above := b.tree.Up[b.tree.LinkIndex[l.Name]]; above >= 0 {
				move(above)
			}
		}
	}
	return joints, tip
}

func appendInts(to []int, ids []JointID) []int {
	for _, id := range ids {
		to = append(to, int(id))
	}
	return to
}

// tipGroups makes a group for each link that nothing hangs on.
func (b *builder) tipGroups() {
	b.m.groupByName = map[string]GroupID{}
	for _, l := range b.tree.Order {
		if len(b.tree.Down[l]) > 0 {
			continue
		}
		tip := b.linkFrame[l]
		joints, _, passed := b.m.way(0, tip)
		if b.passed += passed; b.passed > maxPassed {
			b.Warnf(Ignored, b.doc.Pos, "", "the ways to the tips pass more than %d bodies together: no group is made for %q and those after it",
				maxPassed, b.m.frames[tip].Name)
			return
		}
		b.m.groupByName[b.m.frames[tip].Name] = GroupID(len(b.m.groups))
		b.m.groups = append(b.m.groups, Group{Name: b.m.frames[tip].Name, Joints: joints, Tip: tip})
	}
}

// lastLink returns the link at the end of joints that form one path down the
// tree, NoFrame if they do not.
func (b *builder) lastLink(joints []JointID) FrameID {
	if len(joints) == 0 {
		return NoFrame
	}
	// joints are numbered down the tree: on the way up the numbers fall
	left := slices.Sorted(slices.Values(joints))
	last := b.m.joints[left[len(left)-1]].Body
	for at := last; at != World && len(left) > 0; at = b.m.bodies[at].Parent {
		if body := b.m.bodies[at]; !body.Mimic && body.Joint == left[len(left)-1] {
			left = left[:len(left)-1]
		}
	}
	if len(left) > 0 {
		return NoFrame
	}
	return b.m.bodies[last].Link
}
