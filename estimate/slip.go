package estimate

import (
	"poise/contact"
	"poise/control"
	"poise/spatial"
)

// realFeet is what odometry knows of feet that are measured: they slip, and where they stand
// is noisy.
type realFeet struct {
	on    bool
	feet  []Foot          // of the update, with the weights that they are trusted with
	input Input           // the same
	mine  []contact.Match // scratch

	age   []int     // [chains] updates for which the foot stands
	off   []int     // [chains] updates for which it is away from its place,
	since []float64 // and s
	trust []float64 // [chains] share of its weight that counts

	surface surface
}

// How measured feet are judged (docs/dynamics.md, Odometry): how far from its place a foot
// has slipped, m, if it stays so for so many updates and seconds; what is left of its weight
// then, which comes back when it stands anew; over how many updates the place of a new foot
// is averaged; what the noise of points leaves undecided, m².
const (
	slippedBy    = 0.010
	slippedTicks = 3
	slippedTime  = 0.03 // s
	slippedTrust = 0.25
	leastTrust   = slippedTrust * slippedTrust
	ripeAge      = 5
	pointNoise   = 1e-5
)

// Measure lets odometry be that of measured joints. The place of a foot is then the mean of
// where it is found in its first updates, a foot that stays away from its place has slipped
// and gets a new one, and feet that land while none stands do so on the ground. Setup.
func (o *Odometry) Measure() {
	n := len(o.ground.Model().Chains())
	r := &o.real
	*r = realFeet{on: true, feet: make([]Foot, 0, n), mine: make([]contact.Match, 0, cap(o.matches)), age: make([]int, n), off: make([]int, n), since: make([]float64, n), trust: make([]float64, n)}
	for i := range r.trust {
		r.trust[i] = 1
	}
}

// trusted returns the input with feet weighed by how far they are trusted.
func (o *Odometry) trusted(input *Input) *Input {
	r := &o.real
	r.feet = r.feet[:0]
	for c := range r.trust {
		lifted := true
		for i := range input.Feet {
			lifted = lifted && int(input.Feet[i].Chain) != c
		}
		if lifted { // and trusted again when it comes down
			r.trust[c], r.off[c], r.since[c] = 1, 0, 0
		}
	}
	for _, f := range input.Feet {
		f.Weight *= r.trust[f.Chain]
		r.feet = append(r.feet, f)
	}
	r.input = *input
	r.input.Feet = r.feet
	return &r.input
}

// ripen counts how long feet stand, and lets the places of those that are new follow the
// mean of where the others have them. Now are the matches of the input's feet.
func (o *Odometry) ripen(input *Input, now []contact.Match, guess spatial.Pose) {
	r := &o.real
	r.mine = r.mine[:0]
	first, young := 0, false
	for i := range input.Feet {
		f := &input.Feet[i]
		n := o.points(f.Foot)
		if _, stood := o.find(f.Foot); stood {
			r.age[f.Chain]++
		} else {
			r.age[f.Chain] = 0
		}
		if r.age[f.Chain] >= ripeAge {
			r.mine = append(r.mine, now[first:first+n]...)
		} else {
			young = young || r.age[f.Chain] > 0
		}
		first += n
	}
	if !young || len(r.mine) == 0 {
		return
	}
	alone := o.fit(r.mine, &input.Orientation, guess)
	first = 0
	for i := range input.Feet {
		f := &input.Feet[i]
		n := o.points(f.Foot)
		if age := r.age[f.Chain]; age > 0 && age < ripeAge {
			for k := first; k < first+n; k++ {
				m := &now[k]
				m.Anchor = m.Anchor.Add(alone.Pose.Apply(m.P).Sub(m.Anchor).Scale(1 / float64(age+1)))
			}
		}
		first += n
	}
}

// watch finds a foot that has slipped and lets it stand anew: the one that is farthest from
// its place, for that is the one that the others do not agree with.
func (o *Odometry) watch(dt float64) {
	r := &o.real
	worst, most, first := -1, slippedBy, 0
	for i := range o.feet {
		f := o.feet[i].Foot
		m := &o.matches[first]
		away := o.found.Pose.Apply(m.P).Sub(m.Anchor).Norm()
		first += o.points(f)
		if away <= slippedBy {
			r.off[f.Chain], r.since[f.Chain] = 0, 0
			continue
		}
		r.off[f.Chain]++
		r.since[f.Chain] += dt
		if away > most && r.off[f.Chain] >= slippedTicks && r.since[f.Chain] >= slippedTime {
			worst, most = i, away
		}
	}
	if worst < 0 || len(o.feet) < 2 {
		return
	}
	slipped := o.feet[worst].Foot
	r.trust[slipped.Chain] = max(r.trust[slipped.Chain]*slippedTrust, leastTrust)
	r.off[slipped.Chain], r.since[slipped.Chain] = 0, 0
	r.feet = r.feet[:0]
	for i := range o.feet {
		if i != worst {
			r.feet = append(r.feet, o.feet[i])
		}
	}
	r.input.Feet = r.feet
	o.keep(&r.input)
}

// landed returns the base with the feet of the input on the ground, if they are measured ones: on the surface that they walked on a moment ago.
func (o *Odometry) landed(input *Input, base control.BaseRef) control.BaseRef {
	if !o.real.on || o.placed {
		return base
	}
	if input.Orientation.Has {
		base.Pose.R = input.Orientation.R
	}
	height, n := 0.0, 0.0
	s := &o.real.surface
	walks := s.on && input.Time-s.stood < flight
	o.spare = o.spare[:0]
	for i := range input.Feet {
		first := len(o.spare)
		o.spare = o.ground.MatchesTo(o.spare, input.Feet[i].Foot)
		if p := o.spare[first].P; walks { // of the first point, which carries
			x := base.Pose.Apply(p)
			height += x.Z - s.under(x)
		} else {
			height += o.above(base.Pose, p)
		}
		n++
	}
	if walks {
		base.Pose.P.Z -= height / n
		return base
	}
	base.Pose.P = base.Pose.P.Sub(o.floor.R.Col(2).Scale(height / n))
	return base
}

// above returns how high above the ground a point is that the base at X_WB has at p.
func (o *Odometry) above(X_WB spatial.Pose, p spatial.Vec3) float64 {
	return o.floor.R.Col(2).Dot(X_WB.Apply(p).Sub(o.floor.P))
}
