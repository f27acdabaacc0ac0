package executive

import (
	"slices"

	"poise/loop"
	"poise/robot"
)

// feedback reports the progress of running goals: at the set rate of cycle time, and
// at once when an event left or the resources changed.
func (e *Executive) feedback() {
	s := e.robot.snap
	if s == nil {
		return
	}
	period := int64(1e9 / e.cfg.FeedbackRate)
	for _, j := range slices.Clone(e.goals.live) {
		if !j.begun || s.Tick.Time < j.due || s.Tick.N < j.tick {
			continue
		}
		j.noteTime()
		j.h.Feedback(j.feedback(s))
		j.unsent = nil
		if j.due == 0 || s.Tick.Time-j.due > period {
			j.due = s.Tick.Time
		}
		j.due += period
	}
}

// feedback describes the goal in a state.
func (j *job) feedback(s *loop.Snapshot) Feedback {
	w, a := j.work, &s.Active[j.seat.id]
	f := Feedback{Goal: j.id, Who: j.who, State: j.h.State(), Controller: j.seat.Name, Tick: s.Tick, Time: j.time, Duration: w.duration, Wanted: a.Wanted, Rate: a.Rate,
		Table: w.table.At(j.time), Progress: w.progress(j.time), Resources: j.e.words.Names(a.Own), Events: j.unsent, Phase: j.phase(a)}
	f.Base = s.Measured.Base.Pose
	if w.goal != nil {
		f.Remaining, f.RemainingTurn = w.goal.Remaining(f.Base)
	}
	if end := w.end(); end > 0 {
		f.End = w.table.At(end)
	}
	joints := w.joints
	if joints == nil {
		joints = jointsOf(a.Own, len(s.Command.Q))
	}
	n := len(joints)
	block := make([]float64, 5*n)
	take := func() []float64 { x := block[:n:n]; block = block[n:]; return x }
	f.Joints = make([]string, n)
	f.Desired, f.Actual, f.Error, f.DesiredSpeed, f.ActualSpeed = take(), take(), take(), take(), take()
	for i, id := range joints {
		f.Joints[i] = j.e.words.Joint(id)
		f.Desired[i], f.Actual[i] = s.Command.Q[id], s.Measured.Q[id]
		f.DesiredSpeed[i], f.ActualSpeed[i] = s.Command.V[id], s.Measured.V[id]
		f.Error[i] = f.Desired[i] - f.Actual[i]
	}
	return f
}

// progress returns how much of the motion proper is over at a time of its clock.
func (w *work) progress(t float64) float64 {
	end := w.end()
	if !(end > w.from) {
		return 0
	}
	return min(max((t-w.from)/(end-w.from), 0), 1)
}

// end returns the time at which the motion proper is over, 0 if it has no end.
func (w *work) end() float64 {
	if w.to > 0 {
		return w.to
	}
	return w.duration
}

func (j *job) phase(a *loop.Activity) Phase {
	w := j.work
	if phase, ok := w.stageAt(a.Time); ok {
		return phase
	}
	switch {
	case a.Time < w.from:
		return Approaching
	case w.to > 0 && a.Time > w.to && a.Time < w.duration:
		return Returning
	case w.duration > 0 && a.Time >= w.duration && !a.Cancelled:
		return Settling
	}
	return Moving
}

// noteTime remembers how far the goal's own clock has come.
func (j *job) noteTime() {
	if a := j.e.robot.activity(j.seat); a != nil && a.Goal == j.number {
		j.time = a.Time
	}
}

// eventsLeft turns numbers into words, tells the sink, and keeps them for the
// goal's feedback.
func (j *job) eventsLeft(r *loop.Report) {
	e := j.e
	for i := r.From; i < r.To && j.work.event != nil; i++ {
		due := j.work.event(i)
		ev := Event{Tick: r.Tick, Goal: j.id, Controller: j.seat.Name, Motion: j.work.motion, Time: due.Time, Type: due.Type, Command: due.Command, Options: due.Options}
		if sink := e.cfg.Event; sink != nil {
			e.out.add(func() { sink(ev) })
		}
		j.unsent = append(j.unsent, ev)
	}
	if e.robot.snap != nil { // the end may be the next report
		j.noteTime()
		j.h.Feedback(j.feedback(e.robot.snap))
		j.unsent = nil
	}
}

// jointsOf returns the joints of a set, in array order.
func jointsOf(set robot.Set, dof int) (all []robot.JointID) {
	for leaf := range set.All {
		if int(leaf) < dof {
			all = append(all, robot.JointID(leaf))
		}
	}
	return all
}
