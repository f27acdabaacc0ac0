package smooth

import (
	"context"
	"math"

	"poise/planner"
	"poise/robot"
)

// What a Planner does if nothing else is said.
const (
	DefaultSampling  = 1e-3                // s: the control period
	DefaultDeviation = 1e-4                // m
	DefaultTurn      = 0.1 * math.Pi / 180 // rad
)

// Planner plans on one robot.
type Planner struct {
	Model     *robot.Model
	Sampling  float64 // s between samples; 0 means DefaultSampling
	Deviation float64 // how far the tool may leave its path between samples, m; 0 means DefaultDeviation
	Turn      float64 // and turn away from it, rad; 0 means DefaultTurn

	// Coarser allows samples of long sequences to be further apart than Sampling:
	// their number then grows no faster than that of the items, and slower.
	Coarser bool

	// Clear, if not nil, is asked about configurations along every motion, in
	// order: whether the robot may be there, such as without touching itself. It
	// gets the whole configuration and must not keep it. Its error refuses the
	// motion.
	Clear func(q []float64) error
}

func (p *Planner) sampling() float64  { return or(p.Sampling, DefaultSampling) }
func (p *Planner) deviation() float64 { return or(p.Deviation, DefaultDeviation) }
func (p *Planner) turn() float64      { return or(p.Turn, DefaultTurn) }

func or(x, standard float64) float64 {
	if x == 0 {
		return standard
	}
	return x
}

// Plan plans one request from where the robot is.
func (p *Planner) Plan(ctx context.Context, req *planner.Request, current []float64) (*planner.Motion, *planner.Refusal) {
	all, why := p.sequence(ctx, []planner.Item{{Request: *req}}, current, true)
	if why != nil {
		return nil, why
	}
	return all[0], nil
}

// Sequence plans one request after the other. Consecutive items of one group
// become one motion with one clock; a change of group begins another. If one item
// is refused, all is.
func (p *Planner) Sequence(ctx context.Context, items []planner.Item, current []float64) ([]*planner.Motion, *planner.Refusal) {
	if why := planner.CheckRadii(items); why != nil {
		return nil, why
	}
	if why := planner.CheckStarts(items); why != nil {
		return nil, why
	}
	return p.sequence(ctx, items, current, false)
}

func (p *Planner) sequence(ctx context.Context, items []planner.Item, current []float64, single bool) ([]*planner.Motion, *planner.Refusal) {
	if why := p.check(); why != nil {
		return nil, why
	}
	scene := planner.Scene{Model: p.Model, AllowMoving: true, Extensions: true}
	b := &builder{Planner: p, ctx: ctx, scene: scene, items: append([]planner.Item(nil), items...), single: single, here: append([]float64(nil), current...)}
	var all []*planner.Motion
	for from := 0; from < len(items); {
		to := from + 1
		for to < len(items) && items[to].Request.Group == items[from].Request.Group {
			to++
		}
		m, why := b.motion(from, to)
		if why != nil {
			return nil, why
		}
		all = append(all, m)
		b.before += len(m.Trajectory.Points)
		from = to
	}
	return all, nil
}

// check refuses options that make no sense.
func (p *Planner) check() *planner.Refusal {
	for _, o := range []struct {
		name  string
		value float64
	}{{"sampling period", p.sampling()}, {"deviation", p.deviation()}, {"angular deviation", p.turn()}} {
		if !(o.value > 0) || math.IsInf(o.value, 1) {
			return bad("the %s is %g, and must be a positive number", o.name, o.value)
		}
	}
	return nil
}

func bad(format string, a ...any) *planner.Refusal {
	return planner.Refuse(planner.BadRequest, format, a...)
}
