package loop

import (
	"math"

	"poise/arbiter"
	"poise/control"
	"poise/estimate"
	"poise/robot"
	"poise/servo"
)

// falls watches a robot that a controller had on its feet: while that performs, and when it has ended, by whatever it did.
// Stops of category 0 and 1, a dead servo and a leg that was taken end it first, and the fall comes then.
type falls struct {
	stance *estimate.Stance // nil of a robot whose base is fixed
	on     bool
	tilt   float64   // rad that the base may be tilted by
	height float64   // m that it has to be above its feet
	legs   robot.Set // that stood: who moves them next knows what for
	limp   float64   // s since they had torque
	ticks  int       // in a row that it lies
}

// Numbers of falls.
const (
	fallTicks = 2   // in a row: one reading may be wrong
	limpTime  = 3   // s without torque after which a robot that lies was put there
	unitOld   = 0.1 // s without a measurement after which an inertial unit says nothing
)

func (f *falls) init(m *robot.Model) {
	if m.Floating() {
		f.stance = estimate.NewStance(m)
	}
}

// update ends what had the robot on its feet when it has fallen, and raises the fault.
func (f *falls) update(l *Loop) {
	if f.watch(l); !f.on {
		return
	}
	reason := f.judge(l)
	if reason.Code == control.OK {
		f.ticks = 0
		return
	}
	if f.ticks++; f.ticks < fallTicks {
		return
	}
	f.on, f.ticks = false, 0
	for _, s := range l.seats {
		if s.program != nil && s.upright != nil {
			s.end(control.Failed, reason)
		}
	}
	l.faults.fell(l, reason)
}

// watch finds whether the robot is on its feet by the word of a controller.
func (f *falls) watch(l *Loop) {
	if f.stance == nil {
		return
	}
	for _, s := range l.seats {
		switch {
		case s.program == nil:
		case s.upright != nil:
			f.tilt, f.height = s.upright.Upright()
			f.on, f.legs = true, s.needs
		case s.owned().Overlaps(f.legs):
			f.on = false // a motion that may lie down
		}
	}
	if f.limp += l.tick.Dt; l.powered.torque() {
		f.limp = 0
	}
	if f.limp > limpTime || l.stops.plain { // power that was ordered off lets it sink, and that is no fall
		f.on = false
	}
}

// judge says whether the robot lies: tilted, by an inertial unit, or low over its feet, by its joints.
func (f *falls) judge(l *Loop) control.Reason {
	m := &l.measured
	if len(m.IMU) > 0 && m.IMU[0].Age != servo.Never && float64(m.IMU[0].Age)*l.tick.Dt <= unitOld {
		if tilt := math.Acos(min(max(m.Base.Pose.R[8], -1), 1)); tilt > f.tilt {
			return control.Fallen.At(robot.NoJoint, tilt, f.tilt)
		}
	}
	if height := f.stance.Height(m.Q, m.Base.Pose.R); height < f.height {
		return control.Sunk.At(robot.NoJoint, height, f.height)
	}
	return control.Because(control.OK)
}

// fell raises the fault of a robot that has fallen, for a reason.
func (f *monitor) fell(l *Loop, why control.Reason) {
	if row := l.dof; f.latch.raise(Fallen, row) == latchRaised {
		rule := &f.latch.rules[Fallen]
		why.At = l.now
		l.report(Report{Kind: FaultRaised, Controller: arbiter.NoClient, Fault: Fallen, Severity: rule.Severity, Reason: why, Value: why.Value})
		f.react(l, f.concerned(Fallen, row), rule.Severity, false, why)
	}
}
