package executive

import (
	"context"
	"math"
	"slices"

	"poise/action"
	"poise/executive/explain"
	"poise/loop"
	"poise/planner"
)

// planJob is a plan to be made on a worker, and what is to be done with it.
type planJob struct {
	view     *view
	planner  Planner
	items    []planner.Item
	sequence bool
	only     bool // nothing is performed
	rate     float64
}

// planned is a plan that came back.
type planned struct {
	job     *job
	motions []*planner.Motion
	refusal *planner.Refusal
	kept    *Kept
	work    *work // nil if there is nothing to perform
	why     []Explanation
}

// run plans, and prepares what is performed then: a sequence always; a single
// motion unless it nowhere leaves where the robot is.
func (p *planJob) run(ctx context.Context) (out planned) {
	out.motions, out.refusal = p.plan(ctx)
	if out.refusal != nil {
		out.why = []Explanation{explain.Refusal(out.refusal)}
		return out
	}
	source := "plan"
	if !p.only && len(out.motions) > 0 && (p.sequence || !arrived(out.motions, p.view.snap)) {
		source = "move"
		out.work, out.why = (&Execute{Motions: out.motions, Rate: p.rate}).prepare(p.view)
	}
	p.view.keepMotions(source, out.motions)
	out.kept = p.view.kept
	return out
}

func (p *planJob) plan(ctx context.Context) ([]*planner.Motion, *planner.Refusal) {
	current := p.view.configuration()
	if p.sequence {
		return p.planner.Sequence(ctx, p.items, current)
	}
	m, why := p.planner.Plan(ctx, &p.items[0].Request, current)
	if why != nil {
		return nil, why
	}
	return []*planner.Motion{m}, nil
}

// Action names the server: single motions and sequences have one each.
func (g *Move) Action() string {
	if g.Sequence {
		return "sequence"
	}
	return "move"
}

func (g *Move) prepare(v *view) (*work, []Explanation) {
	if why := checkRate(g.Rate); why != nil {
		return nil, why
	}
	p, why := v.planOf(g.Items, g.Sequence, g.Pipeline)
	if why != nil {
		return nil, why
	}
	p.only, p.rate = g.PlanOnly, g.Rate
	return &work{plan: p}, nil
}

// planOf makes the job of a request.
func (v *view) planOf(items []planner.Item, sequence bool, pipeline string) (*planJob, []Explanation) {
	if len(items) == 0 && !sequence {
		return nil, []Explanation{explain.Because("no_request", "there is nothing to plan")}
	}
	all := v.e.cfg.Pipelines
	i := slices.IndexFunc(all, func(p Pipeline) bool { return p.Name == pipeline })
	if pipeline == "" && len(all) > 0 {
		i = 0
	}
	if i < 0 {
		return nil, []Explanation{explain.UnknownName("unknown_pipeline", "planner", pipeline, v.e.Pipelines())}
	}
	return &planJob{view: v, planner: all[i].Planner, items: items, sequence: sequence}, nil
}

// startPlanning gives the plan to a worker.
func (j *job) startPlanning() {
	e := j.e
	ctx, stop := context.WithCancel(context.Background())
	j.stop = stop
	p := j.work.plan
	j.h.Feedback(Feedback{Goal: j.id, Phase: Planning, Tick: e.tick})
	e.tell(func() {
		e.cfg.Go(func() {
			e.workers <- struct{}{} // so many at a time
			defer func() { <-e.workers }()
			out := planned{refusal: planner.Stopped(ctx)}
			if out.refusal == nil {
				out = p.run(ctx)
			}
			out.job = j
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
func (j *job) planned(p *planned) {
	j.result.Motions, j.result.Refusal = p.motions, p.refusal
	switch {
	case p.refusal != nil:
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

// standstill is how far a joint may be led about for a motion to count as none,
// rad or m.
const standstill = 1e-4

// arrived reports whether motions nowhere leave where the robot is.
func arrived(motions []*planner.Motion, now *loop.Snapshot) bool {
	for _, m := range motions {
		for i := range m.Trajectory.Points {
			for k, q := range m.Trajectory.Points[i].Position {
				if math.Abs(q-now.Command.Q[m.Joints[k]]) > standstill {
					return false
				}
			}
		}
	}
	return true
}

// Plan plans without moving anything, in the caller's goroutine, from where the
// robot is. What was planned can be kept (Last).
func (e *Executive) Plan(ctx context.Context, who string, items []planner.Item, sequence bool, pipeline string) Result {
	v := e.look()
	if v.snap == nil {
		_, why := v.prepare(nil)
		return failed(why...)
	}
	p, why := v.planOf(items, sequence, pipeline)
	if why != nil {
		return failed(why...)
	}
	p.only = true
	out := p.run(ctx)
	r := Result{Code: "ok", Motions: out.motions}
	if out.refusal != nil {
		r = failed(out.why...)
		r.Refusal = out.refusal
	}
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
func (e *Executive) Pipelines() (names []string) {
	for _, p := range e.cfg.Pipelines {
		names = append(names, p.Name)
	}
	return names
}

// configuration is the whole configuration that the robot is commanded to be in.
func (v *view) configuration() []float64 {
	e := v.e
	q := make([]float64, e.model.NumQ())
	if e.model.Floating() {
		q[6] = 1
	}
	if b := &v.snap.Command.Base; e.model.Floating() && b.Has {
		p, r := b.Pose.P, b.Pose.R.Quat()
		copy(q, []float64{p.X, p.Y, p.Z, r.X, r.Y, r.Z, r.W})
	}
	for i := range e.model.Joints() {
		if j := &e.model.Joints()[i]; j.Kind.NumQ() == 1 && i < len(v.snap.Command.Q) {
			q[j.Q] = v.snap.Command.Q[i]
		}
	}
	return q
}
