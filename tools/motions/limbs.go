package main

import (
	"fmt"

	"poise/contact"
	"poise/kinematics"
	"poise/kinematics/ik"
	"poise/robot"
	"poise/spatial"
)

// limb is a chain whose tip can be led: its joints follow in closed form.
type limb struct {
	name   string
	chain  robot.ChainID
	joints []robot.JointID
	stands bool // it has a contact, so it stays where it is while the body moves
	tip    kinematics.Place
	solver *ik.Solver
}

// anchor is where the tip of a limb is at the start.
type anchor = spatial.Pose

// groundwork is what is needed to know where the base is.
type groundwork struct {
	contact *contact.Ground
	data    *kinematics.Data
	index   []int     // of each joint in a configuration
	q, seed []float64 // configurations
	origin  spatial.Pose
}

// newStage prepares a robot.
func newStage(m *robot.Model) (*stage, error) {
	ground, err := contact.NewGround(m)
	if err != nil {
		return nil, err
	}
	g := &groundwork{contact: ground, data: kinematics.NewData(m), q: make([]float64, m.NumQ()), seed: make([]float64, m.NumQ())}
	kinematics.NewSpace(m).NeutralTo(g.q)
	s := &stage{m: m, ground: g}
	for _, j := range m.Joints() {
		s.joints, g.index = append(s.joints, j.Name), append(g.index, j.Q)
	}
	for id, c := range m.Chains() {
		solver, err := ik.New(m, ik.Options{}, c.Joints, c.VirtualTip)
		if err != nil {
			return nil, err
		}
		if solver.ClosedForm() {
			s.limbs = append(s.limbs, &limb{name: c.Name, chain: robot.ChainID(id), joints: c.Joints,
				stands: c.Contact != robot.NoContact, tip: g.data.At(c.VirtualTip), solver: solver})
		}
	}
	return s, nil
}

// put makes a configuration of joints and the pose of the base.
func (g *groundwork) put(q []float64, joints []float64, X spatial.Pose, floating bool) {
	copy(q, g.q)
	for j, at := range g.index {
		q[at] = joints[j]
	}
	if floating {
		r := X.R.Quat()
		q[0], q[1], q[2], q[3], q[4], q[5], q[6] = X.P.X, X.P.Y, X.P.Z, r.X, r.Y, r.Z, r.W
	}
}

// chooseLimbs finds the limbs that tracks lead, and where they are at the start. If
// the body or one leg is led, all legs are.
func (p *performance) chooseLimbs() {
	g := p.ground
	feet := g.contact.DefaultFeetTo(nil)
	g.origin, _ = g.contact.Settle(p.rest, feet)
	g.put(g.seed, p.rest, g.origin, p.m.Floating())
	g.data.UpdatePosition(g.seed)
	led := map[string]bool{}
	anyLeg := p.leads("body")
	for _, l := range p.limbs {
		led[l.name] = p.leads(l.name)
		anyLeg = anyLeg || led[l.name] && l.stands
	}
	for _, l := range p.limbs {
		if led[l.name] || l.stands && anyLeg {
			p.solved = append(p.solved, l)
			p.anchors = append(p.anchors, g.data.Pose(l.tip))
		}
	}
}

// leads tells whether there is a track for a limb or the body.
func (p *performance) leads(name string) bool {
	for _, axis := range axisNames {
		if p.tracks[name+" "+axis] != nil {
			return true
		}
	}
	return false
}

// offset returns how a limb or the body is moved at a time.
func (p *performance) offset(name string, time float64) (x [6]float64) {
	for i, axis := range axisNames {
		if t := p.tracks[name+" "+axis]; t != nil {
			x[i] = t.at(time)
		}
	}
	return x
}

// moved returns a pose that is shifted and turned along the axes of the world.
func moved(X spatial.Pose, x [6]float64) spatial.Pose {
	return spatial.Pose{P: X.P.Add(spatial.Vec3{X: x[0], Y: x[1], Z: x[2]}), R: spatial.FromRPY(x[3], x[4], x[5]).Mul(X.R)}
}

// reach puts the joints of led limbs to where their tips are wanted.
func (p *performance) reach(joints []float64, time float64) error {
	g := p.ground
	if len(p.solved) == 0 {
		return nil
	}
	q := make([]float64, len(g.q))
	g.put(q, joints, moved(g.origin, p.offset("body", time)), p.m.Floating())
	for i, l := range p.solved {
		r := l.solver.PoseTo(q, moved(p.anchors[i], p.offset(l.name, time)), q)
		if r.Status != ik.Solved {
			return fmt.Errorf("%s cannot get there at %.2f s: %v, %.4f m and %.3f rad are missing", l.name, time, r.Status, r.PositionError, r.RotationError)
		}
		for _, j := range l.joints {
			joints[j] = q[g.index[j]]
		}
	}
	return nil
}
