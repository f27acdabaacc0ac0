package world

import (
	"errors"
	"math"
	"math/rand/v2"

	"poise/internal/strictyaml"
	"poise/problem"
	"poise/robot"
	"poise/sim"
	"poise/spatial"
	"poise/urdf"
)

// Invalid is the code of what is wrong with a world.
const Invalid problem.Code = "invalid_world"

// World is what a robot stands in, as a file has it; docs/physics.md explains each key.
type World struct {
	Line     int      `yaml:",line"`
	Friction *float64 `yaml:"friction"`
	Slope    Slope    `yaml:"slope"`
	Boxes    []Box    `yaml:"boxes"`
	Bumps    Bumps    `yaml:"bumps"`
	Touch    []Touch  `yaml:"touch"` // links of one body that touch each other
}

// Slope turns the ground, rad.
type Slope struct {
	Roll  float64 `yaml:"roll"`
	Pitch float64 `yaml:"pitch"`
}

// Box is a box on the ground.
type Box struct {
	Line int             `yaml:",line"`
	Size strictyaml.Node `yaml:"size"`
	At   strictyaml.Node `yaml:"at"`
}

// Bumps are round ones, spread at random.
type Bumps struct {
	Line   int     `yaml:",line"`
	Height float64 `yaml:"height"`
	Count  int     `yaml:"count"`
}

// Touch names two links.
type Touch struct {
	Line int    `yaml:",line"`
	A    string `yaml:"a"`
	B    string `yaml:"b"`
}

// Complain is told what is wrong: the line, the key and why.
type Complain func(line int, thing, format string, a ...any)

// Parse reads a file that has a world and nothing else; file is its name in messages. All
// that is wrong comes at once, each with its line.
func Parse(data []byte, file string) (*World, error) {
	w := &World{}
	if err := strictyaml.Decode(data, file, w); err != nil {
		return nil, err
	}
	var report problem.Report
	complain := func(line int, thing, format string, a ...any) {
		report.Errorf(Invalid, problem.Pos{File: file, Line: max(line, 1)}, thing, format, a...)
	}
	w.Check("", complain)
	w.boxes("", complain)
	return w, report.Err()
}

// Check complains about numbers out of their ranges; keys have prefix before them.
func (w *World) Check(prefix string, complain Complain) {
	if w.Friction != nil && !(*w.Friction >= 0) {
		complain(w.Line, prefix+"friction", "%g is negative", *w.Friction)
	}
	if b := &w.Bumps; b.Height < 0 || b.Height > 0.5 || b.Count < 0 || b.Count > 100000 {
		complain(b.Line, prefix+"bumps", "height within 0 … 0.5 m and count within 0 … 100000 are wanted")
	}
}

// boxes returns those of the ground, and complains about those without a size.
func (w *World) boxes(prefix string, complain Complain) (boxes []sim.Box) {
	for i := range w.Boxes {
		b := &w.Boxes[i]
		size, given, err := Vector(b.Size)
		if err != nil || !given || !(size.X > 0 && size.Y > 0 && size.Z > 0) {
			complain(b.Line, prefix+"boxes.size", "three positive numbers are wanted, m")
			continue
		}
		at, given, err := Vector(b.At)
		if err != nil || !given {
			complain(b.Line, prefix+"boxes.at", "three numbers are wanted: its middle, m")
			continue
		}
		boxes = append(boxes, sim.Box{Pose: spatial.Pose{R: spatial.Identity3, P: at}, Half: size.Scale(0.5)})
	}
	return boxes
}

// Solid is the part of a world that does not depend on chance: found once, used for many
// runs.
type Solid struct {
	w     *World
	boxes []sim.Box
	Touch [][2]robot.FrameID // links that touch each other
	Apart [][2]robot.FrameID // pairs that never do, by the SRDF
}

// For finds what a world names in a robot; srdf may be nil. It complains about what is not
// there.
func (w *World) For(m *robot.Model, srdf *urdf.Semantics, prefix string, complain Complain) *Solid {
	s := &Solid{w: w, boxes: w.boxes(prefix, complain)}
	link := func(name string, line int) (robot.FrameID, bool) {
		id, ok := m.Frame(name)
		if !ok {
			complain(line, prefix+"touch", "link %q does not exist%s", name, problem.Hint(name, LinkNames(m)))
		}
		return id, ok
	}
	for _, t := range w.Touch {
		a, okA := link(t.A, t.Line)
		b, okB := link(t.B, t.Line)
		if okA && okB {
			s.Touch = append(s.Touch, [2]robot.FrameID{a, b})
		}
	}
	if srdf == nil {
		return s
	}
	for _, pair := range srdf.Disabled {
		a, okA := m.Frame(pair.Link1)
		b, okB := m.Frame(pair.Link2)
		if okA && okB {
			s.Apart = append(s.Apart, [2]robot.FrameID{a, b})
		}
	}
	return s
}

// LinkNames lists the links of a robot.
func LinkNames(m *robot.Model) []string {
	names := make([]string, len(m.Frames()))
	for i, f := range m.Frames() {
		names[i] = f.Name
	}
	return names
}

// Centre returns the centre of mass of a link in its frame.
func Centre(m *robot.Model, link string) spatial.Vec3 {
	for _, l := range m.Document().Links {
		if l.Name == link && l.Inertial != nil {
			return l.Inertial.Origin.XYZ
		}
	}
	return spatial.Vec3{}
}

// Ground makes the ground; bumps are spread by rng.
func (s *Solid) Ground(rng *rand.Rand) *sim.Ground {
	g := sim.Level()
	if f := s.w.Friction; f != nil {
		g.Friction = *f
	}
	g.SetSlope(s.w.Slope.Roll, s.w.Slope.Pitch)
	g.Boxes = s.boxes
	if b := s.w.Bumps; b.Count > 0 && b.Height > 0 {
		g.Heights = bumps(b, rng)
	}
	return g
}

// Bumps stand on a rectangle about the start, ahead of the robot more than behind it.
const (
	bumpsX0, bumpsX1 = -1.0, 6.0 // m
	bumpsY0, bumpsY1 = -1.0, 1.0
	bumpCell         = 0.005
	bumpRadius       = 0.03 // of the largest; lower ones are as steep
)

// bumps spreads round bumps of up to a height: each is h·(1 − (r/R)²)², flat at its rim.
func bumps(b Bumps, rng *rand.Rand) *sim.Heights {
	f := &sim.Heights{X0: bumpsX0, Y0: bumpsY0, Cell: bumpCell}
	f.NX, f.NY = int(math.Round((bumpsX1-bumpsX0)/bumpCell))+1, int(math.Round((bumpsY1-bumpsY0)/bumpCell))+1
	f.Z = make([]float64, f.NX*f.NY)
	for range b.Count {
		x, y := bumpsX0+(bumpsX1-bumpsX0)*rng.Float64(), bumpsY0+(bumpsY1-bumpsY0)*rng.Float64()
		share := 0.3 + 0.7*rng.Float64()
		h, R := share*b.Height, bumpRadius*math.Sqrt(share)
		n := int(R/bumpCell) + 1
		ci, cj := int((x-f.X0)/bumpCell), int((y-f.Y0)/bumpCell)
		for i := max(ci-n, 0); i <= min(ci+n, f.NX-1); i++ {
			for j := max(cj-n, 0); j <= min(cj+n, f.NY-1); j++ {
				dx, dy := f.X0+float64(i)*bumpCell-x, f.Y0+float64(j)*bumpCell-y
				if s := 1 - (dx*dx+dy*dy)/(R*R); s > 0 {
					z := &f.Z[i*f.NY+j]
					*z = math.Max(*z, h*s*s)
					f.Highest = math.Max(f.Highest, *z)
				}
			}
		}
	}
	return f
}

// Vector reads three numbers: a list, or x, y and z.
func Vector(n strictyaml.Node) (v spatial.Vec3, given bool, err error) {
	if n.Line() == 0 {
		return v, false, nil
	}
	if _, ok := n.Mapping(); ok {
		var m struct {
			X float64 `yaml:"x"`
			Y float64 `yaml:"y"`
			Z float64 `yaml:"z"`
		}
		err = n.Decode(&m)
		return spatial.Vec3{X: m.X, Y: m.Y, Z: m.Z}, true, err
	}
	var list []float64
	if err := n.Decode(&list); err != nil {
		return v, true, err
	}
	if len(list) != 3 {
		return v, true, errThree
	}
	return spatial.Vec3{X: list[0], Y: list[1], Z: list[2]}, true, nil
}

var errThree = errors.New("three numbers are wanted")
