package walk

import (
	"math"

	"poise/control"
	"poise/gait"
	"poise/spatial"
)

// balance lets the body go with what the capture point leaves its plan by. A robot on stiff legs that is pushed tips as a
// whole over the edge of its soles: its centre of mass is height·lean aside, and goes on by height·rate; both are the inertial
// unit's. A body that is accelerated that way turns its legs back by its reaction: soles stay flat, and the push is taken by a
// motion that ends within its bound. Accelerated the other way, as for a robot whose soles are flat anyway, it falls sooner.
type balance struct {
	known bool
	usual gait.Point // lean that lasts, as on a slope
	offset
	off   gait.Point // of the capture point, m, axes of the plan; 0 if that is not known
	keeps bool       // what is usual stays so
}

// shift is an offset of the body along an axis, m, and how it changes within the tick.
type shift struct{ p, v, a float64 }

// Feedback of the capture point. Ways are shares of the height of the centre of mass, 0.162 m for the pony.
const (
	balanceGain = 1.2  // m that the zero-moment point is moved by a metre that the capture point is off
	balanceIdle = 0.06 // that it may be off where it stands,
	balanceWalk = 0.15 // and while it takes steps, which tilt it by themselves
	balanceMost = 0.18 // that the zero-moment point is moved at most
	balanceFar  = 0.15 // that the body is moved at most
	balanceLegs = 4    // it takes so many: on two, what a body does to its legs is another matter
	usualTime   = 2.0  // s in which a lean becomes usual
	shiftBack   = 5.0  // 1/s: natural frequency with which the body comes back
	restRate    = 20.0 // 1/s at which offsets come to rest where the walk is to end
)

// step moves on by a tick of dt and pushes, m/s², so that the body stops within its bound, m, with the most that may be.
func (s *shift) step(push, most, far, dt float64) {
	s.pass(dt)
	if s.p*s.v > 0 && math.Abs(s.p)+math.Abs(s.v)*dt+s.v*s.v/(2*most) > far {
		push = -math.Copysign(most, s.v)
	}
	s.a = push - shiftBack*(shiftBack*s.p+2*s.v)
}

// lead follows a place, critically damped at a natural frequency, 1/s, for a tick of dt.
func (s *shift) lead(to, ω, dt float64) {
	ω = min(ω, 0.4/dt)
	s.pass(dt)
	s.a = ω * (ω*(to-s.p) - 2*s.v)
}

// rest brings it to rest where it is.
func (s *shift) rest(dt float64) {
	s.pass(dt)
	s.a = -min(restRate, 0.4/dt) * s.v
}

func (s *shift) pass(dt float64) { s.p, s.v = s.p+dt*s.v+dt*dt/2*s.a, s.v+dt*s.a }

// at returns the offset some seconds from now, with its derivatives.
func (s *shift) at(after float64) (p, v, a float64) {
	return s.p + after*s.v + after*after/2*s.a, s.v + after*s.a, s.a
}

// offset is a shift along each of the axes of the ground.
type offset struct{ x, y shift }

// rest brings it to rest where it is.
func (o *offset) rest(dt float64) {
	o.x.rest(dt)
	o.y.rest(dt)
}

// moved returns a motion of the body that is shifted so, some seconds from now. Loop-safe.
func (o *offset) moved(m gait.Motion, after float64) gait.Motion {
	x, vx, ax := o.x.at(after)
	y, vy, ay := o.y.at(after)
	m.P, m.V, m.A = m.P.Add(spatial.Vec3{X: x, Y: y}), m.V.Add(spatial.Vec3{X: vx, Y: vy}), m.A.Add(spatial.Vec3{X: ax, Y: ay})
	return m
}

// tilted returns how the base is turned, seen from the plan, if an inertial unit tells it: odometry and plan drift apart in
// their headings, and odometry may be told where the base is at any time. Loop-safe.
func (c *Controller) tilted(input *control.Input) (R spatial.Mat3, known bool) {
	b := &input.Meas.Base
	if !c.ready || !b.Has || len(input.Meas.IMU) == 0 || !control.HeardLately(input.Meas.IMU[:1]) {
		return spatial.Identity3, false
	}
	yaw, _, _ := c.plan.Yaw(0)
	return spatial.TurnZ(yaw - math.Atan2(b.Pose.R[3], b.Pose.R[0])).Mul(b.Pose.R), true
}

// look returns by how much the capture point of a body at height z is off, m, along the axes of the plan; ω is √(g/z).
func (b *balance) look(R_PB spatial.Mat3, rate spatial.Vec3, z, ω, dt float64) gait.Point {
	up, turn := R_PB.Col(2), R_PB.MulVec(rate)
	lean := gait.Point{X: up.X, Y: up.Y}
	if !b.known {
		b.known, b.usual = true, lean
	}
	e := gait.Point{X: z * (lean.X - b.usual.X + turn.Y/ω), Y: z * (lean.Y - b.usual.Y - turn.X/ω)}
	share := min(dt/usualTime, 1)
	if b.keeps {
		share = 0
	}
	b.usual.X, b.usual.Y = b.usual.X+share*(lean.X-b.usual.X), b.usual.Y+share*(lean.Y-b.usual.Y)
	return e
}

// feedback finds how the body is moved in this tick. Loop-safe.
func (c *Controller) feedback(input *control.Input) {
	b, dt := &c.sway, input.Tick.Dt
	z := c.height + c.above
	ω := math.Sqrt(c.gravity / z)
	var e gait.Point
	b.off, b.keeps = e, c.braced.on && c.braced.took < braceKnows || c.catch.steps.On()
	if R, known := c.tilted(input); known && len(c.legs) >= balanceLegs {
		e = b.look(R, input.Meas.IMU[0].Rate, z, ω, dt)
		b.off = e
		move, size := 0.0, math.Hypot(e.X, e.Y)
		idle := balanceIdle * z
		if c.plan.Phase() != gait.Stands {
			idle = balanceWalk * z
		}
		if size > idle && !c.braced.on { // on feet that came down anywhere it is left alone
			move = min(balanceGain*(size-idle), balanceMost*z) / size * ω * ω
		}
		e = gait.Point{X: move * e.X, Y: move * e.Y}
	}
	if e == (gait.Point{}) && c.ends(input) {
		b.rest(dt)
		return
	}
	most, far := balanceMost*c.gravity, balanceFar*z // g is z·ω²
	b.x.step(e.X, most, far, dt)
	b.y.step(e.Y, most, far, dt)
}
