package executive

import (
	"context"

	"poise/action"
	"poise/planner"
	"poise/planner/pipeline"
)

// plannedJob is a plan that came back for a goal.
type plannedJob struct {
	job *job
	planned
}

// startPlanning gives the plan to a worker.
func (j *job) startPlanning() {
	e := j.e
	ctx, stop := context.WithCancel(context.Background())
	j.stop = stop
	p := j.work.plan
	j.h.Feedback(Feedback{Goal: j.id, Who: j.who, State: j.h.State(), Phase: Planning, Tick: e.robot.tick})
	e.out.add(func() {
		e.cfg.Go(func() {
			e.workers <- struct{}{} // so many at a time
			defer func() { <-e.workers }()
			out := plannedJob{job: j}
			if out.answer.Refusal = planner.Stopped(ctx); out.answer.Refusal == nil {
				out.planned = p.run(ctx)
			}
			e.mu.Lock()
			e.plans = append(e.plans, out)
			e.mu.Unlock()
		})
	})
}

// takePlans goes on with goals whose plans have come.
func (e *Executive) takePlans() {
	plans := e.plans
	e.plans = nil
	for _, p := range plans {
		p.job.stop()
		p.job.stop = nil
		if p.kept != nil {
			e.last = p.kept
		}
		if !p.job.h.State().Terminal() {
			p.job.planned(&p)
		}
	}
}

// planned performs what was planned.
func (j *job) planned(p *plannedJob) {
	j.result.Plan = p.answer
	switch {
	case p.answer.Refusal != nil:
		j.fail(action.Failed, p.why...)
	case len(p.why) > 0:
		j.fail(action.ConditionsUnmet, p.why...)
	case p.work == nil:
		j.succeed()
	default:
		j.work = p.work
		j.dispatch()
	}
}

// Plan plans without moving anything, in the caller's goroutine, from where the
// robot is. What was planned can be kept (Last).
func (e *Executive) Plan(ctx context.Context, who string, q *pipeline.Question) Result {
	v := e.look()
	if v.now == nil {
		_, why := v.prepare(nil)
		return failed(why...)
	}
	p, why := v.planOf(q)
	if why != nil {
		return failed(why...)
	}
	p.only = true
	out := p.run(ctx)
	r := Result{Code: "ok"}
	if len(out.why) > 0 {
		r = failed(out.why...)
	}
	r.Plan = out.answer
	e.locked(func() {
		if out.kept != nil {
			e.last = out.kept
		}
		e.audit(who, "plan", r.Code)
	})
	return r
}

// Pipelines returns the names of the planners; the first is meant where none is
// named.
func (e *Executive) Pipelines() []string { return e.cfg.Pipelines.Names() }

// Last returns the last trajectory that was received or planned.
func (e *Executive) Last() (k Kept, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last == nil {
		return Kept{}, false
	}
	return *e.last, true
}
