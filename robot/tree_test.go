package robot

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"poise/problem"
	"poise/spatial"
	"poise/urdf"
)

// read puts the lines of a robot's body together: line 1 is <robot>, the body
// begins on line 2.
func read(t *testing.T, body string) (*tree, *problem.Report, bool) {
	t.Helper()
	doc, _, err := urdf.Parse([]byte("<robot name=\"r\">\n"+body+"\n</robot>"), "r.urdf")
	if err != nil {
		t.Fatal(err)
	}
	var r problem.Report
	tr, ok := newTree(doc, &r)
	return tr, &r, ok
}

const arm = `<link name="a"/><link name="b"/><link name="c"/>
<joint name="j1" type="revolute"><parent link="a"/><child link="b"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="j2" type="prismatic"><parent link="b"/><child link="c"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint>`

func TestSoundTreeHasNoProblem(t *testing.T) {
	tr, r, ok := read(t, arm)
	if !ok || len(r.Errors)+len(r.Warnings) > 0 {
		t.Errorf("ok %t, errors %v, warnings %v", ok, r.Errors, r.Warnings)
	}
	if got := fmt.Sprint(tr.Order); got != "[0 1 2]" {
		t.Errorf("order %v", got)
	}
}

// rows of rules: body, rule, line of the problem, words that name thing, value
// and limit.
var forbidden = []struct {
	name, body string
	rule       problem.Code
	line       int
	words      string
}{
	{"no link", "", UnknownLink, 1, `robot "r" has no link`},
	{"unknown parent", "<link name=\"a\"/>\n<joint name=\"j\" type=\"fixed\"><parent link=\"x\"/><child link=\"a\"/></joint>",
		UnknownLink, 3, `joint "j": parent link "x" does not exist`},
	{"unknown child, near", "<link name=\"forearm\"/>\n<joint name=\"j\" type=\"fixed\"><parent link=\"forearm\"/><child link=\"foream\"/></joint>",
		UnknownLink, 3, `joint "j": child link "foream" does not exist; did you mean "forearm"?`},
	{"two roots", arm + "\n<link name=\"lost\"/>", TwoRoots, 5, `2 links have no parent: "a", "lost"`},
	{"ring", "<link name=\"a\"/><link name=\"b\"/>\n<joint name=\"j\" type=\"fixed\"><parent link=\"a\"/><child link=\"b\"/></joint><joint name=\"k\" type=\"fixed\"><parent link=\"b\"/><child link=\"a\"/></joint>",
		Loop, 2, `form a ring`},
	{"own parent", arm + "\n<link name=\"s\"/><joint name=\"k\" type=\"fixed\"><parent link=\"s\"/><child link=\"s\"/></joint>",
		Loop, 5, `link "s": is its own ancestor`},
	{"closed chain", arm + "\n<joint name=\"k\" type=\"fixed\"><parent link=\"a\"/><child link=\"c\"/></joint>",
		Loop, 5, `joint "k": link "c" already hangs on joint "j2" (r.urdf:4)`},
	{"negative mass", "<link name=\"a\">\n<inertial><mass value=\"-2.5\"/><inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial></link>",
		NegativeMass, 3, `link "a": mass -2.5 kg is negative`},
	{"negative diagonal", "<link name=\"a\">\n<inertial><mass value=\"1\"/><inertia ixx=\"-1\" ixy=\"0\" ixz=\"0\" iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial></link>",
		IndefiniteInertia, 3, `link "a": inertia is not positive: its principal moments are -1, 1 and 1`},
	{"indefinite by its off-diagonal", "<link name=\"a\">\n<inertial><mass value=\"1\"/><inertia ixx=\"1\" ixy=\"2\" ixz=\"0\" iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial></link>",
		IndefiniteInertia, 3, `principal moments are -1, 1 and 3`},
	{"inertia that overflows", "<link name=\"a\">\n<inertial><mass value=\"1\"/><inertia ixx=\"1e308\" ixy=\"1e308\" ixz=\"1e308\" iyy=\"1e308\" iyz=\"1e308\" izz=\"1e308\"/></inertial></link>",
		NotFinite, 3, `link "a": inertia is too large`},
	{"zero axis", "<link name=\"a\"/><link name=\"b\"/>\n<joint name=\"j\" type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/><axis xyz=\"0 0 0\"/></joint>",
		ZeroAxis, 3, `joint "j": axis 0 0 0`},
	{"revolute without limit", "<link name=\"a\"/><link name=\"b\"/>\n<joint name=\"j\" type=\"revolute\"><parent link=\"a\"/><child link=\"b\"/></joint>",
		MissingLimit, 3, `joint "j": a revolute or prismatic joint needs a <limit>`},
	{"prismatic without limit", "<link name=\"a\"/><link name=\"b\"/>\n<joint name=\"j\" type=\"prismatic\"><parent link=\"a\"/><child link=\"b\"/></joint>",
		MissingLimit, 3, `joint "j"`},
	{"inverted limits", "<link name=\"a\"/><link name=\"b\"/>\n<joint name=\"j\" type=\"revolute\"><parent link=\"a\"/><child link=\"b\"/>\n<limit lower=\"2\" upper=\"1\" effort=\"1\" velocity=\"1\"/></joint>",
		InvertedLimits, 4, `joint "j": lower limit 2 is above the upper limit 1`},
	{"negative velocity limit", "<link name=\"a\"/><link name=\"b\"/>\n<joint name=\"j\" type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/>\n<limit effort=\"1\" velocity=\"-3\"/></joint>",
		NegativeLimit, 4, `joint "j": velocity limit -3 is negative`},
	{"negative effort limit", "<link name=\"a\"/><link name=\"b\"/>\n<joint name=\"j\" type=\"revolute\"><parent link=\"a\"/><child link=\"b\"/>\n<limit lower=\"0\" upper=\"1\" effort=\"-4\" velocity=\"1\"/></joint>",
		NegativeLimit, 4, `joint "j": effort limit -4 is negative`},
	{"negative damping", "<link name=\"a\"/><link name=\"b\"/>\n<joint name=\"j\" type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/><dynamics damping=\"-1\"/></joint>",
		NegativeLimit, 3, `damping -1`},
	{"mimic of no joint", mimicking("k", "x", "revolute"), BadMimic, 4, `joint "k": mimics joint "x", which does not exist`},
	{"mimic of itself", mimicking("k", "k", "revolute"), BadMimic, 4, `joint "k": mimics itself`},
	{"mimic of a fixed joint", mimicking("k", "lead", "fixed"), BadMimic, 4, `mimics joint "lead", which has no single coordinate`},
	{"mimic of a planar joint", mimicking("k", "lead", "planar"), BadMimic, 4, `mimics joint "lead", which has no single coordinate`},
	{"mimic of a floating joint", mimicking("k", "lead", "floating"), BadMimic, 4, `mimics joint "lead", which has no single coordinate`},
	{"planar mimic", "<link name=\"a\"/><link name=\"b\"/><link name=\"c\"/><joint name=\"lead\" type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/></joint>\n<joint name=\"k\" type=\"planar\"><parent link=\"a\"/><child link=\"c\"/>\n<mimic joint=\"lead\"/></joint>",
		BadMimic, 4, `a planar or floating joint cannot mimic another`},
	{"ring of mimics", "<link name=\"a\"/><link name=\"b\"/><link name=\"c\"/>\n" +
		"<joint name=\"j\" type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/><mimic joint=\"k\"/></joint>\n" +
		"<joint name=\"k\" type=\"continuous\"><parent link=\"a\"/><child link=\"c\"/><mimic joint=\"j\"/></joint>",
		BadMimic, 3, `joint "j": mimics itself in a ring: "j", "k"`},
}

// mimicking makes a robot whose joint k mimics another, beside a joint named lead.
func mimicking(name, of, leadType string) string {
	return fmt.Sprintf("<link name=\"a\"/><link name=\"b\"/><link name=\"c\"/><joint name=\"lead\" type=%q><parent link=\"a\"/><child link=\"b\"/><limit effort=\"1\" velocity=\"1\" upper=\"1\"/></joint>\n"+
		"<joint name=%q type=\"continuous\"><parent link=\"a\"/><child link=\"c\"/>\n<mimic joint=%q/></joint>", leadType, name, of)
}

func TestForbidden(t *testing.T) {
	for _, tc := range forbidden {
		t.Run(tc.name, func(t *testing.T) {
			_, r, _ := read(t, tc.body)
			for _, p := range r.Errors {
				if p.Code == tc.rule && strings.Contains(p.Error(), tc.words) && p.Pos.Line == tc.line && p.Pos.File == "r.urdf" {
					if !errors.Is(r.Err(), tc.rule) {
						t.Errorf("errors.Is does not find %q", tc.rule)
					}
					return
				}
			}
			t.Errorf("errors %v, want one of rule %q on line %d with %q", r.Err(), tc.rule, tc.line, tc.words)
		})
	}
}

func TestDoubtful(t *testing.T) {
	inertial := func(mass, tensor string) string {
		return "<link name=\"a\">\n<inertial><mass value=\"" + mass + "\"/><inertia " + tensor + "/></inertial></link>"
	}
	zero := `ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"`
	for _, tc := range []struct {
		name, body string
		rule       problem.Code
		words      string
	}{
		{"zero mass", inertial("0", `ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"`), ZeroMass, `link "a": mass is zero`},
		{"zero mass and inertia", inertial("0", zero), ZeroMass, `link "a": mass and inertia are zero`},
		{"zero inertia", inertial("2", zero), ZeroInertia, `link "a": inertia is zero with a mass of 2 kg`},
		{"one zero moment", inertial("2", `ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="0"`), ZeroInertia, `a principal moment is zero`},
		{"broken triangle inequality", inertial("1", `ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="2.5"`), TriangleInequality, `principal moments 1 and 1 together are less than the third, 2.5`},
		{"broken behind a rotation", inertial("1", `ixx="1.75" ixy="0.75" ixz="0" iyy="1.75" iyz="0" izz="1"`), TriangleInequality, `1 and 1 together are less than the third, 2.5`},
		{"empty range", "<link name=\"a\"/><link name=\"b\"/>\n<joint name=\"j\" type=\"revolute\"><parent link=\"a\"/><child link=\"b\"/><limit effort=\"1\" velocity=\"1\"/></joint>",
			EmptyRange, `joint "j": lower and upper limit are both 0`},
		{"range of a continuous joint", "<link name=\"a\"/><link name=\"b\"/>\n<joint name=\"j\" type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/><limit lower=\"-3\" upper=\"3\" effort=\"1\" velocity=\"1\"/></joint>",
			UnusedLimit, `the range -3 … 3 is not used`},
		{"mimic of multiplier 0", strings.Replace(mimicking("k", "lead", "revolute"), `<mimic joint="lead"/>`, `<mimic joint="lead" multiplier="0"/>`, 1), Ignored, `never moves`},
		{"fixed joint that mimics", "<link name=\"a\"/><link name=\"b\"/>\n<joint name=\"j\" type=\"fixed\"><parent link=\"a\"/><child link=\"b\"/><mimic joint=\"k\"/></joint>",
			Ignored, `is fixed: that it mimics "k" has no effect`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, r, _ := read(t, tc.body)
			if err := r.Err(); err != nil {
				t.Errorf("is an error: %v", err)
			}
			for _, p := range r.Warnings {
				if p.Code == tc.rule && strings.Contains(p.Error(), tc.words) && p.Pos.Line > 1 {
					return
				}
			}
			t.Errorf("warnings %v, want one of rule %q with %q", r.Warnings, tc.rule, tc.words)
		})
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	var body string
	for _, tc := range forbidden {
		switch tc.rule {
		case NegativeMass, IndefiniteInertia:
			body += strings.Replace(tc.body, `name="a"`, fmt.Sprintf("name=%q", tc.name), 1)
		}
	}
	_, r, _ := read(t, body)
	for _, want := range []problem.Code{NegativeMass, IndefiniteInertia, TwoRoots} {
		if !errors.Is(r.Err(), want) {
			t.Errorf("%v lacks %q", r.Err(), want)
		}
	}
}

// Documents made by hand can hold what no file can.
func TestNumbersMustBeFinite(t *testing.T) {
	sound := func() *urdf.Document {
		return &urdf.Document{
			Links: []urdf.Link{{Name: "a"}, {Name: "b", Inertial: &urdf.Inertial{Mass: 1, I: urdf.InertiaTensor{XX: 1, YY: 1, ZZ: 1}}}},
			Joints: []urdf.Joint{{Name: "j", Type: urdf.Revolute, Parent: "a", Child: "b", Axis: spatial.Vec3{X: 1},
				Limit: &urdf.Limit{Lower: -1, Upper: 1}, Dynamics: &urdf.Dynamics{}}, {Name: "k", Type: urdf.Continuous, Parent: "b", Child: "c", Axis: spatial.Vec3{X: 1}, Mimic: &urdf.Mimic{Joint: "j", Multiplier: 1}}},
		}
	}
	for name, spoil := range map[string]func(*urdf.Document, float64){
		"mass":    func(d *urdf.Document, x float64) { d.Links[1].Inertial.Mass = x },
		"inertia": func(d *urdf.Document, x float64) { d.Links[1].Inertial.I.XY = x },
		"com":     func(d *urdf.Document, x float64) { d.Links[1].Inertial.Origin.XYZ.Y = x },
		"origin":  func(d *urdf.Document, x float64) { d.Joints[0].Origin.RPY.Z = x },
		"axis":    func(d *urdf.Document, x float64) { d.Joints[0].Axis.X = x },
		"limit":   func(d *urdf.Document, x float64) { d.Joints[0].Limit.Upper = x },
		"damping": func(d *urdf.Document, x float64) { d.Joints[0].Dynamics.Damping = x },
		"mimic":   func(d *urdf.Document, x float64) { d.Joints[1].Mimic.Offset = x },
	} {
		for _, x := range []float64{math.NaN(), math.Inf(1)} {
			doc := sound()
			doc.Links = append(doc.Links, urdf.Link{Name: "c"})
			spoil(doc, x)
			var r problem.Report
			newTree(doc, &r)
			if !errors.Is(r.Err(), NotFinite) {
				t.Errorf("%s = %g: %v", name, x, r.Err())
			}
		}
	}
}

func TestLimitsOfURDF12MustNotBeNegative(t *testing.T) {
	doc := chain(1)
	doc.Joints[0].Limit = &urdf.Limit{Acceleration: -1, Deceleration: -2, Jerk: -3}
	var r problem.Report
	newTree(doc, &r)
	if len(r.Errors) != 3 || !errors.Is(r.Err(), NegativeLimit) {
		t.Errorf("errors %v", r.Err())
	}
}

func TestNamesMustBeUnique(t *testing.T) {
	doc := &urdf.Document{Links: []urdf.Link{{Name: "a"}, {Name: "a"}, {Name: ""}}, Joints: []urdf.Joint{{Name: "j", Parent: "a", Child: ""}, {Name: "j", Parent: "a", Child: ""}}}
	var r problem.Report
	if _, ok := newTree(doc, &r); ok {
		t.Error("taken for a tree")
	}
	text := r.Err().Error()
	for _, want := range []string{`link "a": name used twice`, `link: name is empty`, `joint "j": name used twice`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %s", text, want)
		}
	}
}

func TestChainsOfMimicsAreMultipliedOut(t *testing.T) {
	// j0 ← j1 ← j2 ← … each with its own multiplier and offset; the value of the
	// last is computed step by step
	const n = 40
	rng := rand.New(rand.NewPCG(1, 2))
	doc := &urdf.Document{Links: []urdf.Link{{Name: "l0"}}}
	x := rng.NormFloat64()
	want := []float64{x}
	for i := range n {
		j := urdf.Joint{Name: fmt.Sprintf("j%d", i), Type: urdf.Continuous, Axis: spatial.Vec3{Z: 1}, Parent: fmt.Sprintf("l%d", i), Child: fmt.Sprintf("l%d", i+1)}
		if i > 0 {
			j.Mimic = &urdf.Mimic{Joint: fmt.Sprintf("j%d", i-1), Multiplier: 0.8 + 0.4*rng.Float64(), Offset: rng.NormFloat64()}
			want = append(want, j.Mimic.Multiplier*want[i-1]+j.Mimic.Offset)
		}
		doc.Links = append(doc.Links, urdf.Link{Name: fmt.Sprintf("l%d", i+1)})
		doc.Joints = append(doc.Joints, j)
	}
	rng.Shuffle(n, func(i, j int) { doc.Joints[i], doc.Joints[j] = doc.Joints[j], doc.Joints[i] })
	var r problem.Report
	tr, ok := newTree(doc, &r)
	if !ok || r.Err() != nil {
		t.Fatal(r.Err())
	}
	leader := tr.JointIndex["j0"]
	for i, m := range tr.Mimics {
		var k int
		fmt.Sscanf(doc.Joints[i].Name, "j%d", &k)
		if k == 0 {
			if m.Leader != -1 || m.Ratio != 1 || m.Offset != 0 {
				t.Errorf("the leader follows: %+v", m)
			}
			continue
		}
		if got := m.Ratio*x + m.Offset; m.Leader != leader || math.Abs(got-want[k]) > 1e-12*math.Max(1, math.Abs(want[k])) {
			t.Errorf("j%d = %g of joint %d, want %g of %d", k, got, m.Leader, want[k], leader)
		}
	}
}

// TestWorkGrowsWithTheRobot counts allocations instead of seconds: a tree twice
// as long may cost twice as much, not four times.
func TestWorkGrowsWithTheRobot(t *testing.T) {
	cost := func(n int) float64 {
		doc := chain(n)
		return testing.AllocsPerRun(1, func() {
			var r problem.Report
			if _, ok := newTree(doc, &r); !ok {
				t.Fatal(r.Err())
			}
		})
	}
	small, large := cost(1000), cost(8000)
	if large > 10*small {
		t.Errorf("%g allocations for 8,000 joints, %g for 1,000: more than linear", large, small)
	}
}

func chain(n int) *urdf.Document {
	doc := &urdf.Document{Links: []urdf.Link{{Name: "l0"}}}
	for i := range n {
		doc.Links = append(doc.Links, urdf.Link{Name: fmt.Sprintf("l%d", i+1)})
		doc.Joints = append(doc.Joints, urdf.Joint{Name: fmt.Sprintf("j%d", i), Type: urdf.Continuous, Axis: spatial.Vec3{Z: 1},
			Parent: fmt.Sprintf("l%d", i), Child: fmt.Sprintf("l%d", i+1)})
	}
	return doc
}
