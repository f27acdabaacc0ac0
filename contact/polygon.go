package contact

import (
	"cmp"
	"math"
	"slices"
)

// Point is a place on the ground, m.
type Point struct{ X, Y float64 }

// Polygon is a convex polygon. The zero value is empty.
type Polygon struct {
	Corners []Point // counter-clockwise; one or two if the polygon has no area
	work    []Point
}

// Hull makes p the convex hull of points, without corners on straight edges.
// It allocates only when there are more points than ever before.
//
// It is Andrew's monotone chain: go through the points from left to right, keep
// the lower boundary by dropping what turns clockwise, and come back above.
func (p *Polygon) Hull(points []Point) {
	w := append(p.work[:0], points...)
	slices.SortFunc(w, func(a, b Point) int {
		return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y))
	})
	w = slices.Compact(w)
	p.work = w
	h := p.Corners[:0]
	for _, q := range w {
		h = append(trim(h, 0, q), q)
	}
	lower := len(h)
	for i := len(w) - 2; i >= 0; i-- {
		h = append(trim(h, lower-1, w[i]), w[i])
	}
	if len(h) > 1 {
		h = h[:len(h)-1] // the first point again
	}
	p.Corners = h
}

// trim drops corners behind the first `from` that do not turn left towards q.
func trim(h []Point, from int, q Point) []Point {
	for len(h)-from >= 2 && cross(h[len(h)-2], h[len(h)-1], q) <= 0 {
		h = h[:len(h)-1]
	}
	return h
}

// cross is twice the area of the triangle a b c, positive if it turns left.
func cross(a, b, c Point) float64 { return (b.X-a.X)*(c.Y-a.Y) - (b.Y-a.Y)*(c.X-a.X) }

// Margin returns how far inside the polygon a point is: its distance from the
// nearest edge, negative outside, −∞ if there is no polygon. A polygon without
// area has no inside. Loop-safe.
func (p *Polygon) Margin(q Point) float64 {
	n := len(p.Corners)
	inside, nearest := n >= 3, math.Inf(1)
	for i, a := range p.Corners {
		b := p.Corners[(i+1)%n]
		nearest = min(nearest, distance(q, a, b))
		inside = inside && cross(a, b, q) >= 0
	}
	if inside {
		return nearest
	}
	return -nearest
}

// distance of q from the segment a b.
func distance(q, a, b Point) float64 {
	dx, dy := b.X-a.X, b.Y-a.Y
	t := 0.0
	if length := dx*dx + dy*dy; length > 0 {
		t = min(max(((q.X-a.X)*dx+(q.Y-a.Y)*dy)/length, 0), 1)
	}
	return math.Hypot(a.X+t*dx-q.X, a.Y+t*dy-q.Y)
}

// Area returns the area of the polygon, m². Loop-safe.
func (p *Polygon) Area() (area float64) {
	for i := 2; i < len(p.Corners); i++ {
		area += cross(p.Corners[0], p.Corners[i-1], p.Corners[i]) / 2
	}
	return area
}

// Centre returns the centre of the polygon's area, of its ends if it has none; ok
// is false if it is empty. Loop-safe.
func (p *Polygon) Centre() (c Point, ok bool) {
	n := len(p.Corners)
	if n == 0 {
		return Point{}, false
	}
	a := p.Corners[0]
	if area := p.Area(); area > 0 {
		for i := 2; i < n; i++ {
			b, d := p.Corners[i-1], p.Corners[i]
			share := cross(a, b, d) / 2 / area
			c.X += share * (a.X + b.X + d.X) / 3
			c.Y += share * (a.Y + b.Y + d.Y) / 3
		}
		return c, true
	}
	b := p.Corners[n-1]
	return Point{(a.X + b.X) / 2, (a.Y + b.Y) / 2}, true
}

// Inradius returns the radius of the greatest circle inside the polygon, m; 0 if it has no
// area. The circle touches three edges: each three are tried. Loop-safe.
func (p *Polygon) Inradius() (radius float64) {
	n := len(p.Corners)
	for i := range n {
		for j := i + 1; j < n; j++ {
			for k := j + 1; k < n; k++ {
				if c, r, ok := p.touching(i, j, k); ok && r > radius && p.contains(c, r) {
					radius = r
				}
			}
		}
	}
	return radius
}

// Edge returns the start of edge i and its unit normal that points inside. Loop-safe.
func (p *Polygon) Edge(i int) (start, inward Point) {
	a, b := p.Corners[i], p.Corners[(i+1)%len(p.Corners)]
	length := math.Hypot(b.X-a.X, b.Y-a.Y)
	return a, Point{-(b.Y - a.Y) / length, (b.X - a.X) / length}
}

// touching solves n·(c − e) = r for three edges by Cramer's rule.
func (p *Polygon) touching(i, j, k int) (c Point, r float64, ok bool) {
	var n [3]Point
	var d [3]float64
	for m, edge := range [3]int{i, j, k} {
		var e Point
		e, n[m] = p.Edge(edge)
		d[m] = n[m].X*e.X + n[m].Y*e.Y
	}
	det := func(a, b, c [3]float64) float64 {
		return a[0]*(b[1]*c[2]-b[2]*c[1]) - b[0]*(a[1]*c[2]-a[2]*c[1]) + c[0]*(a[1]*b[2]-a[2]*b[1])
	}
	x, y, one := [3]float64{n[0].X, n[1].X, n[2].X}, [3]float64{n[0].Y, n[1].Y, n[2].Y}, [3]float64{-1, -1, -1}
	D := det(x, y, one)
	if math.Abs(D) < 1e-12 {
		return c, 0, false
	}
	return Point{det(d, y, one) / D, det(x, d, one) / D}, det(x, y, d) / D, true
}

// contains reports whether a circle is inside.
func (p *Polygon) contains(c Point, r float64) bool {
	for i := range p.Corners {
		e, n := p.Edge(i)
		if n.X*(c.X-e.X)+n.Y*(c.Y-e.Y) < r-1e-9 {
			return false
		}
	}
	return true
}
