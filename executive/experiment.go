package executive

import (
	"context"

	"poise/action"
	"poise/control"
	"poise/loop"
	"poise/problem"
)

// Experiment is a goal whose program is made from where the robot is, and which is evaluated after it was
// performed: the identification of servos. It is over when its evaluation is.
//
//	Config.Experiment ──▶ refused, or planned ──▶ performed ──▶ evaluated ──▶ Result.Found
type Experiment struct {
	Controller string // that performs it
	Request    any    // what Config.Experiment reads
}

// ExperimentRun is one experiment on its way. Its methods run outside the cycle and may take their time;
// Plan and Evaluate end early when ctx does.
type ExperimentRun interface {
	// Plan returns what is performed, from a state of the robot. Without a program there is
	// nothing to perform, and what was found is the answer.
	Plan(ctx context.Context, now *loop.Snapshot) (ExperimentPlan, []Explanation)
	// Evaluate returns what was found, after the program was performed; tell is told how far it
	// has come, 0 … 1.
	Evaluate(ctx context.Context, tell func(phase Phase, progress float64)) (found any, why []Explanation)
	// End frees what Plan took: once, whatever became of the goal.
	End()
}

// ExperimentPlan is what an experiment performs.
type ExperimentPlan struct {
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

// Evaluating is the phase of an experiment between its motion and its result.
const Evaluating Phase = "fitting"

// Action returns the name of its action.
func (g *Experiment) Action() string { return g.Controller }

func (g *Experiment) prepare(v *view) (*work, []Explanation) {
	s, ok := v.cfg.controller(g.Controller)
	switch {
	case !ok:
		return nil, []Explanation{*problem.Unknown("unknown_controller", "controller", g.Controller, v.cfg.controllerNames())}
	case v.cfg.Experiment == nil:
		return nil, []Explanation{*problem.New("nothing_to_study", "servo identification is not set up for this robot")}
	}
	x, why := v.cfg.Experiment(g.Request, v.now)
	if len(why) > 0 {
		return nil, why
	}
	return &work{experiment: x, pool: []string{s.Name}}, nil
}

// startExperiment plans an experiment beside its client.
func (j *job) startExperiment() {
	e, run := j.e, j.work.experiment
	ctx, stop := context.WithCancel(context.Background())
	j.stop = stop
	j.h.Feedback(Feedback{Goal: j.id, Who: j.who, State: j.h.State(), Phase: Planning, Tick: e.robot.tick})
	now, pool := copyOf(e.robot.snap), j.work.pool
	e.out.add(func() {
		e.cfg.Go(func() {
			out := plannedJob{job: j}
			made, why := run.Plan(ctx, now)
			switch {
			case len(why) > 0:
				out.why = why
			case made.Program == nil:
				out.found = made.Found
			default:
				out.work = newWork(pool, made.Program)
				out.work.experiment, out.work.duration, out.work.stages = run, made.Duration, made.Stages
			}
			e.mu.Lock()
			e.plans = append(e.plans, out)
			e.mu.Unlock()
		})
	})
}

// evaluate goes on with an experiment whose motion is over: its controller is free, its goal is not over yet.
func (j *job) evaluate() {
	e, run := j.e, j.work.experiment
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
			out.found, out.why = run.Evaluate(ctx, tell)
			e.mu.Lock()
			e.plans = append(e.plans, out)
			e.mu.Unlock()
		})
	})
}

// evaluated ends an experiment.
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
