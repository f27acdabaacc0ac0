package smooth

import (
	"math"

	"poise/planner"
	"poise/planner/path"
	"poise/planner/shape"
	"poise/planner/timing"
	"poise/planner/track"
	"poise/planner/transfer"
	"poise/robot"
	"poise/spatial"
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
	p := &piece{Piece: timing.Piece{Scale: 1, Link: robot.NoFrame}, legs: s.legs, timed: l.transfer.Samples()}
	s.pieces = []*piece{p}
	if alone && math.IsInf(l.linkSpeed(), 1) {
		return s
	}
	if !math.IsInf(l.linkSpeed(), 1) {
		p.Link = t.SpeedLink
	}
	p.Limits = b.limits(t.Joints, t.VelocityScaling, t.AccelerationScaling, free, l.linkSpeed())
	p.Curve, p.pace, p.opening = transfer.Way(p.timed, p.Limits.Velocity[:len(t.Joints)])
	p.To = p.Curve.End()
	return s
}

// stretch is a part of a tool's path with what bounds the tool on it.
type stretch struct {
	path path.Path
	tool tool // scaled
	legs []*leg
	done float64 // of the leg before it
}

// bounds returns way and turn of the tool per length, and what bounds them. On a
// line or an arc they are the same everywhere. On a bend they vary: it is held to
// the most of them, and passed so slowly that the acceleration which its shape
// alone asks of the tool is within the limits too.
func (s *stretch) bounds() (rate [2]float64, t tool) {
	t = s.tool
	if path.Even(s.path) {
		x := s.path.At(0)
		return [2]float64{x.D1.Linear.Norm(), x.D1.Angular.Norm()}, t
	}
	way, turn, bend, twist := 1.0, 0.0, 0.0, 0.0
	for k := range shape.Places + 1 {
		x := s.path.At(s.path.Length() * float64(k) / shape.Places)
		way, turn = max(way, x.D1.Linear.Norm()), max(turn, x.D1.Angular.Norm())
		bend, twist = max(bend, x.D2.Linear.Norm()), max(twist, x.D2.Angular.Norm())
	}
	pace := min(t.speed/way, math.Sqrt(min(t.acceleration, t.deceleration)/bend),
		math.Sqrt(min(t.turnAcceleration, t.turnDeceleration)/twist))
	t.speed = pace * way
	return [2]float64{way, turn}, t
}

// toolStrand blends legs along the tool's path and finds the joints.
func (b *builder) toolStrand(legs []*leg) (*strand, *planner.Refusal) {
	parts, why := b.blend(legs)
	if why != nil {
		return nil, why
	}
	task, last := legs[0].task, legs[len(legs)-1].task
	curves, why := b.follow(parts, task, last)
	if why != nil {
		return nil, b.about(why, b.itemAt(parts, why.Distance))
	}
	s := &strand{legs: legs, end: append([]float64(nil), task.Start...)}
	for i, c := range curves {
		p := &piece{Piece: timing.Piece{Curve: c, To: c.End(), Scale: 1, Link: robot.NoFrame}, onPath: true, legs: parts[i].legs, done: parts[i].done}
		var bounds tool
		p.Rate, bounds = parts[i].bounds()
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
		s.end[joint.Q] = at(curves[len(curves)-1], k)
		if why := b.moves(curves, k, joint, last.Command); why != nil {
			return nil, b.about(why, legs[0].item)
		}
	}
	return s, b.about(b.arrives(s.end, last), legs[len(legs)-1].item)
}

// at returns where a curve ends.
func at(c *spline.Spline, joint int) float64 {
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

// itemAt returns the item that a place along a chain of stretches belongs to.
func (b *builder) itemAt(parts []stretch, distance float64) int {
	for _, p := range parts {
		if distance -= p.path.Length(); distance <= 0 {
			return p.legs[len(p.legs)-1].item
		}
	}
	last := parts[len(parts)-1].legs
	return last[len(last)-1].item
}

// follow finds the joints along the path. An arm with joints to spare first tries
// to hold still what it can; if that leads nowhere, it goes to the goal's joints
// meanwhile, and to them at once if they were asked for.
func (b *builder) follow(parts []stretch, first, last *planner.Task) ([]*spline.Spline, *planner.Refusal) {
	t, why := track.New(b.Model, first.Joints, first.Link)
	if why != nil {
		return nil, why
	}
	ways := make([]path.Path, len(parts))
	for i := range parts {
		ways[i] = parts[i].path
	}
	if !last.Cartesian && last.ViaAngle == 0 {
		return t.Follow(b.ctx, ways, first.Start, last.Goal)
	}
	curves, why := t.Follow(b.ctx, ways, first.Start, nil)
	if why != nil && why.Kind == planner.NoSolution && t.Redundant() {
		if other, no := t.Follow(b.ctx, ways, first.Start, last.Goal); no == nil {
			return other, nil
		}
	}
	return curves, why
}

// blend returns the stretches of legs that follow each other: their own paths
// outside the spheres around the goals between them, bends inside.
func (b *builder) blend(legs []*leg) ([]stretch, *planner.Refusal) {
	var out []stretch
	from := 0.0
	for k, l := range legs {
		way := path.NewChain(l.parts...)
		to := way.Length()
		if k == len(legs)-1 {
			out = append(out, l.stretches(from, to)...)
			break
		}
		next := path.NewChain(legs[k+1].parts...)
		centre, r := l.task.GoalPose.P, b.radii[l.item]
		if l.task.ViaAngle != 0 {
			centre = way.At(to).Pose.P
		}
		enter, ok := shape.Crossing(way, centre, r, true)
		leave, ok2 := shape.Crossing(next, centre, r, false)
		if !ok || !ok2 || enter <= from {
			return nil, b.about(tooLarge(r, way, next, centre), l.item)
		}
		bend, ok := shape.Bend(way.At(enter), next.At(leave), centre, r)
		if !ok {
			return nil, b.about(planner.Refuse(planner.BlendFailed, "no bend fits into the sphere of %g m around the goal", r), l.item)
		}
		own := l.stretches(from, enter)
		following := legs[k+1].stretches(leave, next.Length())
		out = append(out, own...)
		out = append(out, stretch{path: bend, tool: own[len(own)-1].tool.min(following[0].tool), legs: []*leg{l, legs[k+1]}, done: enter})
		from = leave
	}
	return out, nil
}

func tooLarge(r float64, a, b path.Path, centre spatial.Vec3) *planner.Refusal {
	most := min(a.At(0).Pose.P.Sub(centre).Norm(), b.At(b.Length()).Pose.P.Sub(centre).Norm())
	why := planner.Refuse(planner.BlendFailed, "the blend radius of %g m is larger than the motion on one side of the goal", r)
	why.Value, why.Limit = r, most
	return why.With("a radius below %.4g m fits", most)
}

// stretches cuts the leg's path and says what bounds the tool on each part.
func (l *leg) stretches(from, to float64) (out []stretch) {
	done := 0.0
	for _, p := range l.parts {
		a, b := max(from-done, 0), min(to-done, p.Length())
		if b > a {
			cut := path.Cut(p, a, b)
			x := cut.At(0)
			out = append(out, stretch{path: cut, legs: []*leg{l}, done: done + a,
				tool: l.tool.scaled(l.task.VelocityScaling, l.task.AccelerationScaling, x.D1.Linear.Norm(), x.D1.Angular.Norm())})
		}
		done += p.Length()
	}
	// a rounded corner takes what both its sides allow
	for i := 1; i+1 < len(out); i++ {
		if !path.Even(out[i].path) {
			out[i].tool = out[i-1].tool.min(out[i+1].tool)
		}
	}
	return out
}
