package urdf

import "poise/internal/xmltree"

// Print returns the document as XML text. ParseSRDF reads it back as it is,
// except for positions.
func (s *Semantics) Print() []byte { return xmltree.Print(s.Tree()) }

// Tree returns the document as a tree, which Semantics reads back as
// it is.
func (s *Semantics) Tree() *xmltree.Node {
	root := element("robot", "name", s.Name)
	for i := range s.Groups {
		add(root, groupTree(&s.Groups[i]))
	}
	for i := range s.States {
		st := &s.States[i]
		n := element("group_state", "name", st.Name, "group", st.Group)
		for _, j := range st.Joints {
			add(n, element("joint", "name", j.Joint, "value", numbers(j.Value...)))
		}
		add(root, n)
	}
	for _, e := range s.EndEffectors {
		n := element("end_effector", "name", e.Name, "group", e.Group, "parent_link", e.ParentLink)
		addText(n, "parent_group", e.ParentGroup)
		add(root, n)
	}
	for _, v := range s.VirtualJoints {
		add(root, element("virtual_joint", "name", v.Name, "type", v.Type.String(),
			"parent_frame", v.ParentFrame, "child_link", v.ChildLink))
	}
	for _, p := range s.PassiveJoints {
		add(root, element("passive_joint", "name", p.Name))
	}
	for _, l := range s.NoDefaultCollision {
		add(root, element("disable_default_collisions", "link", l.Name))
	}
	addPairs(root, "disable_collisions", s.Disabled)
	addPairs(root, "enable_collisions", s.Enabled)
	for _, p := range s.Properties {
		add(root, element("joint_property", "joint_name", p.Joint, "property_name", p.Property, "value", p.Value))
	}
	for i := range s.Spheres {
		n := element("link_sphere_approximation", "link", s.Spheres[i].Link)
		for _, b := range s.Spheres[i].Spheres {
			add(n, element("sphere", "center", numbers(b.Center.X, b.Center.Y, b.Center.Z), "radius", numbers(b.Radius)))
		}
		add(root, n)
	}
	return root
}

func groupTree(g *Group) *xmltree.Node {
	n := element("group", "name", g.Name)
	for _, l := range g.Links {
		add(n, element("link", "name", l.Name))
	}
	for _, j := range g.Joints {
		add(n, element("joint", "name", j.Name))
	}
	for _, c := range g.Chains {
		add(n, element("chain", "base_link", c.Base, "tip_link", c.Tip))
	}
	for _, sub := range g.Groups {
		add(n, element("group", "name", sub.Name))
	}
	return n
}

func addPairs(root *xmltree.Node, name string, pairs []LinkPair) {
	for _, p := range pairs {
		n := element(name, "link1", p.Link1, "link2", p.Link2)
		addText(n, "reason", p.Reason)
		add(root, n)
	}
}
