package control

import (
	"poise/arbiter"
	"poise/robot"
)

// poses hands over what is commanded as a pose, the base and the tips of limbs, and
// the wrenches of contacts. What was no pose before begins where it is; there is
// nothing to be continuous with, and the joints have their own hand-over.
type poses struct {
	base  PoseBridge
	limbs []PoseBridge
	touch []WrenchBridge // of each chain's contact
	leaf  robot.LeafID   // of the base
	owned bool           // the robot has one
	fresh robot.Set      // leaves whose owner began something new in this tick
}

func newPoses(m *robot.Model) poses {
	p := poses{limbs: make([]PoseBridge, len(m.Chains())), touch: make([]WrenchBridge, len(m.Chains()))}
	res, err := m.Resources()
	if err != nil {
		panic("control: an aggregate was made of it") // a programmer's mistake
	}
	for i, leaf := range res.Leaves() {
		if leaf.Kind == robot.BaseLeaf {
			p.leaf, p.owned = robot.LeafID(i), true
		}
	}
	return p
}

// handOver begins bridges where a pose has another owner, or one that jumped. They
// begin at the last tick, where the command is known.
func (p *poses) handOver(k *Shaper) {
	fresh := p.fresh.Union(k.merged.Fresh)
	p.fresh = robot.Set{}
	ref, before := &k.merged.Motion, k.now-k.dt
	if p.owned && fresh.Has(p.leaf) && k.Motion.Base.Has {
		if k.merged.Writer[p.leaf] == arbiter.NoClient {
			ref.Base.Pose = p.base.Rest(before, &k.Motion.Base)
		} else {
			back := ref.Base.At(-k.dt)
			p.base.Begin(before, &k.Motion.Base, &back)
		}
	}
	for i := range p.limbs {
		tip, was := &ref.Limb[i], &k.Motion.Limb[i]
		switch {
		case !tip.Has:
			p.limbs[i].Drop()
		case was.Has && fresh.Overlaps(k.merged.Limb(i)):
			back := BaseRef(*tip).At(-k.dt)
			p.limbs[i].Begin(before, (*BaseRef)(was), &back)
		}
		if leaf, ok := k.merged.Support(i); ok && fresh.Has(leaf) {
			p.touch[i].Begin(before, k.Motion.Support[i].Wrench, ref.Support[i].Wrench)
		}
	}
}

// apply completes the command's poses.
func (p *poses) apply(k *Shaper) {
	m := &k.Motion
	p.base.Apply(k.now, &m.Base)
	for i := range p.limbs {
		p.limbs[i].Apply(k.now, (*BaseRef)(&m.Limb[i]))
		p.touch[i].Apply(k.now, &m.Support[i].Wrench)
	}
}

// SetBase says where the base is in this tick while it is unowned, and how it moves.
// Loop-safe.
func (k *Shaper) SetBase(base BaseRef) {
	k.poses.base.Drop()
	k.Motion.Base, k.merged.Motion.Base = base, BaseRef{Pose: base.Pose, Has: true}
}
