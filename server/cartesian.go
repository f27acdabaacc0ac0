package server

import (
	"context"
	"fmt"
	"slices"

	"poise/edge"
	"poise/executive"
	"poise/kinematics"
	"poise/msgs"
	"poise/planner"
	"poise/planner/pipeline"
	"poise/problem"
	"poise/robot"
	"poise/spatial"
	"poise/trajectory"
)

// Bounds of compute_cartesian_path.
const (
	mostWaypoints   = 200
	fractionHalves  = 8   // the fraction of a path is found to 1/2^fractionHalves
	metresPerRadian = 0.1 // how much a turn counts beside a way
	mostPathPoints  = 100_000
)

// cartesianPath plans straight lines of a link through waypoints, as move_group does for
// computeCartesianPath: if the whole path cannot be followed, as much of it as can be.
func (p *planning) cartesianPath(ctx context.Context, q *msgs.GetCartesianPathRequest) (*msgs.GetCartesianPathResponse, error) {
	w, code := p.wayOf(q)
	if code != nil {
		code.Source = edge.ServerSource
		return &msgs.GetCartesianPathResponse{ErrorCode: *code}, nil
	}
	r := w.plan(ctx, 1)
	found, fraction := r, 0.0
	if r.Plan.Refusal == nil && len(r.Plan.Motions) > 0 {
		fraction = 1
	}
	for low, high, i := 0.0, 1.0, 0; fraction < 1 && i < fractionHalves && ctx.Err() == nil; i++ {
		middle := (low + high) / 2
		if part := w.plan(ctx, middle); part.Plan.Refusal == nil && len(part.Plan.Motions) > 0 {
			found, fraction, low = part, middle, middle
		} else {
			high = middle
		}
	}
	out := &msgs.GetCartesianPathResponse{Fraction: fraction, ErrorCode: edge.ExecutionCode(&r, edge.ServerSource)}
	if fraction == 0 {
		return out, nil
	}
	if fraction < 1 { // which is no error there
		out.ErrorCode = msgs.MoveItErrorCodes{Val: msgs.ErrorSuccess, Message: "the path ends early: " + out.ErrorCode.Message, Source: edge.ServerSource}
	}
	whole, err := w.joined(found.Plan.Motions)
	if err != nil {
		return nil, err
	}
	answer := edge.SequenceResponse(p.model, &pipeline.Answer{Motions: []*planner.Motion{whole}}, out.ErrorCode)
	out.StartState, out.Solution = answer.SequenceStart, answer.PlannedTrajectories[0]
	return out, nil
}

// way is the path that is asked for.
type way struct {
	p      *planning
	q      *msgs.GetCartesianPathRequest
	link   robot.FrameID
	poses  []spatial.Pose // in the frame of the request, from where the link is
	length []float64      // up to each of them
}

// wayOf checks what is asked for.
func (p *planning) wayOf(q *msgs.GetCartesianPathRequest) (*way, *msgs.MoveItErrorCodes) {
	refuse := func(val int32, format string, a ...any) (*way, *msgs.MoveItErrorCodes) {
		return nil, &msgs.MoveItErrorCodes{Val: val, Message: fmt.Sprintf(format, a...)}
	}
	m, c := p.model, &q.PathConstraints
	switch {
	case q.AvoidCollisions:
		return refuse(msgs.ErrorCollisionCheckingUnavailable, "avoid_collisions: collisions are not checked; false plans without")
	case len(c.JointConstraints)+len(c.PositionConstraints)+len(c.OrientationConstraints)+len(c.VisibilityConstraints) > 0:
		return refuse(msgs.ErrorInvalidMotionPlan, "path_constraints are given, and a straight line cannot keep them")
	case len(q.Waypoints) == 0 || len(q.Waypoints) > mostWaypoints:
		return refuse(msgs.ErrorInvalidMotionPlan, "there are %d waypoints, must be 1 to %d", len(q.Waypoints), mostWaypoints)
	case !(q.MaxStep > 0):
		return refuse(msgs.ErrorInvalidMotionPlan, "max_step is %g m, must be more than 0", q.MaxStep)
	}
	_, tip, ok := p.limb(q.GroupName)
	if !ok {
		return refuse(msgs.ErrorInvalidGroupName, "group or chain %q is unknown, or has no single tip%s", q.GroupName, problem.Hint(q.GroupName, m.GroupNames()))
	}
	if q.LinkName != "" {
		if tip, ok = m.Frame(q.LinkName); !ok {
			return refuse(msgs.ErrorInvalidLinkName, "link %q is unknown%s", q.LinkName, problem.Hint(q.LinkName, m.FrameNames()))
		}
	}
	start, bad := p.configuration(&q.StartState)
	if bad != nil {
		return nil, bad
	}
	k := kinematics.NewData(m)
	k.UpdatePosition(start)
	from, bad := p.frame(q.Header.FrameID, k)
	if bad != nil {
		return nil, bad
	}
	w := &way{p: p, q: q, link: tip, poses: []spatial.Pose{from.Inverse().Mul(k.Pose(k.At(tip)))}, length: []float64{0}}
	for i, x := range q.Waypoints {
		X, ok := edge.PoseOf(x)
		if !ok {
			return refuse(msgs.ErrorInvalidMotionPlan, "waypoint %d: the orientation has no length", i)
		}
		last := w.poses[len(w.poses)-1]
		turn := last.R.Transpose().Mul(X.R).Quat().Log()
		w.poses = append(w.poses, X)
		w.length = append(w.length, w.length[i]+X.P.Sub(last.P).Norm()+metresPerRadian*turn.Norm())
	}
	return w, nil
}

// plan plans a part of the way, counted from its start.
func (w *way) plan(ctx context.Context, part float64) executive.Result {
	scaling := func(x float64) float64 {
		if x > 0 && x <= 1 {
			return x
		}
		return 1 // as MoveIt takes it
	}
	var q msgs.MotionSequenceRequest
	end := part * w.length[len(w.length)-1]
	for i := 1; i < len(w.poses) && (i == 1 || w.length[i-1] < end); i++ {
		a, X := w.poses[i-1], w.poses[i]
		if share := (end - w.length[i-1]) / (w.length[i] - w.length[i-1]); part < 1 && share < 1 {
			turn := a.R.Transpose().Mul(X.R).Quat().Log()
			X = spatial.Pose{P: a.P.Add(X.P.Sub(a.P).Scale(share)), R: a.R.Mul(spatial.ExpRotation(turn.Scale(share)).Matrix())}
		}
		item := msgs.MotionPlanRequest{PlannerID: planner.LIN.String(), GroupName: w.q.GroupName,
			MaxVelocityScalingFactor: scaling(w.q.MaxVelocityScalingFactor), MaxAccelerationScalingFactor: scaling(w.q.MaxAccelerationScalingFactor),
			CartesianSpeedLimitedLink: w.q.CartesianSpeedLimitedLink, MaxCartesianSpeed: max(w.q.MaxCartesianSpeed, 0), GoalConstraints: []msgs.Constraints{w.goal(X)}}
		if i == 1 {
			item.StartState = w.q.StartState
		}
		q.Items = append(q.Items, msgs.MotionSequenceItem{Req: item})
	}
	question := edge.SequenceQuestion(&q)
	return w.p.exec.Plan(ctx, callerOf(ctx), &question)
}

// goal is a pose of the link as a plan has it.
func (w *way) goal(X spatial.Pose) msgs.Constraints {
	at, link := edge.Pose(X), w.p.model.Frames()[w.link].Name
	place := msgs.PositionConstraint{Header: w.q.Header, LinkName: link}
	place.ConstraintRegion.PrimitivePoses = []msgs.Pose{{Position: at.Position, Orientation: msgs.Quaternion{W: 1}}}
	return msgs.Constraints{PositionConstraints: []msgs.PositionConstraint{place},
		OrientationConstraints: []msgs.OrientationConstraint{{Header: w.q.Header, LinkName: link, Orientation: at.Orientation}}}
}

// joined makes one motion of those of a sequence, whose points are not further apart than max_step.
func (w *way) joined(all []*planner.Motion) (*planner.Motion, error) {
	one := *all[0]
	points := slices.Clone(one.Trajectory.Points)
	for _, next := range all[1:] {
		if !slices.Equal(next.Joints, one.Joints) {
			return nil, fmt.Errorf("the parts of a path move other joints: %v and %v", one.Joints, next.Joints)
		}
		began := points[len(points)-1].Time
		for _, x := range next.Trajectory.Points[1:] {
			x.Time += began
			points = append(points, x)
		}
	}
	one.Trajectory = &trajectory.Trajectory{Points: points}
	spline, err := one.Trajectory.Interpolant()
	if err != nil {
		return nil, err
	}
	for count := len(points); w.step(&one) > w.q.MaxStep && count < mostPathPoints; {
		count = 2*count + 1
		if one.Trajectory, err = trajectory.Sample(spline, spline.End()/float64(count)); err != nil {
			return nil, err
		}
	}
	return &one, nil
}

// step is the largest way of the link between two points.
func (w *way) step(m *planner.Motion) (most float64) {
	k, full := kinematics.NewData(w.p.model), slices.Clone(m.Start)
	var last spatial.Vec3
	for i, x := range m.Trajectory.Points {
		for c, j := range m.Joints {
			full[w.p.model.Joints()[j].Q] = x.Position[c]
		}
		k.UpdatePosition(full)
		now := k.Pose(k.At(w.link)).P
		if i > 0 {
			most = max(most, now.Sub(last).Norm())
		}
		last = now
	}
	return most
}
