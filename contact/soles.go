package contact

import "math"

// Soles are the places on which a robot stands, seen from above: points, and level discs. The
// zero value is empty.
type Soles struct {
	discs  []disc
	points []Point // bare points, then the corners of discs
}

type disc struct {
	at     Point
	radius float64
	reach  float64 // in the direction that is looked at
}

// SoleSides is of how many sides the polygon inside of a disc is: what is left out of the disc is
// 0.5 % of its radius.
const SoleSides = 32

var around = func() (d [SoleSides]Point) {
	for i := range d {
		d[i].Y, d[i].X = math.Sincos(2 * math.Pi * float64(i) / SoleSides)
	}
	return d
}()

// Clear leaves no soles. Loop-safe.
func (s *Soles) Clear() { s.discs, s.points = s.discs[:0], s.points[:0] }

// Add adds a disc, or a point if its radius is 0. It allocates only when there are more than ever
// before.
func (s *Soles) Add(at Point, radius float64) {
	if radius > 0 {
		s.discs = append(s.discs, disc{at: at, radius: radius})
	} else {
		s.points = append(s.points, at)
	}
}

// Hull makes p the hull of the soles. Loop-safe, if there were as many before.
//
// Most corners of discs are inside, and are left out before they are sorted: the disc at c reaches
// c·d + r in the direction d, and what it lacks of the furthest one changes by the distance of the
// two at most per radian. One that lacks more than that times a step reaches furthest neither here
// nor up to the next direction.
func (s *Soles) Hull(p *Polygon) {
	const step = 2 * math.Pi / SoleSides
	all := s.points
	for _, d := range around {
		best, most := -1, math.Inf(-1)
		for k := range s.discs {
			c := &s.discs[k]
			if c.reach = c.at.X*d.X + c.at.Y*d.Y + c.radius; c.reach > most {
				best, most = k, c.reach
			}
		}
		for k := range s.discs {
			c, b := &s.discs[k], &s.discs[best].at
			x, y, lacks := c.at.X-b.X, c.at.Y-b.Y, most-c.reach
			if lacks*lacks <= step*step*(x*x+y*y) {
				all = append(all, Point{X: c.at.X + c.radius*d.X, Y: c.at.Y + c.radius*d.Y})
			}
		}
	}
	p.Hull(all)
	s.points = all[:len(s.points)]
}
