package loop

import (
	"math"

	"poise/control"
	"poise/robot"
	"poise/servo"
	servomodel "poise/servo/model"
)

// limit makes the command of every joint.
func (l *Loop) limit() {
	for j := range l.mode {
		if l.mode[j].Powered() {
			l.shaper.Limit(j)
		} else {
			l.follow(j)
		}
	}
}

// follow lets the command of a joint be where the joint was measured, if it ever was.
func (l *Loop) follow(j int) {
	if l.reading.Joints[j].Age != servo.Never {
		l.shaper.Follow(j, l.reading.Joints[j].Position)
	}
}

// dynamics completes the command by what is not motion of joints, and by the torques that the
// motion needs.
func (l *Loop) dynamics() {
	l.shaper.Complete(l.mode)
	l.base.complete(l, l.cycles.accelerations(l))
	l.cycles.apply(l)
}

// invert turns commands into setpoints. The loop says which servos have torque,
// the inverter how those that have it are driven.
func (l *Loop) invert() {
	m, c := l.command, &l.asked
	c.Voltage, c.Dt = l.volts, l.tick.Dt
	byModel := l.byModel.Union(l.cycles.chosen)
	for j := range l.setpoint {
		s := &l.setpoint[j]
		c.Joint, c.Position, c.Velocity, c.Acceleration = j, m.Q[j], m.V[j], l.cycles.acceleration(l, j)
		c.Effort, c.Stiffness = m.Tau[j], m.Stiff[j]*l.feeling.stiffness(j)
		c.Torque, c.ByModel = l.mode[j].Powered(), byModel.Has(robot.LeafID(j))
		l.cfg.Inverter.InvertTo(s, c)
		if l.mode[j].Powered() && s.Mode.Powered() {
			l.mode[j] = s.Mode
		}
		s.Mode = l.mode[j]
	}
}

// guard makes setpoints sane, whatever the servo model said.
func (l *Loop) guard() {
	for j := range l.setpoint {
		l.guards.Apply(j, &l.setpoint[j], &l.reading.Joints[j], l.tick.Dt)
	}
}

// setServoModels lets the inverter take models over. The sender has checked them.
func (l *Loop) setServoModels(o Order) {
	p, ok := o.Program.(*control.ServoModels)
	if !ok || l.models == nil || len(p.Joints) != l.dof {
		l.refuse(o, control.Because(control.BadProgram))
		return
	}
	l.models.SetModels(&p.ModelSet)
	copy(l.cycles.models, p.Joints)
	for j, m := range p.Joints {
		if m != nil {
			l.feeling.setServo(j, m)
			l.reach(j, m)
		}
	}
}

// reach lets the goals of a joint go as far beyond its limits as its servo's model needs, within
// what the servo itself can be told.
func (l *Loop) reach(j int, m *servomodel.Model) {
	low, high := math.Inf(-1), math.Inf(1)
	if s := l.cfg.Model.Servo(robot.JointID(j)); s.Limited && m.Quantum > 0 {
		at := m.AtJoint()
		low, high = (float64(s.Low)-s.Zero)*at.Quantum, (float64(s.High)-s.Zero)*at.Quantum
		if s.Reversed {
			low, high = -high, -low
		}
	}
	l.guards.Reach(j, servo.Reach(m), low, high)
}
