package loop

import "poise/servo"

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

// dynamics completes the command by what is not motion of joints.
func (l *Loop) dynamics() {
	l.shaper.Complete(l.mode)
	l.base.complete(l)
}

// invert turns commands into setpoints. The loop says which servos have torque,
// the inverter how those that have it are driven.
func (l *Loop) invert() {
	m, c := l.command, &l.asked
	c.Voltage, c.Dt = l.measured.Volt, l.tick.Dt
	for j := range l.setpoint {
		s := &l.setpoint[j]
		c.Joint, c.Position, c.Velocity, c.Acceleration = j, m.Q[j], m.V[j], m.A[j]
		c.Effort, c.Stiffness = m.Tau[j], m.Stiff[j]
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
