package estimate

import (
	"math"

	"poise/contact"
	"poise/spatial"
)

// judge decides which of the feet that are not commanded are in the air: a foot that
// left its place is, and the base stays on the others; if more than one left, the robot
// is placed again. It reports whether nothing changed.
func (b *Base) judge() (settled bool) {
	b.ground.Move(b.input.Q, nil, nil)
	for i := range b.feet {
		b.matches = b.ground.MatchesTo(b.matches[:0], b.feet[i].at.Foot)
		b.feet[i].sole = b.matches[0].P
	}
	if !b.odometry.begun {
		b.putDown(spatial.IdentityPose)
		return false
	}
	X, settled, lifted := b.odometry.base.Pose, true, false
	for i := range b.feet {
		f := &b.feet[i]
		if c := &b.chains[f.at.Chain]; c.air {
			c.air = math.Abs(b.height(X, i)) >= slack // otherwise it came back
			settled, lifted = settled && c.air, lifted || c.air
		}
	}
	if lifted || b.unevenness(X, -1) > slack {
		if Y, ok := b.ground.Settle(b.input.Q, b.without(-1)); ok && b.unevenness(b.odometry.floor.Mul(Y), -1) < slack/5 {
			b.putDown(X) // all of them can stand
			return false
		}
	}
	if b.misfit(-1) <= slack {
		return settled
	}
	if i := b.misplaced(); i >= 0 {
		b.chains[b.feet[i].at.Chain].air = true
	} else {
		b.putDown(X)
	}
	return false
}

// misplaced returns the foot without which the others fit their places best, −1 if they
// do not fit without any single one.
func (b *Base) misplaced() int {
	stand := 0
	for i := range b.feet {
		if !b.chains[b.feet[i].at.Chain].air {
			stand++
		}
	}
	worst, least := -1, slack
	for i := range b.feet {
		f := &b.feet[i]
		if stand < 2 || f.commanded || b.chains[f.at.Chain].air {
			continue
		}
		if left := b.misfit(i); left <= least {
			worst, least = i, left
		}
	}
	return worst
}

// putDown settles the robot on all feet, or on all but the one that would then hang in
// the air: at its place, and with its heading.
func (b *Base) putDown(at spatial.Pose) {
	floor := b.odometry.floor
	here := contact.Level(floor.Inverse().Mul(at))
	here.P.Z = 0
	stand := floor.Mul(here)
	X, least, raised := spatial.IdentityPose, math.Inf(1), -1
	for skip := -1; skip < len(b.feet); skip++ {
		if skip >= 0 && b.feet[skip].commanded {
			continue
		}
		Y, ok := b.ground.Settle(b.input.Q, b.without(skip))
		if !ok || skip >= 0 && b.height(stand.Mul(Y), skip) < slack {
			continue
		}
		worst := b.unevenness(stand.Mul(Y), skip)
		if skip < 0 || least > slack && worst < least {
			X, least, raised = Y, worst, skip
		}
	}
	for i := range b.feet {
		if f := &b.feet[i]; !f.commanded {
			b.chains[f.at.Chain].air = i == raised
		}
	}
	b.odometry.Place(stand.Mul(X))
}

// height returns how high above the ground foot i is with the base at X.
func (b *Base) height(X spatial.Pose, i int) float64 { return b.odometry.above(X, b.feet[i].sole) }

// unevenness returns how far from the ground the worst foot is with the base at X, one
// left out.
func (b *Base) unevenness(X spatial.Pose, skip int) (worst float64) {
	for i := range b.feet {
		if i != skip {
			worst = max(worst, math.Abs(b.height(X, i)))
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
		from, stood := o.find(f.at.Foot)
		if i == skip || !stood || b.chains[f.at.Chain].air {
			continue
		}
		first := len(all)
		all = b.ground.MatchesTo(all, f.at.Foot)
		for k := range all[first:] {
			all[first+k].Anchor, all[first+k].Weight = o.matches[from+k].Anchor, 1
		}
	}
	b.matches = all
	return contact.Register(all, o.found.Pose).Worst
}

// without returns the feet, one left out.
func (b *Base) without(skip int) []contact.Foot {
	b.plain = b.plain[:0]
	for i := range b.feet {
		if i != skip {
			b.plain = append(b.plain, b.feet[i].at.Foot)
		}
	}
	return b.plain
}
