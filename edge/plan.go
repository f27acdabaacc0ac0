package edge

import (
	"fmt"

	"poise/msgs"
	"poise/planner"
	"poise/planner/pipeline"
	"poise/problem"
	"poise/robot"
	"poise/spatial"
)

// errorCodes are MoveIt's error codes of refusals.
var errorCodes = map[planner.Kind]int32{
	planner.BadRequest:     msgs.ErrorInvalidMotionPlan,
	planner.UnknownCommand: msgs.ErrorPlanningFailed,
	planner.UnknownGroup:   msgs.ErrorInvalidGroupName,
	planner.BadState:       msgs.ErrorInvalidRobotState,
	planner.BadGoal:        msgs.ErrorInvalidGoalConstraints,
	planner.UnknownLink:    msgs.ErrorInvalidLinkName,
	planner.UnknownFrame:   msgs.ErrorFrameTransformFailure,
	planner.NoSolution:     msgs.ErrorNoIKSolution,
	planner.LimitExceeded:  msgs.ErrorPlanningFailed,
	planner.MissingLimit:   msgs.ErrorFailure,
	planner.BlendFailed:    msgs.ErrorFailure,
	planner.Cancelled:      msgs.ErrorPreempted,
	planner.TimedOut:       msgs.ErrorTimedOut,
}

// PlanCode returns an answer as MoveIt's error code: success with the notes of its
// motions, or the refusal.
func PlanCode(a *pipeline.Answer, source string) msgs.MoveItErrorCodes {
	if why := a.Refusal; why != nil {
		return msgs.MoveItErrorCodes{Val: errorCodes[why.Kind], Message: why.Error(), Source: source}
	}
	return msgs.MoveItErrorCodes{Val: msgs.ErrorSuccess, Message: planner.Summary(a.Motions...), Source: source}
}

// Question converts the message of one request.
func Question(m *msgs.MotionPlanRequest) pipeline.Question {
	req, why := PlanRequest(m)
	return pipeline.Question{Items: []planner.Item{{Request: req}}, Pipeline: m.PipelineID, Seconds: m.AllowedPlanningTime, Refusal: why}
}

// PlanRequest converts a message to a request. Fields that could only be ignored are
// refused. These are satisfied by every plan, if their values are valid: workspace_parameters (they bound a mobile base, which no command here
// moves), num_planning_attempts (a plan comes out the same every time), weights,
// tolerances and regions of goals (the goal is one, and is reached exactly), efforts
// of the start state. Names of constraints and time stamps are labels.
// pipeline_id and allowed_planning_time belong to the question.
func PlanRequest(m *msgs.MotionPlanRequest) (planner.Request, *planner.Refusal) {
	req := planner.Request{
		Command: planner.ParseCommand(m.PlannerID), CommandName: m.PlannerID, Group: m.GroupName,
		VelocityScaling: m.MaxVelocityScalingFactor, AccelerationScaling: m.MaxAccelerationScalingFactor,
		MaxSpeed: m.MaxCartesianSpeed, SpeedLink: m.CartesianSpeedLimitedLink, Smoothness: m.SmoothnessLevel,
		Start: planner.StartState{Names: m.StartState.JointState.Name,
			Position: m.StartState.JointState.Position, Velocity: m.StartState.JointState.Velocity, Effort: m.StartState.JointState.Effort},
	}
	for i := range m.GoalConstraints {
		req.Goals = append(req.Goals, goal(&m.GoalConstraints[i]))
	}
	req.Via.Name = m.PathConstraints.Name
	for i := range m.PathConstraints.PositionConstraints {
		req.Via.Points = append(req.Via.Points, positionGoal(&m.PathConstraints.PositionConstraints[i]))
	}
	return req, unsupported(m, req.Command)
}

func goal(c *msgs.Constraints) (g planner.Goal) {
	for _, j := range c.JointConstraints {
		g.Joints = append(g.Joints, planner.JointGoal{Joint: j.JointName, Position: j.Position})
	}
	for i := range c.PositionConstraints {
		g.Positions = append(g.Positions, positionGoal(&c.PositionConstraints[i]))
	}
	for _, o := range c.OrientationConstraints {
		g.Orientations = append(g.Orientations, planner.OrientationGoal{
			Frame: o.Header.FrameID, Link: o.LinkName, Orientation: quat(o.Orientation)})
	}
	return g
}

func positionGoal(p *msgs.PositionConstraint) planner.PositionGoal {
	g := planner.PositionGoal{Frame: p.Header.FrameID, Link: p.LinkName, Offset: spatial.Vec3(p.TargetPointOffset)}
	for i, x := range p.ConstraintRegion.PrimitivePoses {
		g.Points = append(g.Points, planner.PointGoal{Position: spatial.Vec3(x.Position), Orientation: quat(x.Orientation),
			Radius: sphere(p.ConstraintRegion.Primitives, i)})
	}
	return g
}

// sphere returns the radius of the region around point i.
func sphere(regions []msgs.SolidPrimitive, i int) float64 {
	switch {
	case i >= len(regions):
		return 0
	case regions[i].Type == msgs.PrimitiveSphere && len(regions[i].Dimensions) == 1:
		return regions[i].Dimensions[0]
	}
	return planner.OtherShape
}

func quat(q msgs.Quaternion) spatial.Quat { return spatial.Quat{W: q.W, X: q.X, Y: q.Y, Z: q.Z} }

// unsupported refuses fields that could only be ignored, and non-finite numbers.
func unsupported(m *msgs.MotionPlanRequest, c planner.Command) *planner.Refusal {
	no := func(field, why string) *planner.Refusal {
		return planner.Refuse(planner.BadRequest, "%s is given, and %s", field, why)
	}
	constraints, box := &m.PathConstraints, &m.WorkspaceParameters
	pathless := c == planner.PTP || c == planner.LIN
	switch {
	case len(m.TrajectoryConstraints.Constraints) > 0:
		return planner.Refuse(planner.UnknownCommand, "trajectory_constraints are given, and no command here takes them")
	case len(m.ReferenceTrajectories) > 0:
		return no("reference_trajectories", "no command here takes them")
	case m.PipelineID != "" && m.PipelineID != pipeline.Pilz && m.PipelineID != pipeline.Own:
		return planner.Refuse(planner.UnknownCommand, "pipeline_id %q is unknown", m.PipelineID).
			With("leave it empty, or use %s or %s%s", pipeline.Own, pipeline.Pilz, problem.Hint(m.PipelineID, []string{pipeline.Own, pipeline.Pilz}))
	case m.NumPlanningAttempts < 0:
		return no("a negative num_planning_attempts", "that is no number of attempts")
	case !(m.AllowedPlanningTime >= 0):
		return planner.Refuse(planner.BadRequest, "allowed_planning_time is %g s, and must not be negative", m.AllowedPlanningTime)
	case !(box.MinCorner.X <= box.MaxCorner.X && box.MinCorner.Y <= box.MaxCorner.Y && box.MinCorner.Z <= box.MaxCorner.Z):
		return no("workspace_parameters", "its min_corner is not below its max_corner")
	case pathless && (constraints.Name != "" || len(constraints.PositionConstraints) > 0):
		return no("path_constraints", c.String()+" has a path of its own and cannot keep constraints")
	case len(constraints.JointConstraints)+len(constraints.OrientationConstraints)+len(constraints.VisibilityConstraints) > 0:
		return no("path_constraints other than positions", "no command here takes them")
	case m.SmoothnessLevel != 0 && c != planner.POLYLINE:
		return no("smoothness_level", "only POLYLINE takes it")
	case !(m.SmoothnessLevel >= 0):
		return planner.Refuse(planner.BadRequest, "smoothness_level is %g, and must not be negative", m.SmoothnessLevel)
	}
	if why := unsupportedState(&m.StartState); why != nil {
		return why
	}
	for i := range m.GoalConstraints {
		if why := unsupportedGoal(&m.GoalConstraints[i], fmt.Sprintf("goal_constraints[%d]", i)); why != nil {
			return why
		}
	}
	return unsupportedRegions(constraints.PositionConstraints, "path_constraints")
}

func unsupportedState(s *msgs.RobotState) *planner.Refusal {
	d := &s.MultiDOFJointState
	switch {
	case len(d.JointNames)+len(d.Transforms)+len(d.Twist)+len(d.Wrench) > 0:
		return planner.Refuse(planner.BadState, "start_state.multi_dof_joint_state is given, and only joints of one coordinate are planned for")
	case len(s.AttachedCollisionObjects) > 0:
		return planner.Refuse(planner.BadState, "start_state.attached_collision_objects are given, and collisions are not checked")
	}
	return nil
}

func unsupportedGoal(g *msgs.Constraints, path string) *planner.Refusal {
	if len(g.VisibilityConstraints) > 0 {
		return planner.Refuse(planner.BadGoal, "%s.visibility_constraints are given, and no command here takes them", path)
	}
	for i, j := range g.JointConstraints {
		if !(j.ToleranceAbove >= 0 && j.ToleranceBelow >= 0) {
			return planner.Refuse(planner.BadGoal, "%s.joint_constraints[%d]: tolerances %g and %g must not be negative", path, i, j.ToleranceBelow, j.ToleranceAbove)
		}
		if why := unsupportedWeight(j.Weight, fmt.Sprintf("%s.joint_constraints[%d]", path, i)); why != nil {
			return why
		}
	}
	for i, o := range g.OrientationConstraints {
		what := fmt.Sprintf("%s.orientation_constraints[%d]", path, i)
		switch {
		case !(o.AbsoluteXAxisTolerance >= 0 && o.AbsoluteYAxisTolerance >= 0 && o.AbsoluteZAxisTolerance >= 0):
			return planner.Refuse(planner.BadGoal, "%s: tolerances %g, %g and %g must not be negative", what, o.AbsoluteXAxisTolerance, o.AbsoluteYAxisTolerance, o.AbsoluteZAxisTolerance)
		case o.Parameterization > rotationVector:
			return planner.Refuse(planner.BadGoal, "%s.parameterization is %d, and must be 0 or 1", what, o.Parameterization)
		}
		if why := unsupportedWeight(o.Weight, what); why != nil {
			return why
		}
	}
	return unsupportedRegions(g.PositionConstraints, path)
}

// rotationVector is the last of OrientationConstraint's parameterizations.
const rotationVector = 1

func unsupportedWeight(w float64, what string) *planner.Refusal {
	if w >= 0 {
		return nil
	}
	return planner.Refuse(planner.BadGoal, "%s.weight is %g, and must not be negative", what, w)
}

func unsupportedRegions(all []msgs.PositionConstraint, path string) *planner.Refusal {
	for i := range all {
		r, what := &all[i].ConstraintRegion, fmt.Sprintf("%s.position_constraints[%d]", path, i)
		if len(r.Meshes)+len(r.MeshPoses) > 0 {
			return planner.Refuse(planner.BadGoal, "%s.constraint_region has meshes, and a place is wanted", what)
		}
		if len(r.Primitives) > len(r.PrimitivePoses) && len(r.PrimitivePoses) > 0 {
			return planner.Refuse(planner.BadGoal, "%s.constraint_region has %d primitives and %d poses", what, len(r.Primitives), len(r.PrimitivePoses))
		}
		for k, p := range r.Primitives {
			for _, d := range p.Dimensions {
				if !(d >= 0) {
					return planner.Refuse(planner.BadGoal, "%s.constraint_region.primitives[%d] has a dimension of %g, and must not be negative", what, k, d)
				}
			}
		}
		if why := unsupportedWeight(all[i].Weight, what); why != nil {
			return why
		}
	}
	return nil
}

// PlanResponse converts the answer to a single request; the code is the caller's, since
// the motion may have been executed too.
func PlanResponse(m *robot.Model, a *pipeline.Answer, group string, code msgs.MoveItErrorCodes) msgs.MotionPlanResponse {
	r := msgs.MotionPlanResponse{GroupName: group, PlanningTime: a.Seconds, ErrorCode: code}
	if len(a.Motions) > 0 {
		r.TrajectoryStart = robotState(m, a.Motions[0])
		r.Trajectory = robotTrajectory(m, a.Motions[0])
	}
	return r
}

// SequenceResponse converts the answer to a sequence. The start is that of the first
// motion.
func SequenceResponse(m *robot.Model, a *pipeline.Answer, code msgs.MoveItErrorCodes) msgs.MotionSequenceResponse {
	r := msgs.MotionSequenceResponse{PlanningTime: a.Seconds, ErrorCode: code}
	for i, p := range a.Motions {
		if i == 0 {
			r.SequenceStart = robotState(m, p)
		}
		r.PlannedTrajectories = append(r.PlannedTrajectories, robotTrajectory(m, p))
	}
	return r
}

// robotState returns the state in which a motion begins.
func robotState(m *robot.Model, p *planner.Motion) (s msgs.RobotState) {
	v := make([]float64, m.NumV())
	moving := false
	if points := p.Trajectory.Points; len(points) > 0 {
		for k, j := range p.Joints {
			v[m.Joints()[j].V] = points[0].Velocity[k]
			moving = moving || points[0].Velocity[k] != 0
		}
	}
	s.JointState.Header.FrameID = m.Frames()[0].Name
	for _, j := range m.Joints() {
		if j.Kind.NumQ() != 1 {
			continue
		}
		s.JointState.Name = append(s.JointState.Name, j.Name)
		s.JointState.Position = append(s.JointState.Position, p.Start[j.Q])
		if moving {
			s.JointState.Velocity = append(s.JointState.Velocity, v[j.V])
		}
	}
	return s
}

func robotTrajectory(m *robot.Model, p *planner.Motion) (t msgs.RobotTrajectory) {
	jt := &t.JointTrajectory
	jt.Header.FrameID = m.Frames()[0].Name
	for _, j := range p.Joints {
		jt.JointNames = append(jt.JointNames, m.Joints()[j].Name)
	}
	for _, x := range p.Trajectory.Points {
		jt.Points = append(jt.Points, msgs.JointTrajectoryPoint{
			Positions: x.Position, Velocities: x.Velocity, Accelerations: x.Acceleration,
			TimeFromStart: msgs.DurationFromSeconds(x.Time)})
	}
	return t
}
