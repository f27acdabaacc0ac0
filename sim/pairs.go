package sim

import (
	"math"
	"slices"

	"poise/robot"
	"poise/spatial"
	"poise/urdf"
)

// pair is two shapes that may touch each other.
type pair struct {
	a, b int     // shapes
	slot int     // first of its impulses
	path []int32 // rows that carry either, the last first
}

// boxContacts is how many points two boxes share at most.
const boxContacts = 8

// featureSlots is how many contacts a feature may have: with the ground, and with two boxes
// of it, as in the corner of a stair.
const featureSlots = 3

// slots is how many contacts there may be: of each feature, those of shapes with edges of
// boxes, then those of pairs.
func (m *Model) slots() int {
	n := featureSlots*len(m.features) + edgeContacts*len(m.solids)
	for i := range m.pairs {
		n += m.pairSlots(&m.pairs[i])
	}
	return n
}

func (m *Model) pairSlots(p *pair) int {
	a, b := &m.shapes[p.a], &m.shapes[p.b]
	if a.kind == urdf.Box && b.kind == urdf.Box {
		return boxContacts
	}
	return len(a.points) + len(b.points)
}

// compilePairs lists the shapes that may touch each other: those of bodies that are free
// of each other, and those that were asked for.
func (m *Model) compilePairs(c Config) {
	bodies := m.robot.Bodies()
	object := make([]robot.BodyID, len(bodies)) // the free body that a body belongs to
	for b := 1; b < len(bodies); b++ {
		if object[b] = object[bodies[b].Parent]; bodies[b].Kind == robot.Floating {
			object[b] = robot.BodyID(b)
		}
	}
	listed := func(list [][2]robot.FrameID, a, b robot.FrameID) bool {
		return slices.Contains(list, [2]robot.FrameID{a, b}) || slices.Contains(list, [2]robot.FrameID{b, a})
	}
	m.edgeSlot = featureSlots * len(m.features)
	slot := m.edgeSlot + edgeContacts*len(m.solids)
	for i := range m.shapes {
		for j := i + 1; j < len(m.shapes); j++ {
			a, b := &m.shapes[i], &m.shapes[j]
			apart := object[a.body] == object[b.body] && !listed(c.Touch, a.link, b.link)
			if a.body == b.body || apart || listed(c.Apart, a.link, b.link) {
				continue
			}
			p := pair{a: i, b: j, slot: slot, path: union(m.path[a.body], m.path[b.body])}
			slot += m.pairSlots(&p)
			m.pairs = append(m.pairs, p)
		}
	}
}

// union merges two paths of falling rows.
func union(a, b []int32) []int32 {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(x, y int32) int { return int(y - x) })
	return slices.Compact(all)
}

// detectPairs finds links that touch or may touch within the step.
func (d *Data) detectPairs(s *State, room []float64) {
	m := d.m
	for i := range m.pairs {
		p := &m.pairs[i]
		a, b := &m.shapes[p.a], &m.shapes[p.b]
		X_A, X_B := d.kin.BodyPose(a.body).Mul(a.pose), d.kin.BodyPose(b.body).Mul(b.pose)
		V_A, V_B := d.kin.Twist(kinPlace(a)), d.kin.Twist(kinPlace(b))
		speed := V_A.Linear.Sub(V_B.Linear).Norm() + V_A.Angular.Norm()*a.around + V_B.Angular.Norm()*b.around
		within := reach + 2*m.h*(speed+fallOf(m, m.h))
		if X_A.P.Sub(X_B.P).Norm()-a.around-b.around > within {
			continue
		}
		first := len(d.touches)
		if a.kind == urdf.Box && b.kind == urdf.Box {
			var found manifold
			found.boxes(&X_A, a.half, &X_B, b.half, within)
			for k := range found.n {
				d.addPairTouch(p.slot+k, a, b, found.normal, found.at[k], found.gap[k], s)
			}
		} else {
			d.pointsInside(p.slot, a, b, &X_A, &X_B, 1, within, s)
			d.pointsInside(p.slot+len(a.points), b, a, &X_B, &X_A, -1, within, s)
		}
		room = d.addBlock(first, p.path, a.body, b.body, room)
	}
}

// pointsInside adds what the points of a have with the shape b. Where a is the second of
// the pair the normal turns round.
func (d *Data) pointsInside(slot int, a, b *shape, X_A, X_B *spatial.Pose, sign, within float64, s *State) {
	if b.kind == urdf.Mesh && len(b.planes) == 0 || a.kind == b.kind && a.kind == urdf.Sphere && sign < 0 {
		return // a flat mesh has corners alone; two balls are told by the first
	}
	for k, p := range a.points {
		x := X_A.Apply(p)
		gap, n := b.distance(X_B.R.TMulVec(x.Sub(X_B.P)))
		if gap -= a.ball; gap < within {
			n = X_B.R.MulVec(n)
			first, second := a, b
			if sign < 0 {
				first, second = b, a
			}
			d.addPairTouch(slot+k, first, second, n.Scale(sign), x.Sub(n.Scale(a.ball+gap/2)), gap, s)
		}
	}
}

func (d *Data) addPairTouch(slot int, a, b *shape, n, at spatial.Vec3, gap float64, s *State) {
	t := touch{slot: slot, link: a.link, other: b.link, foot: robot.NoChain, gap: gap, n: n, at: at}
	t.begin(s.impulse[slot])
	d.touches = append(d.touches, t)
}

// distance returns the signed distance of a point from the shape, both in its axes, and
// its gradient.
func (s *shape) distance(p spatial.Vec3) (float64, spatial.Vec3) {
	switch s.kind {
	case urdf.Box:
		b := Box{Pose: spatial.IdentityPose, Half: s.half}
		return b.distance(p)
	case urdf.Cylinder:
		r := math.Hypot(p.X, p.Y)
		side, end := r-s.radius, math.Abs(p.Z)-s.long
		radial := spatial.Vec3{X: 1}
		if r > 0 {
			radial = spatial.Vec3{X: p.X / r, Y: p.Y / r}
		}
		axial := spatial.Vec3{Z: math.Copysign(1, p.Z)}
		switch {
		case side > 0 && end > 0:
			l := math.Hypot(side, end)
			return l, radial.Scale(side / l).Add(axial.Scale(end / l))
		case side > end:
			return side, radial
		}
		return end, axial
	case urdf.Mesh:
		far := math.Inf(-1)
		var out spatial.Vec3
		for i := range s.planes {
			if d := s.planes[i].n.Dot(p) - s.planes[i].d; d > far {
				far, out = d, s.planes[i].n
			}
		}
		return far, out
	case urdf.Capsule:
		p.Z -= math.Max(-s.long, math.Min(s.long, p.Z))
	}
	l := p.Norm()
	if l == 0 {
		return -s.radius, spatial.Vec3{Z: 1}
	}
	return l - s.radius, p.Scale(1 / l)
}
