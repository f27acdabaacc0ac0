package sim

import (
	"math"

	"poise/servo"
)

// defaultDamping is what a joint resists with if its Servo does not say, N·m·s/rad.
const defaultDamping = 1.0

// step moves one joint by a period, as the mode of its setpoint asks. Joints have no
// inertia: effort that is left over moves them against their damping.
func (b *Bus) step(i int, dt float64) {
	s, c, load := &b.state[i], &b.servos[i], b.loads[i]
	before := s.position
	switch s.goal.Mode {
	case servo.Position:
		s.follow(c, load, dt)
	case servo.Velocity:
		s.keepVelocity(c, load, dt)
	case servo.Effort:
		s.giveWay(c, 0, 0, load, dt)
	case servo.Impedance:
		s.giveWay(c, s.goal.Kp, s.goal.Kd, load, dt)
	case servo.Brake:
		s.brake(c, load, dt)
	default: // a free joint stays where it is put
		s.effort = 0
	}
	s.velocity = (s.position - before) / dt
}

// follow is mode position: the servo's own ramp, straight to the goal within the
// time that is left, then a lag, and a sag by the load that feed-forward does not
// carry.
func (s *state) follow(c *Servo, load, dt float64) {
	if s.left <= dt {
		s.ramp = s.goal.Position
	} else {
		s.ramp += (s.goal.Position - s.ramp) * dt / s.left
	}
	s.left = max(s.left-dt, 0)
	k := c.Stiffness * s.goal.Stiffness
	rest := s.ramp
	if k > 0 {
		rest -= (load - s.goal.Effort) / k
	}
	s.move(c, (rest-s.position)*share(c.Lag, dt), dt)
	if s.effort = load; k > 0 {
		s.effort = k*(s.ramp-s.position) + s.goal.Effort
	}
}

// keepVelocity is mode velocity: a lag to the wanted speed, whatever the load.
func (s *state) keepVelocity(c *Servo, load, dt float64) {
	v := s.velocity + (s.goal.Velocity-s.velocity)*share(c.Lag, dt)
	s.move(c, v*dt, dt)
	s.effort = load
}

// giveWay is modes effort and impedance: the servo gives
//
//	τ = Kp·(q* − q) + Kd·(v* − v) + τ_ff
//
// and the joint moves by what the load leaves of it, damping·v = τ − load, solved
// exactly over the period.
func (s *state) giveWay(c *Servo, kp, kd, load, dt float64) {
	damping := c.Damping
	if damping == 0 {
		damping = defaultDamping
	}
	g := &s.goal
	net, resists := kd*g.Velocity+g.Effort-load, kd+damping
	way := net / resists * dt
	if kp > 0 {
		way = (g.Position + net/kp - s.position) * -math.Expm1(-kp*dt/resists)
	}
	v := s.move(c, way, dt) / dt
	s.effort = g.Effort
	if kp > 0 || kd > 0 {
		s.effort += kp*(g.Position-s.position) + kd*(g.Velocity-v)
	}
}

// brake is mode brake: a shorted motor creeps under its load.
func (s *state) brake(c *Servo, load, dt float64) {
	if s.effort = load; c.Brake > 0 {
		way := s.move(c, -load/c.Brake*dt, dt)
		s.effort = -c.Brake * way / dt
	}
}

// move moves the joint, no faster than it can, and returns how far.
func (s *state) move(c *Servo, way, dt float64) float64 {
	if c.VMax > 0 {
		way = min(max(way, -c.VMax*dt), c.VMax*dt)
	}
	s.position += way
	return way
}

// share is how much of a difference a lag makes up for in a period.
func share(lag, dt float64) float64 {
	if lag > 0 {
		return -math.Expm1(-dt / lag)
	}
	return 1
}
