package estimate

import (
	"math"

	"poise/contact"
	"poise/spatial"
)

// surface is the estimated ground that a robot walks on: a plane under the base with the slope of the feet, whose height
// goes on with the base. Feet land a little too high or too low at each step, and a trot has none on the ground at
// times: without the plane the height of the base drifts, or falls back to that at the start.
type surface struct {
	on     bool
	slope  contact.Point // rise along the axes of the world, m/m
	height float64       // under at, m
	at     spatial.Vec3  // where the base was at the last update
	came   float64       // s: when a foot came to stand last,
	stood  float64       // and when one stood last
}

// Numbers of the surface.
const (
	slopeTime     = 1.0    // s, time constant of the slope
	levelSlope    = 0.02   // slope up to which the ground counts as level: the unit errs by as much
	fullSlope     = 0.04   // slope from which on all of it counts
	spreadFeet    = 1.5e-4 // m²: least second moment of feet from which a slope is found
	backTime      = 1.0    // s, time constant with which the height of feet approaches the surface …
	backFor       = 0.5    // … for this long after one landed: a robot that stands does not move
	uprightCosine = 0.8    // cosine of the tilt from which on a robot lies
	flight        = 0.5    // s without feet on the ground after which they land at the height of the start
)

// steep is the slope as far as it counts.
func (s *surface) steep() contact.Point {
	x := min(max((math.Hypot(s.slope.X, s.slope.Y)-levelSlope)/(fullSlope-levelSlope), 0), 1)
	x *= x * (3 - 2*x)
	return contact.Point{X: x * s.slope.X, Y: x * s.slope.Y}
}

// under returns the height of the surface at a place.
func (s *surface) under(p spatial.Vec3) float64 {
	e := s.steep()
	return s.height + e.X*(p.X-s.at.X) + e.Y*(p.Y-s.at.Y)
}

// walk lets the surface go on with the base, and feet that came down come to it. Loop-safe.
func (o *Odometry) walk(input *Input, fresh bool) {
	s, dt := &o.real.surface, input.Time-o.time
	if o.found.Pose.R[8] < uprightCosine { // it lies: feet tell nothing of the ground
		s.on = false
		return
	}
	if !input.Orientation.Has || len(o.feet) == 0 {
		s.on = s.on && input.Orientation.Has && input.Time-s.stood < flight
		return
	}
	P := o.found.Pose.P
	slope, told := o.feetSlope()
	mean, middle, first, n := 0.0, spatial.Vec3{}, 0, float64(len(o.feet))
	for i := range o.feet {
		x := o.found.Pose.Apply(o.matches[first].P)
		mean, middle = mean+x.Z/n, middle.Add(x.Scale(1/n))
		first += o.points(o.feet[i].Foot)
	}
	if !s.on || o.placed {
		*s = surface{on: true, at: P, came: input.Time, stood: input.Time}
		if told {
			s.slope = slope
		}
		e := s.steep()
		s.height = mean + e.X*(P.X-middle.X) + e.Y*(P.Y-middle.Y)
		return
	}
	if told {
		share := min(dt/slopeTime, 1)
		s.slope.X, s.slope.Y = s.slope.X+share*(slope.X-s.slope.X), s.slope.Y+share*(slope.Y-s.slope.Y)
	}
	s.height, s.at, s.stood = s.under(P), P, input.Time
	if fresh {
		s.came = input.Time
	}
	if input.Time-s.came > backFor {
		return
	}
	by := min(dt/backTime, 1) * (s.under(middle) - mean)
	o.found.Pose.P.Z, s.at.Z = o.found.Pose.P.Z+by, s.at.Z+by
	for i := range o.matches {
		o.matches[i].Anchor.Z += by
	}
}

// feetSlope returns the slope of the plane through the feet that stand, if there are three at least that are spread.
func (o *Odometry) feetSlope() (slope contact.Point, told bool) {
	if len(o.feet) < 3 {
		return slope, false
	}
	n, first := float64(len(o.feet)), 0
	var mean spatial.Vec3
	for i := range o.feet {
		mean = mean.Add(o.matches[first].P.Scale(1 / n))
		first += o.points(o.feet[i].Foot)
	}
	var xx, xy, yy, xz, yz float64
	first = 0
	for i := range o.feet {
		d := o.found.Pose.R.MulVec(o.matches[first].P.Sub(mean))
		xx, xy, yy, xz, yz = xx+d.X*d.X, xy+d.X*d.Y, yy+d.Y*d.Y, xz+d.X*d.Z, yz+d.Y*d.Z
		first += o.points(o.feet[i].Foot)
	}
	det := xx*yy - xy*xy
	if least := (xx + yy - math.Sqrt((xx-yy)*(xx-yy)+4*xy*xy)) / 2; least < spreadFeet {
		return slope, false
	}
	return contact.Point{X: (xz*yy - yz*xy) / det, Y: (yz*xx - xz*xy) / det}, true
}
