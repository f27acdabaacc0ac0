package executive

import (
	"context"
	"math"
	"slices"

	"poise/action"
	"poise/executive/explain"
	"poise/planner"
	"poise/robot"
)

// planJob is a plan to be made on a worker.
type planJob struct {
	planner  Planner
	items    []planner.Item
	sequence bool
	current  []float64
}

func (p *planJob) run(ctx context.Context) ([]*planner.Motion, *planner.Refusal) {
	if p.sequence {
		return p.planner.Sequence(ctx, p.items, p.current)
	}
	m, why := p.planner.Plan(ctx, &p.items[0].Request, p.current)
	if why != nil {
		return nil, why
	}
	return []*planner.Motion{m}, nil
}

// planned is a plan that came back.
type planned struct {
	job     *job
	motions []*planner.Motion
	refusal *planner.Refusal
}

// Action names the server: single motions and sequences have one each.
func (g *Move) Action() string {
	if g.Sequence {
		return "sequence"
	}
	return "move"
}

func (g *Move) prepare(e *Executive) (*work, []Explanation) {
	if why := checkRate(g.Rate); why != nil {
		return nil, why
	}
	p, why := e.planOf(g.Items, g.Sequence, g.Pipeline)
	if why != nil {
		return nil, []Explanation{*why}
	}
	return &work{plan: p, rate: g.Rate}, nil
}

// planOf makes the job of a request, from where the robot is.
func (e *Executive) planOf(items []planner.Item, sequence bool, pipeline string) (*planJob, *Explanation) {
	var refuse Explanation
	var names []string
	for i, p := range e.cfg.Pipelines {
		names = append(names, p.Name)
		if p.Name != pipeline && (pipeline != "" || i > 0) {
			continue
		}
		switch {
		case len(items) == 0 && !sequence:
			refuse = explain.Because("no_request", "there is nothing to plan")
			return nil, &refuse
		case e.snap == nil:
			refuse = e.whySilent()
			return nil, &refuse
		}
		return &planJob{planner: p.Planner, items: items, sequence: sequence, current: e.configuration()}, nil
	}
	refuse = explain.UnknownName("unknown_pipeline", "planner", pipeline, names)
	return nil, &refuse
}

// startPlanning gives the plan to a worker.
func (j *job) startPlanning() {
	e := j.e
	ctx, stop := context.WithCancel(context.Background())
	j.stop = stop
	p := j.work.plan
	j.h.Feedback(Feedback{Goal: j.id, Phase: Planning, Tick: e.lastTick()})
	e.tell(func() {
		e.cfg.Go(func() {
			motions, refusal := p.run(ctx)
			e.mu.Lock()
			e.plans = append(e.plans, planned{j, motions, refusal})
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
		if !p.job.h.State().Terminal() {
			p.job.planned(p.motions, p.refusal)
		}
	}
}

// planned performs what was planned. A sequence is always performed; a single
// motion that nowhere leaves where the robot is has nothing to perform.
func (j *job) planned(motions []*planner.Motion, refusal *planner.Refusal) {
	e, g := j.e, j.goal.(*Move)
	j.result.Motions, j.result.Refusal = motions, refusal
	switch {
	case refusal != nil:
		j.fail(action.Failed, explain.Refusal(refusal))
		return
	case g.PlanOnly:
		e.keepMotions("plan", motions)
		j.succeed()
		return
	case !g.Sequence && e.arrived(motions), len(motions) == 0:
		j.succeed()
		return
	}
	e.keepMotions(g.Action(), motions)
	w, why := (&Execute{Motions: motions, Rate: g.Rate}).prepare(e)
	if len(why) > 0 {
		j.fail(action.ConditionsUnmet, why...)
		return
	}
	j.work = w
	j.dispatch()
}

// standstill is how far a joint may be led about for a motion to count as none,
// rad or m.
const standstill = 1e-4

// arrived reports whether motions nowhere leave where the robot is.
func (e *Executive) arrived(motions []*planner.Motion) bool {
	for _, m := range motions {
		for i := range m.Trajectory.Points {
			for k, q := range m.Trajectory.Points[i].Position {
				if math.Abs(q-e.snap.Command.Q[m.Joints[k]]) > standstill {
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
	var p *planJob
	var why *Explanation
	e.locked(func() { p, why = e.planOf(items, sequence, pipeline) })
	if why != nil {
		return failed(*why)
	}
	motions, refusal := p.run(ctx)
	r := Result{Code: "ok", Motions: motions, Refusal: refusal}
	if refusal != nil {
		r = failed(explain.Refusal(refusal))
		r.Refusal = refusal
	}
	e.locked(func() {
		if refusal == nil {
			e.keepMotions("plan", motions)
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

// moved returns all joints of some motions, each once, in array order.
func moved(motions []*planner.Motion) (joints []robot.JointID) {
	for _, m := range motions {
		for _, j := range m.Joints {
			if !slices.Contains(joints, j) {
				joints = append(joints, j)
			}
		}
	}
	slices.Sort(joints)
	return joints
}
