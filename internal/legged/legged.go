// Package legged makes robots that stand, for tests: the pony, those of ../shared, any tree.
package legged

import (
	"fmt"
	"testing"

	"poise/internal/oracle"
	"poise/kinematics"
	"poise/robot"
	"poise/robot/description"
	"poise/robot/load"
	"poise/spatial"
	"poise/urdf"
)

// sets are the three contact models, as the pony declares them.
var sets = []description.Contact{
	{Name: "centre", Points: [][]float64{{0, 0, -0.03}}, Sole: 0.02},
	{Name: "flat", Points: [][]float64{{0, 0, -0.03}, {0, 0, -0.05}}, Sole: 0.02},
	{Name: "fixed", Points: [][]float64{{0, 0, -0.03}, {0, 0, -0.05}, {0.02, 0, -0.03}}, Sole: 0.02},
}

// corners are those of soles without discs, as `poise new-robot` finds them.
var corners = []description.Contact{
	{Name: "heel", Points: [][]float64{{0, 0, -0.03}}},
	{Name: "triangle", Points: [][]float64{{0.03, 0, -0.03}, {-0.01, -0.016, -0.03}, {-0.01, 0.016, -0.03}}},
	{Name: "corners", Points: [][]float64{{0.03, 0.012, -0.03}, {-0.01, 0.016, -0.03}, {-0.01, -0.016, -0.03}, {0.03, -0.012, -0.03}}},
}

// OnCorners reports whether the moments of a contact set are those of forces at bare points.
func OnCorners(c *robot.Contact) bool { return c.Sole == 0 && len(c.Points) > 2 }

// Origin is where the wrench of a contact set acts: at its first point, or in the middle of bare corners.
func Origin(c *robot.Contact) (p spatial.Vec3) {
	if !OnCorners(c) {
		return c.Points[0]
	}
	for _, x := range c.Points {
		p = p.Add(x.Scale(1 / float64(len(c.Points))))
	}
	return p
}

// Pony is the robot inside.
func Pony(t testing.TB) *robot.Model {
	t.Helper()
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return bot.Model
}

// Stand is where the pony stands.
func Stand(m *robot.Model) []float64 {
	q := make([]float64, m.NumQ())
	kinematics.NewSpace(m).NeutralTo(q)
	pose, _ := m.Pose("stand")
	for i, j := range pose.Joints {
		q[m.Joints()[j].Q] = pose.Q[i][0]
	}
	q[2] = 0.223
	return q
}

// feet are the links on which the robots of ../shared stand.
var feet = map[string][]string{
	"go2":      {"FL_foot", "FR_foot", "RL_foot", "RR_foot"},
	"anymal_c": {"LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"},
	"g1":       {"left_ankle_roll_link", "right_ankle_roll_link"},
	"atlas":    {"l_foot", "r_foot"},
}

// Shared is a robot of ../shared with the feet that it stands on.
func Shared(t testing.TB, name string) *robot.Model {
	t.Helper()
	return WithFeet(t, oracle.Robot(t, name, robot.BaseFloating).Document(), feet[name]...)
}

// Cornered is one with soles that are bare corners.
func Cornered(t testing.TB, name string) *robot.Model {
	t.Helper()
	return with(t, oracle.Robot(t, name, robot.BaseFloating).Document(), corners, feet[name])
}

// WithFeet builds a robot that stands on some of its links.
func WithFeet(t testing.TB, doc *urdf.Document, tips ...string) *robot.Model {
	t.Helper()
	return with(t, doc, sets, tips)
}

func with(t testing.TB, doc *urdf.Document, sets []description.Contact, tips []string) *robot.Model {
	t.Helper()
	child := map[string]bool{}
	for _, j := range doc.Joints {
		child[j.Child] = true
	}
	root := ""
	for _, l := range doc.Links {
		if !child[l.Name] {
			root = l.Name
		}
	}
	d := &robot.Description{Base: "floating", Contacts: sets}
	for i, tip := range tips {
		d.Chains = append(d.Chains, description.Chain{Name: fmt.Sprintf("leg%d", i+1), Base: root, Tip: tip, Contact: sets[0].Name})
	}
	m, _, err := robot.Build(doc, robot.Options{Description: d})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Leaves returns up to four links that carry nothing and that a joint moves.
func Leaves(doc *urdf.Document) (tips []string) {
	parent := map[string]bool{}
	for _, j := range doc.Joints {
		parent[j.Parent] = true
	}
	for _, j := range doc.Joints {
		if !parent[j.Child] && j.Type != urdf.Fixed && j.Mimic == nil && len(tips) < 4 {
			tips = append(tips, j.Child)
		}
	}
	return tips
}
