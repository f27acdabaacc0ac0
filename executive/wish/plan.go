package wish

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

// Plan is a plan to be made, and what is to be done with it.
type Plan struct {
	view     *View
	planner  Planner
	items    []planner.Item
	sequence bool
	Only     bool // nothing is performed
	rate     float64
}

// Planned is a plan that came back.
type Planned struct {
	Motions []*planner.Motion
	Refusal *planner.Refusal // why there are none
	Kept    *Kept
	Work    *Work // nil if there is nothing to perform
	Why     []Explanation
}

// Run plans, and prepares what is performed then: a sequence always; a single
// motion unless it nowhere leaves where the robot is.
func (p *Plan) Run(ctx context.Context) (out Planned) {
	out.Motions, out.Refusal = p.plan(ctx)
	if out.Refusal != nil {
		out.Why = []Explanation{explain.Refusal(out.Refusal)}
		return out
	}
	source := "plan"
	if !p.Only && len(out.Motions) > 0 && (p.sequence || !arrived(out.Motions, p.view.Now)) {
		source = "move"
		out.Work, out.Why = (&Execute{Motions: out.Motions, Rate: p.rate}).Prepare(p.view)
	}
	p.view.keepMotions(source, out.Motions)
	out.Kept = p.view.Kept
	return out
}

func (p *Plan) plan(ctx context.Context) ([]*planner.Motion, *planner.Refusal) {
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

func (g *Move) Prepare(v *View) (*Work, []Explanation) {
	if why := checkRate(g.Rate); why != nil {
		return nil, why
	}
	p, why := v.PlanOf(g.Items, g.Sequence, g.Pipeline)
	if why != nil {
		return nil, why
	}
	p.Only, p.rate = g.PlanOnly, g.Rate
	return &Work{Plan: p}, nil
}

// PlanOf makes the plan of a request, or of a sequence.
func (v *View) PlanOf(items []planner.Item, sequence bool, pipeline string) (*Plan, []Explanation) {
	if len(items) == 0 && !sequence {
		return nil, []Explanation{explain.Because("no_request", "there is nothing to plan")}
	}
	all := v.Pipelines
	i := slices.IndexFunc(all, func(p Pipeline) bool { return p.Name == pipeline })
	if pipeline == "" && len(all) > 0 {
		i = 0
	}
	if i < 0 {
		return nil, []Explanation{explain.UnknownName("unknown_pipeline", "planner", pipeline, v.pipelineNames())}
	}
	return &Plan{view: v, planner: all[i].Planner, items: items, sequence: sequence}, nil
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
func (v *View) configuration() []float64 {
	q := make([]float64, v.Model.NumQ())
	if v.Model.Floating() {
		q[6] = 1
	}
	if b := &v.Now.Command.Base; v.Model.Floating() && b.Has {
		p, r := b.Pose.P, b.Pose.R.Quat()
		copy(q, []float64{p.X, p.Y, p.Z, r.X, r.Y, r.Z, r.W})
	}
	for i := range v.Model.Joints() {
		if j := &v.Model.Joints()[i]; j.Kind.NumQ() == 1 && i < len(v.Now.Command.Q) {
			q[j.Q] = v.Now.Command.Q[i]
		}
	}
	return q
}
