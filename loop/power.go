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

// power decides which servo has torque. Only the orders PowerOn and TorqueOn add any:
// whatever takes it from a joint, the joint stays without until one of them names it.
type power struct {
	state Power
	limp  robot.Set // joints without torque, though the robot has it
	brake robot.Set // joints that a fault has braked
}

// update follows what was read: a robot of which a joint was never read cannot be
// switched on.
func (p *power) update(l *Loop) {
	switch p.state {
	case Off, Ready:
		state := Ready
		if neverRead(l) != robot.NoJoint {
			state = Off
		}
		p.set(l, state)
	}
}

// neverRead returns a joint of which nothing was heard yet, unless it is known to be absent.
func neverRead(l *Loop) robot.JointID {
	for j := range l.reading.Joints {
		if l.reading.Joints[j].Age == servo.Never && !l.cfg.Absent.Has(robot.LeafID(j)) {
			return robot.JointID(j)
		}
	}
	return robot.NoJoint
}

func (p *power) set(l *Loop, s Power) {
	if p.state != s {
		p.state = s
		l.report(Report{Kind: PowerChanged, Power: s})
	}
}

// torque reports whether servos have any.
func (p *power) torque() bool { return p.state == Enabled || p.state == Stopping }

// on energises joints, from where they are: the command starts at the measured pose,
// at rest, so nothing jumps. Joints that are not named stay as they are. Torque comes
// back without a motion: see seat.energised.
func (p *power) on(l *Loop, o Order, joints robot.Set) {
	if p.state == Enabled && !joints.Overlaps(p.limp.Union(p.brake)) {
		return
	}
	if why := p.mayEnergise(l, o, joints); why.Code != control.OK {
		r := refusal(o, why)
		r.Power = p.state
		l.report(r)
		return
	}
	if p.state != Enabled {
		p.limp, p.brake = l.all, robot.Set{}
		l.stops.plain = false // that it was ordered off is over: falls count again
	}
	joints = joints.Intersect(p.limp.Union(p.brake))
	for leaf := range joints.All {
		l.seed(int(leaf))
	}
	p.limp, p.brake = p.limp.Minus(joints), p.brake.Minus(joints)
	for _, s := range l.seats {
		if own := s.owned().Intersect(joints); !own.Empty() {
			s.energised(own)
		}
	}
	p.set(l, Enabled)
}

// mayEnergise tells why joints get no torque: a stop, the state of power, or, of an
// order that names joints, a fault of one of them.
func (p *power) mayEnergise(l *Loop, o Order, joints robot.Set) control.Reason {
	switch {
	case l.stops.blocks():
		return control.Because(control.Stopping)
	case p.state == Stopping:
		return control.Because(control.PowerOff)
	case p.state == Off:
		return control.NeverRead.At(neverRead(l), 0, 0)
	case p.state == Faulted:
		return control.Because(control.StoppedByFault)
	case o.Kind == TorqueOn:
		for leaf := range joints.Intersect(l.faults.limp.Union(l.faults.brake)).All {
			return control.StoppedByFault.At(robot.JointID(leaf), float64(leaf), 0)
		}
	}
	if p.state == Enabled {
		joints = joints.Intersect(p.limp.Union(p.brake))
	}
	return p.stands(l, joints)
}

// stands tells which of some joints stands where it can have no torque: it would move by itself.
func (p *power) stands(l *Loop, joints robot.Set) control.Reason {
	for i := range l.cfg.TorqueWithin {
		w := &l.cfg.TorqueWithin[i]
		r := &l.reading.Joints[w.Joint]
		if !joints.Has(robot.LeafID(w.Joint)) || r.Age == servo.Never {
			continue
		}
		switch at := r.Position; {
		case at < w.Low-servo.StandingSlack:
			return control.StandsBeyond.At(robot.JointID(w.Joint), at, w.Low)
		case at > w.High+servo.StandingSlack:
			return control.StandsBeyond.At(robot.JointID(w.Joint), at, w.High)
		}
	}
	return control.Because(control.OK)
}

// release takes the torque of joints away at once. What needs them ends, unless it is
// what lets them go.
func (p *power) release(l *Loop, joints robot.Set) {
	p.limp = p.limp.Union(joints)
	for _, s := range l.seats {
		if why := without(s.needs.Intersect(joints).Minus(s.releases())); why.Code != control.OK {
			s.end(control.Quit, why)
		}
	}
}

// without is the reason that joints have no torque, if there are any.
func without(joints robot.Set) control.Reason {
	for leaf := range joints.All {
		return control.PowerOff.At(robot.JointID(leaf), 0, 0)
	}
	return control.Because(control.OK)
}

// switchTorque carries out an order that names joints.
func (p *power) switchTorque(l *Loop, o Order) {
	t, ok := o.Program.(*control.Torque)
	if !ok {
		l.refuse(o, control.Because(control.BadProgram))
		return
	}
	joints := t.Joints.Intersect(l.all)
	switch {
	case joints.Empty():
		l.refuse(o, control.Because(control.BadProgram))
	case o.Kind == TorqueOn:
		p.on(l, o, joints)
	default:
		p.release(l, joints)
	}
}

// unpowered returns the joints that have no torque.
func (p *power) unpowered(l *Loop) robot.Set {
	if !p.torque() {
		return l.all
	}
	return p.limp.Union(p.brake)
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

// mode returns what a servo is to do, and remembers who lost its torque. A joint that
// is free stays free when a fault asks for its brake: a person may hold it.
func (p *power) mode(l *Loop, j int) servo.Mode {
	leaf := robot.LeafID(j)
	if !p.torque() {
		return servo.Off
	}
	switch {
	case l.reading.Joints[j].Age == servo.Never, l.reading.Joints[j].Fault&servo.Unpowered != 0, l.faults.limp.Has(leaf), l.merge.Motion.Stiff[j] == 0:
		p.limp = p.limp.With(leaf)
	case l.faults.brake.Has(leaf):
		p.brake = p.brake.With(leaf)
	}
	switch {
	case p.limp.Has(leaf):
		return servo.Off
	case p.brake.Has(leaf):
		return servo.Brake
	}
	return servo.Position
}

// LetGo takes the torque of all servos away at once, past everything else: for a
// runner that has to end. For the thread that steps.
func (l *Loop) LetGo(t servo.Tick) {
	for j := range l.setpoint {
		l.setpoint[j].Mode = servo.Off
	}
	l.cfg.Bus.Exchange(t, l.raw, l.setpoint)
}
