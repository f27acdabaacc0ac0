package loop

import (
	"poise/arbiter"
	"poise/control"
	"poise/robot"
)

// poses hands over what is commanded as a pose: the base, and the tips of limbs.
// What was no pose before begins where it is; there is nothing to be continuous
// with, and the joints have their own hand-over.
type poses struct {
	base  control.Glide
	limbs []control.Glide
	leaf  robot.LeafID // of the base
	owned bool         // the robot has one
	fresh robot.Set    // leaves whose owner began something new in this tick
}

func (p *poses) init(m *robot.Model) {
	p.limbs = make([]control.Glide, len(m.Chains()))
	res, err := m.Resources()
	if err != nil {
		panic("loop: New has looked") // a programmer's mistake
	}
	for i, leaf := range res.Leaves() {
		if leaf.Kind == robot.BaseLeaf {
			p.leaf, p.owned = robot.LeafID(i), true
		}
	}
}

// handOver begins glides where a pose has another owner, or one that jumped. They
// begin at the last tick, where the command is known.
func (p *poses) handOver(l *Loop) {
	fresh := p.fresh.Union(l.merge.Fresh)
	p.fresh = robot.Set{}
	wish, before := &l.merge.Motion, l.now-l.tick.Dt
	if p.owned && fresh.Has(p.leaf) && l.command.Base.Has {
		if l.merge.Writer[p.leaf] == arbiter.Nobody {
			wish.Base.Pose = p.base.Rest(before, &l.command.Base)
		} else {
			back := wish.Base.At(-l.tick.Dt)
			p.base.Begin(before, &l.command.Base, &back)
		}
	}
	for i := range p.limbs {
		ref, was := &wish.Limb[i], &l.command.Limb[i]
		switch {
		case !ref.Has:
			p.limbs[i].Drop()
		case was.Has && fresh.Overlaps(l.merge.Limb(i)):
			back := control.BaseRef(*ref).At(-l.tick.Dt)
			p.limbs[i].Begin(before, (*control.BaseRef)(was), &back)
		}
	}
}

// apply completes the command's poses.
func (p *poses) apply(l *Loop) {
	m := &l.command
	p.base.Apply(l.now, &m.Base)
	for i := range p.limbs {
		p.limbs[i].Apply(l.now, (*control.BaseRef)(&m.Limb[i]))
	}
}
