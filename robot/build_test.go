package robot_test

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"poise/internal/approx"
	"poise/internal/randbot"
	"poise/robot"
	"poise/spatial"
	"poise/urdf"
)

// Poses and inertias are sums and products of some dozens of numbers around
// one: rounding stays far below this.
var tolTree = approx.Tol{Abs: 1e-11}

// motion returns the pose of a body against its rest for its coordinates, as
// package robot defines it.
func motion(kind robot.Kind, q []float64, ratio, offset float64) spatial.Pose {
	z := spatial.Vec3{Z: 1}
	switch kind {
	case robot.Prismatic:
		return spatial.Pose{R: spatial.Identity3, P: z.Scale(ratio*q[0] + offset)}
	case robot.Planar:
		return spatial.Pose{R: spatial.AxisAngle(z, q[2]), P: spatial.Vec3{X: q[0], Y: q[1]}}
	case robot.Floating:
		return free(q)
	}
	return spatial.Pose{R: spatial.AxisAngle(z, ratio*q[0]+offset)}
}

func free(q []float64) spatial.Pose {
	r := spatial.Quat{X: q[3], Y: q[4], Z: q[5], W: q[6]}
	return spatial.Pose{R: r.Matrix(), P: spatial.Vec3{X: q[0], Y: q[1], Z: q[2]}}
}

// linkPoses gives each link's pose in the world by the model.
func linkPoses(m *robot.Model, q []float64) map[string]spatial.Pose {
	world := make([]spatial.Pose, len(m.Bodies()))
	world[0] = spatial.IdentityPose
	for i, b := range m.Bodies() {
		if i > 0 {
			world[i] = world[b.Parent].Mul(b.Rest).Mul(motion(b.Kind, q[b.Q:], b.Ratio, b.Offset))
		}
	}
	out := map[string]spatial.Pose{}
	for _, f := range m.Frames() {
		out[f.Name] = world[f.Body].Mul(f.Pose)
	}
	return out
}

// byHand computes the pose of a link straight from the document, from the link
// upwards and without bodies: the road that Build does not take.
func byHand(doc *urdf.Document, m *robot.Model, q []float64, name string) spatial.Pose {
	X := spatial.IdentityPose
	for {
		j := jointAbove(doc, name)
		if j == nil {
			if m.Floating() {
				return free(q).Mul(X)
			}
			return X
		}
		X = j.Origin.Pose().Mul(moved(doc, m, q, j)).Mul(X)
		name = j.Parent
	}
}

func jointAbove(doc *urdf.Document, link string) *urdf.Joint {
	for i := range doc.Joints {
		if doc.Joints[i].Child == link {
			return &doc.Joints[i]
		}
	}
	return nil
}

// moved is the motion of a joint about its own axis.
func moved(doc *urdf.Document, m *robot.Model, q []float64, j *urdf.Joint) spatial.Pose {
	axis, _ := j.Axis.Unit()
	switch j.Type {
	case urdf.Fixed:
		return spatial.IdentityPose
	case urdf.Floating:
		id, _ := m.Joint(j.Name)
		return free(q[m.Joints()[id].Q:])
	case urdf.Planar:
		id, _ := m.Joint(j.Name)
		at := q[m.Joints()[id].Q:]
		x, y := planeAxes(axis)
		return spatial.Pose{R: spatial.AxisAngle(axis, at[2]), P: x.Scale(at[0]).Add(y.Scale(at[1]))}
	case urdf.Prismatic:
		return spatial.Pose{R: spatial.Identity3, P: axis.Scale(value(doc, m, q, j))}
	}
	return spatial.Pose{R: spatial.AxisAngle(axis, value(doc, m, q, j))}
}

// planeAxes turns x and y by the smallest rotation from z to the axis, written
// as a rotation about their common normal.
func planeAxes(axis spatial.Vec3) (x, y spatial.Vec3) {
	normal, ok := spatial.Vec3{Z: 1}.Cross(axis).Unit()
	if !ok {
		normal = spatial.Vec3{X: 1}
	}
	R := spatial.AxisAngle(normal, math.Acos(axis.Z))
	return R.Col(0), R.Col(1)
}

// value is a joint's position, by recursion over mimics.
func value(doc *urdf.Document, m *robot.Model, q []float64, j *urdf.Joint) float64 {
	if j.Mimic == nil {
		id, _ := m.Joint(j.Name)
		return q[m.Joints()[id].Q]
	}
	for i := range doc.Joints {
		if doc.Joints[i].Name == j.Mimic.Joint {
			return j.Mimic.Multiplier*value(doc, m, q, &doc.Joints[i]) + j.Mimic.Offset
		}
	}
	panic("no leader")
}

func numbers(X spatial.Pose) []float64 { return append(X.R[:], X.P.X, X.P.Y, X.P.Z) }

func TestBodiesMoveLinksAsTheDocumentSays(t *testing.T) {
	for seed := range uint64(60) {
		rng := randbot.New(seed)
		cfg := randbot.Config{Bodies: 1 + int(seed%14), Fixed: int(seed % 5), Mimics: int(seed % 4), Floating: seed%2 == 1, Serial: seed%5 == 0}
		doc := randbot.Document(rng, cfg)
		m := build(t, doc, cfg.Floating)
		q := randbot.Position(rng, m)
		for name, X := range linkPoses(m, q) {
			approx.Equal(t, fmt.Sprintf("seed %d: pose of %s", seed, name), numbers(X), numbers(byHand(doc, m, q, name)), tolTree)
		}
	}
}

func TestMergedInertiaIsThatOfTheLinks(t *testing.T) {
	for seed := range uint64(60) {
		rng := randbot.New(seed)
		cfg := randbot.Config{Bodies: 1 + int(seed%8), Fixed: int(seed % 9), Floating: seed%2 == 1}
		doc := randbot.Document(rng, cfg)
		m := build(t, doc, cfg.Floating)
		q := randbot.Position(rng, m)

		// by links: mass, first moment and second moment about the world's origin
		var links moments
		for _, l := range doc.Links {
			X := byHand(doc, m, q, l.Name).Mul(l.Inertial.Origin.Pose())
			i := l.Inertial.I
			links.add(spatial.Inertia{Mass: l.Inertial.Mass, I: spatial.Mat3{i.XX, i.XY, i.XZ, i.XY, i.YY, i.YZ, i.XZ, i.YZ, i.ZZ}}, X)
		}

		// by bodies
		var bodies moments
		world := make([]spatial.Pose, len(m.Bodies()))
		world[0] = spatial.IdentityPose
		for i, b := range m.Bodies() {
			if i > 0 {
				world[i] = world[b.Parent].Mul(b.Rest).Mul(motion(b.Kind, q[b.Q:], b.Ratio, b.Offset))
			}
			bodies.add(b.Inertia, world[i])
		}
		what := fmt.Sprintf("seed %d: mass, first and second moments", seed)
		approx.Equal(t, what, bodies.numbers(), links.numbers(), approx.Tol{Rel: 1e-12})
		approx.Scalar(t, what+": Mass", m.Mass(), links.mass, approx.Tol{Rel: 1e-14})
	}
}

// moments sums mass distributions in world axes.
type moments struct {
	mass   float64
	first  spatial.Vec3
	second spatial.Mat3
}

func (s *moments) add(M spatial.Inertia, X spatial.Pose) {
	s.mass += M.Mass
	com := X.Apply(M.Com)
	s.first = s.first.Add(com.Scale(M.Mass))
	S := spatial.Skew(com)
	s.second = s.second.Add(X.R.Mul(M.I).Mul(X.R.Transpose())).Add(S.Mul(S).Scale(-M.Mass))
}

func (s *moments) numbers() []float64 {
	return append([]float64{s.mass, s.first.X, s.first.Y, s.first.Z}, s.second[:]...)
}

func TestBodiesComeInOrder(t *testing.T) {
	for seed := range uint64(40) {
		m := randbot.Model(t, randbot.New(seed), randbot.Config{Bodies: 20, Fixed: 5, Mimics: 4, Floating: seed%2 == 0})
		nq, nv := 0, 0
		if m.Floating() {
			base := m.Bodies()[1]
			if base.Kind != robot.Floating || base.Joint != robot.NoJoint || base.Parent != robot.World || base.Name != "" {
				t.Errorf("seed %d: body 1 is %+v, want a free base", seed, base)
			}
			nq, nv = 7, 6
		}
		for i, j := range m.Joints() {
			if j.Q != nq || j.V != nv {
				t.Errorf("seed %d: joint %s stands at %d, %d, want %d, %d", seed, j.Name, j.Q, j.V, nq, nv)
			}
			nq, nv = nq+j.Kind.NumQ(), nv+j.Kind.NumV()
			b := m.Bodies()[j.Body]
			if b.Joint != robot.JointID(i) || b.Mimic || b.Name != j.Name {
				t.Errorf("seed %d: joint %d %q is carried by %+v", seed, i, j.Name, b)
			}
			if id, ok := m.Joint(j.Name); !ok || id != robot.JointID(i) {
				t.Errorf("seed %d: Joint(%q) = %d, %t", seed, j.Name, id, ok)
			}
		}
		if nq != m.NumQ() || nv != m.NumV() {
			t.Errorf("seed %d: nq %d, nv %d, want %d, %d", seed, m.NumQ(), m.NumV(), nq, nv)
		}
		for i, b := range m.Bodies()[1:] {
			if b.Parent > robot.BodyID(i) {
				t.Errorf("seed %d: body %d hangs on later body %d", seed, i+1, b.Parent)
			}
		}
	}
}

func TestDepthFirstByJointName(t *testing.T) {
	doc := &urdf.Document{Name: "star"}
	for _, n := range []string{"base", "a1", "a2", "b1", "weld", "b0"} {
		doc.Links = append(doc.Links, urdf.Link{Name: n, Inertial: unitInertial()})
	}
	doc.Joints = []urdf.Joint{
		revolute("z", "base", "b1"), revolute("m", "base", "a1"), revolute("a", "a1", "a2"),
		{Name: "n", Type: urdf.Fixed, Parent: "base", Child: "weld"}, revolute("y", "weld", "b0"),
	}
	var got []string
	for _, j := range build(t, doc, false).Joints() {
		got = append(got, j.Name)
	}
	if want := "[m a y z]"; fmt.Sprint(got) != want {
		t.Errorf("order %v, want %s", got, want)
	}
}

func TestAxisIsZ(t *testing.T) {
	axes := []spatial.Vec3{{X: 1}, {Y: 1}, {Z: 1}, {X: -1}, {Y: -1}, {Z: -1}, {X: 1e-9, Z: -1}, {X: 3, Y: -4, Z: 0.1}, {X: 1e-200}, {Y: 1e-12, Z: -5}}
	for _, axis := range axes {
		doc := &urdf.Document{Links: []urdf.Link{{Name: "a"}, {Name: "b", Inertial: unitInertial()}}, Joints: []urdf.Joint{revolute("j", "a", "b")}}
		doc.Joints[0].Axis = axis
		R := build(t, doc, false).Bodies()[1].Rest.R
		u, _ := axis.Unit()
		z := R.Col(2)
		approx.Equal(t, fmt.Sprintf("body z for axis %v", axis), []float64{z.X, z.Y, z.Z}, []float64{u.X, u.Y, u.Z}, approx.Tol{Abs: 1e-15})
		RRt := R.Mul(R.Transpose())
		approx.Equal(t, fmt.Sprintf("R·Rᵀ for axis %v", axis), RRt[:], spatial.Identity3[:], approx.Tol{Abs: 1e-14})
	}
}

func TestModelIsSharedWithoutHarm(t *testing.T) {
	m := randbot.Model(t, randbot.New(1), randbot.Config{Bodies: 30, Mimics: 5, Floating: true})
	want := fmt.Sprint(linkPoses(m, randbot.Position(randbot.New(2), m)))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			q := randbot.Position(randbot.New(2), m)
			if got := fmt.Sprint(linkPoses(m, q)); got != want {
				t.Error("the same question had two answers")
			}
		})
	}
	wg.Wait()
}

// TestModelDoesNotChangeWithItsSources scribbles over everything that Build was
// given but the document, which it keeps.
func TestModelDoesNotChangeWithItsSources(t *testing.T) {
	d := describe(t, dogYAML)
	s, _, err := urdf.ParseSRDF([]byte(`<robot name="dog"><group name="spine"><joint name="bite"/></group><group_state name="s" group="spine"><joint name="bite" value="0.05"/></group_state></robot>`), "dog.srdf")
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := robot.Build(parse(t, dogURDF), robot.Options{Description: d, SRDF: s})
	if err != nil {
		t.Fatal(err)
	}
	look := func() string {
		var poses []string
		for _, p := range m.Poses() {
			poses = append(poses, fmt.Sprintf("%+v", p))
		}
		r, _ := m.Resources()
		return fmt.Sprintf("%+v %+v %+v %+v %+v %v %+v %v", m.Bodies(), m.Joints(), m.Chains(), m.Contacts(), m.Groups(), poses, r.Leaves(), m.Gravity())
	}
	before := look()
	s.States[0].Joints[0].Value[0] = 9
	for i := range d.Contacts {
		d.Contacts[i].Points[0][0] = 9
	}
	d.Gravity[0] = 9
	for i := range d.Groups {
		for k := range d.Groups[i].Leaves {
			d.Groups[i].Leaves[k] = "x"
		}
		for k := range d.Groups[i].Joints {
			d.Groups[i].Joints[k] = "x"
		}
	}
	d.Poses[0].Joints[0].Value = 9
	if after := look(); after != before {
		t.Errorf("the model changed:\n%s\n%s", before, after)
	}
}

// build makes a model and fails the test on an error.
func build(t testing.TB, doc *urdf.Document, floating bool) *robot.Model {
	t.Helper()
	opts := robot.Options{Base: robot.BaseFixed}
	if floating {
		opts.Base = robot.BaseFloating
	}
	m, _, err := robot.Build(doc, opts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func unitInertial() *urdf.Inertial {
	return &urdf.Inertial{Mass: 1, I: urdf.InertiaTensor{XX: 1, YY: 1, ZZ: 1}}
}

func revolute(name, parent, child string) urdf.Joint {
	return urdf.Joint{
		Name: name, Type: urdf.Revolute, Parent: parent, Child: child, Axis: spatial.Vec3{X: 1},
		Limit: &urdf.Limit{Lower: -1, Upper: 1, Velocity: 2, Effort: 3},
	}
}
