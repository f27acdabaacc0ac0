package executive

import (
	"context"

	"poise/action"
	"poise/executive/wish"
	"poise/planner"
)

// planned is a plan that came back for a goal.
type planned struct {
	job *job
	wish.Planned
}

// startPlanning gives the plan to a worker.
func (j *job) startPlanning() {
	e := j.e
	ctx, stop := context.WithCancel(context.Background())
	j.stop = stop
	p := j.work.Plan
	j.h.Feedback(Feedback{Goal: j.id, Phase: Planning, Tick: e.tick})
	e.out.add(func() {
		e.cfg.Go(func() {
			e.workers <- struct{}{} // so many at a time
			defer func() { <-e.workers }()
			out := planned{job: j}
			if out.Refusal = planner.Stopped(ctx); out.Refusal == nil {
				out.Planned = p.Run(ctx)
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
		if p.Kept != nil {
			e.last = p.Kept
		}
		if !p.job.h.State().Terminal() {
			p.job.planned(&p)
		}
	}
}

// planned performs what was planned.
func (j *job) planned(p *planned) {
	j.result.Motions, j.result.Refusal = p.Motions, p.Refusal
	switch {
	case p.Refusal != nil:
		j.fail(action.Failed, p.Why...)
	case len(p.Why) > 0:
		j.fail(action.ConditionsUnmet, p.Why...)
	case p.Work == nil:
		j.succeed()
	default:
		j.work = p.Work
		j.dispatch()
	}
}

// Plan plans without moving anything, in the caller's goroutine, from where the
// robot is. What was planned can be kept (Last).
func (e *Executive) Plan(ctx context.Context, who string, items []planner.Item, sequence bool, pipeline string) Result {
	v := e.look()
	if v.Now == nil {
		_, why := v.Prepare(nil)
		return failed(why...)
	}
	p, why := v.PlanOf(items, sequence, pipeline)
	if why != nil {
		return failed(why...)
	}
	p.Only = true
	out := p.Run(ctx)
	r := Result{Code: "ok", Motions: out.Motions}
	if out.Refusal != nil {
		r = failed(out.Why...)
		r.Refusal = out.Refusal
	}
	e.locked(func() {
		if out.Kept != nil {
			e.last = out.Kept
		}
		e.audit(who, "plan", r.Code)
	})
	return r
}

// Pipelines returns the names of the planners; the first is meant where none is
// named.
func (e *Executive) Pipelines() (names []string) {
	for _, p := range e.cfg.Pipelines {
		names = append(names, p.Name)
	}
	return names
}

// Last returns the last trajectory that was received or planned.
func (e *Executive) Last() (k Kept, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last == nil {
		return Kept{}, false
	}
	return *e.last, true
}
