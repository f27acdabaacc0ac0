package loop

import (
	"poise/arbiter"
	"poise/control"
	"poise/robot"
	"poise/servo"
)

// place puts joints somewhere at once, if the bus can: its servos,
// the command, and every stage that remembers one. All of them, or none.
func (l *Loop) place(o Order) {
	p, ok := o.Program.(*control.Placement)
	if !ok || len(p.Joints) != len(p.Q) {
		l.refuse(o, control.Because(control.BadProgram))
		return
	}
	bus, ok := l.cfg.Bus.(servo.Placer)
	if !ok {
		l.refuse(o, control.Because(control.NotPlaceable))
		return
	}
	if why := l.mayPlace(p); why.Code != control.OK {
		l.refuse(o, why)
		return
	}
	l.placed = l.placed[:0]
	for _, j := range p.Joints {
		l.placed = append(l.placed, int(j))
	}
	bus.Place(l.placed, p.Q)
	l.base.placed = true
	for i, j := range l.placed {
		q := p.Q[i]
		// the robot is there: nothing is to be led, guarded or found too far away
		l.reading.Joints[j].Position, l.reading.Joints[j].Velocity = q, 0
		l.measured.Q[j], l.measured.V[j] = q, 0
		l.guards.Reset(j)
		l.shaper.Place(j, q)
	}
	l.report(Report{Kind: Placed, Controller: arbiter.NoClient, Goal: o.Goal})
}

// mayPlace tells why joints cannot be placed: they have an owner, a stop or a
// fault holds them, or there is no such place.
func (l *Loop) mayPlace(p *control.Placement) control.Reason {
	if l.stops.blocks() {
		return control.Because(control.Stopping)
	}
	if len(p.Joints) > l.dof {
		return control.Because(control.BadProgram)
	}
	for i, j := range p.Joints {
		if j < 0 || int(j) >= l.dof {
			return control.Because(control.BadProgram)
		}
		reason := control.Reason{Joint: j, Who: arbiter.NoClient, Value: p.Q[i]}
		b := l.shaper.Bounds(int(j))
		switch who := l.arb.Owner(robot.LeafID(j)); {
		case !finite(p.Q[i]):
			reason.Code = control.NonFinite
		case p.Q[i] < b.Lower:
			reason.Code, reason.Max = control.BeyondLimit, b.Lower
		case p.Q[i] > b.Upper:
			reason.Code, reason.Max = control.BeyondLimit, b.Upper
		case who != arbiter.NoClient:
			reason.Code, reason.Who = control.NotGranted, who
		case l.faults.blocked.Has(robot.LeafID(j)):
			reason.Code, reason.Value = control.StoppedByFault, float64(j)
		default:
			continue
		}
		return reason
	}
	return control.Because(control.OK)
}
