package executive

import (
	"context"
	"math"
	"slices"

	"poise/executive/explain"
	"poise/loop"
	"poise/planner"
)

// Move plans, and then performs what was planned.
type Move struct {
	Items    []planner.Item // one, or a sequence
	Sequence bool           // always performs, also where nothing moves
	Pipeline string         // planner by name; "" is the first
	PlanOnly bool           // nothing moves
	Rate     float64        // of its clock; 0 is 1
}

// plan is a plan to be made, and what is to be done with it.
type plan struct {
	view     *view
	planner  Planner
	items    []planner.Item
	sequence bool
	only     bool // nothing is performed
	rate     float64
}

// planned is a plan that came back.
type planned struct {
	motions []*planner.Motion
	refusal *planner.Refusal // why there are none
	kept    *Kept
	work    *work // nil if there is nothing to perform
	why     []Explanation
}

// run plans, and prepares what is performed then: a sequence always; a single
// motion unless it nowhere leaves where the robot is.
func (p *plan) run(ctx context.Context) (out planned) {
	out.motions, out.refusal = p.motions(ctx)
	if out.refusal != nil {
		out.why = []Explanation{explain.Refusal(out.refusal)}
		return out
	}
	source := "plan"
	if !p.only && len(out.motions) > 0 && (p.sequence || !arrived(out.motions, p.view.now)) {
		source = "move"
		out.work, out.why = (&Execute{Motions: out.motions, Rate: p.rate}).prepare(p.view)
	}
	p.view.keepMotions(source, out.motions)
	out.kept = p.view.kept
	return out
}

func (p *plan) motions(ctx context.Context) ([]*planner.Motion, *planner.Refusal) {
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

// planOf makes the plan of a request, or of a sequence.
func (v *view) planOf(items []planner.Item, sequence bool, pipeline string) (*plan, []Explanation) {
	if len(items) == 0 && !sequence {
		return nil, []Explanation{explain.Because("no_request", "there is nothing to plan")}
	}
	all := v.cfg.Pipelines
	i := slices.IndexFunc(all, func(p Pipeline) bool { return p.Name == pipeline })
	if pipeline == "" && len(all) > 0 {
		i = 0
	}
	if i < 0 {
		return nil, []Explanation{explain.UnknownName("unknown_pipeline", "planner", pipeline, v.cfg.pipelineNames())}
	}
	return &plan{view: v, planner: all[i].Planner, items: items, sequence: sequence}, nil
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
