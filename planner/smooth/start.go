package smooth

import (
	"math"

	"poise/kinematics/ik"
	"poise/planner"
	"poise/planner/path"
)

// Along the path is a start velocity that differs from it by less than this share
// of itself, and rad/s or m/s.
const (
	alongShare = 1e-4
	alongSpeed = 1e-6
)

// moving reports whether a start has velocity.
func moving(t *planner.Task) bool {
	for _, v := range t.StartVelocity {
		if v != 0 {
			return true
		}
	}
	return false
}

// possible refuses a start that moves faster than its joints can.
func (b *builder) possible(t *planner.Task) *planner.Refusal {
	const slack = 1.001
	for k, j := range t.Joints {
		joint := &b.Model.Joints()[j]
		if v, l := math.Abs(t.StartVelocity[k]), joint.Limits.Velocity; l.Has && v > slack*l.Value {
			why := planner.Refuse(planner.BadState, "start state: joint %q moves at %.4g, and its velocity limit is %.4g", joint.Name, t.StartVelocity[k], l.Value)
			why.Joint, why.Value, why.Limit = joint.Name, v, l.Value
			return why
		}
	}
	return nil
}

// startSpeed returns the speed along a route that a start velocity is, and
// whether it is one: along the path, and forwards.
func startSpeed(p *piece, velocity []float64) (speed float64, along bool) {
	n := len(velocity)
	all := make([]float64, 3*n)
	q, d := all[:n], all[n:2*n]
	p.Curve.SegmentTo(q, d, all[2*n:], 0, p.From)
	vd, dd, vv := 0.0, 0.0, 0.0
	for j, v := range velocity {
		vd, dd, vv = vd+v*d[j], dd+d[j]*d[j], vv+v*v
	}
	if !(vd > 0) {
		return 0, false
	}
	speed = vd / dd
	off := 0.0
	for j, v := range velocity {
		off = max(off, math.Abs(v-speed*d[j]))
	}
	return speed * p.Scale, off <= alongShare*math.Sqrt(vv)+alongSpeed
}

// braking lets a start that is faster along the path than its leg asks for keep
// its speed while it brakes: on a first part of the path, which is longer with
// every try.
func braking(pieces []*piece, speed float64, joints, try int) []*piece {
	const room = 1 + 1e-4
	p := pieces[0]
	if speed == 0 || !p.onPath || try == 0 && speed*room <= p.wanted(joints) {
		return pieces
	}
	row := joints + wayRow
	if p.Rate[wayRow] == 0 {
		row = joints + turnRow
	}
	rate := p.Rate[row-joints]
	v, wanted, brake := speed*rate, p.Limits.Velocity[row], p.Limits.Deceleration[row]
	far := (max(v*v-wanted*wanted, 0)/(2*brake) + v*0.005) / rate * math.Ldexp(1.2, try)
	first := *p
	first.Limits.Velocity = append([]float64(nil), p.Limits.Velocity...)
	first.Limits.Velocity[row] = max(wanted, v*room)
	if far >= p.To-p.From {
		return append([]*piece{&first}, pieces[1:]...)
	}
	rest := *p
	first.To = p.From + far
	rest.From, rest.done = first.To, p.done+far
	return append([]*piece{&first, &rest}, pieces[1:]...)
}

// bridge brings the robot to rest from a start that does not move along its path,
// and says so. A line then begins where it stops; a circle, which would be
// another one from there, where it was asked to begin.
func (b *builder) bridge(l *leg) *planner.Refusal {
	task := l.task
	back := task.Command == planner.CIRC
	t, why := stopTransfer(b.Model, task, b.period, back)
	if why != nil {
		return why
	}
	out := t.Samples()
	c, err := out.Interpolant()
	if err != nil {
		return planner.Refuse(planner.BadState, "the robot cannot be stopped: %v", err)
	}
	if why := b.inRange(c); why != nil {
		why.Text = "the start moves so fast that it cannot stop in time: " + why.Text
		return why
	}
	b.append(out)
	b.sayBridged(l, c.End(), back)
	b.here = append([]float64(nil), task.Start...)
	for k, j := range task.Joints {
		b.here[b.Model.Joints()[j].Q] = t.End(k)
	}
	return nil
}

func (b *builder) sayBridged(l *leg, took float64, back bool) {
	text := "bridged: the start does not move along the path; the motion first stops, and the path begins there"
	if back {
		text = "bridged: the start does not move along the path; the motion first comes back to it at rest"
	}
	b.note(planner.Note{Kind: planner.Bridged, To: took, Text: text}, l.item)
}

// untwist turns the arm in place where a path begins in a singularity and goes on
// with other joints than the arm has there: the tool stays where it is, within the
// deviation allowed. It reports whether that helped.
func (b *builder) untwist(l *leg) (bool, *planner.Refusal) {
	const ahead, places = 1e-5, 64
	task := l.task
	solver, err := ik.New(b.Model, ik.Options{}, task.Joints, task.Link)
	if err != nil {
		return false, nil
	}
	q := make([]float64, b.Model.NumQ())
	if r := solver.PoseTo(q, l.parts[0].At(min(ahead, l.parts[0].Length())).Pose, task.Start); r.Status != ik.Solved {
		return false, nil
	}
	if r := solver.PoseTo(q, task.StartPose, q); r.Status != ik.Solved {
		return false, nil
	}
	turn := *task
	turn.Command, turn.Goal, turn.StartVelocity = planner.PTP, q, make([]float64, len(task.Joints))
	t, why := newTransfer(b.Model, &turn, b.period)
	if why != nil || t == nil {
		return false, why
	}
	out := t.Samples()
	last := len(out.Points) - 1
	for k := range places + 1 {
		X := b.tipAt(out.Points[last*k/places].Position, task.Link)
		if X.P.Sub(task.StartPose.P).Norm() > b.deviation() || path.TurnBetween(X.R, task.StartPose.R).Angle > b.turn() {
			return false, nil
		}
	}
	took := out.Points[last].Time
	b.append(out)
	b.here = append([]float64(nil), q...)
	b.note(planner.Note{Kind: planner.Bridged, To: took, Text: "bridged: the arm is singular where the path begins; it first turns in place"}, l.item)
	return true, nil
}
