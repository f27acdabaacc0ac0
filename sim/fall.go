package sim

import (
	"math"

	"poise/contact"
	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
)

// When a robot has fallen.
const (
	fallenTilt   = math.Pi / 4
	fallenHeight = 0.6 // of its height over the feet when it stood
	fallenWeight = 0.1 // of its weight, carried by a link that is no foot
)

// Foot is a link that may carry, and the middle of its sole in the link's frame.
type Foot struct {
	Link   robot.FrameID
	Middle spatial.Vec3
}

// Stance is how a robot stood, by which it is judged whether it has fallen since.
type Stance struct {
	Feet   []Foot
	Weight float64 // N
	Height float64 // of the base over the feet, m
}

// StanceOf returns the stance of a robot that stands now, by the feet that it declares. The
// kinematics has its configuration, base is where its base is.
func StanceOf(m *robot.Model, k *kinematics.Data, base spatial.Vec3) Stance {
	s := Stance{Weight: m.Mass() * m.Gravity().Norm()}
	for _, c := range m.Chains() {
		if c.Contact != robot.NoContact {
			s.Feet = append(s.Feet, Foot{Link: c.Tip, Middle: SoleMiddle(&m.Contacts()[c.Contact])})
		}
	}
	s.Height = s.HeightOver(k, base, spatial.Vec3{Z: 1})
	return s
}

// SoleMiddle returns the middle of a sole: of the points that are as high as its first.
func SoleMiddle(c *robot.Contact) (middle spatial.Vec3) {
	n := 0.0
	for _, p := range c.Points {
		if math.Abs(p.Z-c.Points[0].Z) <= 1e-6 {
			middle, n = middle.Add(p), n+1
		}
	}
	return middle.Scale(1 / n)
}

// HeightOver returns how far the base is above the mean of the feet, along the way out of
// the ground. The kinematics has the robot's configuration.
func (s *Stance) HeightOver(k *kinematics.Data, base, up spatial.Vec3) float64 {
	if len(s.Feet) == 0 {
		return 0
	}
	var mean spatial.Vec3
	for _, f := range s.Feet {
		mean = mean.Add(k.Pose(k.At(f.Link)).Apply(f.Middle))
	}
	return base.Sub(mean.Scale(1 / float64(len(s.Feet)))).Dot(up)
}

// Fallen reports whether a robot with a floating base has fallen: it is tilted by more than
// 45°, its base is below 0.6 of its height over the feet, or a link that is no foot carries
// more than 10 % of the weight. The kinematics has the robot's configuration.
func (s *Stance) Fallen(k *kinematics.Data, base spatial.Pose, up spatial.Vec3, contacts []Contact) bool {
	if math.Acos(math.Max(-1, math.Min(1, base.R[8]))) > fallenTilt {
		return true
	}
	if s.Height > 0 && s.HeightOver(k, base.P, up) < fallenHeight*s.Height {
		return true
	}
	for i := range contacts {
		if !s.carriesBeside(contacts[:i], &contacts[i]) {
			continue
		}
		carried := 0.0
		for _, c := range contacts[i:] {
			if c.Link == contacts[i].Link && c.Other == robot.NoFrame {
				carried += c.Force.Z
			}
		}
		if carried > fallenWeight*s.Weight {
			return true
		}
	}
	return false
}

// carriesBeside reports whether a contact is the first one with the ground of a link that is
// no foot. Of a robot without feet no link is judged.
func (s *Stance) carriesBeside(before []Contact, c *Contact) bool {
	if c.Other != robot.NoFrame || len(s.Feet) == 0 {
		return false
	}
	for _, f := range s.Feet {
		if f.Link == c.Link {
			return false
		}
	}
	for i := range before {
		if before[i].Link == c.Link && before[i].Other == robot.NoFrame {
			return false
		}
	}
	return true
}

// ZMP returns the point of the horizontal plane through the mean height of what carries
// about which the ground's forces have no horizontal torque; false in flight.
func ZMP(contacts []Contact) (contact.Point, bool) {
	height, n, fz := 0.0, 0.0, 0.0
	for _, c := range contacts {
		if c.Other == robot.NoFrame && c.Force.Z > 0 {
			height, n, fz = height+c.Point.Z, n+1, fz+c.Force.Z
		}
	}
	if !(fz > 0) {
		return contact.Point{}, false
	}
	height /= n
	var p contact.Point
	for _, c := range contacts {
		if c.Other == robot.NoFrame {
			p.X += c.Point.X*c.Force.Z - (c.Point.Z-height)*c.Force.X
			p.Y += c.Point.Y*c.Force.Z - (c.Point.Z-height)*c.Force.Y
		}
	}
	return contact.Point{X: p.X / fz, Y: p.Y / fz}, true
}
