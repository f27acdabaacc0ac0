package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"poise/robot"
	"poise/spatial"
)

// bar is a bar of 1 m along x, 0.06 m thick, of every shape that has a side.
func bar(shape string) (text string, c Config) {
	geometry := map[string]string{
		"box":      `<collision><geometry><box size="1 0.06 0.06"/></geometry></collision>`,
		"cylinder": `<collision><origin rpy="0 1.5707963267948966 0"/><geometry><cylinder radius="0.03" length="1"/></geometry></collision>`,
		"capsule":  `<collision><origin rpy="0 1.5707963267948966 0"/><geometry><capsule radius="0.03" length="0.94"/></geometry></collision>`,
		"mesh":     `<collision><geometry><mesh filename="bar.stl"/></geometry></collision>`,
	}[shape]
	c.Mesh = func(string) (corners []spatial.Vec3) {
		for k := range 8 {
			corners = append(corners, boxCorner(spatial.Vec3{X: 0.5, Y: 0.03, Z: 0.03}, k))
		}
		return corners
	}
	return `<robot name="bar"><link name="bar">` + inertial(1, 0.001, 0.0836, 0.0836) + geometry + `</link></robot>`, c
}

func boxAt(x, y, z, lx, ly, lz float64) Box {
	return Box{Pose: spatial.Pose{R: spatial.Identity3, P: spatial.Vec3{X: x, Y: y, Z: z}}, Half: spatial.Vec3{X: lx / 2, Y: ly / 2, Z: lz / 2}}
}

// TestBarAcrossANarrowBox: no corner of the bar is near the box, nor one of the box under
// its middle line; it lies on the box as long as its middle does, and tips off otherwise.
func TestBarAcrossANarrowBox(t *testing.T) {
	for _, shape := range []string{"box", "cylinder", "capsule", "mesh"} {
		for _, offset := range []float64{0, 0.049, 0.051} { // the box ends at 0.05
			t.Run(fmt.Sprint(shape, offset), func(t *testing.T) {
				text, c := bar(shape)
				w := simulate(t, build(t, text, robot.BaseFloating), c)
				w.in.Ground.Boxes = []Box{boxAt(0, 0, 0.1, 0.1, 0.4, 0.2)}
				w.s.Q[0], w.s.Q[2], w.s.Q[6] = offset, 0.2301, 1
				w.run(2)
				if offset > 0.05 {
					if math.Abs(w.s.Q[4]) < 0.15 { // one end on the ground
						t.Errorf("it does not tip at %v", w.s.Q[:7])
					}
					return
				}
				if math.Abs(w.s.Q[2]-0.23) > 1e-4 || math.Abs(w.s.Q[0]-offset) > 1e-3 || math.Abs(w.s.Q[4]) > 1e-3 {
					t.Errorf("it lies at %v", w.s.Q[:7])
				}
				carried := 0.0
				for _, c := range w.d.ContactsTo(nil) {
					carried += c.Force.Z
				}
				if math.Abs(carried/g-1) > 0.01 {
					t.Errorf("the box carries %g N of %g N", carried, g)
				}
			})
		}
	}
}

// TestHalfOverAStep: an upright cylinder stands on a step as long as its middle is over it:
// to a millimetre, whichever way its rim is turned.
func TestHalfOverAStep(t *testing.T) {
	for _, turn := range []float64{0, 0.5} {
		for _, over := range []float64{-0.002, 0.002} {
			I := 0.001
			text := `<robot name="can"><link name="can">` + inertial(1, I, I, I) + `<collision><geometry><cylinder radius="0.05" length="0.08"/></geometry></collision></link></robot>`
			w := simulate(t, build(t, text, robot.BaseFloating), Config{})
			w.in.Ground.Boxes = []Box{boxAt(0.5, 0, 0.05, 1, 1, 0.1)} // begins at x = 0
			w.s.Q[0], w.s.Q[2] = -over, 0.14
			w.s.Q[5], w.s.Q[6] = math.Sin(turn/2), math.Cos(turn/2)
			w.run(3)
			stands := math.Abs(w.s.Q[2]-0.14) < 1e-3 && math.Hypot(w.s.Q[3], w.s.Q[4]) < 0.01
			if want := over < 0; stands != want {
				t.Errorf("turned by %g, %g m over the edge: stands %v, at %v", turn, over, stands, w.s.Q)
			}
		}
	}
}

// TestCornerOfAStair: a block slides against the next step while it lies on the one below:
// both hold it.
func TestCornerOfAStair(t *testing.T) {
	w := simulate(t, build(t, brick(1, 0.1, 0.1, 0.04), robot.BaseFloating), Config{})
	w.in.Ground.Boxes = []Box{boxAt(0, 0, 0.05, 1, 1, 0.1), boxAt(0.5, 0, 0.1, 0.6, 1, 0.2)}
	w.in.Ground.Friction = 0.2
	w.s.Q[0], w.s.Q[2], w.s.Q[6] = 0.1, 0.12, 1
	w.in.Pushes = []Push{{Body: 1, Force: spatial.Vec3{X: 8}}}
	w.run(2)
	if math.Abs(w.s.Q[0]-0.15) > 1e-3 || math.Abs(w.s.Q[2]-0.12) > 1e-3 {
		t.Errorf("it is at %v, want 0.15, 0, 0.12", w.s.Q[:3])
	}
	side := 0.0
	for _, c := range w.d.ContactsTo(nil) {
		side += c.Force.X
	}
	if math.Abs(side+8) > 0.1 {
		t.Errorf("step and ground push back with %g N of 8 N", side)
	}
}

// TestEnergyIsNeverGainedAtBoxes: bodies of every shape are thrown onto a heap of boxes.
func TestEnergyIsNeverGainedAtBoxes(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	mesh := func(string) (corners []spatial.Vec3) {
		for k := range 8 {
			p := boxCorner(spatial.Vec3{X: 0.1, Y: 0.05, Z: 0.03}, k)
			if p.Z > 0 {
				p.X, p.Y = p.X/2, p.Y/2
			}
			corners = append(corners, p)
		}
		return corners
	}
	shapes := []string{`<box size="0.2 0.1 0.05"/>`, `<sphere radius="0.06"/>`, `<cylinder radius="0.05" length="0.12"/>`, `<capsule radius="0.03" length="0.1"/>`, `<mesh filename="m.stl"/>`}
	for _, shape := range shapes {
		for try := range 4 {
			text := `<robot name="thing"><link name="thing">` + inertial(0.7, 0.001, 0.0015, 0.002) + `<collision><geometry>` + shape + `</geometry></collision></link></robot>`
			w := simulate(t, build(t, text, robot.BaseFloating), Config{Mesh: mesh})
			for range 6 {
				w.in.Ground.Boxes = append(w.in.Ground.Boxes, boxAt(0.3*rng.Float64()-0.15, 0.3*rng.Float64()-0.15, 0.05, 0.03+0.2*rng.Float64(), 0.03+0.2*rng.Float64(), 0.1+0.2*rng.Float64()))
			}
			w.throw(rng, 0.5)
			w.energyFalls(fmt.Sprintf("%s, try %d", shape, try), 5e-5) // moving it out of a box lifts it by some micrometres
			if w.s.Q[2] < 0.01 {
				t.Errorf("%s, try %d: it sank to %v", shape, try, w.s.Q[:3])
			}
		}
	}
}

// TestHull: the hull of points on a ball holds them all, and touches each.
func TestHull(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{4, 8, 40, 128} {
		var points []spatial.Vec3
		for range n {
			p, _ := spatial.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Unit()
			points = append(points, p.Scale(0.1))
		}
		planes := hullPlanes(points)
		if len(planes) != 2*n-4 { // Euler's formula, of triangles
			t.Errorf("%d points: %d faces, want %d", n, len(planes), 2*n-4)
		}
		for _, p := range points {
			most := math.Inf(-1)
			for _, f := range planes {
				most = math.Max(most, f.n.Dot(p)-f.d)
			}
			if math.Abs(most) > 1e-7 {
				t.Errorf("%d points: one is %g m off the surface", n, most)
			}
		}
	}
	var cube []spatial.Vec3
	for k := range 8 {
		cube = append(cube, boxCorner(spatial.Vec3{X: 1, Y: 2, Z: 3}, k))
	}
	if planes := hullPlanes(cube); len(planes) != 6 {
		t.Errorf("a box has %d faces: %v", len(planes), planes)
	}
	if hullPlanes([]spatial.Vec3{{}, {X: 1}, {Y: 1}, {X: 1, Y: 1}, {X: 0.3, Y: 0.2}}) != nil {
		t.Error("a flat sheet has an inside")
	}
}
