package loop

import (
	"poise/control"
	"poise/robot"
	"poise/servo"
	"poise/trajectory/move"
)

// Power is whether the servos have torque.
type Power uint8

// The states of power.
const (
	Off      Power = iota // no torque, and not every joint has been read
	Ready                 // no torque; may be switched on
	Enabled               // torque
	Stopping              // on its way to no torque
	Faulted               // no torque, until a reset
)

var powerNames = [...]string{"off", "ready", "enabled", "stopping", "fault"}

func (p Power) String() string { return powerNames[p] }

// power decides which servo has torque.
type power struct {
	state Power
	limp  robot.Set // joints that a fault has made limp
	brake robot.Set // joints that a fault has braked
}

// update follows what was read: a robot of which a joint was never read cannot be
// switched on.
func (p *power) update(l *Loop) {
	if p.state != Off && p.state != Ready {
		return
	}
	state := Ready
	for j := range l.reading {
		if l.reading[j].Age == servo.Never {
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

// on energises, from where the joints are: the command starts at the measured
// pose, at rest, so nothing jumps.
func (p *power) on(l *Loop) {
	if p.state == Enabled {
		return
	}
	if p.state != Ready || l.stops.blocks() {
		l.report(Report{Kind: OrderRefused, Reason: control.Because(control.PowerOff), Power: p.state})
		return
	}
	for j := range l.reading {
		q := l.reading[j].Position
		l.state[j] = move.State{P: q}
		l.limiter.Reset(j, q)
		l.guard.Reset(j)
		l.bridge.Drop(j)
		l.holder.begin(j, l.state[j], l.now-l.tick.Dt)
		l.command.Q[j], l.command.V[j], l.command.A[j] = q, 0, 0
	}
	p.set(l, Enabled)
}

// off takes the torque away at once.
func (p *power) off(l *Loop, to Power) {
	for _, s := range l.seats {
		s.end(control.Quit, control.Because(control.PowerOff))
	}
	p.set(l, to)
}

// mode returns what a servo is to do.
func (p *power) mode(l *Loop, j int) servo.Mode {
	leaf := robot.LeafID(j)
	switch {
	case p.state != Enabled && p.state != Stopping, p.limp.Has(leaf):
		return servo.Off
	case p.brake.Has(leaf):
		return servo.Brake
	}
	return servo.Position
}
