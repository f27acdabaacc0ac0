package feedforward

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"poise/control"
	"poise/dynamics"
	"poise/robot"
	"poise/robot/description"
	"poise/urdf"
)

// limbed generates a robot of some joints: two legs of three, and limbs of so many joints each.
func limbed(t testing.TB, joints, each int) *robot.Model {
	t.Helper()
	var b strings.Builder
	link := func(name string, mass float64) {
		fmt.Fprintf(&b, `<link name="%s"><inertial><origin xyz="0 0 -0.05"/><mass value="%g"/><inertia ixx="0.002" iyy="0.002" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>`, name, mass)
	}
	b.WriteString(`<robot name="limbed">`)
	link("body", 3)
	d := &robot.Description{Base: "floating", Contacts: []description.Contact{{Name: "foot", Points: [][]float64{{0, 0, -0.1}}, Sole: 0.03}}}
	made := 0
	limb := func(name string, n int, y float64) (tip string) {
		tip = "body"
		for k := range n {
			child := fmt.Sprintf("%s%d", name, k)
			link(child, 0.2)
			axis := []string{"1 0 0", "0 1 0", "0 1 0"}[k%3]
			fmt.Fprintf(&b, `<joint name="j%s" type="revolute"><parent link="%s"/><child link="%s"/><origin xyz="0 %g -0.1"/><axis xyz="%s"/><limit lower="-2" upper="2" effort="20" velocity="5"/></joint>`, child, tip, child, y, axis)
			tip, y, made = child, 0, made+1
		}
		return tip
	}
	for leg := range 2 {
		name := fmt.Sprintf("leg%d", leg)
		d.Chains = append(d.Chains, description.Chain{Name: name, Base: "body", Tip: limb(name, 3, 0.2*float64(leg)-0.1), Contact: "foot"})
	}
	for k := 0; made < joints; k++ {
		limb(fmt.Sprintf("limb%d_", k), min(each, joints-made), 0.05*math.Sin(float64(k)))
	}
	b.WriteString(`</robot>`)
	doc, _, err := urdf.Parse([]byte(b.String()), "limbed.urdf")
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := robot.Build(doc, robot.Options{Description: d})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Joints()) != joints {
		t.Fatalf("%d joints, want %d", len(m.Joints()), joints)
	}
	return m
}

// moving is a command of a robot on its feet whose other joints move.
func moving(t testing.TB, m *robot.Model) *control.Motion {
	t.Helper()
	c := standing(t, m)
	for j := range c.V {
		if !strings.HasPrefix(m.Joints()[j].Name, "jleg") {
			c.V[j], c.A[j] = 0.1*math.Sin(float64(j)), 0.1*math.Cos(float64(j))
		}
	}
	return c
}

// TestLimbedRobotsStand: the robots of the benchmark are carried by their feet, all of them.
func TestLimbedRobotsStand(t *testing.T) {
	for _, each := range []int{3, 42} {
		for _, n := range []int{6, 12, 24, 48} {
			m := limbed(t, n, each)
			s, c := stage(t, m), standing(t, m)
			s.tick(c)
			weight, up := m.Mass()*m.Gravity().Norm(), 0.0
			for _, f := range s.Forces(nil) {
				up += f.Force.Z
			}
			if s.State.Failed || math.Abs(up/weight-1) > 0.01 && s.State.Residual.Force.Norm() < 0.01*weight {
				t.Errorf("%d joints: feet carry %g N of %g N, %+v", n, up, weight, s.State)
			}
		}
	}
}

// BenchmarkGrowth is a tick of cycle 1 of robots with ever more joints on two feet: in limbs of three
// joints, and in one long limb; beside it inverse dynamics alone.
func BenchmarkGrowth(b *testing.B) {
	for _, shape := range []struct {
		name string
		each int
	}{{"limbs", 3}, {"one limb", 42}} {
		for _, n := range []int{6, 12, 24, 48} {
			m := limbed(b, n, shape.each)
			s, c := stage(b, m), moving(b, m)
			if s.tick(c); s.State.Limited || s.State.Failed {
				b.Fatalf("%d joints: %+v", n, s.State) // a quadratic program would be measured
			}
			d, tau := dynamics.NewData(m), make([]float64, m.NumV())
			b.Run(fmt.Sprintf("%s/%d/inverse dynamics", shape.name, n), func(b *testing.B) {
				for b.Loop() {
					d.InverseTo(tau, s.q, s.v, s.a, dynamics.Load{})
				}
			})
			b.Run(fmt.Sprintf("%s/%d/cycle 1", shape.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s.tick(c)
					for j := range s.Tau {
						s.Effort(j, true, period)
					}
				}
			})
		}
	}
}
