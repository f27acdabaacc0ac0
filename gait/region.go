package gait

import (
	"math"

	"poise/contact"
)

// region is where the zero-moment point may be: the hull of some feet, shrunken by a margin. Of two
// feet it is the line between them without its ends, of one foot its middle.
type region struct {
	corners [2 * maxLegs]Point // counter-clockwise
	n       int
}

// share is how much of the room between the middle and the edge a margin may take.
const share = 0.5

// shrink sets the region of a hull. Loop-safe.
func (r *region) shrink(hull *contact.Polygon, margin float64) {
	all := hull.Corners
	r.n = copy(r.corners[:], all)
	if r.n <= 1 {
		return
	}
	middle, _ := hull.Centre()
	if r.n == 2 {
		a, b := all[0], all[1]
		half := math.Hypot(b.X-a.X, b.Y-a.Y) / 2
		keep := 1 - min(margin/half, share)
		r.corners[0] = Point{X: middle.X + keep*(a.X-middle.X), Y: middle.Y + keep*(a.Y-middle.Y)}
		r.corners[1] = Point{X: middle.X + keep*(b.X-middle.X), Y: middle.Y + keep*(b.Y-middle.Y)}
		return
	}
	for i, a := range all {
		margin = min(margin, share*side(a, all[(i+1)%len(all)], middle))
	}
	for i, a := range all {
		r.cut(a, all[(i+1)%len(all)], margin)
	}
}

// side is how far a point is to the left of the line from a to b.
func side(a, b, p Point) float64 {
	dx, dy := b.X-a.X, b.Y-a.Y
	return (dx*(p.Y-a.Y) - dy*(p.X-a.X)) / math.Hypot(dx, dy)
}

// cut keeps what is at least a distance to the left of the line from a to b (Sutherland and Hodgman).
func (r *region) cut(a, b Point, distance float64) {
	from := r.corners
	n := r.n
	r.n = 0
	add := func(p Point) {
		if r.n < len(r.corners) {
			r.corners[r.n] = p
			r.n++
		}
	}
	for i := range n {
		p, q := from[i], from[(i+1)%n]
		s, t := side(a, b, p)-distance, side(a, b, q)-distance
		if s >= 0 {
			add(p)
		}
		if s > 0 && t < 0 || s < 0 && t > 0 {
			u := s / (s - t)
			add(Point{X: p.X + u*(q.X-p.X), Y: p.Y + u*(q.Y-p.Y)})
		}
	}
}

// nearest returns the point of the region that is nearest to p. Loop-safe.
func (r *region) nearest(p Point) Point {
	if r.n == 0 {
		return p
	}
	inside, best, least := r.n >= 3, r.corners[0], math.Inf(1)
	for i := range r.n {
		a, b := r.corners[i], r.corners[(i+1)%r.n]
		dx, dy := b.X-a.X, b.Y-a.Y
		inside = inside && dx*(p.Y-a.Y)-dy*(p.X-a.X) >= 0
		u := 0.0
		if l := dx*dx + dy*dy; l > 0 {
			u = min(max(((p.X-a.X)*dx+(p.Y-a.Y)*dy)/l, 0), 1)
		}
		q := Point{X: a.X + u*dx, Y: a.Y + u*dy}
		if d := math.Hypot(q.X-p.X, q.Y-p.Y); d < least {
			best, least = q, d
		}
	}
	if inside {
		return p
	}
	return best
}
