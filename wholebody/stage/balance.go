package stage

import (
	"math"

	"poise/contact"
	"poise/spatial"
	"poise/wholebody"
)

const (
	sweeps = 24  // over all half planes: what is left is below a hundredth
	ofCone = 0.9 // share of friction that the body as a whole may ask for
)

// affordable cuts a horizontal acceleration of the centre of mass to what the balance allows: the capture
// point's barriers, a zero-moment point c − c̈/ω₀² inside the polygon of the feet that stay, and friction. For
// more the levels would turn the body, or push forces into the corners of the friction pyramid, which change
// from tick to tick. It is the nearest point of a convex set, by R. Dykstra's method.
func (s *Stage) affordable(a spatial.Vec3) spatial.Vec3 {
	if s.planned || s.State.Supports != Area {
		return a
	}
	s.allowed = s.allowed[:0]
	s.allowed = append(s.allowed, s.r.Capture...)
	margin := min(s.cfg.Margin, s.polygon.Inradius()/2)
	for i := range s.polygon.Corners {
		e, n := s.polygon.Edge(i)
		h := n.X*(s.com.X-e.X) + n.Y*(s.com.Y-e.Y) - margin
		s.allow(contact.Point{X: -n.X, Y: -n.Y}, -s.ω0*s.ω0*h)
	}
	most := ofCone * s.r.Friction / math.Sqrt2 * s.m.Gravity().Norm()
	for _, n := range [4]contact.Point{{X: 1}, {X: -1}, {Y: 1}, {Y: -1}} {
		s.allow(n, -most)
	}
	x, y := a.X, a.Y
	for i := range s.taken[:len(s.allowed)] {
		s.taken[i] = 0
	}
	for range sweeps {
		for i, p := range s.allowed {
			by := max(0, p.Least-p.Along.X*x-p.Along.Y*y+s.taken[i])
			x, y = x+(by-s.taken[i])*p.Along.X, y+(by-s.taken[i])*p.Along.Y
			s.taken[i] = by
		}
	}
	for i := range s.r.Capture {
		s.held = s.held || s.taken[i] > 1e-6
	}
	a.X, a.Y = x, y
	return a
}

func (s *Stage) allow(along contact.Point, least float64) {
	if len(s.allowed) < cap(s.allowed) {
		s.allowed = append(s.allowed, wholebody.HalfPlane{Along: along, Least: least})
	}
}

const (
	standsUp = 0.5  // vertical part of a leg's direction from which on it limits the height
	spares   = 0.02 // m/s²: distance to that limit
)

// reachable cuts the vertical acceleration of the base to what its legs reach. The level of the height is above that
// of the plane: for a little more height it would move the body sideways.
func (s *Stage) reachable(a, turn, base spatial.Vec3) float64 {
	z := a.Z
	for i := range s.r.Reach {
		l := &s.r.Reach[i]
		if l.Along.Z < -standsUp {
			z = min(z, (l.Least-l.Along.Dot(turn.Cross(l.Point.Sub(base))))/l.Along.Z-spares)
		}
	}
	return z
}
