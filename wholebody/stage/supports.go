package stage

import (
	"math"

	"poise/contact"
	"poise/control"
	"poise/floatingbase"
	"poise/robot"
	"poise/spatial"
	"poise/wholebody"
)

// leastInradius is that of a polygon in which a capture point can be kept, m.
const leastInradius = 1e-3

// stand finds which feet carry in this tick, and keeps the capture point inside their polygon.
func (s *Stage) stand(c *control.Motion, dt float64) {
	s.kin.UpdatePosition(s.q)
	s.kin.UpdateVelocity(s.v)
	s.findCapture()
	s.planned, s.switched = false, false
	for i := range s.feet {
		f := &s.feet[i]
		f.stays, f.planned = f.can && f.share > 0, f.can && c.Support[i].Planned
		s.planned = s.planned || f.planned
		s.Limbs[i] = LimbState{Ratio: 1, Pace: s.pace[i]}
	}
	s.r.Friction = s.cfg.Friction
	for i := range s.feet {
		if s.feet[i].can {
			s.step(i, c, dt)
		}
	}
	s.r.Supports, s.r.Feedback = s.r.Supports[:0], s.r.Feedback[:0]
	for i := range s.feet {
		if f := &s.feet[i]; f.share > 0 {
			s.r.Supports = append(s.r.Supports, floatingbase.Support{Chain: robot.ChainID(i), Contact: f.contact, Coefficient: f.share * f.share})
		}
	}
	s.project()
	for _, x := range s.r.Supports {
		s.r.Feedback = append(s.r.Feedback, s.feedback(int(x.Chain)))
	}
	s.barriers()
	s.reaches()
}

// findCapture finds the ground, the centre of mass and the capture point.
func (s *Stage) findCapture() {
	n := 0
	z := 0.0
	for i := range s.feet {
		if f := &s.feet[i]; f.can && f.share > 0 {
			z += f.anchor.Apply(s.origin(f)).Z
			n++
		}
	}
	if n > 0 {
		s.ground = z / float64(n)
	}
	s.com, _ = s.kin.Com()
	s.vcom, _ = s.kin.ComVelocity()
	s.ω0 = math.Sqrt(s.m.Gravity().Norm() / math.Max(s.com.Z-s.ground, 0.01))
	s.ξ = s.com.Add(s.vcom.Scale(1 / s.ω0))
}

// origin is the point of a foot's contact set at which its wrench acts, in the tip's frame.
func (s *Stage) origin(f *foot) spatial.Vec3 {
	p, _ := s.models[f.contact].Origin()
	return p
}

// hull finds the polygon of the feet that stay, but one.
func (s *Stage) hull(p *contact.Polygon, without int) {
	s.soles = s.soles[:0]
	for i := range s.feet {
		f := &s.feet[i]
		if !f.stays || i == without {
			continue
		}
		for _, x := range s.models[f.contact].Soles() {
			w := f.anchor.Apply(x)
			s.soles = append(s.soles, contact.Point{X: w.X, Y: w.Y})
		}
	}
	p.Hull(s.soles)
}

// step moves a foot towards what is asked of it: off the ground only if the robot stands without it,
// onto the ground only where it is.
func (s *Stage) step(i int, c *control.Motion, dt float64) {
	f, limb, want := &s.feet[i], &s.Limbs[i], &c.Support[i]
	to := math.Sqrt(max(0, min(1, want.Weight)))
	by := dt / fadeTime
	if want.Fade > 0 {
		by = dt / want.Fade
	}
	if to > 0 {
		if want.Contact != robot.NoContact {
			f.contact = want.Contact
		}
		if want.Friction > 0 {
			s.r.Friction = min(s.r.Friction, want.Friction)
		}
	}
	switch {
	case to < f.share || to == 0 && f.share > 0:
		if !f.planned && !s.stable(i) { // it carries on, and takes its part again
			limb.Kept, to = true, 1
		} else if to == 0 {
			f.stays = false
		}
	case to > 0 && f.share == 0:
		tip := s.kin.Pose(s.kin.At(s.m.Chains()[i].Tip))
		height := tip.Apply(s.origin(f)).Z - s.ground
		switch {
		case f.planned:
			f.anchor = s.foothold(i, &c.Limb[i], tip)
		case height > touches:
			limb.Lands = true
			return
		default:
			f.anchor = tip
			f.anchor.P.Z -= height
		}
		f.stays, s.switched = true, true
	}
	if f.led = want.Led && f.planned && f.share > 0 && c.Limb[i].Has; f.led {
		f.moves = s.motionOf(i, &c.Limb[i], s.origin(f))
		f.anchor = spatial.Pose{R: f.moves.R, P: f.moves.at.Sub(f.moves.R.MulVec(s.origin(f)))}
	}
	f.share += max(-by, min(by, to-f.share))
}

// strays is how far a foot may be from where its owner puts it down, m.
const strays = 0.02

// foothold is where the owner of a foot puts it down, if it is about there; else where the foot is.
func (s *Stage) foothold(i int, ref *control.LimbRef, tip spatial.Pose) spatial.Pose {
	if !ref.Has {
		return tip
	}
	b := control.BaseRef(*ref)
	chain := &s.m.Chains()[i]
	X := b.Pose.Mul(s.kin.Pose(s.kin.At(chain.VirtualTip)).Inverse().Mul(tip))
	if X.P.Sub(tip.P).Norm() > strays {
		return tip
	}
	return X
}

// stable reports whether the robot stands without a foot.
func (s *Stage) stable(i int) bool {
	s.hull(&s.spare, i)
	inradius := s.spare.Inradius()
	if !(inradius > leastInradius) {
		return false
	}
	least := min(s.cfg.Margin, inradius/2) + liftBeyond
	if s.feet[i].share < 1 { // it is leaving
		least /= 2
	}
	return s.spare.Margin(contact.Point{X: s.ξ.X, Y: s.ξ.Y}) >= least
}

// feedback is the acceleration that takes a foot back to where it stood.
func (s *Stage) feedback(i int) spatial.Twist {
	f := &s.feet[i]
	tip := s.kin.At(s.m.Chains()[i].Tip)
	X, origin := s.kin.Pose(tip), s.origin(f)
	t := s.kin.Twist(tip.Offset(spatial.Pose{R: spatial.Identity3, P: origin}))
	off := f.anchor.Apply(origin).Sub(X.Apply(origin))
	turn := f.anchor.R.Quat().Mul(X.R.Quat().Conj()).Log()
	ω := s.ω
	if m := &f.moves; f.led {
		return spatial.Twist{Linear: m.linear.Add(m.velocity.Add(clipped(off.Scale(ω/2), limbCatches)).Sub(t.Linear).Scale(2 * ω)),
			Angular: m.angular.Add(m.rate.Add(clipped(turn.Scale(ω/2), baseTurns)).Sub(t.Angular).Scale(2 * ω))}
	}
	return spatial.Twist{Linear: off.Scale(ω * ω).Sub(t.Linear.Scale(2 * ω)), Angular: turn.Scale(ω * ω).Sub(t.Angular.Scale(2 * ω))}
}

// barriers keep the capture point inside the polygon of the feet that stay: of its distance h from
// an edge, ḣ = n·(ċ + c̈/ω₀) ≥ −γ·h.
func (s *Stage) barriers() {
	s.r.Capture = s.r.Capture[:0]
	s.State.Margin = math.Inf(-1)
	s.hull(&s.polygon, -1)
	inradius := s.polygon.Inradius()
	switch {
	case len(s.r.Supports) == 0:
		s.State.Supports = Air
		return
	case !(inradius > leastInradius):
		s.State.Supports = Line
		return
	}
	s.State.Supports = Area
	at := contact.Point{X: s.ξ.X, Y: s.ξ.Y}
	s.State.Margin = s.polygon.Margin(at)
	if s.planned { // it may leave a polygon that it comes back to by the next step
		return
	}
	margin := min(s.cfg.Margin+captureBeyond, 0.75*inradius)
	for i := range s.polygon.Corners {
		if len(s.r.Capture) == cap(s.r.Capture) {
			return
		}
		e, n := s.polygon.Edge(i)
		h := n.X*(at.X-e.X) + n.Y*(at.Y-e.Y) - margin
		least := s.ω0 * (-barrier*h - n.X*s.vcom.X - n.Y*s.vcom.Y)
		s.r.Capture = append(s.r.Capture, wholebody.HalfPlane{Along: n, Least: max(-mostPush, min(mostPush, least))})
	}
}

// mostPush is the greatest acceleration that is asked for to keep the balance, m/s².
const mostPush = 20.0
