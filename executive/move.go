package executive

import (
	"context"
	"math"

	"poise/loop"
	"poise/planner"
	"poise/planner/pipeline"
	"poise/problem"
)

// Move plans, and then performs what was planned.
type Move struct {
	pipeline.Question         // a sequence is always performed, also where nothing moves
	PlanOnly          bool    // nothing moves
	Rate              float64 // of its clock; 0 is 1
}

// plan is a plan to be made, and what is to be done with it.
type plan struct {
	view     *view
	question *pipeline.Question
	only     bool // nothing is performed
	rate     float64
}

// planned is a plan that came back.
type planned struct {
	answer pipeline.Answer
	kept   *Kept
	work   *work // nil if there is nothing to perform
	why    []Explanation
}

// run plans, and prepares what is performed then: a sequence always; a single
// motion unless it nowhere leaves where the robot is.
func (p *plan) run(ctx context.Context) (out planned) {
	out.answer = p.view.cfg.Pipelines.Ask(ctx, p.question, p.view.configuration())
	if out.answer.Refusal != nil {
		out.why = []Explanation{*out.answer.Refusal.Whole()}
		return out
	}
	motions := out.answer.Motions
	source := "plan"
	if !p.only && len(motions) > 0 && (p.question.Sequence || !arrived(motions, p.view.now)) {
		source = "move"
		out.work, out.why = (&Execute{Motions: motions, Rate: p.rate}).prepare(p.view)
	}
	p.view.keepMotions(source, motions)
	out.kept = p.view.kept
	return out
}

// Action returns the name of its action: single motions and sequences have one each.
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
	p, why := v.planOf(&g.Question)
	if why != nil {
		return nil, why
	}
	p.only, p.rate = g.PlanOnly, g.Rate
	return &work{plan: p}, nil
}

// planOf makes the plan of a question.
func (v *view) planOf(q *pipeline.Question) (*plan, []Explanation) {
	if q.Refusal != nil {
		return &plan{view: v, question: q}, nil // the planner's answer says so
	}
	if len(q.Items) == 0 && !q.Sequence {
		return nil, []Explanation{*problem.New("no_request", "there is nothing to plan")}
	}
	if _, why := v.cfg.Pipelines.Find(q.Pipeline); why != nil {
		return nil, []Explanation{*problem.Unknown("unknown_pipeline", "planner", q.Pipeline, v.cfg.Pipelines.Names())}
	}
	return &plan{view: v, question: q}, nil
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

// configuration is the whole configuration that the robot is commanded to be in.
func (v *view) configuration() []float64 {
	q := make([]float64, v.cfg.Model.NumQ())
	if v.cfg.Model.Floating() {
		q[6] = 1
	}
	if b := &v.now.Command.Base; v.cfg.Model.Floating() && b.Has {
		p, r := b.Pose.P, b.Pose.R.Quat()
		copy(q, []float64{p.X, p.Y, p.Z, r.X, r.Y, r.Z, r.W})
	}
	for i := range v.cfg.Model.Joints() {
		if j := &v.cfg.Model.Joints()[i]; j.Kind.NumQ() == 1 && i < len(v.now.Command.Q) {
			q[j.Q] = v.now.Command.Q[i]
		}
	}
	return q
}
