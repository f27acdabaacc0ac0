package loop

import (
	"poise/arbiter"
	"poise/control"
	"poise/robot"
)

// slowRate is how fast time goes while a fault asks to slow down.
const slowRate = 0.5

// reaction is what faults make of the robot: a level for each joint, which only
// rises until faults are reset, and what follows from it.
type reaction struct {
	level   []Severity // of each joint
	wanted  []Severity // scratch of relax
	robot   Severity   // the most severe that concerns the whole robot
	slow    robot.Set  // motions with these go at half speed
	blocked robot.Set  // no controller may move these: they are held
	ramping robot.Set  // on their way to rest, and then limp
	limp    robot.Set  // no torque
	brake   robot.Set  // braked

	whole  robot.Set
	limbs  []limb
	limbOf []int // by joint
}

// limb is what goes to a safe state together.
type limb struct {
	set    robot.Set
	joints []int
	do     robot.SafeAction
	pose   []float64 // of each of joints, where it crouches
	posed  []bool    // and whether the pose has it

	crouching bool
	began     float64
}

func (f *reaction) init(m *robot.Model) {
	n := len(m.Joints())
	f.level, f.wanted, f.limbOf = make([]Severity, n), make([]Severity, n), make([]int, n)
	res, err := m.Resources()
	if err != nil {
		panic("loop: New has looked") // a programmer's mistake
	}
	f.whole = res.All()
	for j := range f.limbOf {
		f.limbOf[j] = -1
	}
	for _, r := range res.List() {
		f.addLimb(m, r.Set, m.SafeState(r.Group))
	}
	for j, at := range f.limbOf {
		if at < 0 { // a joint of no resource is a limb of its own, and holds
			f.addLimb(m, robot.Leaf(robot.LeafID(j)), robot.SafeState{})
		}
	}
}

func (f *reaction) addLimb(m *robot.Model, set robot.Set, safe robot.SafeState) {
	part := limb{set: set, do: safe.Do}
	for leaf := range set.All {
		if j := int(leaf); j < len(f.limbOf) {
			f.limbOf[j] = len(f.limbs)
			part.joints = append(part.joints, j)
		}
	}
	part.pose, part.posed = make([]float64, len(part.joints)), make([]bool, len(part.joints))
	if safe.Do == robot.SafeCrouchThenOff {
		pose := &m.Poses()[safe.Pose]
		for i, j := range part.joints {
			for k, id := range pose.Joints {
				if int(id) == j {
					part.pose[i], part.posed[i] = pose.Q[k][0], true
				}
			}
		}
	}
	f.limbs = append(f.limbs, part)
}

// react raises joints to the level of a fault that concerns them. A joint that
// has the level or a higher one already is not disturbed.
func (f *reaction) react(l *Loop, concerned robot.Set, severity Severity, disobeys bool, reason control.Reason) {
	if severity >= SeveritySlow {
		f.slow = f.slow.Union(concerned)
	}
	if severity < SeverityHold {
		return
	}
	var raised robot.Set
	for leaf := range concerned.All {
		if j := int(leaf); j < len(f.level) && f.level[j] < severity {
			f.level[j] = severity
			raised = raised.With(leaf)
		}
	}
	if concerned == f.whole && severity >= SeverityRampOff {
		if severity > f.robot {
			f.robot = severity
			f.stopRobot(l, severity)
		}
		return
	}
	if raised.Empty() {
		return
	}
	f.block(l, concerned, reason)
	switch severity {
	case SeveritySafe:
		for i := range f.limbs {
			if part := &f.limbs[i]; part.set.Overlaps(raised) {
				f.makeSafe(l, part, disobeys && concerned != f.whole)
			}
		}
	case SeverityRampOff:
		f.ramping = f.ramping.Union(raised)
	case SeverityTorqueOff:
		f.limp = f.limp.Union(raised)
	}
}

// stopRobot is a stop of category 1 or 0 for a fault.
func (f *reaction) stopRobot(l *Loop, severity Severity) {
	if !l.powered.torque() {
		return
	}
	if severity == SeverityTorqueOff {
		l.stops.begin(l, 0)
	} else {
		l.stops.begin(l, 1)
	}
}

// block takes leaves from their owners: they stop and are held. A
// controller that only wants them continues without.
func (f *reaction) block(l *Loop, set robot.Set, why control.Reason) {
	f.blocked = f.blocked.Union(set)
	for _, s := range l.seats {
		if s.program == nil || !s.owned().Overlaps(set) {
			continue
		}
		if s.needs.Overlaps(set) {
			s.end(control.Failed, why)
		}
	}
}

// makeSafe begins the safe state that the robot declares for a limb; a robot that
// does not say holds. A limb with a joint that does not obey cannot be led to a
// pose: what is left of crouching is to let go.
func (f *reaction) makeSafe(l *Loop, part *limb, disobeys bool) {
	f.blocked = f.blocked.Union(part.set)
	switch part.do {
	case robot.SafeCrouchThenOff:
		if !disobeys && l.powered.torque() {
			f.crouch(l, part)
			return
		}
		f.limp = f.limp.Union(part.set)
	case robot.SafeOff:
		f.limp = f.limp.Union(part.set)
	case robot.SafeBrake:
		f.brake = f.brake.Union(part.set)
	}
	l.report(Report{Kind: LimbSafe, Controller: arbiter.NoClient, Set: part.set})
}

// crouch gives the joints of a limb their places; the bridge leads there, all
// joints together.
func (f *reaction) crouch(l *Loop, part *limb) {
	if part.crouching {
		return
	}
	part.crouching, part.began = true, l.now
	l.cycles.yield(l)
	for i, j := range part.joints {
		if part.posed[i] {
			l.shaper.Send(j, part.pose[i])
		}
	}
}

// progress follows limbs on their way to their safe states.
func (f *reaction) progress(l *Loop) {
	for i := range f.limbs {
		part := &f.limbs[i]
		if !part.crouching || l.now == part.began {
			continue
		}
		if l.now-part.began > l.cfg.CrouchDeadline || f.arrived(l, part) {
			part.crouching = false
			f.limp = f.limp.Union(part.set)
			l.report(Report{Kind: LimbSafe, Controller: arbiter.NoClient, Set: part.set, Time: l.now - part.began})
		}
	}
	if f.ramping.Empty() {
		return
	}
	for leaf := range f.ramping.All {
		if l.shaper.Still(int(leaf)) {
			f.limp, f.ramping = f.limp.With(leaf), f.ramping.Without(leaf)
		}
	}
}

// crouches reports whether a limb is on its way to its safe pose.
func (f *reaction) crouches() bool {
	for i := range f.limbs {
		if f.limbs[i].crouching {
			return true
		}
	}
	return false
}

// arrived reports whether all joints of a limb rest where they were sent.
func (f *reaction) arrived(l *Loop, part *limb) bool {
	for i, j := range part.joints {
		if !l.shaper.Arrived(j) || part.posed[i] && l.command.Q[j] != part.pose[i] {
			return false
		}
	}
	return true
}

// lower brings joints down to their wanted levels after a reset. Those that lost their
// torque stay without it.
func (f *reaction) lower(l *Loop) {
	f.slow, f.blocked = robot.Set{}, robot.Set{}
	for j, want := range f.wanted {
		leaf := robot.LeafID(j)
		f.level[j] = min(f.level[j], want)
		if want >= SeveritySlow {
			f.slow = f.slow.With(leaf)
		}
		if want >= SeverityHold {
			f.blocked = f.blocked.With(leaf)
		}
		if want < SeveritySafe {
			f.limp, f.brake = f.limp.Without(leaf), f.brake.Without(leaf)
		}
		if want < SeverityRampOff {
			f.ramping = f.ramping.Without(leaf)
		}
	}
	for i := range f.limbs {
		part := &f.limbs[i]
		if !part.crouching || part.set.Overlaps(f.blocked) {
			continue
		}
		part.crouching = false
		for _, j := range part.joints {
			l.shaper.Stay(j)
		}
	}
}
