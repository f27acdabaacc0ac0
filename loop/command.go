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

// follow lets the command of a joint be where the joint is. One that was never read
// is nowhere.
func (l *Loop) follow(j int) {
	if l.reading.Joints[j].Age != servo.Never {
		l.shaper.Follow(j, l.reading.Joints[j].Position)
	}
}

// dynamics completes the command by what is not motion.
func (l *Loop) dynamics() { l.shaper.Complete(l.mode) }

// invert turns commands into setpoints.
func (l *Loop) invert() {
	for j := range l.setpoint {
		s := l.cfg.Lead.Invert(l.command.Q[j], l.command.V[j], l.tick.Dt)
		s.Mode, s.Stiffness, s.Effort = l.mode[j], l.command.Stiff[j], l.command.Tau[j]
		l.setpoint[j] = s
	}
}

// guard makes setpoints sane, whatever the servo model said.
func (l *Loop) guard() {
	for j := range l.setpoint {
		l.guards.Apply(j, &l.setpoint[j], &l.reading.Joints[j], l.tick.Dt)
	}
}
