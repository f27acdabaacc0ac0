package smooth

import (
	"math"

	"poise/planner"
	"poise/planner/path"
	"poise/planner/track"
	"poise/robot"
	"poise/trajectory/spline"
)

// strand is a chain of pieces made in one go: a point-to-point motion, or lines
// and arcs that are blended along the tool's path. Strands are blended with each
// other in the space of the joints.
type strand struct {
	legs   []*leg
	pieces []*piece
	end    []float64 // whole configuration
}

func (s *strand) first() *leg { return s.legs[0] }
func (s *strand) last() *leg  { return s.legs[len(s.legs)-1] }

// jointStrand is a point-to-point motion. If it stands alone it has its own time;
// otherwise nothing but its way through the joints is left of it.
func (b *builder) jointStrand(l *leg, alone bool) *strand {
	t := l.task
	s := &strand{legs: []*leg{l}, end: append([]float64(nil), t.Start...)}
	for k, j := range t.Joints {
		s.end[b.Model.Joints()[j].Q] = l.transfer.End(k)
	}
	p := &piece{Scale: 1, Link: robot.NoFrame, legs: s.legs, timed: l.transfer.Samples()}
	s.pieces = []*piece{p}
	if alone && math.IsInf(l.linkSpeed(), 1) {
		return s
	}
	if !math.IsInf(l.linkSpeed(), 1) {
		p.Link = t.SpeedLink
	}
	p.Limits = b.limits(t.Joints, t.VelocityScaling, t.AccelerationScaling, planner.FreeTool, l.linkSpeed())
	p.Curve, p.pace, p.opening = wayOf(p.timed, p.Limits.Velocity[:len(t.Joints)], b.many)
	p.To = p.Curve.End()
	p.timed = nil // its way is all that is left of it
	return s
}

// toolStrand blends legs along the tool's path and finds the joints.
func (b *builder) toolStrand(legs []*leg) (*strand, *planner.Refusal) {
	plain := make([]toolLeg, len(legs))
	for i, l := range legs {
		plain[i] = toolLeg{Parts: l.parts, Tool: l.tool, Velocity: l.task.VelocityScaling, Acceleration: l.task.AccelerationScaling, Radius: b.radii[l.item]}
	}
	stretches, blame, why := joinTool(plain)
	if why != nil {
		return nil, b.about(why, legs[blame].item)
	}
	task, last := legs[0].task, legs[len(legs)-1].task
	curves, why := b.follow(stretches, task, last)
	if why != nil {
		return nil, b.about(why, legs[legAt(stretches, why.Distance)].item)
	}
	s := &strand{legs: legs, end: append([]float64(nil), task.Start...)}
	for i, c := range curves {
		p := &piece{Curve: c, To: c.End(), Scale: 1, Link: robot.NoFrame, onPath: true, legs: legs[stretches[i].Leg : stretches[i].Leg+1], done: stretches[i].Done}
		if stretches[i].Bend {
			p.legs = legs[stretches[i].Leg : stretches[i].Leg+2]
		}
		var bounds planner.Tool
		p.Rate, bounds = stretches[i].Bounds()
		link := inf
		for _, l := range p.legs {
			if v := l.linkSpeed(); v < link {
				p.Link, link = l.task.SpeedLink, v
			}
		}
		p.Limits = b.limits(task.Joints, 1, 1, bounds, link)
		s.pieces = append(s.pieces, p)
	}
	for k, j := range task.Joints {
		joint := &b.Model.Joints()[j]
		s.end[joint.Q] = endOf(curves[len(curves)-1], k)
		if why := b.moves(curves, k, joint, last.Command); why != nil {
			return nil, b.about(why, legs[0].item)
		}
	}
	return s, b.about(b.arrives(s.end, last), legs[len(legs)-1].item)
}

// endOf returns where a curve ends.
func endOf(c *spline.Spline, joint int) float64 {
	low, _ := c.Range(joint, spline.Position, c.End(), c.End())
	return low.Value
}

// moves refuses a joint that moves without the limits it needs.
func (b *builder) moves(curves []*spline.Spline, k int, joint *robot.Joint, c planner.Command) *planner.Refusal {
	if joint.Limits.Acceleration.Has {
		return nil
	}
	for _, x := range curves {
		if low, high := x.Range(k, spline.Position, x.Start(), x.End()); high.Value-low.Value > still {
			return planner.NeedsLimits(joint, c)
		}
	}
	return nil
}

// arrives refuses a goal given in joints that the path does not lead to.
func (b *builder) arrives(end []float64, task *planner.Task) *planner.Refusal {
	const near = 1e-6 // rad or m
	if task.Cartesian {
		return nil
	}
	if task.ViaAngle != 0 {
		return nil // the goal only gives the circle
	}
	for _, j := range task.Joints {
		joint := &b.Model.Joints()[j]
		want, got := task.Goal[joint.Q], end[joint.Q]
		off := want - got
		if joint.Kind == robot.Continuous {
			off = math.Remainder(off, 2*math.Pi)
		}
		if math.Abs(off) > near {
			why := planner.Refuse(planner.NoSolution, "the path ends with joint %q at %.4g, and the goal asks for %.4g: that is another configuration of the arm, which the path does not lead to", joint.Name, got, want)
			why.Joint, why.Value, why.Limit = joint.Name, got, want
			return why.With("go there by PTP, or give the goal as a pose")
		}
	}
	return nil
}

// legAt returns the leg that a place along a chain of stretches belongs to.
func legAt(stretches []stretch, distance float64) int {
	for _, p := range stretches {
		if distance -= p.Path.Length(); distance <= 0 {
			return p.Leg
		}
	}
	return stretches[len(stretches)-1].Leg
}

// follow finds the joints along the path. An arm with joints to spare first tries
// to hold still what it can; if that leads nowhere, it goes to the goal's joints
// meanwhile, and to them at once if they were asked for.
func (b *builder) follow(stretches []stretch, first, last *planner.Task) ([]*spline.Spline, *planner.Refusal) {
	t, refusal := track.New(b.Model, first.Joints, first.Link)
	if refusal != nil {
		return nil, refusal
	}
	paths := make([]path.Path, len(stretches))
	for i := range stretches {
		paths[i] = stretches[i].Path
	}
	if !last.Cartesian && last.ViaAngle == 0 {
		return t.Follow(b.ctx, paths, first.Start, last.Goal)
	}
	curves, refusal := t.Follow(b.ctx, paths, first.Start, nil)
	if refusal != nil && refusal.Kind == planner.NoSolution && t.Redundant() {
		if other, no := t.Follow(b.ctx, paths, first.Start, last.Goal); no == nil {
			return other, nil
		}
	}
	return curves, refusal
}
