package server

import (
	"slices"

	"poise/contact"
	"poise/control"
	"poise/loop"
	"poise/robot"
	"poise/spatial"
)

// posture is where a robot is: its joints, its base, and the feet that it stands on.
type posture struct {
	model  *robot.Model
	joints []float64
	base   spatial.Pose
	feet   []contact.Foot
}

// of reads a snapshot, for as long as the snapshot lasts: a robot that
// is where it is told to be is where its command is, any other where it was measured.
func (p *posture) of(m *robot.Model, exact bool, now *loop.Snapshot) {
	base, supports := &now.Measured.Base, now.Measured.Support
	p.model, p.joints = m, now.Measured.Q
	if exact {
		base, supports = &now.Command.Base, now.Command.Support
		p.joints = now.Command.Q
	}
	p.base, p.feet = spatial.IdentityPose, feetTo(p.feet[:0], m, supports)
	if base.Has {
		p.base = base.Pose
	}
}

// feetTo appends the feet that carry anything.
func feetTo(dst []contact.Foot, m *robot.Model, supports []control.Support) []contact.Foot {
	for i, s := range supports {
		if s.Weight > 0 && s.Contact != robot.NoContact && m.Chains()[i].Contact != robot.NoContact {
			dst = append(dst, contact.Foot{Chain: robot.ChainID(i), Contact: s.Contact})
		}
	}
	return dst
}

// with returns where the base would be for other joints, with the feet that stand now
// staying where they are.
func (p *posture) with(joints []float64) (spatial.Pose, error) {
	if !p.model.Floating() {
		return spatial.IdentityPose, nil
	}
	ground, err := contact.NewGround(p.model)
	if err != nil {
		return p.base, err
	}
	X, _ := ground.Fit(joints, p.feet, ground.PointsTo(nil, p.joints, p.feet, p.base), p.base)
	return X, nil
}

// clone returns a posture that outlasts its snapshot.
func (p *posture) clone() posture {
	return posture{model: p.model, joints: slices.Clone(p.joints), base: p.base, feet: slices.Clone(p.feet)}
}

// setBase writes the pose of a floating base into a configuration.
func setBase(full []float64, m *robot.Model, base spatial.Pose) {
	if !m.Floating() {
		return
	}
	q := base.R.Quat()
	copy(full, []float64{base.P.X, base.P.Y, base.P.Z, q.X, q.Y, q.Z, q.W})
}
