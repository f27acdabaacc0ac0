package edge

import (
	"poise/msgs/poisemsgs"
	"poise/robot/setup"
)

// Setup words a proposal of how a robot is used.
func Setup(p *setup.Proposal) *poisemsgs.RobotSetup {
	m := &poisemsgs.RobotSetup{Name: p.Name, Base: p.Base, Why: p.Why, Packages: p.Packages, Limits: p.Limits, Notes: p.Notes}
	for _, l := range p.Limbs {
		limb := poisemsgs.SetupLimb{Name: l.Name, Kind: l.Kind, Joints: l.Joints, Base: l.Base, Tip: l.Tip, Tips: l.Tips, Touch: l.Touch}
		for _, x := range l.Points {
			limb.Points = append(limb.Points, poisemsgs.SetupPoint{X: x[0], Y: x[1], Z: x[2]})
		}
		m.Limbs = append(m.Limbs, limb)
	}
	for _, x := range p.Mirror {
		m.Mirror = append(m.Mirror, poisemsgs.SetupPair{Left: x.Left, Right: x.Right, Sign: int8(x.Sign)})
	}
	for _, x := range p.Poses {
		m.Poses = append(m.Poses, poisemsgs.SetupPose{Name: x.Name, Why: x.Why, Joints: x.Joints, Positions: x.Q})
	}
	return m
}

// ReadSetup reads what a person chose. Whether the robot can be so is told when it is tried.
func ReadSetup(m *poisemsgs.RobotSetup) *setup.Proposal {
	p := &setup.Proposal{Name: m.Name, Base: m.Base, Why: m.Why, Packages: m.Packages, Limits: m.Limits}
	for _, l := range m.Limbs {
		limb := setup.Limb{Name: l.Name, Kind: l.Kind, Joints: l.Joints, Base: l.Base, Tip: l.Tip, Tips: l.Tips, Touch: l.Touch}
		for _, x := range l.Points {
			limb.Points = append(limb.Points, [3]float64{x.X, x.Y, x.Z})
		}
		p.Limbs = append(p.Limbs, limb)
	}
	for _, x := range m.Mirror {
		p.Mirror = append(p.Mirror, setup.Pair{Left: x.Left, Right: x.Right, Sign: int(x.Sign)})
	}
	for _, x := range m.Poses {
		p.Poses = append(p.Poses, setup.Pose{Name: x.Name, Why: x.Why, Joints: x.Joints, Q: x.Positions})
	}
	return p
}
