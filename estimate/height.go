package estimate

import (
	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
)

// Stance tells how high a robot stands on its feet, by its joints. Make one with NewStance.
type Stance struct {
	data  *kinematics.Data
	q     []float64        // of the whole robot, its base at the origin
	index kinematics.Index // of each joint in it
	feet  []kinematics.Place
	soles []spatial.Vec3 // seen from there
}

// NewStance returns the stance of a robot with a free base; one without declared feet has no height.
func NewStance(m *robot.Model) *Stance {
	s := &Stance{data: kinematics.NewData(m), index: kinematics.NewIndex(m), q: make([]float64, m.NumQ())}
	kinematics.NewSpace(m).NeutralTo(s.q)
	for _, c := range m.Chains() {
		if c.Contact != robot.NoContact {
			s.feet = append(s.feet, s.data.At(c.Tip))
			s.soles = append(s.soles, m.Contacts()[c.Contact].Points[0])
		}
	}
	return s
}

// Height returns how far the base is above the mean of the feet, m, for the positions of all joints and the orientation of
// the base in the world. Loop-safe.
func (s *Stance) Height(q []float64, R_WB spatial.Mat3) float64 {
	if len(s.feet) == 0 {
		return 0
	}
	s.index.ConfigurationTo(s.q, q)
	s.data.UpdatePosition(s.q)
	var mean spatial.Vec3
	for i, f := range s.feet {
		mean = mean.Add(s.data.Pose(f).Apply(s.soles[i]))
	}
	return -R_WB.MulVec(mean).Z / float64(len(s.feet))
}
