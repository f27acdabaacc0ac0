package executive

import (
	"context"
	"slices"

	"poise/action"
	"poise/planner"
	"poise/planner/pipeline"
	"poise/planner/queue"
)

// plannedJob is a plan that came back for a goal.
type plannedJob struct {
	job *job
	planned
	found     any  // of an experiment
	evaluated bool // the experiment was performed before
}

// startPlanning lets the plan wait for its turns. The time that it may take counts from
// now.
func (j *job) startPlanning() {
	e := j.e
	p := j.work.plan
	ctx, stop := p.question.Bounded(context.Background())
	j.stop = stop
	j.h.Feedback(Feedback{Goal: j.id, Who: j.who, State: j.h.State(), Phase: Planning, Tick: e.robot.tick})
	e.out.add(func() {
		e.cfg.Go(func() {
			out := plannedJob{job: j, planned: e.inTurn(ctx, j.who, p)}
			e.mu.Lock()
			e.plans = append(e.plans, out)
			e.mu.Unlock()
		})
	})
}

// fewItems is how many items a plan has that takes little time.
const fewItems = 10

// inTurn makes a plan in the turns of its client.
func (e *Executive) inTurn(ctx context.Context, who string, p *plan) (out planned) {
	size := queue.Size(len(p.question.Items) > fewItems)
	if err := e.cfg.Plans.Do(ctx, who, size, func(ctx context.Context) { out = p.run(ctx) }); err != nil {
		return planned{answer: pipeline.Answer{Refusal: planner.Stopped(ctx)}, why: []Explanation{*planner.Stopped(ctx).Whole()}}
	}
	return out
}

// left ends the planning for a client that has gone: no client waits for its result.
func (e *Executive) left(who string) {
	for _, j := range slices.Clone(e.goals.live) {
		if j.who == who && (j.stop != nil || j.work == nil) && j.plans() {
			j.goals.many.Cancel(j.h.ID(), 0)
		}
	}
}

// plans reports whether a goal has to be planned, or is.
func (j *job) plans() bool {
	_, move := j.goal.(*Move)
	return move && j.number == 0
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
		switch {
		case p.job.h.State().Terminal():
		case p.evaluated:
			p.job.evaluated(&p)
		default:
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
		j.result.Found = p.found
		j.succeed()
	default:
		j.work = p.work
		j.dispatch()
	}
}

// Plan plans without moving anything, in the caller's goroutine and in its client's
// turns, from where the robot is. What was planned can be kept (Last).
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
	ctx, stop := q.Bounded(ctx)
	defer stop()
	out := e.inTurn(ctx, who, p)
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

// Left tells that a client has gone. What is planned for it ends; what moves goes on.
func (e *Executive) Left(who string) { e.locked(func() { e.left(who) }) }

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
