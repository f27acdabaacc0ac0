package loop

import (
	"poise/control"
	"poise/robot"
	"poise/servo"
)

// Power is whether the servos have torque.
type Power uint8

// The states of power.
const (
	Off      Power = iota // no torque, and not every joint has been read
	Ready                 // no torque; may be switched on
	Enabled               // torque
	Stopping              // on its way to no torque
	Faulted               // no torque, until the fault is gone and reset
)

var powerNames = [...]string{"off", "ready", "enabled", "stopping", "fault"}

func (p Power) String() string { return powerNames[p] }

// power decides which servo has torque.
type power struct {
	state Power
	loose robot.Set // joints that their owners have let go
}

// update follows what was read: a robot of which a joint was never read cannot be
// switched on.
func (p *power) update(l *Loop) {
	if p.state != Off && p.state != Ready {
		return
	}
	state := Ready
	for j := range l.reading.Joints {
		if l.reading.Joints[j].Age == servo.Never {
			state = Off
		}
	}
	p.set(l, state)
}

func (p *power) set(l *Loop, s Power) {
	if p.state != s {
		p.state = s
		l.report(Report{Kind: PowerChanged, Power: s})
	}
}

// torque reports whether servos have any.
func (p *power) torque() bool { return p.state == Enabled || p.state == Stopping }

// on energises, from where the joints are: the command starts at the measured
// pose, at rest, so nothing jumps.
func (p *power) on(l *Loop, o Order) {
	if p.state == Enabled {
		return
	}
	if p.state != Ready || l.stops.blocks() {
		code := control.PowerOff
		if l.stops.blocks() {
			code = control.Stopping
		}
		r := refusal(o, control.Because(code))
		r.Power = p.state
		l.report(r)
		return
	}
	p.loose = robot.Set{}
	for j := range l.reading.Joints {
		l.seed(j)
	}
	p.set(l, Enabled)
}

// off takes the torque away at once. After a fault it stays away until a reset.
func (p *power) off(l *Loop) {
	for _, s := range l.seats {
		s.end(control.Quit, control.Because(control.PowerOff))
	}
	if !p.torque() {
		return
	}
	to := Ready
	if l.faults.robot >= SeverityRampOff {
		to = Faulted
	}
	p.set(l, to)
}

// reset leaves the fault state once no fault asks for it.
func (p *power) reset(l *Loop) {
	if p.state == Faulted && l.faults.robot < SeverityRampOff {
		p.set(l, Ready)
	}
}

// mode returns what a servo is to do.
func (p *power) mode(l *Loop, j int) servo.Mode {
	leaf := robot.LeafID(j)
	switch {
	case !p.torque(), l.reading.Joints[j].Age == servo.Never, l.faults.limp.Has(leaf):
		return servo.Off
	case l.faults.brake.Has(leaf):
		return servo.Brake
	case l.merge.Motion.Stiff[j] == 0: // its owner lets go
		p.loose = p.loose.With(leaf)
		return servo.Off
	case p.loose.Has(leaf):
		if l.stops.blocks() || l.faults.blocked.Has(leaf) {
			return servo.Off // a stop or a fault gives no torque to a limb that a person may hold
		}
		p.loose = p.loose.Without(leaf)
	}
	return servo.Position
}

// Stopping reports whether servos have torque, or a stop is on its way to take it
// away. For the thread that steps.
func (l *Loop) Stopping() bool { return l.powered.torque() || l.stopLine.waits() }

// LetGo takes the torque of all servos away at once, past everything else: for a
// runner that has to end. For the thread that steps.
func (l *Loop) LetGo(t servo.Tick) {
	for j := range l.setpoint {
		l.setpoint[j].Mode = servo.Off
	}
	l.cfg.Bus.Exchange(t, l.raw, l.setpoint)
}
