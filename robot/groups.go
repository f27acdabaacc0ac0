package robot

import (
	"slices"

	"poise/robot/description"
	"poise/robot/rule"
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

	at        urdf.Pos
	described bool             // in robot.yaml, which alone speaks of ownership
	leaves    []string         // declared beside the joints: base, outputs
	has       map[JointID]bool // while it is made
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

// groupPlan is a group as a file declares it, before names have a meaning.
type groupPlan struct {
	name     string
	at       urdf.Pos
	resource bool
	sorted   bool // of the SRDF: in the order of the tree
	leaves   []string
	groups   []string
	own      func(g *Group) // adds what is not a group
	state    uint8
}

const (
	planFresh uint8 = iota
	planOpen
	planDone
)

// describeGroups makes the groups of both files; without any, one for each tip.
func (b *builder) describeGroups() {
	plans := b.srdfGroups()
	if d := b.opts.Description; d != nil {
		for _, g := range d.Groups {
			plans = append(plans, b.yamlGroup(g, d))
		}
	}
	b.m.groupByName = make(map[string]GroupID, len(plans))
	for i, p := range plans {
		if first, twice := b.m.groupByName[p.name]; twice {
			b.Errorf(rule.BadName, p.at, description.Named("group", p.name), "name used twice, first at %s", plans[first].at)
			continue
		}
		if p.name == "" {
			b.Errorf(rule.BadName, p.at, "group", "name is empty")
		}
		b.m.groupByName[p.name] = GroupID(i)
	}
	b.m.groups = make([]Group, len(plans))
	for i := range plans {
		b.resolveGroup(plans, GroupID(i))
	}
	if len(plans) == 0 {
		b.tipGroups()
	}
}

// resolveGroup fills a group, those it lists first.
func (b *builder) resolveGroup(plans []groupPlan, id GroupID) {
	p, g := &plans[id], &b.m.groups[id]
	if p.state != planFresh {
		return
	}
	p.state = planOpen
	*g = Group{Name: p.name, Tip: NoFrame, Resource: p.resource, Source: p.at.String(),
		at: p.at, described: !p.sorted, leaves: slices.Clone(p.leaves), has: map[JointID]bool{}}
	p.own(g)
	for _, name := range p.groups {
		other, ok := b.m.groupByName[name]
		switch {
		case !ok:
			b.Errorf(rule.BadDescription, p.at, description.Named("group", p.name), "group %q does not exist", name)
			continue
		case plans[other].state == planOpen:
			b.Errorf(rule.Loop, p.at, description.Named("group", p.name), "group %q contains itself", name)
			continue
		}
		b.resolveGroup(plans, other)
		g.add(b.m.groups[other].Joints...)
		for _, leaf := range b.m.groups[other].leaves {
			if !slices.Contains(g.leaves, leaf) {
				g.leaves = append(g.leaves, leaf)
			}
		}
	}
	if p.sorted {
		slices.Sort(g.Joints)
	}
	if g.Tip == NoFrame {
		g.Tip = b.lastLink(g)
	}
	g.has = nil
	if b.members += len(g.Joints); b.members > maxMembers {
		if b.members-len(g.Joints) <= maxMembers {
			b.Errorf(rule.BadDescription, p.at, description.Named("group", p.name), "the groups up to here have more than %d joints together", maxMembers)
		}
		g.Joints = nil
	}
	p.state = planDone
}

// add appends joints that are not in the group yet.
func (g *Group) add(joints ...JointID) {
	for _, j := range joints {
		if !g.has[j] {
			g.has[j] = true
			g.Joints = append(g.Joints, j)
		}
	}
}

// yamlGroup reads a group of robot.yaml.
func (b *builder) yamlGroup(e description.Group, d *Description) groupPlan {
	at, thing := d.At(e.Line), description.Named("group", e.Name)
	p := groupPlan{name: e.Name, at: at, leaves: e.Leaves, groups: e.Groups}
	p.resource = len(e.Chains)+len(e.Joints)+len(e.Leaves) > 0
	if e.Resource != nil {
		p.resource = *e.Resource
	}
	p.own = func(g *Group) {
		for _, name := range e.Chains {
			id, ok := b.m.Chain(name)
			if !ok {
				b.Errorf(rule.BadDescription, at, thing, "chain %q is not declared", name)
				continue
			}
			g.add(b.m.chains[id].Joints...)
			g.Tip = b.m.chains[id].VirtualTip
		}
		for _, name := range e.Joints {
			if id, ok := b.jointNamed(name, at, thing); ok {
				g.add(id)
			}
		}
		if e.Tip != "" {
			g.Tip, _ = b.frameNamed(e.Tip, "tip", at, thing)
		}
	}
	return p
}

// srdfGroups reads the groups of the SRDF as MoveIt does: a link stands for the
// joint above it, passive joints are left out, the order is that of the tree.
func (b *builder) srdfGroups() []groupPlan {
	s := b.opts.SRDF
	if s == nil {
		return nil
	}
	passive := map[JointID]bool{}
	for _, p := range s.PassiveJoints {
		if id, ok := b.m.jointByName[p.Name]; ok {
			passive[id] = true
		} else if _, known := b.tree.JointIndex[p.Name]; !known && !b.isVirtual(p.Name) {
			b.Warnf(rule.UnknownJoint, p.Pos, rule.Joint(p.Name), "is declared passive, but does not exist")
		}
	}
	var plans []groupPlan
	for _, sg := range s.Groups {
		p := groupPlan{name: sg.Name, at: sg.Pos, sorted: true}
		p.resource = len(sg.Joints)+len(sg.Links)+len(sg.Chains) > 0
		for _, sub := range sg.Groups {
			p.groups = append(p.groups, sub.Name)
		}
		p.own = func(g *Group) {
			b.srdfMembers(g, sg)
			g.Joints = slices.DeleteFunc(g.Joints, func(j JointID) bool { return passive[j] })
		}
		plans = append(plans, p)
	}
	for _, e := range s.EndEffectors {
		b.m.effectors = append(b.m.effectors, EndEffector{e.Name, e.Group, e.ParentLink, e.ParentGroup})
	}
	return plans
}

// srdfMembers adds the chains, joints and links that a group of the SRDF lists.
func (b *builder) srdfMembers(g *Group, sg urdf.Group) {
	thing := description.Named("group", sg.Name)
	for _, c := range sg.Chains {
		base, okBase := b.frameNamed(c.Base, "base_link", c.Pos, thing)
		tip, okTip := b.frameNamed(c.Tip, "tip_link", c.Pos, thing)
		if okBase && okTip {
			joints, _ := b.m.Path(base, tip)
			g.add(joints...)
			g.Tip = tip
		}
	}
	for _, j := range sg.Joints {
		if i, ok := b.tree.JointIndex[j.Name]; ok {
			b.addMover(g, i)
		} else if !b.isVirtual(j.Name) {
			b.jointNamed(j.Name, j.Pos, thing)
		}
	}
	for _, l := range sg.Links {
		if _, ok := b.frameNamed(l.Name, "link", l.Pos, thing); ok {
			if above := b.tree.Up[b.tree.LinkIndex[l.Name]]; above >= 0 {
				b.addMover(g, above)
			}
		}
	}
}

// addMover adds the joint that moves a joint of the document: itself, or its
// leader; nothing for a fixed one.
func (b *builder) addMover(g *Group, docJoint int) {
	if body := b.jointBody[docJoint]; body != World {
		g.add(b.m.bodies[body].Joint)
	}
}

// maxMembers bounds the joints of all groups together: a tree of n joints can
// have n²/4 of them, and a hostile one must not fill the memory.
const maxMembers = 1 << 20

// tipGroups makes a group for each link that nothing hangs on.
func (b *builder) tipGroups() {
	members := 0
	for _, l := range b.tree.Order {
		if len(b.tree.Down[l]) > 0 {
			continue
		}
		tip := b.linkFrame[l]
		joints, _ := b.m.Path(0, tip)
		if members += len(joints); members > maxMembers {
			b.Warnf(rule.Ignored, b.doc.Pos, "", "the tips have more than %d joints together: no group is made for %q and those after it",
				maxMembers, b.m.frames[tip].Name)
			return
		}
		b.m.groupByName[b.m.frames[tip].Name] = GroupID(len(b.m.groups))
		b.m.groups = append(b.m.groups, Group{Name: b.m.frames[tip].Name, Joints: joints, Tip: tip})
	}
}

// lastLink returns the link at the end of a group whose joints form one path
// down the tree, NoFrame if they do not.
func (b *builder) lastLink(g *Group) FrameID {
	if len(g.Joints) == 0 {
		return NoFrame
	}
	// bodies are numbered in the order of their joints
	last := b.m.joints[slices.Max(g.Joints)].Body
	on := 0
	for at := last; at != World; at = b.m.bodies[at].Parent {
		if body := b.m.bodies[at]; !body.Mimic && g.has[body.Joint] {
			on++
		}
	}
	if on < len(g.Joints) {
		return NoFrame
	}
	return b.m.bodies[last].Link
}
