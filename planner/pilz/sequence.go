package pilz

import (
	"context"
	"slices"

	"poise/planner"
	"poise/robot"
	"poise/trajectory"
)

// step is a point of a motion with the time since the point before it.
type step struct {
	point trajectory.Point
	dt    float64
}

func steps(t *trajectory.Trajectory) []step {
	out := make([]step, len(t.Points))
	for i, p := range t.Points {
		out[i].point = p
		if i > 0 {
			out[i].dt = p.Time - t.Points[i-1].Time
		} else {
			out[i].dt = p.Time
		}
	}
	return out
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
	motions, why := p.planItems(ctx, items, current)
	if why != nil {
		return nil, why
	}
	radii := make([]float64, len(items))
	for i := range items[:max(len(items)-1, 0)] {
		if motions[i].Group == motions[i+1].Group && motions[i].Group.Tip != robot.NoFrame {
			radii[i] = items[i].Radius
		}
	}
	if why := p.checkOverlap(motions, radii); why != nil {
		return nil, why
	}
	return p.join(ctx, motions, radii)
}

func (p *Planner) planItems(ctx context.Context, items []planner.Item, current []float64) ([]*planner.Motion, *planner.Refusal) {
	here := slices.Clone(current)
	motions := make([]*planner.Motion, len(items))
	total := 0
	for i := range items {
		m, why := p.Plan(ctx, &items[i].Request, here)
		if why != nil {
			why.Item = i
			return nil, why
		}
		motions[i] = m
		if total += len(m.Trajectory.Points); total > maxSamples {
			why := bad("the sequence would have more than %d samples every %g s", maxSamples, p.sampling())
			why.Item, why.Value, why.Limit = i, float64(total), maxSamples
			return nil, why.With("sample less finely, raise the scaling factors, or plan it in parts")
		}
		if why := planner.Stopped(ctx); why != nil {
			why.Item = i
			return nil, why
		}
		// the next item starts where this one ends
		copy(here, m.Start)
		end := m.Trajectory.Points[len(m.Trajectory.Points)-1]
		for k, j := range m.Joints {
			here[p.Model.Joints()[j].Q] = end.Position[k]
		}
	}
	return motions, nil
}

// checkOverlap refuses blends whose spheres touch.
func (p *Planner) checkOverlap(motions []*planner.Motion, radii []float64) *planner.Refusal {
	for i := 0; i+2 < len(motions); i++ {
		sum := radii[i] + radii[i+1]
		if motions[i].Group != motions[i+1].Group || sum == 0 {
			continue
		}
		a, b := tips(p.Model, motions[i], motions[i].Group.Tip), tips(p.Model, motions[i+1], motions[i].Group.Tip)
		apart := a[len(a)-1].P.Sub(b[len(b)-1].P).Norm()
		if apart <= sum {
			why := bad("the blend radii of items %d and %d add up to %g m, and their goals are %.4g m apart", i, i+1, sum, apart)
			why.Item, why.Value, why.Limit = i, sum, apart
			return why.With("make the radii smaller")
		}
	}
	return nil
}

// join puts the motions one behind the other, blended where a radius says so.
func (p *Planner) join(ctx context.Context, motions []*planner.Motion, radii []float64) ([]*planner.Motion, *planner.Refusal) {
	var out []*planner.Motion
	var tail []step // planned, and perhaps to be blended with what comes
	var open *builder
	var pending *planner.Motion // the motion that tail is of
	for i, m := range motions {
		switch {
		case open == nil || open.motion.Group != m.Group:
			if open != nil {
				open.commit(tail)
				out = append(out, open.finish())
			}
			open = newBuilder(m)
			tail = steps(m.Trajectory)
		case radii[i-1] > 0:
			pending.Trajectory = retimed(tail)
			first, middle, second, why := p.blend(ctx, pending, m, radii[i-1])
			if why != nil {
				why.Item, why.Kind = i-1, planner.BlendFailed
				return nil, why
			}
			first[0].dt = tail[0].dt // counted from what is committed already
			open.commit(first)
			open.commit(middle)
			tail = second
		default:
			open.commit(tail)
			tail = steps(m.Trajectory)
		}
		pending = &planner.Motion{Group: m.Group, Joints: m.Joints, Start: m.Start}
	}
	if open != nil {
		open.commit(tail)
		out = append(out, open.finish())
	}
	return out, nil
}

// retimed returns steps as a trajectory that begins at time zero.
func retimed(s []step) *trajectory.Trajectory {
	t := &trajectory.Trajectory{Points: make([]trajectory.Point, len(s))}
	now := 0.0
	for i := range s {
		if i > 0 {
			now += s[i].dt
		}
		t.Points[i] = s[i].point
		t.Points[i].Time = now
	}
	return t
}

// builder collects the steps of one motion.
type builder struct {
	motion *planner.Motion
	done   []step
}

func newBuilder(m *planner.Motion) *builder {
	return &builder{motion: &planner.Motion{Group: m.Group, Joints: m.Joints, Start: m.Start}}
}

// commit appends steps; a first one that repeats the last is left out, so that
// times always increase.
func (b *builder) commit(s []step) {
	if len(s) == 0 {
		return
	}
	s = slices.Clone(s)
	switch {
	case len(b.done) == 0:
		s[0].dt = 0
	case same(&b.done[len(b.done)-1].point, &s[0].point):
		s = s[1:]
	}
	b.done = append(b.done, s...)
}

func (b *builder) finish() *planner.Motion {
	b.motion.Trajectory = retimed(b.done)
	return b.motion
}
