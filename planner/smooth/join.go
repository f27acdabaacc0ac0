package smooth

import (
	"slices"

	"poise/planner"
	"poise/robot"
	"poise/spatial"
	"poise/trajectory/spline"
)

// join blends strands with each other in the space of the joints and returns the
// pieces of the whole run.
func (b *builder) join(strands []*strand) ([]*piece, *planner.Refusal) {
	pieces := strands[0].pieces
	for i := 1; i < len(strands); i++ {
		before, after := strands[i-1], strands[i]
		bend, why := b.jointBend(before, after, &pieces)
		if why != nil {
			return nil, b.about(why, before.last().item)
		}
		b.limitBend(bend)
		pieces = append(append(pieces, bend), after.pieces...)
	}
	return pieces, nil
}

// jointBend replaces what two strands do inside the sphere around the goal
// between them by a curve of the joints that continues both. Where the tool would
// leave the sphere on it, it is made in a smaller one.
func (b *builder) jointBend(before, after *strand, pieces *[]*piece) (*piece, *planner.Refusal) {
	a, z := before.last(), after.first()
	link := a.task.Group.Tip
	if z.cartesian() {
		link = z.task.Link
	}
	if a.cartesian() {
		link = a.task.Link
	}
	centre, radius := b.pose(before.end, link).P, b.radii[a.item]
	for r := radius; r > radius/20; r *= 0.7 {
		i, enter, ok := b.edge(*pieces, link, centre, r, true)
		k, leave, ok2 := b.edge(after.pieces, link, centre, r, false)
		if !ok || !ok2 {
			if r < radius {
				break
			}
			most := min(b.farthest(*pieces, link, centre), b.farthest(after.pieces, link, centre))
			why := planner.Refuse(planner.BlendFailed, "the blend radius of %g m is larger than the motion on one side of the goal", radius)
			why.Value, why.Limit = radius, most
			return nil, why.With("a radius below %.4g m fits", most)
		}
		p, q := (*pieces)[i], after.pieces[k]
		p.pacing(b.rateOf(p, enter, link).Norm())
		q.pacing(b.rateOf(q, leave, link).Norm())
		if bend := b.bendBetween(p, enter, q, leave, link, centre, radius, r); bend != nil {
			*pieces = (*pieces)[:i+1]
			p.To = enter
			after.pieces = after.pieces[k:]
			q.done += leave - q.From
			q.From = leave
			bend.legs, bend.done = []*leg{a, z}, p.done+enter
			return bend, nil
		}
	}
	return nil, planner.Refuse(planner.BlendFailed, "no bend of the joints keeps the tool inside the sphere of %g m around the goal", radius)
}

// pacing measures a point-to-point motion by the way of the tool where it is
// blended first, so that both sides of a bend are measured alike.
func (p *piece) pacing(rate float64) {
	if !p.onPath && p.Scale == 1 && rate > 0 {
		p.Scale = rate
	}
}

// placeAt puts the robot where a piece is at x, and moves it as x does. What it returns
// is good until it is called again.
func (b *builder) placeAt(p *piece, x float64) (q, d1, d2 []float64) {
	n := len(b.result.Joints)
	b.placed = slices.Grow(b.placed[:0], 3*n)[:3*n]
	q, d1, d2 = b.placed[:n], b.placed[n:2*n], b.placed[2*n:]
	p.StateTo(q, d1, d2, x)
	copy(b.q, b.here)
	clear(b.v)
	for k, j := range b.result.Joints {
		b.q[b.Model.Joints()[j].Q], b.v[b.Model.Joints()[j].V] = q[k], d1[k]
	}
	b.data.UpdatePosition(b.q)
	return q, d1, d2
}

// rateOf returns the way of a link per parameter of a piece.
func (b *builder) rateOf(p *piece, x float64, link robot.FrameID) spatial.Vec3 {
	b.placeAt(p, x)
	b.data.UpdateVelocity(b.v)
	return b.data.Twist(b.data.At(link)).Linear
}

// sliverShare is the share of a piece that is too little to be left of it.
const sliverShare = 1e-6

// edge returns where pieces last enter a sphere, or first leave it: which piece,
// and its parameter.
func (b *builder) edge(pieces []*piece, link robot.FrameID, centre spatial.Vec3, r float64, last bool) (i int, x float64, ok bool) {
	const places = 64
	for n := range pieces {
		i = n
		if last {
			i = len(pieces) - 1 - n
		}
		p := pieces[i]
		outside := func(x float64) bool {
			b.placeAt(p, x)
			return b.data.Pose(b.data.At(link)).P.Sub(centre).Norm() > r
		}
		inner := p.From
		if last {
			inner = p.To
		}
		for k := range places + 1 {
			outer := p.From + (p.To-p.From)*float64(k)/places
			if last {
				outer = p.From + p.To - outer
			}
			if !outside(outer) {
				inner = outer
				continue
			}
			for range 50 {
				if mid := (inner + outer) / 2; outside(mid) {
					outer = mid
				} else {
					inner = mid
				}
			}
			// at the very end of a piece the sphere belongs to its neighbour: a sliver
			// that is left of it would be nothing but rounding
			least := sliverShare * (p.To - p.From)
			if last && inner-p.From > least || !last && p.To-inner > least {
				return i, inner, true
			}
			break
		}
	}
	return 0, 0, false
}

// farthest returns how far pieces lead away from a place.
func (b *builder) farthest(pieces []*piece, link robot.FrameID, centre spatial.Vec3) (far float64) {
	const places = 64
	for _, p := range pieces {
		for k := range places + 1 {
			b.placeAt(p, p.From+(p.To-p.From)*float64(k)/places)
			far = max(far, b.data.Pose(b.data.At(link)).P.Sub(centre).Norm())
		}
	}
	return far
}

// bendBetween returns the bend from place x of a piece to place y of another; nil
// if the tool leaves the sphere on it, or a joint its limits.
func (b *builder) bendBetween(p *piece, x float64, q *piece, y float64, link robot.FrameID, centre spatial.Vec3, radius, r float64) *piece {
	tangent := func(p *piece, x float64) spatial.Vec3 { return b.rateOf(p, x, link).Scale(1 / p.Scale) }
	ta, tb := tangent(p, x), tangent(q, y)
	mean := (ta.Norm() + tb.Norm()) / 2
	if !(mean > 0) {
		return nil
	}
	ends := func(p *piece, x float64) (q, d1, d2 []float64) {
		q, d1, d2 = b.placeAt(p, x)
		return slices.Clone(q), slices.Clone(d1), slices.Clone(d2)
	}
	qa, qa1, qa2 := ends(p, x)
	qb, qb1, qb2 := ends(q, y)
	for j := range qa {
		qa1[j], qa2[j] = qa1[j]/p.Scale, qa2[j]/(p.Scale*p.Scale)
		qb1[j], qb2[j] = qb1[j]/q.Scale, qb2[j]/(q.Scale*q.Scale)
	}
	length := bendLength(ta, tb, r) / mean
	for range bendTries {
		curve, err := spline.Quintic([]float64{0, length}, [][]float64{qa, qb}, [][]float64{qa1, qb1}, [][]float64{qa2, qb2})
		if err != nil {
			return nil
		}
		bend := &piece{Curve: curve, To: length, Scale: 1, Link: robot.NoFrame}
		if b.inside(bend, link, centre, radius) && b.inRange(curve) == nil {
			return bend
		}
		length *= bendShrink
	}
	return nil
}

// inside reports whether a link stays in a sphere along a piece.
func (b *builder) inside(p *piece, link robot.FrameID, centre spatial.Vec3, r float64) bool {
	for k := 1; k < bendPlaces; k++ {
		b.placeAt(p, p.To*float64(k)/bendPlaces)
		if b.data.Pose(b.data.At(link)).P.Sub(centre).Norm() > r*(1+bendSlip) {
			return false
		}
	}
	return true
}

// inRange refuses a curve that leaves the range of a joint.
func (b *builder) inRange(c *spline.Spline) *planner.Refusal {
	const slack = 1e-9 // rounding
	for k, j := range b.result.Joints {
		joint := &b.Model.Joints()[j]
		if joint.Kind == robot.Continuous {
			continue
		}
		low, high := c.Range(k, spline.Position, c.Start(), c.End())
		value := low.Value
		if l := joint.Limits.Upper; l.Has && high.Value > l.Value+slack {
			value = high.Value
		} else if l := joint.Limits.Lower; !l.Has || low.Value >= l.Value-slack {
			continue
		}
		why := planner.Refuse(planner.BadState, "joint %q would go to %.4g, outside its limits %s", joint.Name, value, joint.Limits.Range())
		why.Joint, why.Value = joint.Name, value
		return why
	}
	return nil
}
