package gait

import "poise/spatial"

// Motion is how a quantity moves: a place, a speed, an acceleration.
type Motion struct{ P, V, A spatial.Vec3 }

// Com returns how the centre of mass moves, seen from above, some seconds from now: exactly so up to
// the next point of the grid. Its height is that of the ground under the feet.
func (p *Planner) Com(after float64) Motion {
	x, y := p.com(p.t + after)
	z := p.level.at(p.t+after-p.last, p.climb())
	return Motion{P: spatial.Vec3{X: x.p, Y: y.p, Z: z.p}, V: spatial.Vec3{X: x.v, Y: y.v, Z: z.v}, A: spatial.Vec3{X: x.a, Y: y.a, Z: z.a}}
}

func (p *Planner) com(t float64) (x, y axis) {
	if p.phase == Settles {
		return p.endX.at(t), p.endY.at(t)
	}
	return p.x.at(t-p.last, p.jx), p.y.at(t-p.last, p.jy)
}

// Yaw returns the heading and its two derivatives, some seconds from now.
func (p *Planner) Yaw(after float64) (yaw, rate, acceleration float64) {
	t := p.t + after
	if p.phase == Settles {
		s := p.endYaw.at(t)
		return s.p, s.v, s.a
	}
	if p.phase == Stands {
		return p.now.yaw, 0, 0
	}
	s := axis{p.now.yaw, p.now.v.Yaw, p.now.a.Yaw}.at(t-p.last, (p.after.a.Yaw-p.now.a.Yaw)/grid)
	return s.p, s.v, s.a
}

// Foot returns how a foot moves some seconds from now, and how it is turned, with two derivatives.
func (p *Planner) Foot(leg int, after float64) (m Motion, yaw, rate, acceleration float64) {
	f, t := &p.feet[leg], p.t+after
	s := &f.swing
	if !(s.land > s.lift && t > s.lift && t < s.land) {
		at, z, turn := f.at, f.z, f.yaw
		if s.land > s.lift && t >= s.land {
			at, z, turn = s.to, s.height, s.turn
		}
		return Motion{P: spatial.Vec3{X: at.X, Y: at.Y, Z: z}}, turn, 0, 0
	}
	x, y, w, z := s.x.at(t), s.y.at(t), s.yaw.at(t), s.up.at(t)
	if t > s.down.begin {
		z = s.down.at(t)
	}
	return Motion{P: spatial.Vec3{X: x.p, Y: y.p, Z: z.p}, V: spatial.Vec3{X: x.v, Y: y.v, Z: z.v}, A: spatial.Vec3{X: x.a, Y: y.a, Z: z.a}}, w.p, w.v, w.a
}

// Foothold returns where a foot is put down next, as far as that is planned, and whether it is on its way there.
func (p *Planner) Foothold(leg int) (at Point, yaw float64, planned, swings bool) {
	f := &p.feet[leg]
	if s := &f.swing; s.land > s.lift && p.t < s.land {
		return s.to, s.turn, true, true
	}
	if e := &p.future.feet[leg]; p.phase == Walks && e.n > 0 && e.lift[e.n-1] > p.t {
		k := 0
		for e.lift[k] <= p.t {
			k++
		}
		return e.at[k+1], p.now.yaw, true, false
	}
	return f.at, f.yaw, false, false
}

// Swing returns when a foot is lifted and when it lands, of the way through the air that it is on or was on last; s of
// the plan's clock, which is at now.
func (p *Planner) Swing(leg int) (lift, land, now float64) {
	s := &p.feet[leg].swing
	return s.lift, s.land, p.t
}

// Aloft reports whether a foot is in the air, whether it is on its way down, and how high it is over the ground that it left or, on its way
// down, comes to.
func (p *Planner) Aloft(leg int) (swings, descends bool, height float64) {
	f := &p.feet[leg]
	s := &f.swing
	if swings = s.land > s.lift && p.t > s.lift && p.t < s.land; !swings {
		return false, false, 0
	}
	if p.t > s.down.begin {
		z := s.down.at(p.t)
		return true, z.v < 0, z.p - s.height // one that is put down at once may rise for a moment
	}
	return true, false, s.up.at(p.t).p - f.z
}

// Weight returns how much a foot carries of what it could, 0 … 1: it gives its load up before it is
// lifted, and takes it after it touched down.
func (p *Planner) Weight(leg int) float64 {
	s := &p.feet[leg].swing
	if !(s.land > s.lift) || p.t <= s.lift-p.cfg.Fade || p.t >= s.land+p.cfg.Fade {
		return 1
	}
	if p.t < s.lift {
		return (s.lift - p.t) / p.cfg.Fade
	}
	return max(0, (p.t-s.land)/p.cfg.Fade)
}
