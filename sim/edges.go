package sim

import (
	"math"

	"poise/robot"
	"poise/spatial"
	"poise/urdf"
)

// Corners, balls and rims of a robot touch the faces of a box of the ground as features.
// Here the edges of the box, and its corners as their ends, touch the surface of the
// robot's shapes: a plank across a narrow box, a sole half over a step.

// How many contacts a shape may have with edges of boxes. An edge that lies along a surface
// touches at two points, which keep away from the surface's own rim: there it could not be
// told which way is out.
const (
	edgeContacts = 8
	edgeRim      = 1e-3 // m
	edgeFlat     = 1e-4 // m: by how much the gap may grow along an edge that lies on a surface
	edgeNear     = 1e-5 // m: to which its nearest point is found
	edgeSearch   = 30   // steps that this takes at most
)

// touchEdges adds what a shape of a body has with the edges of boxes.
func (d *Data) touchEdges(g *Ground, number int, X_WB *spatial.Pose, within float64, s *State) {
	S := &d.m.solids[number]
	X := X_WB.Mul(S.pose)
	slot := d.m.edgeSlot + number*edgeContacts
	last := slot + edgeContacts
	for i := range g.Boxes {
		b := &g.Boxes[i]
		if far, _ := b.distance(X.P); far > S.around+within {
			continue
		}
		for axis := range 3 {
			for k := range 4 {
				slot = d.touchEdge(b, axis, k, S, &X, within, slot, last, s)
			}
		}
	}
}

// touchEdge adds what a shape has with one edge of a box, and returns the next free slot.
func (d *Data) touchEdge(b *Box, axis, k int, S *shape, X *spatial.Pose, within float64, slot, last int, s *State) int {
	sign := func(bit int) float64 { return float64(k>>bit&1)*2 - 1 }
	u, v := (axis+1)%3, (axis+2)%3
	middle := unit(u, sign(0)*component(b.Half, u)).Add(unit(v, sign(1)*component(b.Half, v)))
	half := component(b.Half, axis)
	// the edge in the axes of the shape: p + t·e, |t| ≤ half
	p := X.R.TMulVec(b.Pose.Apply(middle).Sub(X.P))
	e := X.R.TMulVec(b.Pose.R.Col(axis))
	nearest := -p.Dot(e)
	if p.Add(e.Scale(nearest)).Norm() > S.around+within {
		return slot
	}
	lo, hi := math.Max(-half, nearest-S.around-within), math.Min(half, nearest+S.around+within)
	if lo >= hi {
		return slot
	}
	gap := func(t float64) float64 { x, _ := S.distance(p.Add(e.Scale(t))); return x }
	t := leastOf(gap, lo, hi, within)
	most := gap(t)
	if most >= within {
		return slot
	}
	at := [2]float64{t, t}
	n := 1
	from, to := rimOf(gap, t, lo, most+edgeFlat), rimOf(gap, t, hi, most+edgeFlat)
	if to-from > 4*edgeRim {
		at, n = [2]float64{from + edgeRim, to - edgeRim}, 2
	}
	for i := 0; i < n && slot < last; i++ {
		x := p.Add(e.Scale(at[i]))
		depth, out := S.distance(x)
		if depth >= within {
			continue
		}
		normal := X.R.MulVec(out).Neg()
		touch := touch{slot: slot, link: S.link, other: robot.NoFrame, foot: S.foot, gap: depth, n: normal, at: X.Apply(x).Add(normal.Scale(depth / 2))}
		touch.begin(s.impulse[slot])
		d.touches = append(d.touches, touch)
		slot++
	}
	return slot
}

// leastOf finds where a convex function that changes by no more than its argument is least.
// It gives up where that is more than some level.
func leastOf(f func(float64) float64, lo, hi, level float64) float64 {
	const golden = 0.6180339887498949
	a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
	fa, fb := f(a), f(b)
	for range edgeSearch {
		if hi-lo < edgeNear || math.Min(fa, fb)-(hi-lo) > level {
			break
		}
		if fa <= fb {
			hi, b, fb = b, a, fa
			a = hi - golden*(hi-lo)
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + golden*(hi-lo)
			fb = f(b)
		}
	}
	return (lo + hi) / 2
}

// rimOf returns how far towards an end a convex function stays below a level.
func rimOf(f func(float64) float64, from, end, level float64) float64 {
	if f(end) <= level {
		return end
	}
	for range edgeSearch {
		if middle := (from + end) / 2; f(middle) <= level {
			from = middle
		} else {
			end = middle
		}
	}
	return from
}

// compileSolids lists what edges of boxes may touch: the collision shapes that have an
// inside, and soles as flat cylinders.
func (m *Model) compileSolids() {
	for i := range m.shapes {
		if s := m.shapes[i]; s.kind != urdf.Mesh || len(s.planes) > 0 {
			m.solids = append(m.solids, s)
		}
	}
}
