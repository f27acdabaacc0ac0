package shipped_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"poise/dynamics"
	"poise/internal/approx"
	"poise/robot"
	"poise/spatial"
	"poise/urdf"
)

func TestArmGroups(t *testing.T) {
	m := model(t, "arm6")
	if m.Floating() || m.NumQ() != 7 || m.NumV() != 7 {
		t.Errorf("floating %v, nq %d, nv %d, want a fixed base, six axes and a finger", m.Floating(), m.NumQ(), m.NumV())
	}
	for group, joints := range map[string]string{
		"manipulator": "joint_1 joint_2 joint_3 joint_4 joint_5 joint_6",
		"gripper":     "finger_left_joint",
	} {
		id, ok := m.Group(group)
		if !ok {
			t.Fatalf("no group %q", group)
		}
		g := m.Groups()[id]
		var names []string
		for _, j := range g.Joints {
			names = append(names, m.Joints()[j].Name)
		}
		if !slices.Equal(names, strings.Fields(joints)) || !g.Resource {
			t.Errorf("group %s = %v, resource %v, want %s as a resource", group, names, g.Resource, joints)
		}
		if m.SafeState(id).Do == robot.SafeUnset {
			t.Errorf("group %s has no safe state", group)
		}
	}
	id, _ := m.Group("manipulator")
	if tip := m.Frames()[m.Groups()[id].Tip].Name; tip != "tool0" {
		t.Errorf("manipulator ends at %s, want tool0", tip)
	}
	if _, ok := m.Joint("finger_right_joint"); ok {
		t.Error("finger_right_joint is a joint of its own, want a follower of finger_left_joint")
	}
}

func TestArmLimits(t *testing.T) {
	m := model(t, "arm6")
	for i := 1; i <= 6; i++ {
		id, ok := m.Joint(fmt.Sprintf("joint_%d", i))
		if !ok {
			t.Fatalf("no joint_%d", i)
		}
		l := m.Joints()[id].Limits
		for _, limit := range []struct {
			name    string
			limit   robot.Limit
			allowed bool
		}{
			{"lower ≤ −0.8 rad", l.Lower, l.Lower.Value <= -0.8},
			{"upper ≥ 0.8 rad", l.Upper, l.Upper.Value >= 0.8},
			{"velocity ≥ 1.5 rad/s", l.Velocity, l.Velocity.Value >= 1.5},
			{"acceleration ≥ 3 rad/s²", l.Acceleration, l.Acceleration.Value >= 3},
			{"deceleration ≤ −3 rad/s²", l.Deceleration, l.Deceleration.Value <= -3},
			{"jerk", l.Jerk, l.Jerk.Value > 0},
			{"effort", l.Effort, l.Effort.Value > 0},
		} {
			if !limit.limit.Has || !limit.allowed || limit.limit.Source == "" {
				t.Errorf("joint_%d: %s: %+v", i, limit.name, limit.limit)
			}
		}
	}
	c := m.CartesianLimits()
	if c == nil {
		t.Fatal("no Cartesian limits")
	}
	if !c.MaxTransVel.Has || !c.MaxTransAcc.Has || !c.MaxTransDec.Has || !c.MaxRotVel.Has || c.MaxTransDec.Value >= 0 {
		t.Errorf("Cartesian limits = %+v", c)
	}
}

// A spherical wrist: the last three axes meet in the origin of link_5, whatever
// the pose.
func TestArmWristAxesMeet(t *testing.T) {
	m := model(t, "arm6")
	rng := rand.New(rand.NewPCG(4, 5))
	for range 1000 {
		s := place(m, sample(rng, m))
		wrist := s.frame(t, "link_5").P
		for _, joint := range []string{"joint_4", "joint_5", "joint_6"} {
			point, direction := s.axis(t, joint)
			if d := wrist.Sub(point).Cross(direction).Norm(); d > tolProduct {
				t.Fatalf("axis of %s passes the wrist at %g m, q = %v", joint, d, s.q)
			}
		}
	}
}

// At zero the arm is far from its singularities, so that plans may start there:
// for a spherical wrist det J = (arm) · (wrist), the triple products of the
// wrist's velocities by the first three axes and of the last three axes.
func TestArmZeroIsNotSingular(t *testing.T) {
	s := at(t, model(t, "arm6"), nil)
	wrist := s.frame(t, "link_5").P
	var v, w [3]spatial.Vec3
	for i := range 3 {
		p, z := s.axis(t, fmt.Sprintf("joint_%d", i+1))
		v[i] = z.Cross(wrist.Sub(p))
		_, w[i] = s.axis(t, fmt.Sprintf("joint_%d", i+4))
	}
	arm := math.Abs(v[0].Dot(v[1].Cross(v[2])))
	if arm < 0.05 {
		t.Errorf("arm: triple product %g m³, want 0.05 at least", arm)
	}
	approx.Scalar(t, "wrist: triple product", math.Abs(w[0].Dot(w[1].Cross(w[2]))), 1, approx.Tol{Abs: tolProduct})
}

func TestArmReach(t *testing.T) {
	m := model(t, "arm6")
	// upper arm and forearm in one line, forward: the forearm's axis lies 0.03
	// above the elbow
	s := at(t, m, map[string]float64{"joint_2": math.Pi / 2, "joint_3": math.Atan2(0.03, 0.43) - math.Pi/2})
	wrist := s.frame(t, "link_5").P
	approx.Scalar(t, "reach of the wrist", math.Hypot(wrist.X, wrist.Y), 0.06+0.40+math.Hypot(0.43, 0.03), approx.Tol{Abs: tolProduct})
	if r := math.Hypot(wrist.X, wrist.Y); r < 0.85 || r > 0.95 {
		t.Errorf("reach %g m, want about 0.9 m", r)
	}

	zero := at(t, m, nil)
	tool := zero.frame(t, "tool0")
	equalVec(t, "tool0 at zero", tool.P, spatial.Vec3{X: 0.49, Z: 0.71}, tolProduct)
	equalVec(t, "direction of the tool at zero", tool.R.Col(2), spatial.Vec3{Z: -1}, tolProduct)
	equalVec(t, "x of the tool at zero", tool.R.Col(0), spatial.Vec3{X: 1}, tolProduct)
	home := at(t, m, jointsOfPose(t, m, "home"))
	equalVec(t, "direction of the tool at home", home.frame(t, "tool0").R.Col(2), spatial.Vec3{Z: -1}, tolProduct)
}

func TestArmFingersMoveTogether(t *testing.T) {
	m := model(t, "arm6")
	s := at(t, m, jointsOfPose(t, m, "open"))
	base := s.frame(t, "gripper_base")
	left, right := base.Inverse().Mul(s.frame(t, "finger_left")).P, base.Inverse().Mul(s.frame(t, "finger_right")).P
	equalVec(t, "finger_left", left, spatial.Vec3{Y: 0.035, Z: 0.068}, tolProduct)
	equalVec(t, "finger_right", right, spatial.Vec3{Y: -0.035, Z: 0.068}, tolProduct)
}

// With 5 kg between the fingers every drive has the torque for all acceleration
// limits at once, from rest in any pose: joint_limits.yaml says so.
func TestArmHasTheTorqueForItsAccelerations(t *testing.T) {
	m := model(t, "arm6")
	doc := *m.Document()
	doc.Links = slices.Clone(doc.Links)
	for i := range doc.Links {
		if doc.Links[i].Name == "tcp" {
			doc.Links[i].Inertial = &urdf.Inertial{Mass: 5, I: urdf.InertiaTensor{XX: 0.01, YY: 0.01, ZZ: 0.01}}
		}
	}
	loaded, _, err := robot.Build(&doc, robot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	approx.Scalar(t, "mass with payload", loaded.Mass(), m.Mass()+5, approx.Tol{Abs: 1e-9})

	d := dynamics.NewData(loaded)
	v, a, tau := make([]float64, m.NumV()), make([]float64, m.NumV()), make([]float64, m.NumV())
	rng := rand.New(rand.NewPCG(6, 7))
	var worst float64
	for range 20000 {
		q := sample(rng, m)
		for _, j := range m.Joints() {
			a[j.V] = j.Limits.Acceleration.Value * float64(2*rng.IntN(2)-1)
		}
		d.InverseTo(tau, q, v, a, dynamics.Load{})
		for _, j := range m.Joints() {
			share := math.Abs(tau[j.V]) / j.Limits.Effort.Value
			worst = math.Max(worst, share)
			if share > 1 {
				t.Fatalf("%s needs %.3g, has %.3g, at q = %v, a = %v", j.Name, tau[j.V], j.Limits.Effort.Value, q, a)
			}
		}
	}
	t.Logf("at most %.0f %% of a drive's torque", 100*worst)
}

// Which way an axis turns: docs/robots.md says it in words.
func TestArmDirections(t *testing.T) {
	tests := []struct {
		joint, link string
		point       spatial.Vec3 // of the link
		goes        spatial.Vec3
	}{
		{"joint_1", "tool0", spatial.Vec3{}, spatial.Vec3{Y: 1}},
		{"joint_2", "link_3", spatial.Vec3{}, spatial.Vec3{X: 1}},
		{"joint_3", "link_5", spatial.Vec3{}, spatial.Vec3{Z: -1}},
		{"joint_4", "tool0", spatial.Vec3{}, spatial.Vec3{Y: 1}},
		{"joint_5", "tool0", spatial.Vec3{}, spatial.Vec3{X: -1}},
		{"joint_6", "tool0", spatial.Vec3{X: 1}, spatial.Vec3{Y: -1}}, // about its own z, which looks down
	}
	m := model(t, "arm6")
	zero := at(t, m, nil)
	for _, tc := range tests {
		moved := at(t, m, map[string]float64{tc.joint: 0.05})
		step := moved.frame(t, tc.link).Apply(tc.point).Sub(zero.frame(t, tc.link).Apply(tc.point))
		if d := step.Dot(tc.goes) / step.Norm(); !(d > 0.9) {
			t.Errorf("%s: a point of %s goes along %v, want %v", tc.joint, tc.link, step, tc.goes)
		}
	}
}
