package executive

import (
	"context"

	"poise/action"
	"poise/control"
	"poise/loop"
	"poise/problem"
)

// Study is a goal whose program is made from where the robot is, and which is evaluated after it was
// performed: the identification of servos. It is over when its evaluation is.
//
//	Config.Study ──▶ refused, or planned ──▶ performed ──▶ evaluated ──▶ Result.Found
type Study struct {
	Controller string // that performs it
	Request    any    // what Config.Study reads
}

// Studying is one study on its way. Its methods run outside the cycle and may take their time; Make
// and Evaluate end early when ctx does.
type Studying interface {
	// Make plans what is performed, from a state of the robot. Without a program there is
	// nothing to perform, and what was found is the answer.
	Make(ctx context.Context, now *loop.Snapshot) (Studied, []Explanation)
	// Evaluate returns what was found, after the program was performed; tell is told how far it
	// has come, 0 … 1.
	Evaluate(ctx context.Context, tell func(phase Phase, progress float64)) (found any, why []Explanation)
	// End frees what Make took: once, whatever became of the goal.
	End()
}

// Studied is what a study performs.
type Studied struct {
	Program  control.Program
	Duration float64 // s
	Stages   []Stage // of the program, in order
	Found    any     // without a program
}

// Stage is a part of a program.
type Stage struct {
	Phase Phase
	End   float64 // on the program's clock, s
}

// Evaluating is the phase of a study between its motion and its result.
const Evaluating Phase = "fitting"

// Action returns the name of its action.
func (g *Study) Action() string { return g.Controller }

func (g *Study) prepare(v *view) (*work, []Explanation) {
	s, ok := v.cfg.controller(g.Controller)
	switch {
	case !ok:
		return nil, []Explanation{*problem.Unknown("unknown_controller", "controller", g.Controller, v.cfg.controllerNames())}
	case v.cfg.Study == nil:
		return nil, []Explanation{*problem.New("nothing_to_study", "nothing of this robot is studied")}
	}
	x, why := v.cfg.Study(g.Request, v.now)
	if len(why) > 0 {
		return nil, why
	}
	return &work{study: x, pool: []string{s.Name}}, nil
}

// startStudy plans a study beside its client.
func (j *job) startStudy() {
	e, study := j.e, j.work.study
	ctx, stop := context.WithCancel(context.Background())
	j.stop = stop
	j.h.Feedback(Feedback{Goal: j.id, Who: j.who, State: j.h.State(), Phase: Planning, Tick: e.robot.tick})
	now, pool := copyOf(e.robot.snap), j.work.pool
	e.out.add(func() {
		e.cfg.Go(func() {
			out := plannedJob{job: j}
			made, why := study.Make(ctx, now)
			switch {
			case len(why) > 0:
				out.why = why
			case made.Program == nil:
				out.found = made.Found
			default:
				out.work = newWork(pool, made.Program)
				out.work.study, out.work.duration, out.work.stages = study, made.Duration, made.Stages
			}
			e.mu.Lock()
			e.plans = append(e.plans, out)
			e.mu.Unlock()
		})
	})
}

// evaluate goes on with a study whose motion is over: its controller is free, its goal is not over yet.
func (j *job) evaluate() {
	e, study := j.e, j.work.study
	j.free()
	ctx, stop := context.WithCancel(context.Background())
	j.stop = stop
	tell := func(phase Phase, progress float64) {
		e.locked(func() {
			if !j.h.State().Terminal() {
				j.h.Feedback(Feedback{Goal: j.id, Who: j.who, State: j.h.State(), Phase: phase, Progress: progress, Time: j.time, Duration: j.work.duration, Tick: e.robot.tick})
			}
		})
	}
	e.out.add(func() {
		e.cfg.Go(func() {
			tell(Evaluating, 0)
			out := plannedJob{job: j, evaluated: true}
			out.found, out.why = study.Evaluate(ctx, tell)
			e.mu.Lock()
			e.plans = append(e.plans, out)
			e.mu.Unlock()
		})
	})
}

// evaluated ends a study.
func (j *job) evaluated(p *plannedJob) {
	j.result.Found = p.found
	if len(p.why) > 0 {
		j.fail(action.Failed, p.why...)
		return
	}
	j.succeed()
}

// stageAt is the phase of a program that has stages.
func (w *work) stageAt(t float64) (Phase, bool) {
	for i := range w.stages {
		if t < w.stages[i].End {
			return w.stages[i].Phase, true
		}
	}
	return "", false
}
