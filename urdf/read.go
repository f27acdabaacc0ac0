package urdf

import (
	"maps"
	"slices"
	"strings"

	"poise/internal/xmltree"
	"poise/problem"
	"poise/spatial"
)

// Warning is something in a document that is passed over or looks wrong.
type Warning = xmltree.Warning

// Parse reads a URDF document; file is its name in messages.
//
// The error joins all errors found, each a *problem.Problem. If the text is XML
// with the root <robot>, a document is returned beside the error: what could be
// read of it, so that the builder of a robot can report the robot's errors
// together with the file's.
func Parse(data []byte, file string) (*Document, []Warning, error) {
	root, err := xmltree.Parse(data, file, xmltree.Limits{})
	if err != nil {
		return nil, nil, err
	}
	return FromTree(root)
}

// FromTree reads a URDF document that is a tree already, such as one that
// xacro has expanded. See Parse.
func FromTree(root *xmltree.Node) (*Document, []Warning, error) {
	r := reader{xmltree.NewReader(root, "robot")}
	if err := r.Err(); err != nil {
		return nil, nil, err
	}
	r.Attributes(root, "name", "version")
	d := &Document{Name: r.Name(root, "name"), Version: r.version(root), Pos: root.Pos}
	for n := range r.Children(root) {
		switch n.Name {
		case "link":
			d.Links = append(d.Links, r.link(n))
		case "joint":
			d.Joints = append(d.Joints, r.joint(n))
		case "material":
			r.Name(n, "name")
			d.Materials = append(d.Materials, r.material(n))
		case "transmission":
			d.Transmissions = append(d.Transmissions, r.transmission(n))
		default:
			r.Unknown(root, n, "link", "joint", "material", "transmission")
		}
	}
	r.materials(d)
	return d, r.Warnings, r.Err()
}

// reader turns elements into parts of a document. A part that has an error
// counts as not written.
type reader struct{ *xmltree.Reader }

// versions are those of URDF: 1.1 brought capsules and quaternions, 1.2 more limits.
var versions = []string{"1", "1.0", "1.1", "1.2"}

func (r reader) version(root *xmltree.Node) string {
	if root.Attr("version") == nil {
		return ""
	}
	i, ok := r.Choice(root, "version", versions)
	if !ok {
		return ""
	}
	return versions[i]
}

// vec3 returns three numbers that must be there.
func (r reader) vec3(n *xmltree.Node, attr string) (v spatial.Vec3, ok bool) {
	var x [3]float64
	ok = r.Numbers(n, attr, x[:])
	return spatial.Vec3{X: x[0], Y: x[1], Z: x[2]}, ok
}

// vec3Or returns three numbers that may be absent.
func (r reader) vec3Or(n *xmltree.Node, attr string, absent spatial.Vec3) spatial.Vec3 {
	if n.Attr(attr) == nil {
		return absent
	}
	v, _ := r.vec3(n, attr)
	return v
}

func (r reader) origin(n *xmltree.Node) Origin {
	r.Leaf(n, "xyz", "rpy", "quat_xyzw")
	o := Origin{XYZ: r.vec3Or(n, "xyz", spatial.Vec3{}), RPY: r.vec3Or(n, "rpy", spatial.Vec3{})}
	a := n.Attr("quat_xyzw")
	if a == nil {
		return o
	}
	var x [4]float64
	if !r.Numbers(n, "quat_xyzw", x[:]) {
		return o
	}
	q, ok := spatial.Quat{X: x[0], Y: x[1], Z: x[2], W: x[3]}.Unit()
	switch {
	case !ok:
		r.Errorf(a.Pos, a.Value, "quat_xyzw of <origin> is zero")
	case n.Attr("rpy") != nil:
		r.Errorf(a.Pos, a.Value, "<origin> has both rpy and quat_xyzw")
	default:
		o.RPY = angles(q.Matrix())
	}
	return o
}

func (r reader) link(n *xmltree.Node) Link {
	r.Attributes(n, "name")
	l := Link{Name: r.Name(n, "name"), Pos: n.Pos}
	for c := range r.Children(n, "inertial") {
		switch c.Name {
		case "inertial":
			l.Inertial = r.inertial(c)
		case "visual":
			if v, ok := r.visual(c); ok {
				l.Visuals = append(l.Visuals, v)
			}
		case "collision":
			if v, ok := r.collision(c); ok {
				l.Collisions = append(l.Collisions, v)
			}
		default:
			r.Unknown(n, c, "inertial", "visual", "collision")
		}
	}
	return l
}

func (r reader) inertial(n *xmltree.Node) *Inertial {
	r.Attributes(n)
	failed := r.Failed()
	inertial := &Inertial{Pos: n.Pos}
	var mass, inertia bool
	for c := range r.Children(n, "origin", "mass", "inertia") {
		switch c.Name {
		case "origin":
			inertial.Origin = r.origin(c)
		case "mass":
			mass = true
			r.Leaf(c, "value")
			inertial.Mass = r.Number(c, "value")
		case "inertia":
			inertia = true
			r.Leaf(c, "ixx", "ixy", "ixz", "iyy", "iyz", "izz")
			inertial.I = InertiaTensor{
				XX: r.Number(c, "ixx"), XY: r.Number(c, "ixy"), XZ: r.Number(c, "ixz"),
				YY: r.Number(c, "iyy"), YZ: r.Number(c, "iyz"), ZZ: r.Number(c, "izz"),
			}
		default:
			r.Unknown(n, c, "origin", "mass", "inertia")
		}
	}
	r.Need(n, "mass", mass)
	r.Need(n, "inertia", inertia)
	if failed() {
		return nil
	}
	return inertial
}

// visual reads a shape to look at; not ok if it has no shape.
func (r reader) visual(n *xmltree.Node) (v Visual, ok bool) {
	v = Visual{Name: n.Value("name"), Pos: n.Pos}
	v.Origin, v.Geometry, ok = r.placed(n, func(c *xmltree.Node) bool {
		if c.Name != "material" {
			return false
		}
		m := r.material(c)
		if v.Material != nil {
			r.Warnf(c.Pos, "<visual> with several materials: the first one counts")
		} else {
			v.Material = &m
		}
		return true
	})
	return v, ok
}

// collision reads a shape of the link's extent; not ok if it has no shape.
func (r reader) collision(n *xmltree.Node) (v Collision, ok bool) {
	v = Collision{Name: n.Value("name"), Pos: n.Pos}
	v.Origin, v.Geometry, ok = r.placed(n, func(*xmltree.Node) bool { return false })
	return v, ok
}

// placed reads a shape and where it is; more reads what else may stand there, and
// reports whether it may.
func (r reader) placed(n *xmltree.Node, more func(c *xmltree.Node) bool) (at Origin, g Geometry, ok bool) {
	r.Attributes(n, "name")
	geometry := false
	for c := range r.Children(n, "origin", "geometry") {
		switch {
		case c.Name == "origin":
			at = r.origin(c)
		case c.Name == "geometry":
			geometry = true
			g, ok = r.geometry(c)
		case !more(c):
			known := []string{"origin", "geometry", "material"}
			if n.Name != "visual" {
				known = known[:2]
			}
			r.Unknown(n, c, known...)
		}
	}
	r.Need(n, "geometry", geometry)
	return at, g, ok
}

// geometry reads the one shape in n. A shape that is not URDF's is passed over
// with a warning; no shape at all is an error.
func (r reader) geometry(n *xmltree.Node) (g Geometry, ok bool) {
	r.Attributes(n)
	for c := range r.Children(n) {
		shape := slices.Index(shapeNames[:], c.Name)
		switch {
		case shape < 0:
			r.Unknown(n, c, shapeNames[:]...)
		case ok:
			r.Errorf(c.Pos, "<"+c.Name+">", "<geometry> has a shape already")
		default:
			g, ok = r.shape(c, Shape(shape)), true
		}
	}
	if ok {
		return g, true
	}
	for range n.Elements() {
		r.Warnf(n.Pos, "<geometry> without a shape of URDF is passed over")
		return g, false
	}
	r.Errorf(n.Pos, "<geometry>", "geometry has no shape")
	return g, false
}

func (r reader) shape(n *xmltree.Node, shape Shape) Geometry {
	g := Geometry{Shape: shape}
	switch shape {
	case Box:
		r.Leaf(n, "size")
		g.Size, _ = r.vec3(n, "size")
		r.NotNegative(n, "size", g.Size.X, g.Size.Y, g.Size.Z)
	case Cylinder, Capsule:
		r.Leaf(n, "radius", "length")
		g.Radius, g.Length = r.Size(n, "radius"), r.Size(n, "length")
	case Sphere:
		r.Leaf(n, "radius")
		g.Radius = r.Size(n, "radius")
	case Mesh:
		r.Leaf(n, "filename", "scale")
		g.Mesh = r.Name(n, "filename")
		g.Scale = r.vec3Or(n, "scale", spatial.Vec3{X: 1, Y: 1, Z: 1})
	}
	return g
}

func (r reader) material(n *xmltree.Node) Material {
	r.Attributes(n, "name")
	m := Material{Name: n.Value("name"), Pos: n.Pos}
	for c := range r.Children(n, "color", "texture") {
		switch c.Name {
		case "color":
			r.Leaf(c, "rgba")
			var rgba [4]float64
			if r.Numbers(c, "rgba", rgba[:]) {
				m.Color = &rgba
			}
			if slices.Min(rgba[:]) < 0 || slices.Max(rgba[:]) > 1 {
				r.Warnf(c.Pos, "colour is not between 0 and 1: %q", numbers(rgba[:]...))
			}
		case "texture":
			r.Leaf(c, "filename")
			m.Texture = r.Text(c, "filename")
		default:
			r.Unknown(n, c, "color", "texture")
		}
	}
	return m
}

// materials keeps the first of materials with one name, and warns of undefined
// names. What a visual defines is known to all others.
func (r reader) materials(d *Document) {
	defined := map[string]bool{}
	d.Materials = slices.DeleteFunc(d.Materials, func(m Material) bool {
		again := defined[m.Name]
		if again {
			r.Warnf(m.Pos, "material %q is defined again: the first one counts", m.Name)
		}
		defined[m.Name] = true
		return again
	})
	visuals := func(do func(*Material)) {
		for i := range d.Links {
			for j := range d.Links[i].Visuals {
				if m := d.Links[i].Visuals[j].Material; m != nil {
					do(m)
				}
			}
		}
	}
	visuals(func(m *Material) {
		if m.Color != nil || m.Texture != "" {
			defined[m.Name] = true
		}
	})
	visuals(func(m *Material) {
		if !defined[m.Name] && m.Name != "" {
			r.Warnf(m.Pos, "material %q is not defined%s", m.Name, problem.Hint(m.Name, slices.Sorted(maps.Keys(defined))))
		}
	})
}

// transmission keeps the whole element.
func (r reader) transmission(n *xmltree.Node) Transmission {
	t := Transmission{Name: n.Value("name"), Type: n.Value("type"), Tree: r.plain(n), Pos: n.Pos}
	if t.Name == "" {
		r.Warnf(n.Pos, "<transmission> without a name")
	}
	for c := range t.Tree.Elements() {
		if c.Name == "type" && t.Type == "" && len(c.Children) == 1 {
			t.Type = strings.TrimSpace(c.Children[0].Text)
		}
	}
	return t
}

// plain copies a tree without name spaces and what belongs to others. Text
// counts only where no element stands beside it.
func (r reader) plain(n *xmltree.Node) *xmltree.Node {
	p := &xmltree.Node{Name: n.Name, Pos: n.Pos}
	for _, a := range n.Attrs {
		if a.Space == "" {
			p.Attrs = append(p.Attrs, a)
		}
	}
	var text strings.Builder
	for _, c := range n.Children {
		switch {
		case c.IsText():
			text.WriteString(c.Text)
		case r.Own(c):
			p.Children = append(p.Children, r.plain(c))
		}
	}
	if len(p.Children) == 0 && text.Len() > 0 {
		p.Children = []*xmltree.Node{{Text: text.String(), Pos: n.Pos}}
	}
	return p
}
