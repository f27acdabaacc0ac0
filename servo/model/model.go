package model

import "math"

// Model is a servo. Zero values mean what the fields say; kp and a3 are always above zero.
type Model struct {
	Kp      float64 `json:"kp"`      // gain
	Voltage float64 `json:"voltage"` // nominal, V; 0 is unknown
	Gear    float64 `json:"gear"`    // k: turns of the servo for one of the joint; 0 is 1

	Saturation float64 `json:"ks"`     // greatest |y| over U; 0 means unlimited
	Effort     float64 `json:"effort"` // greatest y/a3 at nominal voltage, N·m; 0 means unlimited

	Lead      float64 `json:"lead"`       // s until a goal takes effect
	DeadZone  float64 `json:"dead_zone"`  // rad/s below which the sign of dry friction is not known
	Stiffness float64 `json:"stiffness"`  // that it is used with, N·m/rad at the joint; 0 is all it has
	Backlash  float64 `json:"backlash"`   // play of its gear, rad
	Quantum   float64 `json:"resolution"` // step of goals and readings, rad

	A     [6]float64 `json:"a"`  // a0 … a5
	Speed float64    `json:"vs"` // at which a4 has faded to 1/e, rad/s
}

// DefaultDeadZone is the dead zone of models that name none, rad/s.
const DefaultDeadZone = 0.02

// AtJoint returns the same servo as the joint feels it, without a gear. Loop-safe.
func (m *Model) AtJoint() Model {
	k, j := m.Gear, *m
	if k == 0 || k == 1 {
		j.Gear = 1
		return j
	}
	j.Gear = 1
	j.A[2], j.A[4], j.A[5] = m.A[2]/k, m.A[4]/k, m.A[5]/k
	j.A[3] = m.A[3] / (k * k)
	j.Saturation, j.Effort = m.Saturation/k, m.Effort*k
	j.DeadZone, j.Speed = m.DeadZone/k, m.Speed/k
	j.Backlash, j.Quantum = m.Backlash/k, m.Quantum/k
	return j
}

// Limit returns the greatest |y| at a voltage, seen from the joint; infinite if none is known.
// Loop-safe.
func (m *Model) Limit(voltage float64) float64 {
	j := m.AtJoint()
	return j.limit(voltage)
}

func (m *Model) limit(u float64) float64 {
	least := math.Inf(1)
	if m.Saturation > 0 {
		least = m.Saturation * u
	}
	if m.Effort > 0 && m.Voltage > 0 {
		least = math.Min(least, m.Effort*m.A[3]*u/m.Voltage)
	}
	return least
}

// FullStiffness returns the stiffness of the joint at full gain and a voltage, N·m/rad: kp·U/a3.
// Loop-safe.
func (m *Model) FullStiffness(voltage float64) float64 {
	j := m.AtJoint()
	return j.Kp * voltage / j.A[3]
}

// Share returns the share of full gain that makes a joint as stiff as some N·m/rad, at most 1.
// Loop-safe.
func (m *Model) Share(stiffness, voltage float64) float64 {
	return math.Min(1, stiffness/m.FullStiffness(voltage))
}

// Motion is how the joint moves, and the torque that it needs for that.
type Motion struct {
	Position, Velocity, Acceleration float64 // rad, and per s and s²
	Effort                           float64 // N·m at the joint, without the rotor's
}

// Goal is what a servo has to be told.
type Goal struct {
	Position   float64 // of the joint, rad
	Correction float64 // by which it is beyond where the joint is to be then
	Saturated  bool    // the servo cannot do all that the motion needs
}

// Invert returns the goal that makes a servo give what a motion needs. The velocity is that of
// the reference: the sign of measured ones changes at rest. Loop-safe.
func (m *Model) Invert(w Motion, voltage float64) Goal {
	j := m.AtJoint()
	return j.invert(w, voltage, 1)
}

// InvertSoft is Invert with a share of full gain, above 0 to 1. m is AtJoint's. Loop-safe.
func (m *Model) InvertSoft(w Motion, voltage, share float64) Goal { return m.invert(w, voltage, share) }

func (m *Model) invert(w Motion, u, share float64) Goal {
	y := m.load(w.Velocity, w.Acceleration) + m.A[3]*w.Effort
	g := Goal{}
	if most := m.limit(u); math.Abs(y) > most {
		y, g.Saturated = math.Copysign(most, y), true
	}
	g.Correction = y / (m.Kp * share * u)
	g.Position = m.effective(w.Position, w.Velocity, w.Acceleration) + g.Correction
	return g
}

// Torque returns what a servo gives while its joint moves, and how far that is uncertain: within
// the dead zone dry friction may have any size up to its greatest, to either side. Loop-safe.
func (m *Model) Torque(goal, position, velocity, acceleration, voltage float64) (effort, band float64) {
	j := m.AtJoint()
	y, most := j.Kp*voltage*(goal-j.effective(position, velocity, acceleration)), j.limit(voltage)
	y = math.Max(-most, math.Min(most, y))
	if math.Abs(velocity) < j.DeadZone || velocity == 0 {
		band = math.Max(j.dry(velocity), 0) / j.A[3]
	}
	return (y - j.load(velocity, acceleration)) / j.A[3], band
}

// Range returns the least and the greatest torque that a servo can give to a joint that moves so:
// friction and rotor take their part first, and give it back when the joint brakes. Infinite if
// no limit is known. Loop-safe.
func (m *Model) Range(velocity, acceleration, voltage float64) (least, most float64) {
	j := m.AtJoint()
	load, y := j.load(velocity, acceleration), j.limit(voltage)
	return (-y - load) / j.A[3], (y - load) / j.A[3]
}

// effective is where the joint is when a goal takes effect.
func (m *Model) effective(q, v, a float64) float64 {
	return q + v*m.Lead + a*m.Lead*m.Lead/2
}

// load is the right side of the equation without the torque.
func (m *Model) load(v, a float64) float64 {
	return m.A[0]*a + m.A[1]*v + m.dry(v)*m.sign(v) + m.A[5]
}

// dry is the size of dry friction at a velocity, in units of y.
func (m *Model) dry(v float64) float64 {
	f := m.A[2]
	if m.A[4] != 0 && m.Speed > 0 {
		f += m.A[4] * math.Exp(-math.Abs(v)/m.Speed)
	}
	return f
}

// sign is that of a velocity, in a straight line through zero within the dead zone.
func (m *Model) sign(v float64) float64 {
	switch a := math.Abs(v); {
	case a == 0:
		return 0
	case a < m.DeadZone:
		return v / m.DeadZone
	default:
		return v / a
	}
}
