package dynamics_test

import (
	"errors"
	"testing"

	"poise/dynamics"
	"poise/internal/oracle"
	"poise/internal/randbot"
	"poise/robot"
	"poise/spatial"
	"poise/urdf"
)

func TestSingularMassMatrixIsAnError(t *testing.T) {
	z, y, x := spatial.Vec3{Z: 1}, spatial.Vec3{Y: 1}, spatial.Vec3{X: 1}
	off := spatial.Vec3{X: 0.2, Y: 0.1, Z: 0.3}
	tilted := spatial.Vec3{X: 1, Y: 2, Z: 3}
	solid := func(name string) urdf.Link { return oracle.Link(name, 1, off, 0.02, 0.03, 0.04) }
	empty := func(name string) urdf.Link { return urdf.Link{Name: name} }
	point := func(name string, at spatial.Vec3) urdf.Link { return oracle.Link(name, 1, at, 0, 0, 0) }
	follow := func(j urdf.Joint, leader string, k float64) urdf.Joint {
		j.Mimic = &urdf.Mimic{Joint: leader, Multiplier: k}
		return j
	}
	for _, tc := range []struct {
		name     string
		links    []urdf.Link
		joints   []urdf.Joint
		floating bool
		joint    string // that nothing resists, "-" if all is well
	}{
		{"all is well", []urdf.Link{solid("b"), solid("c")}, []urdf.Joint{
			oracle.Joint("j", urdf.Continuous, "base", "b", off, tilted),
			oracle.Joint("k", urdf.Continuous, "b", "c", off, z)}, false, "-"},
		{"tip without mass", []urdf.Link{solid("b"), empty("c")}, []urdf.Joint{
			oracle.Joint("j", urdf.Continuous, "base", "b", off, tilted),
			oracle.Joint("k", urdf.Continuous, "b", "c", off, y)}, false, "k"},
		{"slide without mass", []urdf.Link{solid("b"), empty("c")}, []urdf.Joint{
			oracle.Joint("j", urdf.Continuous, "base", "b", off, tilted),
			oracle.Joint("k", urdf.Prismatic, "b", "c", off, y)}, false, "k"},
		{"no mass between is well", []urdf.Link{empty("b"), solid("c")}, []urdf.Joint{
			oracle.Joint("j", urdf.Continuous, "base", "b", off, tilted),
			oracle.Joint("k", urdf.Continuous, "b", "c", off, y)}, false, "-"},
		{"point on the axis", []urdf.Link{solid("b"), point("c", tilted)}, []urdf.Joint{
			oracle.Joint("j", urdf.Continuous, "base", "b", off, x),
			oracle.Joint("k", urdf.Continuous, "b", "c", off, tilted)}, false, "k"},
		{"two joints on one axis", []urdf.Link{empty("b"), solid("c")}, []urdf.Joint{
			oracle.Joint("j", urdf.Continuous, "base", "b", off, tilted),
			oracle.Joint("k", urdf.Continuous, "b", "c", tilted, tilted)}, false, "j"},
		{"two slides on one line", []urdf.Link{empty("b"), solid("c")}, []urdf.Joint{
			oracle.Joint("j", urdf.Prismatic, "base", "b", off, tilted),
			oracle.Joint("k", urdf.Prismatic, "b", "c", tilted, tilted)}, false, "j"},
		{"floating base without mass", []urdf.Link{}, nil, true, ""},
		{"floating point", []urdf.Link{point("b", off)}, []urdf.Joint{oracle.Joint("j", urdf.Fixed, "base", "b", off, x)}, true, ""},
		{"planar without mass", []urdf.Link{empty("b")}, []urdf.Joint{oracle.Joint("j", urdf.Planar, "base", "b", off, z)}, false, "j"},
		{"thin rod about itself is well", []urdf.Link{oracle.Link("b", 1, spatial.Vec3{Z: 1}, 0.3, 0.3, 1e-9)}, []urdf.Joint{
			oracle.Joint("j", urdf.Continuous, "base", "b", off, z)}, false, "-"},
		{"followers without mass", []urdf.Link{solid("b"), empty("c"), empty("d")}, []urdf.Joint{
			oracle.Joint("j", urdf.Continuous, "base", "b", off, tilted),
			oracle.Joint("k", urdf.Continuous, "b", "c", off, y),
			follow(oracle.Joint("l", urdf.Continuous, "c", "d", off, x), "k", 1)}, false, "k"},
		{"follower that takes back", []urdf.Link{empty("b"), oracle.Link("c", 1, spatial.Vec3{}, 0.1, 0.1, 0.1)}, []urdf.Joint{
			oracle.Joint("j", urdf.Continuous, "base", "b", off, tilted),
			follow(oracle.Joint("k", urdf.Continuous, "b", "c", spatial.Vec3{}, tilted), "j", -1)}, false, "j"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			doc := &urdf.Document{Name: "r", Links: append([]urdf.Link{{Name: "base"}}, tc.links...), Joints: tc.joints}
			base := robot.BaseFixed
			if tc.floating {
				base = robot.BaseFloating
			}
			m := build(t, doc, base)
			s := newState(randbot.New(5), m)
			a := make([]float64, m.NumV())
			for i := range a {
				a[i] = 7
			}
			err := dynamics.NewData(m).ForwardTo(a, s.q, s.v, s.tau, none)
			if tc.joint == "-" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var singular *dynamics.SingularError
			if !errors.Is(err, dynamics.ErrSingular) || !errors.As(err, &singular) || singular.Joint != tc.joint {
				t.Fatalf("error %v, want joint %q named", err, tc.joint)
			}
			for _, x := range a {
				if x != 0 {
					t.Errorf("a = %v, want zeros", a)
				}
			}
		})
	}
}

func TestArmatureHealsASingularJoint(t *testing.T) {
	m := oracle.Robot(t, "prbt", robot.BaseFixed)
	s := newState(randbot.New(5), m)
	d := dynamics.NewData(m)
	a := make([]float64, m.NumV())
	if err := d.ForwardTo(a, s.q, s.v, s.tau, none); !isSingular(err) {
		t.Fatalf("error %v", err)
	}
	l := dynamics.Load{Armature: make([]float64, m.NumV())}
	l.Armature[m.NumV()-1] = 1e-3
	if err := d.ForwardTo(a, s.q, s.v, s.tau, l); err != nil {
		t.Fatal(err)
	}
}
