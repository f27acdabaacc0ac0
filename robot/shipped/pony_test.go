package shipped_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"poise/internal/approx"
	"poise/robot"
	"poise/spatial"
	"poise/urdf"
)

// Where the pony's joints are: the robot it stands for, joint by joint.
var ponyHead = []struct {
	joint, parent, child string
	origin, axis         spatial.Vec3
	lower, upper         float64
}{
	{"joint51", "base_link", "bone51", spatial.Vec3{X: 0.088, Z: 0.0235}, spatial.Vec3{Y: -1}, -1.5708, 0.26},
	{"joint52", "bone51", "bone52", spatial.Vec3{Y: -0.00315, Z: 0.06705}, spatial.Vec3{Z: 1}, -1.5708, 1.5708},
	{"joint53", "bone52", "bone53", spatial.Vec3{}, spatial.Vec3{Y: -1}, -0.55, 1.0},
	{"joint54", "bone53", "bone54", spatial.Vec3{Y: 0.00315, Z: 0.0246}, spatial.Vec3{X: 1}, -0.4, 0.4},
	{"joint55", "bone54", "bone55", spatial.Vec3{X: 0.12, Z: -0.02}, spatial.Vec3{Z: 1}, -1.5708, 1.5708},
	{"joint56", "bone55", "bone56", spatial.Vec3{}, spatial.Vec3{Y: 1}, -1.5708, 1.5708},
	{"eyes_yaw", "bone54", "eyes_yaw_link", spatial.Vec3{}, spatial.Vec3{Z: -1}, -1.5708, 1.5708},
	{"eyes_pitch", "eyes_yaw_link", "eyes_pitch_link", spatial.Vec3{}, spatial.Vec3{Y: -1}, -1.5708, 1.5708},
}

func TestPonyHeadIsBuiltAsDescribed(t *testing.T) {
	joints := jointsOf(model(t, "pony"))
	for _, want := range ponyHead {
		checkJoint(t, joints, want.joint, want.parent, want.child, want.origin, want.axis, want.lower, want.upper)
	}
}

func TestPonyLegsAreBuiltAsDescribed(t *testing.T) {
	joints := jointsOf(model(t, "pony"))
	for leg, side := range []struct{ front, left float64 }{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}} {
		n := func(format string, k int) string { return fmt.Sprintf(format, leg+1, k) }
		hip := spatial.Vec3{X: 0.080425 * side.front, Y: 0.037 * side.left, Z: -0.0275}
		ankle := spatial.Vec3{Y: 0.0016 * side.left, Z: -0.09605}
		x, y, z := spatial.Vec3{X: -1}, spatial.Vec3{Y: -1}, spatial.Vec3{Z: 1}
		checkJoint(t, joints, n("joint%d%d", 1), "base_link", n("bone%d%d", 1), hip, x, -1.5708, 1.5708)
		checkJoint(t, joints, n("joint%d%d", 2), n("bone%d%d", 1), n("bone%d%d", 2), spatial.Vec3{}, y, -1.5708, 1.5708)
		checkJoint(t, joints, n("joint%d%d", 3), n("bone%d%d", 2), n("bone%d%d", 3), spatial.Vec3{Z: -0.08}, y, -1.9, 1.9)
		checkJoint(t, joints, n("joint%d%d", 4), n("bone%d%d", 3), n("bone%d%d", 4), ankle, y, -1.7, 1.7)
		checkJoint(t, joints, n("joint%d%d", 5), n("bone%d%d", 4), n("bone%d%d", 5), spatial.Vec3{}, x, -1.5708, 1.5708)
		checkJoint(t, joints, n("joint%d%d", 6), n("bone%d%d", 5), n("bone%d%d", 6), spatial.Vec3{}, z, -1.5708, 1.5708)
	}
}

func jointsOf(m *robot.Model) map[string]urdf.Joint {
	joints := map[string]urdf.Joint{}
	for _, j := range m.Document().Joints {
		joints[j.Name] = j
	}
	return joints
}

func checkJoint(t *testing.T, joints map[string]urdf.Joint, name, parent, child string, origin, axis spatial.Vec3, lower, upper float64) {
	t.Helper()
	j, ok := joints[name]
	if !ok || j.Type != urdf.Revolute || j.Limit == nil {
		t.Errorf("%s is missing, not revolute or without limits", name)
		return
	}
	if j.Parent != parent || j.Child != child {
		t.Errorf("%s joins %s to %s, want %s to %s", name, j.Parent, j.Child, parent, child)
	}
	got := slices.Concat(vector(j.Origin.XYZ), vector(j.Origin.RPY), vector(j.Axis), []float64{j.Limit.Lower, j.Limit.Upper})
	want := slices.Concat(vector(origin), []float64{0, 0, 0}, vector(axis), []float64{lower, upper})
	approx.Equal(t, name+": origin, turn, axis, range", got, want, approx.Tol{Abs: 1e-15})
}

func TestPonyHasTheseJoints(t *testing.T) {
	m := model(t, "pony")
	var names []string
	for _, j := range m.Joints() {
		names = append(names, j.Name)
	}
	slices.Sort(names)
	want := strings.Fields(`
		ear_l_joint ear_r_joint eyes_pitch eyes_yaw
		joint11 joint12 joint13 joint14 joint15 joint16 joint21 joint22 joint23 joint24 joint25 joint26
		joint31 joint32 joint33 joint34 joint35 joint36 joint41 joint42 joint43 joint44 joint45 joint46
		joint51 joint52 joint53 joint54 joint55 joint56
		mouth_joint tail_joint1 tail_joint2 tail_joint3`)
	if !slices.Equal(names, want) {
		t.Errorf("joints = %v, want %v", names, want)
	}
	if !m.Floating() || m.NumQ() != 7+len(want) || m.NumV() != 6+len(want) {
		t.Errorf("floating %v, nq %d, nv %d, want a free base and %d joints", m.Floating(), m.NumQ(), m.NumV(), len(want))
	}
}

func TestPonyServos(t *testing.T) {
	m := model(t, "pony")
	virtual := strings.Fields("joint16 joint26 joint36 joint46 joint55 joint56 eyes_yaw eyes_pitch")
	seen := map[int]string{}
	for id, j := range m.Joints() {
		s := m.Servo(robot.JointID(id))
		if slices.Contains(virtual, j.Name) {
			if s.Assigned || !j.Virtual {
				t.Errorf("%s: servo %v, virtual %v: no servo moves it", j.Name, s.Assigned, j.Virtual)
			}
			continue
		}
		if !s.Assigned || j.Virtual {
			t.Errorf("%s: servo %v, virtual %v: a servo moves it", j.Name, s.Assigned, j.Virtual)
			continue
		}
		if other, taken := seen[s.ID]; taken {
			t.Errorf("%s and %s share servo %d", j.Name, other, s.ID)
		}
		seen[s.ID] = j.Name
		if number, ok := strings.CutPrefix(j.Name, "joint"); ok && number != fmt.Sprint(s.ID) {
			t.Errorf("%s has servo %d: the number of a joint is the address of its servo", j.Name, s.ID)
		}
		if s.Zero < 400 || s.Zero > 600 {
			t.Errorf("%s: zero at step %g is far from the middle, 512", j.Name, s.Zero)
		}
		v, a := j.Limits.Velocity, j.Limits.Acceleration
		if leg := strings.HasPrefix(j.Name, "joint") && j.Name[5] <= '4'; leg { // as fast as its servo
			if v.Value != 9 || a.Value != 200 {
				t.Errorf("%s: velocity limit %v, acceleration limit %v, want 9 and 200", j.Name, v, a)
			}
		} else if !v.Has || v.Value > 3.1416 || a.Has {
			t.Errorf("%s: velocity limit %v, acceleration limit %v that was not measured", j.Name, v, a)
		}
	}
	if len(seen) != 30 {
		t.Errorf("%d servos, want 24 in legs and neck and 6 in ears, mouth and tail", len(seen))
	}
	if !m.TransitionAcceleration().Has {
		t.Error("transition_acceleration is missing")
	}
}

func TestPonyResources(t *testing.T) {
	m := model(t, "pony")
	resources, err := m.Resources()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields("leg1 leg2 leg3 leg4 head eyes ears mouth tail")
	var names []string
	var all robot.Set
	for _, r := range resources.List() {
		names = append(names, r.Name)
		set, _ := resources.Find(r.Name)
		if all.Overlaps(set) {
			t.Errorf("%s shares something with another resource", r.Name)
		}
		all = all.Union(set)
		id, _ := m.Group(r.Name)
		if m.SafeState(id).Do == robot.SafeUnset {
			t.Errorf("%s has no safe state", r.Name)
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("resources = %v, want %v", names, want)
	}
	for id, j := range m.Joints() {
		if !all.Has(resources.OfJoint(robot.JointID(id))) {
			t.Errorf("%s cannot be owned", j.Name)
		}
	}
	for _, leaf := range strings.Fields("support/leg1 support/leg2 support/leg3 support/leg4 base eye_screens") {
		if _, ok := resources.Find(leaf); !ok {
			t.Errorf("no leaf %s", leaf)
		}
	}
}

func TestPonyChainsAndContacts(t *testing.T) {
	m := model(t, "pony")
	var names []string
	for _, c := range m.Chains() {
		names = append(names, c.Name)
		want := map[string]int{"head": 4}[c.Name]
		if want == 0 {
			want = 6
		}
		if len(c.Joints) != want {
			t.Errorf("chain %s has %d joints, want %d", c.Name, len(c.Joints), want)
		}
		if leg := strings.HasPrefix(c.Name, "leg"); leg != (c.Contact != robot.NoContact) {
			t.Errorf("chain %s: contact %d", c.Name, c.Contact)
		} else if leg && m.Contacts()[c.Contact].Name != "hoof_flat" {
			t.Errorf("chain %s stands with %s", c.Name, m.Contacts()[c.Contact].Name)
		}
	}
	if got, want := strings.Join(names, " "), "leg1 leg3 leg4 leg2 head nose"; got != want {
		t.Errorf("chains = %s, want %s: round the support polygon", got, want)
	}
	points := map[string][]spatial.Vec3{
		"hoof_flat":   {{Z: -0.03}, {Z: -0.05}},
		"hoof_center": {{Z: -0.03}},
		"hoof_fixed":  {{Z: -0.03}, {Z: -0.05}, {X: 0.02, Z: -0.03}},
	}
	for _, c := range m.Contacts() {
		if !slices.Equal(c.Points, points[c.Name]) {
			t.Errorf("contact %s = %v, want %v", c.Name, c.Points, points[c.Name])
		}
	}
}

func TestPonyMass(t *testing.T) {
	leg := 0.1056 + 0.0185 + 0.0651 + 0.1056 + 0.0234
	described := 0.972 + 4*leg + 0.1026 + 0.0054 + 0.0557 + 0.2301 + 2*0.0343
	ours := 2*0.008 + 0.015 + 0.010 + 2*0.030 // ears, jaw, tail
	ghosts := (4 + 2 + 2 + 4) * 0.001         // hooves, nose, eyes, pupils
	approx.Scalar(t, "mass", model(t, "pony").Mass(), described+ours+ghosts, approx.Tol{Abs: 1e-12})
	approx.Scalar(t, "mass as described", described, 2.71, approx.Tol{Abs: 0.005})
}

func TestPonyStandsOnStraightLegs(t *testing.T) {
	s := at(t, model(t, "pony"), nil)
	for n, want := range []spatial.Vec3{{X: 0.080425, Y: 0.0386}, {X: 0.080425, Y: -0.0386}, {X: -0.080425, Y: 0.0386}, {X: -0.080425, Y: -0.0386}} {
		want.Z = -0.23355
		equalVec(t, fmt.Sprintf("sole %d", n+1), s.frame(t, fmt.Sprintf("hoof%d", n+1)).P, want, tolProduct)
	}
	hips := func(a, b string) float64 { return s.frame(t, a).P.Sub(s.frame(t, b).P).Norm() }
	approx.Scalar(t, "front hip to hind hip", hips("bone11", "bone31"), 0.161, approx.Tol{Abs: 0.0002})
	approx.Scalar(t, "left hip to right hip", hips("bone11", "bone21"), 0.074, approx.Tol{Abs: tolProduct})
}

// image returns the link that a mirror puts in the place of another.
func image(link string) string {
	if rest, ok := strings.CutSuffix(link, "_left"); ok {
		return rest + "_right"
	}
	if rest, ok := strings.CutSuffix(link, "_right"); ok {
		return rest + "_left"
	}
	for _, prefix := range []string{"bone", "hoof"} {
		if digits, ok := strings.CutPrefix(link, prefix); ok && digits[0] < '5' {
			other := map[byte]string{'1': "2", '2': "1", '3': "4", '4': "3"}[digits[0]]
			return prefix + other + digits[1:]
		}
	}
	return link
}

// mirrored returns a pose seen in the plane y = 0.
func mirrored(X spatial.Pose) spatial.Pose {
	S := spatial.Mat3{1, 0, 0, 0, -1, 0, 0, 0, 1}
	return spatial.Pose{R: S.Mul(X.R).Mul(S), P: S.MulVec(X.P)}
}

// The robot in a mirrored pose is the mirror image of the robot in the pose.
// Only the neck is not quite symmetric: its yaw axis stands 3.15 mm to the right,
// so that what it carries may be off by four times as much at most.
func TestPonyMirrorTableIsAMirror(t *testing.T) {
	const neck = 4 * 0.00315
	m := model(t, "pony")
	if len(m.Mirror()) != len(m.Joints()) {
		t.Fatalf("the table has %d joints, the robot %d", len(m.Mirror()), len(m.Joints()))
	}
	rng := rand.New(rand.NewPCG(2, 3))
	for range 200 {
		q := sample(rng, m)
		q2 := slices.Clone(q)
		for id, j := range m.Joints() {
			of := m.Mirror()[id]
			q2[j.Q] = of.Sign * q[m.Joints()[of.Of].Q]
		}
		a, b := place(m, q), place(m, q2)
		for _, f := range m.Frames() {
			got, want := b.frame(t, image(f.Name)), mirrored(a.frame(t, f.Name))
			tol := tolProduct
			if carriedByNeck(m, f) {
				tol = neck
			}
			equalVec(t, "mirrored place of "+f.Name, got.P, want.P, tol)
			if !strings.HasPrefix(f.Name, "screen_") { // mounted each its own way round
				approx.Equal(t, "mirrored turn of "+f.Name, got.R[:], want.R[:], approx.Tol{Abs: tolProduct})
			}
		}
		if t.Failed() {
			t.Fatalf("at q = %v", q)
		}
	}
}

func carriedByNeck(m *robot.Model, f robot.Frame) bool {
	for b := f.Body; b != robot.World; b = m.Bodies()[b].Parent {
		if m.Bodies()[b].Name == "joint52" {
			return true
		}
	}
	return false
}

func TestPonyMirrorKeepsLimits(t *testing.T) {
	m := model(t, "pony")
	for id, of := range m.Mirror() {
		a, b := m.Joints()[id].Limits, m.Joints()[of.Of].Limits
		lower, upper := b.Lower.Value, b.Upper.Value
		if of.Sign < 0 {
			lower, upper = -upper, -lower
		}
		if a.Lower.Value != lower || a.Upper.Value != upper {
			t.Errorf("%s and its image %s have different ranges", m.Joints()[id].Name, m.Joints()[of.Of].Name)
		}
	}
}

// In each named pose the soles lie on one plane, flat, and the weight falls
// between what touches the floor.
func TestPonyPosesBalance(t *testing.T) {
	const (
		flat  = 0.001 // m: what rounding the angles to 1e-3 does to the soles
		level = 0.002 // rad: the same for their direction
	)
	tests := []struct {
		pose   string
		height float64 // of base_link above the floor
		pitch  float64 // nose down
		knees  bool    // on the floor too
		margin float64
	}{
		{"stand", 0.223, 0, false, 0.02},
		{"crouched", 0.2027, 0, false, 0.02},
		{"bow", 0.190, 0.4, false, 0.02},
		{"lying", 0.128, 0, true, 0.02},
	}
	m := model(t, "pony")
	for _, tc := range tests {
		t.Run(tc.pose, func(t *testing.T) {
			s := at(t, m, jointsOfPose(t, m, "stand"))
			for name, value := range jointsOfPose(t, m, tc.pose) {
				id, _ := m.Joint(name)
				s.q[m.Joints()[id].Q] = value
			}
			s = place(m, s.q)
			// the world as the floor sees it
			X_FB := spatial.Pose{R: spatial.AxisAngle(spatial.Vec3{Y: 1}, tc.pitch), P: spatial.Vec3{Z: tc.height}}
			var touching []spatial.Vec3
			for n := 1; n <= 4; n++ {
				sole := X_FB.Mul(s.frame(t, fmt.Sprintf("hoof%d", n)))
				approx.Scalar(t, fmt.Sprintf("height of sole %d", n), sole.P.Z, 0, approx.Tol{Abs: flat})
				approx.Scalar(t, fmt.Sprintf("lean of hoof %d", n), math.Acos(min(1, sole.R.Col(2).Z)), 0, approx.Tol{Abs: level})
				touching = append(touching, sole.P)
				if tc.knees {
					knee := X_FB.Mul(s.frame(t, fmt.Sprintf("bone%d3", n))).P
					approx.Scalar(t, fmt.Sprintf("height of knee %d", n), knee.Z, 0.0205, approx.Tol{Abs: 0.005})
					touching = append(touching, knee)
				}
			}
			if got := margin(X_FB.Apply(s.centreOfMass()), touching); got < tc.margin {
				t.Errorf("the centre of mass is %.1f mm inside the support, want %.1f mm", 1e3*got, 1e3*tc.margin)
			}
		})
	}
}

func jointsOfPose(t *testing.T, m *robot.Model, name string) map[string]float64 {
	t.Helper()
	p, ok := m.Pose(name)
	if !ok {
		t.Fatalf("no pose %q", name)
	}
	joints := map[string]float64{}
	for i, id := range p.Joints {
		joints[m.Joints()[id].Name] = p.Q[i][0]
	}
	return joints
}

// The pupils follow the eyes at half the angle, as the screens draw them.
func TestPonyPupilsFollowTheEyes(t *testing.T) {
	m := model(t, "pony")
	followers := map[string]string{}
	for _, b := range m.Bodies() {
		if b.Mimic {
			followers[b.Name] = m.Joints()[b.Joint].Name
			approx.Scalar(t, b.Name+": multiplier", b.Ratio, 0.5, approx.Tol{})
		}
	}
	for _, side := range []string{"left", "right"} {
		for _, way := range []string{"yaw", "pitch"} {
			if got, want := followers["pupil_"+side+"_"+way], "eyes_"+way; got != want {
				t.Errorf("pupil_%s_%s follows %q, want %q", side, way, got, want)
			}
		}
	}
	if len(followers) != 4 {
		t.Errorf("followers = %v", followers)
	}
}

// Which way a joint goes when its position grows: docs/robots.md says it in words.
func TestPonyDirections(t *testing.T) {
	var (
		forward = spatial.Vec3{X: 1}
		back    = spatial.Vec3{X: -1}
		left    = spatial.Vec3{Y: 1}
		right   = spatial.Vec3{Y: -1}
		up      = spatial.Vec3{Z: 1}
		down    = spatial.Vec3{Z: -1}
	)
	tests := []struct {
		joint, link string
		point       spatial.Vec3 // of the link
		goes        spatial.Vec3
	}{
		{"joint11", "hoof1", spatial.Vec3{}, right},
		{"joint12", "hoof1", spatial.Vec3{}, forward},
		{"joint13", "hoof1", spatial.Vec3{}, forward},
		{"joint14", "hoof1", spatial.Vec3{}, forward},
		{"joint15", "hoof1", spatial.Vec3{}, right},
		{"joint16", "bone16", forward, left},
		{"joint51", "bone54", spatial.Vec3{}, back},
		{"joint52", "bone56", spatial.Vec3{}, left},
		{"joint53", "bone56", spatial.Vec3{}, up},
		{"joint54", "bone54", up, right},
		{"joint55", "bone56", forward, left},
		{"joint56", "bone56", forward, down},
		{"eyes_yaw", "eyes_pitch_link", forward, right},
		{"eyes_yaw", "pupil_left", forward, right},
		{"eyes_pitch", "eyes_pitch_link", forward, up},
		{"eyes_pitch", "pupil_right", forward, up},
		{"ear_l_joint", "ear_left", up, forward},
		{"ear_r_joint", "ear_right", up, forward},
		{"mouth_joint", "jaw", forward, up},
		{"tail_joint1", "tail3", back, right},
		{"tail_joint2", "tail3", back, up},
		{"tail_joint3", "tail3", back, right},
	}
	m := model(t, "pony")
	zero := at(t, m, nil)
	for _, tc := range tests {
		moved := at(t, m, map[string]float64{tc.joint: 0.05})
		step := moved.frame(t, tc.link).Apply(tc.point).Sub(zero.frame(t, tc.link).Apply(tc.point))
		if d := step.Dot(tc.goes) / step.Norm(); !(d > 0.5) {
			t.Errorf("%s: a point of %s goes along %v, want %v", tc.joint, tc.link, step, tc.goes)
		}
	}
}
