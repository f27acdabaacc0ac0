package physics

import (
	"math"

	"poise/robot"
	"poise/servo"
	servomodel "poise/servo/model"
	"poise/sim"
)

// Motor is the servo of a joint.
type Motor struct {
	Kp    float64 // N·m/rad at full stiffness and nominal voltage
	Kd    float64 // N·m·s/rad that it gives itself in mode position
	Limit float64 // N·m that it can give at nominal voltage; 0 is no limit
	Slack float64 // play of its gear, rad
	Brake float64 // N·m·s/rad by which its shorted motor resists, besides what it always does

	Voltage float64 // nominal; 0: what it gives does not depend on the supply
	Quantum float64 // step of goals and readings, rad
	Stall   float64 // current that it takes when it gives all it can, A

	Passive sim.Passive
}

// Servos of which nothing is known: stiffness for every N·m that the joint can give, so that
// it gives way by 0.06 rad at most, and damping that ends a motion in about this time.
const (
	stiffnessPerEffort = 16
	dampingTime        = 0.05 // s
)

// Plain returns a servo for a joint of which nothing but its URDF is known.
func Plain(j *robot.Joint) Motor {
	m := Motor{Passive: sim.Passive{Damping: j.Damping, Friction: j.Friction}}
	strength := 1.0
	if j.Limits.Effort.Has {
		strength = math.Max(j.Limits.Effort.Value, 1e-6)
		m.Limit = strength
	}
	m.Kp = stiffnessPerEffort * strength
	m.Kd = m.Kp * dampingTime
	m.Brake = m.Kd
	return m
}

// FromModel returns the servo that a model describes, with the equation of package model: seen from
// the joint a0/a3 is the inertia of the rotor, a1/a3 damping, a2/a3 dry friction and kp·U/a3 the
// stiffness; the motor gives at most what makes |y| its limit.
func FromModel(s *servomodel.Model) Motor {
	j := s.AtJoint()
	a3 := j.A[3]
	m := Motor{
		Kp: j.FullStiffness(j.Voltage), Slack: j.Backlash, Brake: j.A[1] / a3,
		Voltage: j.Voltage, Quantum: j.Quantum, Stall: stallCurrent,
		Passive: sim.Passive{
			Armature: j.A[0] / a3, Damping: j.A[1] / a3, Friction: j.A[2] / a3,
			Stribeck: j.A[4] / a3, Speed: j.Speed, Offset: -j.A[5] / a3,
		},
	}
	if limit := j.Limit(j.Voltage); !math.IsInf(limit, 1) {
		m.Limit = limit / a3
	}
	return m
}

// stallCurrent is what a small servo takes when it gives all it can, A.
const stallCurrent = 2

// MotorsOf returns the servos of a robot: by the models of its robot.yaml, else plain.
func MotorsOf(m *robot.Model) []Motor {
	motors := make([]Motor, len(m.Joints()))
	for i := range motors {
		if s := m.Servo(robot.JointID(i)).Model; s != nil {
			motors[i] = FromModel(s)
		} else {
			motors[i] = Plain(&m.Joints()[i])
		}
	}
	return motors
}

// Power returns the electrical power that the motor takes while it gives a torque and its joint
// turns, W: voltage times current. The torque is what the voltage at
// its terminals would give at rest, so that the voltage is U·torque/limit; what damping takes away
// is taken for back-EMF, so that the current is stall·(torque − damping·velocity)/limit. At rest that
// is i²·R with R = U/stall. What is fed back while it brakes is lost. Without a nominal voltage or
// limit nothing is known, and it is 0.
func (m *Motor) Power(torque, velocity float64) float64 {
	if m.Voltage == 0 || m.Limit == 0 {
		return 0
	}
	current := m.Stall * (torque - m.Passive.Damping*velocity) / m.Limit
	return math.Max(0, m.Voltage*torque/m.Limit*current)
}

// velocityGain is how much stiffer than its own damping a servo keeps a speed.
const velocityGain = 20

// drive sets what the motor does in a step by its newest setpoint; share is the supply's
// voltage over the nominal one, ramp where its own ramp is.
func (m *Motor) drive(d *sim.Drive, goal *servo.Setpoint, ramp, share float64) {
	if m.Voltage == 0 {
		share = 1
	}
	*d = sim.Drive{Limit: m.Limit * share, Slack: m.Slack}
	if m.Limit > 0 && share <= 0 {
		return // without a supply it gives nothing
	}
	switch goal.Mode {
	case servo.Position:
		d.Position, d.Effort = ramp, goal.Effort
		d.Kp, d.Kd = m.Kp*share*clamp(goal.Stiffness), m.Kd
	case servo.Velocity:
		d.Velocity, d.Effort = goal.Velocity, goal.Effort
		d.Kd = velocityGain * math.Max(m.Brake, m.Kp*dampingTime)
	case servo.Effort:
		d.Effort = goal.Effort
	case servo.Impedance:
		d.Position, d.Velocity, d.Effort = goal.Position, goal.Velocity, goal.Effort
		d.Kp, d.Kd = math.Max(goal.Kp, 0), math.Max(goal.Kd, 0)
	case servo.Brake:
		d.Kd = m.Brake
	}
}

func clamp(share float64) float64 { return math.Max(0, math.Min(1, share)) }

// quantise rounds to the motor's steps.
func (m *Motor) quantise(x float64) float64 {
	if m.Quantum > 0 {
		return m.Quantum * math.Round(x/m.Quantum)
	}
	return x
}
