package gait

import "math"

// Brace puts the feet that are in the air down at once, for a robot that is pushed while it walks: within some seconds, as far towards where
// they were to come down as an acceleration, m/s², takes them. Feet that are about to be lifted stay. No other foot is lifted until Stop
// is called with false. Loop-safe.
func (p *Planner) Brace(within, most float64) {
	p.halted = true
	for i := range p.feet {
		f := &p.feet[i]
		s := &f.swing
		switch {
		case !(s.land > s.lift) || p.t >= s.land:
		case p.t <= s.lift: // as if it had come down when it would have the load that it has now
			s.land = p.t - p.cfg.Fade*p.Weight(i)
			s.lift, s.to, s.height, s.turn = s.land-grid, f.at, f.z, f.yaw
			if l := &p.listed; l.on && l.next > 0 && l.steps[l.next-1].Leg == i {
				l.next-- // its footstep is still to be taken
			}
		case s.land-p.t > within:
			p.hurry(f, within, most)
		}
	}
}

// swingPeak is the largest acceleration of a quintic between two rests, in units of its way over the square of its time.
const swingPeak = 5.7735

// hurry brings a foot in the air down in T seconds.
func (p *Planner) hurry(f *foot, T, most float64) {
	s := &f.swing
	x, y, yaw, z := s.x.at(p.t), s.y.at(p.t), s.yaw.at(p.t), s.up.at(p.t)
	if p.t > s.down.begin {
		z = s.down.at(p.t)
	}
	// where it comes to rest by itself, nearly, and from there on
	to := Point{X: x.p + T/2*x.v + T*T/12*x.a, Y: y.p + T/2*y.v + T*T/12*y.a}
	dx, dy := s.to.X-to.X, s.to.Y-to.Y
	share := 1.0
	if far, can := math.Hypot(dx, dy), most*T*T/swingPeak; far > can {
		share = can / far
	}
	s.to = p.avoid(Point{X: to.X + share*dx, Y: to.Y + share*dy}, p.now.apply(f.nominal))
	s.height, s.land = p.terrain.height(s.to), p.t+T
	s.x, s.y, s.yaw = newQuintic(x, s.to.X, p.t, T), newQuintic(y, s.to.Y, p.t, T), newQuintic(yaw, s.turn, p.t, T)
	s.down = newQuintic(z, s.height, p.t, T)
	s.up = s.down // what is asked for a moment before now is of the same way
}
