package smooth

import (
	"context"

	"poise/kinematics"
	"poise/planner"
	"poise/robot"
	"poise/spatial"
	"poise/trajectory"
)

// builder puts motions together, item by item.
type builder struct {
	*Planner
	ctx    context.Context
	items  []planner.Item
	single bool
	scene  planner.Scene
	here   []float64 // whole configuration: where the next item starts
	before int       // samples of the motions before

	// of the motion at hand
	period         float64 // of its samples: sampling() · coarse / factor
	coarse         int
	factor, wanted int
	round          int
	off            float64 // how many times the deviation allowed, if it is exceeded
	reason         string  // why wanted is more than 1
	runs           int     // how many there are
	result         *planner.Motion
	radii          []float64 // of all items: what is left of them
	goals          []spatial.Vec3
	many           bool // the run at hand has many pieces
	data           *kinematics.Data
	q, v           []float64 // whole robot, for data
	placed         []float64 // scratch of placeAt
}

// about says which item a refusal is about.
func (b *builder) about(why *planner.Refusal, item int) *planner.Refusal {
	if why != nil && !b.single {
		why.Item = item
	}
	return why
}

func (b *builder) note(n planner.Note, item int) {
	n.Item = item
	if b.single {
		n.Item = planner.None
	}
	b.result.Notes = append(b.result.Notes, n)
}

// motion plans the items [from, to) of one group, sampled as finely as it must be.
func (b *builder) motion(from, to int) (*planner.Motion, *planner.Refusal) {
	here := b.here
	b.wanted = 1
	b.coarse = b.coarser(to - from)
	b.factor = 0
	for b.round = 0; b.round < rounds && b.factor < b.wanted; b.round++ {
		b.factor, b.off = b.wanted, 0
		b.period = b.sampling() * float64(b.coarse) / float64(b.factor)
		b.here = here
		if why := b.plan(from, to); why != nil {
			return nil, why
		}
	}
	if b.off > 0 {
		why := bad("samples every %.3g s still leave the path by %.3g times the deviation allowed", b.period, b.off)
		return nil, why.With("allow more, or sample more finely")
	}
	b.sayFiner(from)
	if len(b.result.Trajectory.Points) == 0 {
		b.result.Trajectory = b.rest()
	}
	return b.result, b.clear(b.result)
}

// plan plans the items [from, to) with the present period.
func (b *builder) plan(from, to int) *planner.Refusal {
	b.result = &planner.Motion{}
	b.blendable(from, to)
	b.runs = 0
	for i := from; i < to; i++ {
		if b.radii[i] == 0 {
			b.runs++
		}
	}
	for first := from; first < to; {
		if why := planner.Stopped(b.ctx); why != nil {
			return why
		}
		last := first // of the run
		for last+1 < to && b.radii[last] > 0 {
			last++
		}
		if why := b.run(first, last, first == from, false); why != nil {
			return why
		}
		if n := b.before + len(b.result.Trajectory.Points); n > maxSamples {
			why := bad("the sequence would have more than %d samples every %g s", maxSamples, b.period)
			why.Value, why.Limit = float64(n), maxSamples
			return b.about(why.With("sample less finely, raise the scaling factors, or plan it in parts"), last)
		}
		first = last + 1
	}
	return planner.Stopped(b.ctx)
}

// rest is the trajectory of a motion that need not move.
func (b *builder) rest() *trajectory.Trajectory {
	t := trajectory.New(1, len(b.result.Joints))
	t.Points[0].Time = b.sampling()
	for k, j := range b.result.Joints {
		t.Points[0].Position[k] = b.here[b.Model.Joints()[j].Q]
	}
	return t
}

// blendable drops blend radii that nothing can be done with, and says so: before
// another group, and of a group that leads no tip around corners.
func (b *builder) blendable(from, to int) {
	if b.radii == nil {
		b.radii, b.goals = make([]float64, len(b.items)), make([]spatial.Vec3, len(b.items))
		b.data = kinematics.NewData(b.Model)
		b.q, b.v = make([]float64, b.Model.NumQ()), make([]float64, b.Model.NumV())
	}
	id, known := b.Model.Group(b.items[from].Request.Group)
	tipless, single := false, false
	if known {
		g := &b.Model.Groups()[id]
		tipless, single = g.Tip == robot.NoFrame, len(g.Joints) < 2
	}
	for i := from; i < to; i++ {
		b.radii[i] = b.items[i].Radius
		refusal := ""
		switch {
		case b.radii[i] == 0:
		case i == to-1:
			refusal = "another group follows"
		case tipless:
			refusal = "the group has no tip"
		case single:
			refusal = "one joint has no corner to round"
		}
		if refusal != "" {
			b.radii[i] = 0
			b.note(planner.Note{Kind: planner.Unblended, Text: "not blended: " + refusal}, i)
		}
	}
}

// run plans the items from first to last, which are blended with each other, and
// appends it to the motion. The opening one may have a start that moves; settled
// says that a prefix has brought the robot to where it is.
func (b *builder) run(first, last int, opening, settled bool) *planner.Refusal {
	b.many = 2*(last-first) > manyPieces
	a := assembly{builder: b, first: first, opening: opening, settled: settled}
	for i := first; i <= last && !a.bridged; i++ {
		if refusal := a.add(i); refusal != nil {
			return refusal
		}
	}
	refusal := a.close()
	if refusal == nil && !a.bridged && len(a.strands) > 0 {
		a.bridged, refusal = b.finish(a.strands)
	}
	if refusal != nil || !a.bridged {
		return refusal
	}
	// again, from where the robot stands now
	start := b.items[first].Request.Start
	b.items[first].Request.Start = planner.StartState{}
	refusal = b.run(first, last, false, true)
	b.items[first].Request.Start = start
	return refusal
}

// assembly collects the strands of a run.
type assembly struct {
	*builder
	first            int
	opening, settled bool
	strands          []*strand
	open             []*leg // lines and arcs that may go on
	bridged          bool   // a prefix was planned instead: begin again after it
}

// add takes the next item. What is open must be finished before another kind of
// leg, or one of another link, can start from it.
func (a *assembly) add(i int) *planner.Refusal {
	if refusal := planner.Stopped(a.ctx); refusal != nil {
		return refusal
	}
	if a.items[i].Request.Command == planner.PTP {
		if refusal := a.close(); refusal != nil || a.bridged {
			return refusal
		}
	}
	l, refusal := a.leg(i)
	if refusal != nil {
		return refusal
	}
	if l == nil {
		if a.radii[i] == 0 && i == a.first {
			return nil
		}
		refusal := planner.Refuse(planner.BlendFailed, "the tool does not move, and so cannot be blended with what comes before or after")
		return a.about(refusal.With("leave the item out, or set the blend radii around it to 0"), i)
	}
	if !l.cartesian() {
		s := a.jointStrand(l, a.radii[i] == 0 && i == a.first)
		a.here = s.end
		a.strands = append(a.strands, s)
		return nil
	}
	if n := len(a.open); n > 0 && a.open[n-1].task.Link != l.task.Link {
		if refusal := a.close(); refusal != nil || a.bridged {
			return refusal
		}
		if l, refusal = a.leg(i); refusal != nil {
			return refusal
		}
	}
	a.open = append(a.open, l)
	a.here = l.task.Goal
	return nil
}

// close makes a strand of what is open. Where its path cannot be followed from
// the start, the robot may get to another one: a moving start by stopping, since
// the path begins where it comes to rest, a singular one by turning in place.
func (a *assembly) close() *planner.Refusal {
	if a.open == nil {
		return nil
	}
	l := a.open[0]
	s, refusal := a.toolStrand(a.open)
	a.open = nil
	if refusal == nil {
		a.here = s.end
		a.strands = append(a.strands, s)
		return nil
	}
	if a.settled || l.item != a.first || refusal.Kind != planner.NoSolution {
		return refusal
	}
	if a.opening && moving(l.task) && l.task.Command != planner.CIRC {
		a.bridged = true
		return a.about(a.bridge(l), l.item)
	}
	if refusal.Distance < 1e-6 {
		turned, no := a.untwist(l)
		if a.bridged = turned; turned || no != nil {
			return a.about(no, l.item)
		}
	}
	return refusal
}

// leg reads an item and finds its path; nil if nothing moves.
func (b *builder) leg(i int) (*leg, *planner.Refusal) {
	b.scene.Current = b.here
	task, refusal := b.scene.Resolve(&b.items[i].Request)
	if refusal != nil {
		return nil, b.about(refusal, i)
	}
	if b.result.Group == nil {
		m := b.result
		m.Group, m.Joints, m.Start = task.Group, task.Joints, task.Start
		m.Trajectory = &trajectory.Trajectory{}
	}
	if refusal := b.possible(task); refusal != nil {
		return nil, b.about(refusal, i)
	}
	if refusal := b.apart(i, task); refusal != nil {
		return nil, b.about(refusal, i-1)
	}
	l := &leg{item: i, task: task}
	if !l.cartesian() {
		l.transfer, refusal = newTransfer(b.Model, task, b.period)
		if refusal == nil && l.transfer != nil {
			refusal = tooLong(l.transfer.Duration(), b.period)
		}
		if refusal != nil || l.transfer == nil {
			return nil, b.about(refusal, i)
		}
		return l, nil
	}
	if l.tool, refusal = task.ToolLimits(b.Model); refusal != nil {
		return nil, b.about(refusal, i)
	}
	if l.parts, refusal = toolPath(task); refusal != nil || l.parts == nil {
		return nil, b.about(refusal, i)
	}
	return l, nil
}

// apart refuses blends whose spheres touch, except at the last item, which has
// none.
func (b *builder) apart(i int, task *planner.Task) *planner.Refusal {
	tip := task.Group.Tip
	if tip == robot.NoFrame {
		return nil
	}
	b.goals[i] = b.pose(task.Goal, tip).P
	if i == 0 || i == len(b.items)-1 || b.items[i-1].Request.Group != b.items[i].Request.Group {
		return nil
	}
	sum, distance := b.radii[i-1]+b.radii[i], b.goals[i].Sub(b.goals[i-1]).Norm()
	if sum == 0 || sum < distance {
		return nil
	}
	why := bad("the blend radii of items %d and %d add up to %g m, and their goals are %.4g m apart", i-1, i, sum, distance)
	why.Value, why.Limit = sum, distance
	return why.With("make the radii smaller")
}

// pose returns where a link is at a whole configuration.
func (b *builder) pose(q []float64, link robot.FrameID) spatial.Pose {
	b.data.UpdatePosition(q)
	return b.data.Pose(b.data.At(link))
}

// clear asks whether the robot may be where the motion leads.
func (b *builder) clear(m *planner.Motion) *planner.Refusal {
	if b.Clear == nil {
		return nil
	}
	copy(b.q, m.Start)
	for i, p := range m.Trajectory.Points {
		for k, j := range m.Joints {
			b.q[b.Model.Joints()[j].Q] = p.Position[k]
		}
		if why := planner.Stopped(b.ctx); why != nil && i%64 == 0 {
			return why
		}
		if err := b.Clear(b.q); err != nil {
			why := planner.Refuse(planner.NoSolution, "the robot must not be where the motion leads %.4g s after its start: %v", p.Time, err)
			why.Sample, why.At = i, p.Time
			return why
		}
	}
	return nil
}
