package robot_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"poise/robot"
	"poise/robot/description"
	"poise/urdf"
)

// FuzzBuild throws files of all kinds at Build: whatever happens, there is a
// sound model or an error, never both and never a panic.
func FuzzBuild(f *testing.F) {
	const srdf = `<robot name="dog"><group name="l"><chain base_link="trunk" tip_link="l_sole"/></group><group name="m"><group name="l"/><joint name="bite2"/></group></robot>`
	const limits = "joint_limits: {l_hip: {max_velocity: 1, max_acceleration: 2}, bite2: {max_velocity: 0.5}}\n"
	f.Add(dogURDF, srdf, dogYAML, limits, true)
	f.Add(dogURDF, "", "", "", false)
	f.Add(`<robot name="r"><link name="a"/></robot>`, "", "groups: {g: {leaves: [base]}}\n", "", true)
	f.Add(`<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="planar"><parent link="a"/><child link="b"/></joint></robot>`, "", "mirror: [{middle: j, sign: 1}]\n", "joint_limits: {j: {max_jerk: 3}}\n", false)
	f.Fuzz(func(t *testing.T, robotText, srdfText, yamlText, limitText string, floating bool) {
		doc, _, err := urdf.Parse([]byte(robotText), "r.urdf")
		if err != nil {
			return
		}
		opts := robot.Options{MeshExists: func(string) bool { return false }}
		if floating {
			opts.Base = robot.BaseFloating
		}
		if s, _, err := urdf.ParseSRDF([]byte(srdfText), "r.srdf"); err == nil {
			opts.SRDF = s
		}
		if d, err := description.Read([]byte(yamlText), "robot.yaml"); err == nil {
			opts.Description = d
		}
		if table, tip, err := robot.ReadLimits([]byte(limitText), "l.yaml"); err == nil {
			opts.Limits, opts.Cartesian = table, tip
		}
		m, _, err := robot.Build(doc, opts)
		if (m == nil) == (err == nil) {
			t.Fatalf("model %v with error %v", m, err)
		}
		if m != nil {
			checkSound(t, m)
		}
	})
}

// checkSound checks what every model promises.
func checkSound(t *testing.T, m *robot.Model) {
	nq, nv := 0, 0
	for i, b := range m.Bodies() {
		if i > 0 && b.Parent >= robot.BodyID(i) || b.Mimic && (b.Joint < 0 || int(b.Joint) >= len(m.Joints())) {
			t.Errorf("body %d is %+v", i, b)
		}
		if i > 0 && !b.Mimic {
			nq, nv = nq+b.Kind.NumQ(), nv+b.Kind.NumV()
		}
		if math.IsNaN(b.Inertia.Mass) || b.Inertia.Mass < 0 || !b.Rest.P.Finite() {
			t.Errorf("body %d is %+v", i, b)
		}
	}
	if nq != m.NumQ() || nv != m.NumV() {
		t.Errorf("nq %d, nv %d, bodies have %d, %d", m.NumQ(), m.NumV(), nq, nv)
	}
	for _, j := range m.Joints() {
		if l := j.Limits; l.Lower.Has && l.Upper.Has && l.Lower.Value > l.Upper.Value || l.Velocity.Has && l.Velocity.Value <= 0 || l.Deceleration.Has && l.Deceleration.Value >= 0 {
			t.Errorf("limits of %s are %+v", j.Name, l)
		}
	}
	r, err := m.Resources()
	if err != nil {
		return
	}
	var union robot.Set
	for _, res := range r.List() {
		if union.Overlaps(res.Set) {
			t.Errorf("resource %s is not disjoint", res.Name)
		}
		union = union.Union(res.Set)
	}
	for i, image := range m.Mirror() {
		if image.Sign != 0 && m.Mirror()[image.Of].Of != robot.JointID(i) {
			t.Errorf("mirroring joint %d twice does not give it back", i)
		}
	}
}

// chainText writes a URDF chain of n revolute joints.
func chainText(n int) []byte {
	var b strings.Builder
	b.WriteString("<robot name=\"chain\">\n<link name=\"l0\"/>\n")
	for i := range n {
		fmt.Fprintf(&b, `<link name="l%d"><inertial><origin xyz="0 0 0.05"/><mass value="0.1"/><inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-5"/></inertial></link>
<joint name="j%d" type="revolute"><parent link="l%d"/><child link="l%d"/><origin xyz="0 0 0.1"/><axis xyz="0 %d %d"/><limit lower="-1" upper="1" velocity="2" effort="3"/></joint>
`, i+1, i, i, i+1, i%2, 1-i%2)
	}
	b.WriteString("</robot>\n")
	return []byte(b.String())
}

// TestLongChainCostsInProportion counts what loading costs instead of timing
// it: allocations of a chain of 2,000 joints against one of 250.
func TestLongChainCostsInProportion(t *testing.T) {
	cost := func(n int) float64 {
		text := chainText(n)
		return testing.AllocsPerRun(1, func() {
			doc, _, err := urdf.Parse(text, "chain.urdf")
			if err != nil {
				t.Fatal(err)
			}
			m, _, err := robot.Build(doc, robot.Options{})
			if err != nil || m.NumV() != n {
				t.Fatal(err)
			}
		})
	}
	small, large := cost(250), cost(2000)
	if large > 10*small {
		t.Errorf("%.0f allocations for 2,000 joints, %.0f for 250: more than in proportion", large, small)
	}
}

func TestManyMassesAddUpExactly(t *testing.T) {
	doc, _, err := urdf.Parse(chainText(2000), "chain.urdf")
	if err != nil {
		t.Fatal(err)
	}
	if got := build(t, doc, false).Mass(); got != 200 {
		t.Errorf("2,000 links of 0.1 kg make %.17g kg", got)
	}
}

// BenchmarkLoad reads and builds a chain of 2,000 joints.
func BenchmarkLoad(b *testing.B) {
	text := chainText(2000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		doc, _, err := urdf.Parse(text, "chain.urdf")
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := robot.Build(doc, robot.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
