package urdf

import (
	"strconv"

	"poise/internal/xmltree"
	"poise/spatial"
)

// Print returns the document as XML text. Parse reads it back as it is, except
// for positions; numbers are the shortest that do so.
func (d *Document) Print() []byte { return xmltree.Print(d.Tree()) }

// Tree returns the document as a tree, which FromTree reads back as it is.
func (d *Document) Tree() *xmltree.Node {
	root := element("robot", "name", d.Name)
	addText(root, "version", d.Version)
	for i := range d.Materials {
		add(root, materialTree(&d.Materials[i]))
	}
	for i := range d.Links {
		add(root, linkTree(&d.Links[i]))
	}
	for i := range d.Joints {
		add(root, jointTree(&d.Joints[i]))
	}
	for i := range d.Transmissions {
		add(root, transmissionTree(&d.Transmissions[i]))
	}
	return root
}

// element makes an element of pairs of attribute and value.
func element(name string, attrs ...string) *xmltree.Node {
	n := &xmltree.Node{Name: name}
	for i := 0; i < len(attrs); i += 2 {
		n.Attrs = append(n.Attrs, xmltree.Attr{Name: attrs[i], Value: attrs[i+1]})
	}
	return n
}

func add(parent *xmltree.Node, children ...*xmltree.Node) {
	parent.Children = append(parent.Children, children...)
}

// addText adds an attribute that is left out if empty.
func addText(n *xmltree.Node, attr, value string) {
	if value != "" {
		n.Attrs = append(n.Attrs, xmltree.Attr{Name: attr, Value: value})
	}
}

// addNumber adds an attribute that is left out if it has its default.
func addNumber(n *xmltree.Node, attr string, x, absent float64) {
	if x != absent {
		addText(n, attr, number(x))
	}
}

// number is the shortest decimal that reads back as x.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func numbers(x ...float64) string {
	var b []byte
	for i := range x {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendFloat(b, x[i], 'g', -1, 64)
	}
	return string(b)
}

func vec3(v spatial.Vec3) string { return numbers(v.X, v.Y, v.Z) }

func linkTree(l *Link) *xmltree.Node {
	n := element("link", "name", l.Name)
	if in := l.Inertial; in != nil {
		c := element("inertial")
		addOrigin(c, in.Origin)
		add(c, element("mass", "value", number(in.Mass)),
			element("inertia", "ixx", number(in.I.XX), "ixy", number(in.I.XY), "ixz", number(in.I.XZ),
				"iyy", number(in.I.YY), "iyz", number(in.I.YZ), "izz", number(in.I.ZZ)))
		add(n, c)
	}
	for i := range l.Visuals {
		v := &l.Visuals[i]
		c := shapeTree("visual", v.Name, v.Origin, &v.Geometry)
		if v.Material != nil {
			add(c, materialTree(v.Material))
		}
		add(n, c)
	}
	for i := range l.Collisions {
		v := &l.Collisions[i]
		add(n, shapeTree("collision", v.Name, v.Origin, &v.Geometry))
	}
	return n
}

func addOrigin(parent *xmltree.Node, o Origin) {
	if o == (Origin{}) {
		return
	}
	n := element("origin")
	if o.XYZ != (spatial.Vec3{}) {
		addText(n, "xyz", vec3(o.XYZ))
	}
	if o.RPY != (spatial.Vec3{}) {
		addText(n, "rpy", vec3(o.RPY))
	}
	add(parent, n)
}

func shapeTree(kind, name string, o Origin, g *Geometry) *xmltree.Node {
	n := element(kind)
	addText(n, "name", name)
	addOrigin(n, o)
	s := element(g.Shape.String())
	switch g.Shape {
	case Box:
		addText(s, "size", vec3(g.Size))
	case Sphere:
		addText(s, "radius", number(g.Radius))
	case Cylinder, Capsule:
		addText(s, "radius", number(g.Radius))
		addText(s, "length", number(g.Length))
	case Mesh:
		addText(s, "filename", g.Mesh)
		if g.Scale != (spatial.Vec3{X: 1, Y: 1, Z: 1}) {
			addText(s, "scale", vec3(g.Scale))
		}
	}
	geometry := element("geometry")
	add(geometry, s)
	add(n, geometry)
	return n
}

func materialTree(m *Material) *xmltree.Node {
	n := element("material", "name", m.Name)
	if m.Color != nil {
		add(n, element("color", "rgba", numbers(m.Color[:]...)))
	}
	if m.Texture != "" {
		add(n, element("texture", "filename", m.Texture))
	}
	return n
}

func jointTree(j *Joint) *xmltree.Node {
	n := element("joint", "name", j.Name, "type", j.Type.String())
	addOrigin(n, j.Origin)
	add(n, element("parent", "link", j.Parent), element("child", "link", j.Child))
	if j.Axis != (spatial.Vec3{X: 1}) {
		add(n, element("axis", "xyz", vec3(j.Axis)))
	}
	if j.Limit != nil {
		c := element("limit")
		for _, f := range j.Limit.fields() {
			if j.Limit.Has&f.is != 0 || *f.value != 0 {
				addText(c, f.name, number(*f.value))
			}
		}
		add(n, c)
	}
	if d := j.Dynamics; d != nil {
		c := element("dynamics")
		addNumber(c, "damping", d.Damping, 0)
		addNumber(c, "friction", d.Friction, 0)
		add(n, c)
	}
	if m := j.Mimic; m != nil {
		c := element("mimic", "joint", m.Joint)
		addNumber(c, "multiplier", m.Multiplier, 1)
		addNumber(c, "offset", m.Offset, 0)
		add(n, c)
	}
	if s := j.Safety; s != nil {
		c := element("safety_controller", "k_velocity", number(s.KVelocity))
		addNumber(c, "soft_lower_limit", s.SoftLower, 0)
		addNumber(c, "soft_upper_limit", s.SoftUpper, 0)
		addNumber(c, "k_position", s.KPosition, 0)
		add(n, c)
	}
	if cal := j.Calibration; cal != nil {
		c := element("calibration")
		addOptional(c, "reference_position", cal.Reference)
		addOptional(c, "rising", cal.Rising)
		addOptional(c, "falling", cal.Falling)
		add(n, c)
	}
	return n
}

func addOptional(n *xmltree.Node, attr string, x *float64) {
	if x != nil {
		addText(n, attr, number(*x))
	}
}

func transmissionTree(t *Transmission) *xmltree.Node {
	if t.Tree != nil {
		return t.Tree.Clone()
	}
	n := element("transmission", "name", t.Name)
	addText(n, "type", t.Type)
	return n
}
