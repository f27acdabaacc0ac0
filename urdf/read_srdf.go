package urdf

import (
	"slices"
	"strings"

	"poise/internal/xmltree"
	"poise/problem"
)

// ParseSRDF reads an SRDF document; file is its name in messages. As with
// Parse, what could be read is returned beside the error.
func ParseSRDF(data []byte, file string) (*Semantics, []Warning, error) {
	root, err := xmltree.Parse(data, file, xmltree.Limits{})
	if err != nil {
		return nil, nil, err
	}
	return semanticsFromTree(root)
}

// semanticsFromTree reads an SRDF document that is a tree already.
func semanticsFromTree(root *xmltree.Node) (*Semantics, []Warning, error) {
	r := reader{xmltree.NewReader(root, "robot")}
	if err := r.Err(); err != nil {
		return nil, nil, err
	}
	r.Attributes(root, "name", "version")
	s := &Semantics{Name: r.Name(root, "name"), Pos: root.Pos}
	for n := range r.Children(root) {
		switch n.Name {
		case "group":
			s.Groups = append(s.Groups, r.group(n))
		case "group_state":
			s.States = append(s.States, r.groupState(n))
		case "end_effector":
			s.EndEffectors = append(s.EndEffectors, r.endEffector(n))
		case "virtual_joint":
			s.VirtualJoints = append(s.VirtualJoints, r.virtualJoint(n))
		case "passive_joint":
			s.PassiveJoints = append(s.PassiveJoints, r.ref(n, "name"))
		case "disable_default_collisions":
			s.NoDefaultCollision = append(s.NoDefaultCollision, r.ref(n, "link"))
		case "disable_collisions":
			s.Disabled = append(s.Disabled, r.linkPair(n))
		case "enable_collisions":
			s.Enabled = append(s.Enabled, r.linkPair(n))
		case "joint_property":
			s.Properties = append(s.Properties, r.jointProperty(n))
		case "link_sphere_approximation":
			s.Spheres = append(s.Spheres, r.sphereModel(n))
		default:
			r.Unknown(root, n, "group", "group_state", "end_effector", "virtual_joint", "passive_joint", "disable_default_collisions", "disable_collisions", "enable_collisions", "joint_property", "link_sphere_approximation")
		}
	}
	r.groupNames(s)
	r.groupCycles(s.Groups)
	return s, r.Warnings, r.Err()
}

// ref reads an element that is only a name.
func (r reader) ref(n *xmltree.Node, attr string) Ref {
	r.Leaf(n, attr)
	return Ref{Name: r.Name(n, attr), Pos: n.Pos}
}

func (r reader) group(n *xmltree.Node) Group {
	r.Attributes(n, "name")
	g := Group{Name: r.Name(n, "name"), Pos: n.Pos}
	for c := range r.Children(n) {
		switch c.Name {
		case "link":
			g.Links = append(g.Links, r.ref(c, "name"))
		case "joint":
			g.Joints = append(g.Joints, r.ref(c, "name"))
		case "group":
			g.Groups = append(g.Groups, r.ref(c, "name"))
		case "chain":
			r.Leaf(c, "base_link", "tip_link")
			g.Chains = append(g.Chains, Chain{Base: r.Name(c, "base_link"), Tip: r.Name(c, "tip_link"), Pos: c.Pos})
		default:
			r.Unknown(n, c, "link", "joint", "group", "chain")
		}
	}
	if len(g.Links)+len(g.Joints)+len(g.Groups)+len(g.Chains) == 0 {
		r.Warnf(n.Pos, "group %q is empty", g.Name)
	}
	return g
}

func (r reader) groupState(n *xmltree.Node) GroupState {
	r.Attributes(n, "name", "group")
	s := GroupState{Name: r.Name(n, "name"), Group: r.Name(n, "group"), Pos: n.Pos}
	first := names{}
	for c := range r.Children(n) {
		if c.Name != "joint" {
			r.Unknown(n, c, "joint")
			continue
		}
		r.Leaf(c, "name", "value")
		v := JointValue{Joint: r.Name(c, "name"), Pos: c.Pos}
		var ok bool
		if v.Value, ok = r.configuration(c); ok && r.unique(first, v.Joint, c.Pos, "joint of a <group_state>") {
			s.Joints = append(s.Joints, v)
		}
	}
	return s
}

// configuration reads one number or more; a floating joint has seven.
func (r reader) configuration(n *xmltree.Node) ([]float64, bool) {
	const most = 7
	count := 0
	for range xmltree.Words(n.Value("value")) {
		if count++; count == most {
			break
		}
	}
	x := make([]float64, max(count, 1))
	return x, r.Numbers(n, "value", x)
}

func (r reader) endEffector(n *xmltree.Node) EndEffector {
	r.Leaf(n, "name", "group", "parent_link", "parent_group")
	return EndEffector{
		Name:        r.Name(n, "name"),
		Group:       r.Name(n, "group"),
		ParentLink:  r.Name(n, "parent_link"),
		ParentGroup: n.Value("parent_group"),
		Pos:         n.Pos,
	}
}

func (r reader) virtualJoint(n *xmltree.Node) VirtualJoint {
	r.Leaf(n, "name", "type", "parent_frame", "child_link")
	types := []JointType{Fixed, Planar, Floating}
	kind, _ := r.Choice(n, "type", []string{types[0].String(), types[1].String(), types[2].String()})
	return VirtualJoint{
		Name:        r.Name(n, "name"),
		Type:        types[kind],
		ParentFrame: r.Name(n, "parent_frame"),
		ChildLink:   r.Name(n, "child_link"),
		Pos:         n.Pos,
	}
}

func (r reader) linkPair(n *xmltree.Node) LinkPair {
	r.Leaf(n, "link1", "link2", "reason")
	return LinkPair{Link1: r.Name(n, "link1"), Link2: r.Name(n, "link2"), Reason: n.Value("reason"), Pos: n.Pos}
}

func (r reader) jointProperty(n *xmltree.Node) JointProperty {
	r.Leaf(n, "joint_name", "property_name", "value")
	return JointProperty{
		Joint:    r.Name(n, "joint_name"),
		Property: r.Name(n, "property_name"),
		Value:    r.Text(n, "value"),
		Pos:      n.Pos,
	}
}

func (r reader) sphereModel(n *xmltree.Node) SphereModel {
	r.Attributes(n, "link")
	m := SphereModel{Link: r.Name(n, "link"), Pos: n.Pos}
	for c := range r.Children(n) {
		if c.Name != "sphere" {
			r.Unknown(n, c, "sphere")
			continue
		}
		r.Leaf(c, "center", "radius")
		center, _ := r.vec3(c, "center")
		m.Spheres = append(m.Spheres, SphereAt{Center: center, Radius: r.Size(c, "radius")})
	}
	return m
}

// names maps a name to the line where it was first given.
type names map[string]int

// unique refuses a name that was given before.
func (r reader) unique(first names, name string, pos problem.Pos, kind string) bool {
	if line, again := first[name]; again && name != "" {
		r.Errorf(pos, name, "%s has the name of one on line %d", kind, line)
		return false
	}
	first[name] = pos.Line
	return true
}

// groupNames refuses names that come twice, of which the first is kept, and
// groups that are not there.
func (r reader) groupNames(s *Semantics) {
	groups := names{"": 0}
	s.Groups = slices.DeleteFunc(s.Groups, func(g Group) bool { return !r.unique(groups, g.Name, g.Pos, "group") })
	mentioned := func(name string, pos problem.Pos, by string) {
		if _, ok := groups[name]; !ok {
			r.Errorf(pos, name, "<%s> names a group that is not there", by)
		}
	}
	for i := range s.Groups {
		for _, sub := range s.Groups[i].Groups {
			mentioned(sub.Name, sub.Pos, "group")
		}
	}
	states := map[string]names{}
	s.States = slices.DeleteFunc(s.States, func(st GroupState) bool {
		mentioned(st.Group, st.Pos, "group_state")
		if states[st.Group] == nil {
			states[st.Group] = names{}
		}
		return !r.unique(states[st.Group], st.Name, st.Pos, "state of the same group")
	})
	tools, virtual := names{}, names{}
	s.EndEffectors = slices.DeleteFunc(s.EndEffectors, func(e EndEffector) bool {
		mentioned(e.Group, e.Pos, "end_effector")
		mentioned(e.ParentGroup, e.Pos, "end_effector")
		return !r.unique(tools, e.Name, e.Pos, "end effector")
	})
	s.VirtualJoints = slices.DeleteFunc(s.VirtualJoints, func(v VirtualJoint) bool {
		return !r.unique(virtual, v.Name, v.Pos, "virtual joint")
	})
}

// groupCycles refuses groups that contain themselves: depth first, without
// recursion since a file may nest groups as deep as it is long.
func (r reader) groupCycles(groups []Group) {
	index := make(map[string]int, len(groups))
	for i := range groups {
		index[groups[i].Name] = i
	}
	const (
		unseen = iota
		onPath
		done
	)
	state := make([]uint8, len(groups))
	next := make([]int, len(groups))  // subgroup to follow
	place := make([]int, len(groups)) // on the path
	var path []int
	enter := func(i int) { state[i], place[i], path = onPath, len(path), append(path, i) }
	for i := range groups {
		if state[i] == unseen {
			enter(i)
		}
		for len(path) > 0 {
			at := path[len(path)-1]
			if next[at] == len(groups[at].Groups) {
				state[at], path = done, path[:len(path)-1]
				continue
			}
			sub := groups[at].Groups[next[at]]
			next[at]++
			to, ok := index[sub.Name]
			switch {
			case !ok || state[to] == done:
			case state[to] == onPath:
				r.Errorf(sub.Pos, ringText(groups, path[place[to]:]), "group contains itself")
			default:
				enter(to)
			}
		}
	}
}

// ringText names the groups of a ring: a > b > a.
func ringText(groups []Group, ring []int) string {
	const most = 8
	var text []string
	for i, at := range ring {
		if i == most {
			text = append(text, "…")
			break
		}
		text = append(text, groups[at].Name)
	}
	return strings.Join(append(text, groups[ring[0]].Name), " > ")
}
