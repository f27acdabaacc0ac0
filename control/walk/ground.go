package walk

import (
	"fmt"
	"math"

	"poise/contact"
	"poise/control"
	"poise/gait"
	"poise/robot"
)

// Ground is what is known of the ground: boxes, such as stairs, on the ground of the odometry. Feet are put on them, or beside them,
// never on an edge.
type Ground struct {
	At    int64      `json:"at"` // as of a velocity
	Boxes []gait.Box `json:"boxes"`
}

// What boxes may be.
const (
	edgeRoom     = 0.006 // m between a sole and an edge: what odometry may be off, and a foot that is lifted beside a riser needs
	highestStair = 0.15  // of the height of walking, from one box to the next, if legs lift their feet so high
	farthestBox  = 1e3   // m, and rad
)

// Boxes returns the ground that they make, or says which cannot be.
func Boxes(m *robot.Model, boxes []gait.Box) (*Ground, error) {
	if len(boxes) > gait.MostBoxes {
		return nil, fmt.Errorf("%d boxes are given, at most %d can be known", len(boxes), gait.MostBoxes)
	}
	c, err := build(m)
	if err != nil {
		return nil, err
	}
	levels := []float64{0}
	for _, b := range boxes {
		levels = append(levels, b.Height)
	}
	for i, b := range boxes {
		for _, x := range []struct {
			name, unit string
			value      float64
		}{{"x", "m", b.At.X}, {"y", "m", b.At.Y}, {"yaw", "rad", b.Yaw}} {
			if !(math.Abs(x.value) <= farthestBox) {
				return nil, fmt.Errorf("boxes[%d].%s: %g %s is not within -%g … %g %s", i, x.name, x.value, x.unit, float64(farthestBox), float64(farthestBox), x.unit)
			}
		}
		if !(b.Length > 0 && b.Length <= farthestBox && b.Width > 0 && b.Width <= farthestBox) {
			return nil, fmt.Errorf("boxes[%d]: %g m × %g m is no box: both are within 0 … %g m", i, b.Length, b.Width, float64(farthestBox))
		}
		if !(b.Height > 0 && b.Height <= farthestBox) {
			return nil, fmt.Errorf("boxes[%d]: a height of %g m is not within 0 … %g m", i, b.Height, float64(farthestBox))
		}
		if rise := fromBelow(levels, b.Height); rise > c.stair {
			return nil, fmt.Errorf("boxes[%d]: %g m is a step of %.3g m from the next lower one: this robot takes %.3g m at most", i, b.Height, rise, c.stair)
		}
	}
	return &Ground{Boxes: boxes}, nil
}

// fromBelow is how far it is to a height from the next lower one.
func fromBelow(levels []float64, height float64) float64 {
	below := 0.0
	for _, x := range levels {
		if x < height-1e-9 && x > below {
			below = x
		}
	}
	return height - below
}

// Claim asks for nothing.
func (g *Ground) Claim() (needs, wants robot.Set) { return robot.Set{}, robot.Set{} }

// Lane is beside velocities, choices and parameters.
func (g *Ground) Lane() int { return 3 }

// MarshalBinary is for the flight recorder.
func (g *Ground) MarshalBinary() ([]byte, error) { return control.EncodeRecord("ground", g) }

// locate tells the plan where the ground of the odometry is: boxes stand there, and the plan is led by what it commands.
func (c *Controller) locate(input *control.Input) {
	b := &input.Meas.Base
	if !b.Has || !c.ready {
		return
	}
	planned, measured := contact.Level(c.body(0).Pose), contact.Level(b.Pose)
	planned.P.Z, measured.P.Z = 0, 0
	move := planned.Mul(measured.Inverse())
	c.plan.SetTerrainFrame(gait.Point{X: move.P.X, Y: move.P.Y}, math.Atan2(move.R[3], move.R[0]))
}
