package estimate

import (
	"math"

	"poise/contact"
	"poise/spatial"
)

// judge decides which of the feet that nobody speaks of are in the air: a foot that
// left its place is, and the base stays on the others; if more than one left, the
// robot is put down anew. It reports whether all is as it was.
func (b *Base) judge() (calm bool) {
	b.ground.Move(b.input.Q, nil, nil)
	b.findSoles()
	X := b.odometry.base.Pose
	if !b.odometry.begun {
		b.putDown(spatial.IdentityPose)
		return false
	}
	calm, anyAir := true, false
	for i := range b.feet {
		f := &b.feet[i]
		if c := &b.chains[f.Chain]; c.air {
			c.air = math.Abs(f.height(X)) >= slack // otherwise it came back
			calm, anyAir = calm && c.air, anyAir || c.air
		}
	}
	if anyAir || b.unevenness(X, -1) > slack {
		if Y, ok := b.ground.Settle(b.input.Q, b.without(-1)); ok && b.unevenness(Y, -1) < slack/5 {
			b.putDown(X) // all of them can stand
			return false
		}
	}
	if b.misfit(-1) <= slack {
		return calm
	}
	lift, least := -1, slack
	for i := range b.feet {
		if f := &b.feet[i]; !f.told && !b.chains[f.Chain].air && b.standing() > 1 {
			if worst := b.misfit(i); worst <= least {
				lift, least = i, worst
			}
		}
	}
	if lift >= 0 {
		b.chains[b.feet[lift].Chain].air = true
	} else {
		b.putDown(X)
	}
	return false
}

// putDown settles the robot on all feet, or on all but the one that would then hang in
// the air: at its place, and with its heading.
func (b *Base) putDown(at spatial.Pose) {
	here := contact.Level(at)
	here.P.Z = 0
	X, least, raised := spatial.IdentityPose, math.Inf(1), -1
	for skip := -1; skip < len(b.feet); skip++ {
		if skip >= 0 && b.feet[skip].told {
			continue
		}
		Y, ok := b.ground.Settle(b.input.Q, b.without(skip))
		if !ok || skip >= 0 && b.feet[skip].height(Y) < slack {
			continue
		}
		worst := b.unevenness(Y, skip)
		if skip < 0 || least > slack && worst < least {
			X, least, raised = Y, worst, skip
		}
	}
	for i := range b.feet {
		if f := &b.feet[i]; !f.told {
			b.chains[f.Chain].air = i == raised
		}
	}
	b.odometry.Place(here.Mul(X))
}

// findSoles finds the first contact point of each foot.
func (b *Base) findSoles() {
	for i := range b.feet {
		f := &b.feet[i]
		b.matches = b.ground.MatchesTo(b.matches[:0], f.Foot.Foot)
		f.sole = b.matches[0].P
	}
}

// height returns how high above the ground a foot is with the base at X.
func (f *foot) height(X spatial.Pose) float64 { return X.Apply(f.sole).Z }

// unevenness returns how far from the ground the worst foot is with the base at X, one
// left out.
func (b *Base) unevenness(X spatial.Pose, skip int) (worst float64) {
	for i := range b.feet {
		if i != skip {
			worst = max(worst, math.Abs(b.feet[i].height(X)))
		}
	}
	return worst
}

// misfit returns how far from their places the standing feet stay at best, one left
// out.
func (b *Base) misfit(skip int) float64 {
	o := b.odometry
	all := b.matches[:0]
	for i := range b.feet {
		f := &b.feet[i]
		from, stood := o.find(f.Foot.Foot)
		if i == skip || !stood || b.chains[f.Chain].air {
			continue
		}
		first := len(all)
		all = b.ground.MatchesTo(all, f.Foot.Foot)
		for k := range all[first:] {
			all[first+k].Anchor, all[first+k].Weight = o.matches[from+k].Anchor, 1
		}
	}
	b.matches = all
	return contact.Register(all, o.found.Pose).Worst
}

// standing returns how many feet are not in the air.
func (b *Base) standing() (n int) {
	for i := range b.feet {
		if !b.chains[b.feet[i].Chain].air {
			n++
		}
	}
	return n
}

// without returns the feet, one left out.
func (b *Base) without(skip int) []contact.Foot {
	b.plain = b.plain[:0]
	for i := range b.feet {
		if i != skip {
			b.plain = append(b.plain, b.feet[i].Foot.Foot)
		}
	}
	return b.plain
}
