package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"poise/edge"
	"poise/executive"
	"poise/graph"
	"poise/kinematics"
	"poise/kinematics/ik"
	"poise/loop"
	"poise/msgs"
	"poise/planner"
	"poise/problem"
	"poise/robot"
	"poise/spatial"
)

// planning plans and solves for one robot.
type planning struct {
	model *robot.Model
	exec  *executive.Executive
	exact bool // the robot is where it is told to be
	name  string
	plans []string // names of the pipelines, the default first
}

// serve registers what MoveIt offers: plans that move nothing, plans that are
// performed, and kinematics.
func (p *planning) serve(r *register) {
	addPlanService(r, "plan_kinematic_path", p.planPath)
	addPlanService(r, "plan_sequence_path", p.planSequence)
	r.graph.OnLeave(p.exec.Left)
	addService(r, "compute_fk", p.computeFK)
	addService(r, "compute_ik", p.computeIK)
	addPlanService(r, "compute_cartesian_path", p.cartesianPath)
	addService(r, "query_planner_interface", p.planners)
	addService(r, "get_planner_params", p.plannerParams)
	addService(r, "set_planner_params", p.setPlannerParams)
	addService(r, "get_planning_scene", p.scene)
	addService(r, "apply_planning_scene", p.applyScene)
	r.addAction("move_action", edge.Translation[msgs.MoveGroupGoal, msgs.MoveGroupFeedback, msgs.MoveGroupResult]{
		Goal: func(_ *robot.Model, g *msgs.MoveGroupGoal) (executive.Goal, error) { return moveGoal(g) },
		Feedback: func(f *executive.Feedback) *msgs.MoveGroupFeedback {
			return &msgs.MoveGroupFeedback{State: moveState(f)}
		},
		Result: func(_ *robot.Model, r *executive.Result) msgs.MoveGroupResult { return p.moveResult(r) },
		Help:   otherStart,
	})
	r.addAction("sequence_move_group", edge.Translation[msgs.MoveGroupSequenceGoal, msgs.MoveGroupSequenceFeedback, msgs.MoveGroupSequenceResult]{
		Goal: func(_ *robot.Model, g *msgs.MoveGroupSequenceGoal) (executive.Goal, error) { return sequenceGoal(g) },
		Feedback: func(f *executive.Feedback) *msgs.MoveGroupSequenceFeedback {
			return &msgs.MoveGroupSequenceFeedback{State: moveState(f)}
		},
		Result: func(_ *robot.Model, r *executive.Result) msgs.MoveGroupSequenceResult {
			return msgs.MoveGroupSequenceResult{Response: edge.SequenceResponse(p.model, &r.Plan, edge.ExecutionCode(r, edge.ServerSource))}
		},
		Help: otherStart,
	})
}

// mostPlans is how many calls may wait for a plan of one service: those of each client
// are bounded by its wire, and each client has its turns.
const mostPlans = 1024

// addPlanService serves a service whose calls wait in the queue of plans.
func addPlanService[Req, Res any](r *register, name string, f func(ctx context.Context, q *Req) (*Res, error)) {
	_, err := graph.Service(r.graph, r.name(name), f, graph.ServiceOptions{MaxCalls: mostPlans})
	r.fail(err)
}

// otherStart is what helps a client whose start_state is not where the robot is.
var otherStart = map[problem.Code]string{"start_too_far": "leave start_state out to plan from where the robot is, or bring it to that state first"}

// moveState words a phase as move_group does.
func moveState(f *executive.Feedback) string {
	if f.Phase == executive.Planning {
		return "PLANNING"
	}
	return "MONITOR"
}

// checkOptions refuses options of planning that could only be ignored.
func checkOptions(o *msgs.PlanningOptions) error {
	switch {
	case o.LookAround:
		return errors.New("planning_options.look_around is not supported")
	case o.Replan:
		return errors.New("planning_options.replan is not supported: the same request gives the same plan")
	case len(o.PlanningSceneDiff.World.CollisionObjects) > 0:
		return fmt.Errorf("planning_options.planning_scene_diff has %d collision objects: collisions are not checked", len(o.PlanningSceneDiff.World.CollisionObjects))
	}
	return nil
}

func moveGoal(g *msgs.MoveGroupGoal) (executive.Goal, error) {
	if err := checkOptions(&g.PlanningOptions); err != nil {
		return nil, err
	}
	return &executive.Move{Question: edge.Question(&g.Request), PlanOnly: g.PlanningOptions.PlanOnly}, nil
}

func sequenceGoal(g *msgs.MoveGroupSequenceGoal) (executive.Goal, error) {
	if err := checkOptions(&g.PlanningOptions); err != nil {
		return nil, err
	}
	return &executive.Move{Question: edge.SequenceQuestion(&g.Request), PlanOnly: g.PlanningOptions.PlanOnly}, nil
}

func (p *planning) moveResult(r *executive.Result) msgs.MoveGroupResult {
	out := msgs.MoveGroupResult{ErrorCode: edge.ExecutionCode(r, edge.ServerSource), PlanningTime: r.Plan.Seconds}
	plan := edge.PlanResponse(p.model, &r.Plan, "", out.ErrorCode)
	out.TrajectoryStart, out.PlannedTrajectory = plan.TrajectoryStart, plan.Trajectory
	if r.Executed {
		out.ExecutedTrajectory = plan.Trajectory
	}
	return out
}

func (p *planning) planPath(ctx context.Context, req *msgs.GetMotionPlanRequest) (*msgs.GetMotionPlanResponse, error) {
	q := edge.Question(&req.MotionPlanRequest)
	r := p.exec.Plan(ctx, callerOf(ctx), &q)
	return &msgs.GetMotionPlanResponse{MotionPlanResponse: edge.PlanResponse(p.model, &r.Plan, req.MotionPlanRequest.GroupName, edge.ExecutionCode(&r, edge.ServerSource))}, nil
}

func (p *planning) planSequence(ctx context.Context, req *msgs.GetMotionSequenceRequest) (*msgs.GetMotionSequenceResponse, error) {
	q := edge.SequenceQuestion(&req.Request)
	r := p.exec.Plan(ctx, callerOf(ctx), &q)
	return &msgs.GetMotionSequenceResponse{Response: edge.SequenceResponse(p.model, &r.Plan, edge.ExecutionCode(&r, edge.ServerSource))}, nil
}

// configuration reads a robot state over the present one: joints that it does not
// name are where they are, and the base of a robot on its feet is where these
// joints bring it.
func (p *planning) configuration(state *msgs.RobotState) ([]float64, *msgs.MoveItErrorCodes) {
	m := p.model
	at := posture{model: m, joints: m.RestPositions(), base: spatial.IdentityPose}
	p.exec.View(func(now *loop.Snapshot) {
		at.of(m, p.exact, now)
		at = at.clone()
	})
	joints := slices.Clone(at.joints)
	bad := func(format string, a ...any) *msgs.MoveItErrorCodes {
		return &msgs.MoveItErrorCodes{Val: msgs.ErrorInvalidRobotState, Message: fmt.Sprintf(format, a...), Source: edge.ServerSource}
	}
	js := &state.JointState
	if len(js.Name) != len(js.Position) {
		return nil, bad("robot_state.joint_state names %d joints and gives %d positions", len(js.Name), len(js.Position))
	}
	for i, name := range js.Name {
		id, ok := m.Joint(name)
		if !ok {
			return nil, bad("robot_state.joint_state: joint %q is unknown%s", name, problem.Hint(name, m.JointNames()))
		}
		if x := js.Position[i]; math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, bad("robot_state.joint_state: position of %q is %g, want a finite number", name, x)
		}
		joints[id] = js.Position[i]
	}
	full := make([]float64, m.NumQ())
	kinematics.NewSpace(m).NeutralTo(full)
	for i, j := range m.Joints() {
		full[j.Q] = joints[i]
	}
	base, err := at.with(joints)
	if err != nil {
		return nil, bad("robot_state: %v", err)
	}
	setBase(full, m, base)
	return full, nil
}

func (p *planning) computeFK(_ context.Context, q *msgs.GetPositionFKRequest) (*msgs.GetPositionFKResponse, error) {
	m := p.model
	r := &msgs.GetPositionFKResponse{ErrorCode: msgs.MoveItErrorCodes{Val: msgs.ErrorSuccess, Source: edge.ServerSource}}
	full, bad := p.configuration(&q.RobotState)
	if bad != nil {
		r.ErrorCode = *bad
		return r, nil
	}
	k := kinematics.NewData(m)
	k.UpdatePosition(full)
	from, code := p.frame(q.Header.FrameID, k)
	if code != nil {
		r.ErrorCode = *code
		return r, nil
	}
	for _, name := range q.FKLinkNames {
		f, ok := m.Frame(name)
		if !ok {
			return &msgs.GetPositionFKResponse{ErrorCode: msgs.MoveItErrorCodes{Val: msgs.ErrorInvalidLinkName,
				Message: fmt.Sprintf("link %q is unknown%s", name, problem.Hint(name, m.FrameNames())), Source: edge.ServerSource}}, nil
		}
		r.FKLinkNames = append(r.FKLinkNames, name)
		r.PoseStamped = append(r.PoseStamped, msgs.PoseStamped{Header: msgs.Header{FrameID: q.Header.FrameID}, Pose: edge.Pose(from.Inverse().Mul(k.Pose(k.At(f))))})
	}
	return r, nil
}

// frame returns the pose of a frame in the world; none named is the world.
func (p *planning) frame(name string, k *kinematics.Data) (spatial.Pose, *msgs.MoveItErrorCodes) {
	if name == "" || name == edge.WorldFrame {
		return spatial.IdentityPose, nil
	}
	f, ok := p.model.Frame(name)
	if !ok {
		return spatial.Pose{}, &msgs.MoveItErrorCodes{Val: msgs.ErrorFrameTransformFailure,
			Message: fmt.Sprintf("frame %q is unknown%s", name, problem.Hint(name, p.model.FrameNames())), Source: edge.ServerSource}
	}
	return k.Pose(k.At(f)), nil
}

// computeIK finds joints of a group or chain that bring a link to a pose.
func (p *planning) computeIK(_ context.Context, q *msgs.GetPositionIKRequest) (*msgs.GetPositionIKResponse, error) {
	m, req := p.model, &q.IKRequest
	refuse := func(val int32, format string, a ...any) (*msgs.GetPositionIKResponse, error) {
		return &msgs.GetPositionIKResponse{ErrorCode: msgs.MoveItErrorCodes{Val: val, Message: fmt.Sprintf(format, a...), Source: edge.ServerSource}}, nil
	}
	switch {
	case req.AvoidCollisions:
		return refuse(msgs.ErrorCollisionCheckingUnavailable, "ik_request.avoid_collisions: collisions are not checked")
	case len(req.IKLinkNames) > 0 || len(req.PoseStampedVector) > 0:
		return refuse(msgs.ErrorNoIKSolution, "ik_request.ik_link_names: one link at a time")
	}
	joints, tip, ok := p.limb(req.GroupName)
	if !ok {
		return refuse(msgs.ErrorInvalidGroupName, "group or chain %q is unknown, or has no single tip%s", req.GroupName,
			problem.Hint(req.GroupName, slices.DeleteFunc(slices.Concat(m.GroupNames(), m.ChainNames()), func(name string) bool { return name == req.GroupName })))
	}
	if req.IKLinkName != "" {
		if tip, ok = m.Frame(req.IKLinkName); !ok {
			return refuse(msgs.ErrorInvalidLinkName, "link %q is unknown%s", req.IKLinkName, problem.Hint(req.IKLinkName, m.FrameNames()))
		}
	}
	seed, bad := p.configuration(&req.RobotState)
	if bad != nil {
		return &msgs.GetPositionIKResponse{ErrorCode: *bad}, nil
	}
	k := kinematics.NewData(m)
	k.UpdatePosition(seed)
	from, code := p.frame(req.PoseStamped.Header.FrameID, k)
	X, ok := edge.PoseOf(req.PoseStamped.Pose)
	switch {
	case code != nil:
		return &msgs.GetPositionIKResponse{ErrorCode: *code}, nil
	case !ok:
		return refuse(msgs.ErrorNoIKSolution, "ik_request.pose_stamped: the orientation has no length")
	}
	s, err := ik.New(m, ik.Options{MaxRestarts: 20}, joints, tip)
	if err != nil {
		return refuse(msgs.ErrorNoIKSolution, "%v", err)
	}
	found := make([]float64, m.NumQ())
	res := s.PoseTo(found, from.Mul(X), seed)
	if res.Status != ik.Solved {
		// a limb with fewer than six joints goes where it can, its orientation free
		res = s.SolveTo(found, []ik.Target{{Pose: from.Mul(X), Tolerance: ik.PositionOnly}}, seed)
	}
	if res.Status != ik.Solved {
		return refuse(msgs.ErrorNoIKSolution, "%v", planner.Unreachable(m, "the pose", from.Mul(X), res))
	}
	r := &msgs.GetPositionIKResponse{ErrorCode: msgs.MoveItErrorCodes{Val: msgs.ErrorSuccess, Source: edge.ServerSource}}
	for _, j := range m.Joints() {
		r.Solution.JointState.Name = append(r.Solution.JointState.Name, j.Name)
		r.Solution.JointState.Position = append(r.Solution.JointState.Position, found[j.Q])
	}
	return r, nil
}

// limb returns the joints and the tip of a group or a chain.
func (p *planning) limb(name string) ([]robot.JointID, robot.FrameID, bool) {
	if id, ok := p.model.Chain(name); ok {
		c := p.model.Chains()[id]
		return c.Joints, c.Tip, true
	}
	id, ok := p.model.Group(name)
	if !ok || p.model.Groups()[id].Tip == robot.NoFrame {
		return nil, 0, false
	}
	g := p.model.Groups()[id]
	return g.Joints, g.Tip, true
}
