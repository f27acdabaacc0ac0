package world_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"poise/internal/strictyaml"
	"poise/robot"
	"poise/servo/servotest"
	"poise/sim"
	"poise/sim/world"
	"poise/spatial"
	"poise/urdf"
)

// TestAllThatIsWrongIsTold at once, each with its line.
func TestAllThatIsWrongIsTold(t *testing.T) {
	_, err := world.Parse([]byte(`friction: -1
bumps:
  height: 0.6
boxes:
  - {size: [1, 1, 0], at: [0, 0, 0]}
  - {size: [1, 1], at: [0, 0, 0]}
  - {size: {x: 1, y: 1}, at: [0, 0, 0]}
  - {at: [0, 0, 0]}
  - {size: [1, 1, 1]}
  - {size: [1, 1, 1], at: 7}
`), "w.yaml")
	for _, want := range []string{
		"w.yaml:1: friction: -1 is negative", "w.yaml:3: bumps: height within",
		"w.yaml:5: boxes.size", "w.yaml:6: boxes.size", "w.yaml:7: boxes.size", "w.yaml:8: boxes.size", "w.yaml:9: boxes.at", "w.yaml:10: boxes.at",
	} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v\nwant %q", err, want)
		}
	}
	for _, text := range []string{"slope: {roll: .nan}", "friction: .inf", "bumps: {count: -1}", "bumps: {count: 100001}", "boxes: [{size: [.inf, 1, 1], at: [0, 0, 0]}]", "gravity: 9.81"} {
		if _, err := world.Parse([]byte(text), "w.yaml"); err == nil {
			t.Errorf("%s: taken", text)
		}
	}
}

// around returns what a world has for a robot of two joints, l0 to l2, and what it complains about.
func around(t testing.TB, text string, srdf *urdf.Semantics) (s *world.Solid, m *robot.Model, complaints []string) {
	t.Helper()
	w, err := world.Parse([]byte(text), "w.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m = servotest.Turntable(t, 2, "")
	return w.For(m, srdf, "world.", func(line int, thing, format string, a ...any) {
		complaints = append(complaints, fmt.Sprintf("%d: %s: ", line, thing)+fmt.Sprintf(format, a...))
	}), m, complaints
}

// TestGround is what the file says, and without a word the default.
func TestGround(t *testing.T) {
	s, _, _ := around(t, "{}", nil)
	if g := s.Ground(nil); g.Friction != sim.DefaultFriction || g.R != spatial.Identity3 || g.Heights != nil || len(g.Boxes) != 0 {
		t.Errorf("%+v", g)
	}
	s, _, _ = around(t, "friction: 0\nslope: {roll: 0.1, pitch: -0.2}\nboxes: [{size: [1, 2, 4], at: {x: 3, z: 5}}]\n", nil)
	g := s.Ground(nil)
	if g.Friction != 0 || g.R != spatial.FromRPY(0.1, -0.2, 0) {
		t.Errorf("friction %g, %v", g.Friction, g.R)
	}
	if len(g.Boxes) != 1 || g.Boxes[0].Half != (spatial.Vec3{X: 0.5, Y: 1, Z: 2}) || g.Boxes[0].Pose != (spatial.Pose{R: spatial.Identity3, P: spatial.Vec3{X: 3, Z: 5}}) {
		t.Errorf("%+v", g.Boxes)
	}
}

// TestBumps are within their height, as steep as said, and the same for the same seed.
func TestBumps(t *testing.T) {
	const height = 0.004
	s, _, _ := around(t, fmt.Sprintf("bumps: {height: %g, count: 300}", height), nil)
	spread := func(seed uint64) *sim.Heights { return s.Ground(rand.New(rand.NewPCG(seed, 0))).Heights }
	h := spread(1)
	// the steepest slope of h·(1 − (r/R)²)², at r = R/√3, of the largest: lower ones have less height on √ of the radius
	const steepest = 1.5397 * height / 0.03 // 8/√27
	highest := 0.0
	for i, z := range h.Z {
		highest = max(highest, z)
		if i%h.NY > 0 && math.Abs(z-h.Z[i-1]) > steepest*h.Cell {
			t.Fatalf("a slope of %g, at most %g is wanted", math.Abs(z-h.Z[i-1])/h.Cell, steepest)
		}
		if z < 0 {
			t.Fatalf("a height of %g m", z)
		}
	}
	if len(h.Z) != h.NX*h.NY || highest != h.Highest || highest > height || highest < 0.9*height {
		t.Errorf("%d heights up to %g, said to be %g", len(h.Z), highest, h.Highest)
	}
	if !slices.Equal(h.Z, spread(1).Z) || slices.Equal(h.Z, spread(2).Z) {
		t.Error("bumps do not follow from their seed")
	}
}

// TestLinksOfAWorld are those of the robot; what an SRDF says of links that it does not have is passed over.
func TestLinksOfAWorld(t *testing.T) {
	srdf := &urdf.Semantics{Disabled: []urdf.LinkPair{{Link1: "l0", Link2: "l1"}, {Link1: "l0", Link2: "hand"}}}
	s, m, complaints := around(t, "touch:\n  - {a: l0, b: l2}\n  - {a: l0, b: l3}\n", srdf)
	pair := func(a, b string) [2]robot.FrameID {
		x, _ := m.Frame(a)
		y, _ := m.Frame(b)
		return [2]robot.FrameID{x, y}
	}
	if want := pair("l0", "l2"); len(s.Touch) != 1 || s.Touch[0] != want {
		t.Errorf("touch %v, want %v", s.Touch, want)
	}
	if want := pair("l0", "l1"); len(s.Apart) != 1 || s.Apart[0] != want {
		t.Errorf("apart %v, want %v", s.Apart, want)
	}
	if len(complaints) != 1 || !strings.HasPrefix(complaints[0], `3: world.touch: link "l3" does not exist`) || !strings.Contains(complaints[0], `"l2"`) {
		t.Errorf("%q", complaints)
	}
}

// TestVector: three numbers in either form; fewer are none.
func TestVector(t *testing.T) {
	for text, want := range map[string]spatial.Vec3{"v: [1, 2, 3]": {X: 1, Y: 2, Z: 3}, "v: {z: 3, x: 1}": {X: 1, Z: 3}} {
		n, _ := node(t, text)
		if v, given, err := world.Vector(n); v != want || !given || err != nil {
			t.Errorf("%s: %v, %t, %v", text, v, given, err)
		}
	}
	for _, text := range []string{"v: [1, 2]", "v: [1, 2, 3, 4]", "v: 1", "v: {w: 1}", "v: [a, b, c]"} {
		n, _ := node(t, text)
		if v, given, err := world.Vector(n); !given || err == nil {
			t.Errorf("%s: %v, %t", text, v, given)
		}
	}
	if _, given, err := world.Vector(strictyaml.Node{}); given || err != nil {
		t.Errorf("nothing: %t, %v", given, err)
	}
}

// node returns the value of key v.
func node(t testing.TB, text string) (strictyaml.Node, bool) {
	t.Helper()
	n, err := strictyaml.Parse([]byte(text), "v.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return n.Value("v")
}

// FuzzParse: whatever is taken makes a ground of numbers.
func FuzzParse(f *testing.F) {
	f.Add("friction: 0.6\nslope: {roll: 0, pitch: 0.1}\nbumps: {height: 0.005, count: 10}\n")
	f.Add("boxes: [{size: [1, 2, 4], at: {x: 3, z: 5}}]\ntouch: [{a: l0, b: l2}]\n")
	m := servotest.Turntable(f, 2, "")
	f.Fuzz(func(t *testing.T, text string) {
		w, err := world.Parse([]byte(text), "w.yaml")
		if err != nil {
			return
		}
		w.Bumps.Count = min(w.Bumps.Count, 10)
		g := w.For(m, nil, "", func(_ int, thing, format string, a ...any) {
			if thing != "touch" {
				t.Errorf("taken, and then %s: %s", thing, fmt.Sprintf(format, a...))
			}
		}).Ground(rand.New(rand.NewPCG(1, 1)))
		if !(g.Friction >= 0 && g.R.Col(0).Finite() && g.R.Col(2).Finite()) || math.IsInf(g.Friction, 0) {
			t.Errorf("friction %g, %v", g.Friction, g.R)
		}
		for _, b := range g.Boxes {
			if !b.Half.Finite() || !b.Pose.P.Finite() || !(b.Half.X > 0 && b.Half.Y > 0 && b.Half.Z > 0) {
				t.Errorf("%+v", b)
			}
		}
		if h := g.Heights; h != nil && !(h.Highest >= 0 && h.Highest <= w.Bumps.Height) {
			t.Errorf("bumps of up to %g m, want %g", h.Highest, w.Bumps.Height)
		}
	})
}
