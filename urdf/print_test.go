package urdf

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"poise/internal/golden"
	"poise/internal/xmltree"
	"poise/problem"
	"poise/spatial"
)

// withoutPlaces makes every Pos in what p points to zero, so that documents of
// different files compare.
func withoutPlaces(p any) { clearPlaces(reflect.ValueOf(p)) }

func clearPlaces(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			clearPlaces(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			clearPlaces(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[problem.Pos]() {
			v.SetZero()
			return
		}
		for i := range v.NumField() {
			clearPlaces(v.Field(i))
		}
	}
}

// checkPrinted reads a printed document and compares.
func checkPrinted(t *testing.T, d *Document) {
	t.Helper()
	printed := d.Print()
	again, _, err := Parse(printed, "printed")
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	withoutPlaces(d)
	withoutPlaces(again)
	if !reflect.DeepEqual(d, again) {
		t.Fatalf("reads back differently:\n%s\nthen\n%s", printed, again.Print())
	}
}

func checkPrintedSRDF(t *testing.T, s *Semantics) {
	t.Helper()
	printed := s.Print()
	again, _, err := ParseSRDF(printed, "printed")
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	withoutPlaces(s)
	withoutPlaces(again)
	if !reflect.DeepEqual(s, again) {
		t.Fatalf("reads back differently:\n%s\nthen\n%s", printed, again.Print())
	}
}

func TestPrintedDocumentsReadBack(t *testing.T) {
	checkPrinted(t, mustParse(t, complete))
	s, _, err := ParseSRDF([]byte(completeSRDF), "f")
	if err != nil {
		t.Fatal(err)
	}
	checkPrintedSRDF(t, s)
}

func TestRealRobotsAreReadAndReadBack(t *testing.T) {
	root := golden.Path(t, "robots")
	files, err := filepath.Glob(filepath.Join(root, "*", "*.?rdf"))
	if err != nil || len(files) < 17 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			if filepath.Ext(path) == ".srdf" {
				s, warnings, err := ParseSRDF(data, name)
				if err != nil || len(warnings) > 1 || len(s.Groups) == 0 || len(s.Disabled) != strings.Count(string(data), "<disable_collisions") {
					t.Fatalf("%v %v", err, warnings)
				}
				checkPrintedSRDF(t, s)
				return
			}
			d, warnings, err := Parse(data, name)
			if err != nil || len(warnings) > 3 {
				t.Fatalf("%v %v", err, warnings)
			}
			if len(d.Joints) != len(d.Links)-1 {
				t.Errorf("%d links, %d joints", len(d.Links), len(d.Joints))
			}
			checkPrinted(t, d)
		})
	}
}

// random makes documents that a file could say.
type random struct{ *rand.Rand }

func (r random) name() string {
	const letters = "abc_/ -.:é脚<>&\"'\n\t]"
	runes := []rune(letters)
	var b strings.Builder
	b.WriteByte('n') // never blank
	for range r.IntN(6) {
		b.WriteRune(runes[r.IntN(len(runes))])
	}
	return b.String()
}

// number is any finite number, special ones often.
func (r random) number() float64 {
	special := []float64{0, 1, -1, .1, math.Pi, math.MaxFloat64, 5e-324, 1e21, 1e-7, 1 << 53}
	if r.IntN(2) == 0 {
		return special[r.IntN(len(special))]
	}
	for {
		if x := math.Float64frombits(r.Uint64()); !math.IsNaN(x) && !math.IsInf(x, 0) {
			return x
		}
	}
}

func (r random) size() float64 { return math.Abs(r.number()) }

func (r random) vec3() spatial.Vec3 {
	if r.IntN(4) == 0 {
		return spatial.Vec3{X: 1}
	}
	return spatial.Vec3{X: r.number(), Y: r.number(), Z: r.number()}
}

func (r random) maybe() bool { return r.IntN(2) == 0 }

func (r random) optional() *float64 {
	if r.maybe() {
		return nil
	}
	x := r.number()
	return &x
}

func (r random) origin() (o Origin) {
	if r.maybe() {
		o.XYZ = r.vec3()
	}
	if r.maybe() {
		o.RPY = r.vec3()
	}
	return o
}

func (r random) geometry() Geometry {
	g := Geometry{Shape: Shape(r.IntN(len(shapeNames)))}
	switch g.Shape {
	case Box:
		g.Size = spatial.Vec3{X: r.size(), Y: r.size(), Z: r.size()}
	case Sphere:
		g.Radius = r.size()
	case Cylinder, Capsule:
		g.Radius, g.Length = r.size(), r.size()
	case Mesh:
		g.Mesh, g.Scale = r.name(), r.vec3()
	}
	return g
}

func (r random) material() Material {
	m := Material{Name: r.name()}
	if r.maybe() {
		m.Color = &[4]float64{r.number(), r.number(), r.number(), r.number()}
	}
	if r.maybe() {
		m.Texture = r.name()
	}
	return m
}

func (r random) link() Link {
	l := Link{Name: r.name()}
	if r.maybe() {
		l.Inertial = &Inertial{Origin: r.origin(), Mass: r.number(), I: InertiaTensor{
			r.number(), r.number(), r.number(), r.number(), r.number(), r.number()}}
	}
	for range r.IntN(3) {
		v := Visual{Origin: r.origin(), Geometry: r.geometry()}
		if r.maybe() {
			v.Name = r.name()
		}
		if r.maybe() {
			m := r.material()
			v.Material = &m
		}
		l.Visuals = append(l.Visuals, v)
	}
	for range r.IntN(3) {
		l.Collisions = append(l.Collisions, Collision{Name: r.name(), Origin: r.origin(), Geometry: r.geometry()})
	}
	return l
}

func (r random) joint() Joint {
	j := Joint{
		Name: r.name(), Type: JointType(r.IntN(len(jointTypeNames))), Parent: r.name(), Child: r.name(),
		Origin: r.origin(), Axis: r.vec3(),
	}
	if r.maybe() {
		j.Limit = &Limit{Has: LimitSet(r.IntN(128))}
		for _, f := range j.Limit.fields() {
			if j.Limit.Has&f.is != 0 {
				*f.value = r.size()
			}
		}
	}
	if r.maybe() {
		j.Dynamics = &Dynamics{r.number(), r.number()}
	}
	if r.maybe() {
		j.Mimic = &Mimic{Joint: r.name(), Multiplier: r.number(), Offset: r.number()}
	}
	if r.maybe() {
		j.Safety = &Safety{r.number(), r.number(), r.number(), r.number()}
	}
	if r.maybe() {
		j.Calibration = &Calibration{r.optional(), r.optional(), r.optional()}
	}
	return j
}

func (r random) document() *Document {
	d := &Document{Name: r.name()}
	if r.maybe() {
		d.Version = versions[r.IntN(len(versions))]
	}
	for i := range r.IntN(3) {
		m := r.material()
		m.Name += fmt.Sprint(i) // the first of two with one name would count
		d.Materials = append(d.Materials, m)
	}
	for range r.IntN(4) {
		d.Links = append(d.Links, r.link())
	}
	for range r.IntN(4) {
		d.Joints = append(d.Joints, r.joint())
	}
	for range r.IntN(2) {
		tree := element("transmission", "name", r.name(), "type", r.name())
		add(tree, element("joint", "name", r.name()))
		add(tree.Children[0], &xmltree.Node{Text: r.name()})
		d.Transmissions = append(d.Transmissions, Transmission{Name: tree.Value("name"), Type: tree.Value("type"), Tree: tree})
	}
	return d
}

func TestRandomDocumentsReadBack(t *testing.T) {
	for seed := range uint64(1000) {
		d := random{rand.New(rand.NewPCG(seed, 1))}.document()
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { checkPrinted(t, d) })
	}
}

func (r random) refs(most int) (refs []Ref) {
	for range r.IntN(most + 1) {
		refs = append(refs, Ref{Name: r.name()})
	}
	return refs
}

func (r random) semantics() *Semantics {
	s := &Semantics{Name: r.name(), PassiveJoints: r.refs(2), NoDefaultCollision: r.refs(2)}
	for i := range 1 + r.IntN(4) {
		g := Group{Name: fmt.Sprint(r.name(), i), Links: r.refs(2), Joints: r.refs(2)}
		for range r.IntN(2) {
			g.Chains = append(g.Chains, Chain{Base: r.name(), Tip: r.name()})
		}
		if i > 0 {
			g.Groups = []Ref{{Name: s.Groups[r.IntN(i)].Name}}
		}
		s.Groups = append(s.Groups, g)
	}
	group := func() string { return s.Groups[r.IntN(len(s.Groups))].Name }
	for i := range r.IntN(3) {
		st := GroupState{Name: fmt.Sprint(r.name(), i), Group: group()}
		for k := range r.IntN(3) {
			v := JointValue{Joint: fmt.Sprint(r.name(), k)}
			for range 1 + r.IntN(7) {
				v.Value = append(v.Value, r.number())
			}
			st.Joints = append(st.Joints, v)
		}
		s.States = append(s.States, st)
		e := EndEffector{Name: fmt.Sprint(r.name(), i), Group: group(), ParentLink: r.name()}
		if r.maybe() {
			e.ParentGroup = group()
		}
		s.EndEffectors = append(s.EndEffectors, e)
		s.VirtualJoints = append(s.VirtualJoints, VirtualJoint{
			Name: fmt.Sprint(r.name(), i), Type: []JointType{Fixed, Planar, Floating}[i], ParentFrame: r.name(), ChildLink: r.name(),
		})
		s.Disabled = append(s.Disabled, LinkPair{Link1: r.name(), Link2: r.name(), Reason: r.name()})
		s.Enabled = append(s.Enabled, LinkPair{Link1: r.name(), Link2: r.name()})
		s.Properties = append(s.Properties, JointProperty{Joint: r.name(), Property: r.name(), Value: r.name()})
		s.Spheres = append(s.Spheres, SphereModel{Link: r.name(), Spheres: []SphereAt{{Center: r.vec3(), Radius: r.size()}}})
	}
	return s
}

func TestRandomSemanticsReadBack(t *testing.T) {
	for seed := range uint64(1000) {
		s := random{rand.New(rand.NewPCG(seed, 2))}.semantics()
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { checkPrintedSRDF(t, s) })
	}
}
