package sim

import "math"

// Drive is what the motor of a joint does during a step:
//
//	τ = clip(Kp·(Position − q) + Kd·(Velocity − v) + Effort, ±Limit)
//
// with q and v at the end of the step. The zero Drive does nothing.
type Drive struct {
	Position, Velocity float64 // rad or m, and per s
	Effort             float64 // N·m or N, feed-forward
	Kp, Kd             float64 // N·m/rad and N·m·s/rad, ≥ 0
	Limit              float64 // N·m, > 0; 0 is no limit
	Slack              float64 // play between motor and joint, rad: half of it to each side
}

// offset is Position − q less the play.
func (m *Drive) offset(q float64) float64 {
	e := m.Position - q
	if m.Slack > 0 {
		e -= math.Max(-m.Slack/2, math.Min(m.Slack/2, e))
	}
	return e
}

// torque is what the motor gives at q and v.
func (m *Drive) torque(q, v float64) float64 {
	return m.clip(m.Kp*m.offset(q) + m.Kd*(m.Velocity-v) + m.Effort)
}

func (m *Drive) clip(τ float64) float64 {
	if m.Limit > 0 {
		return math.Max(-m.Limit, math.Min(m.Limit, τ))
	}
	return τ
}

// Passive is how a joint resists, whatever its motor does.
type Passive struct {
	Armature float64 // inertia of the rotor behind its gear, kg·m²
	Damping  float64 // N·m·s/rad

	// Dry friction, N·m: Friction + Stribeck·exp(−|v|/Speed). It holds a joint that is
	// pushed by less, and opposes one that moves.
	Friction, Stribeck, Speed float64

	Offset float64 // constant torque on the joint, N·m
}

// dry returns the largest dry friction at a velocity.
func (p *Passive) dry(v float64) float64 {
	f := p.Friction
	if p.Stribeck != 0 && p.Speed > 0 {
		f += p.Stribeck * math.Exp(-math.Abs(v)/p.Speed)
	}
	return math.Max(f, 0)
}
