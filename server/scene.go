package server

import (
	"context"
	"errors"
	"fmt"

	"poise/loop"
	"poise/msgs"
	"poise/planner/pipeline"
	"poise/spatial"
)

// planners lists the planning pipelines, as MoveIt's panel of RViz asks for them.
func (p *planning) planners(context.Context, *msgs.QueryPlannerInterfacesRequest) (*msgs.QueryPlannerInterfacesResponse, error) {
	r := &msgs.QueryPlannerInterfacesResponse{}
	for _, name := range p.plans {
		ids := []string{"PTP", "LIN", "CIRC"}
		if name == pipeline.Own {
			ids = append(ids, "POLYLINE")
		}
		r.PlannerInterfaces = append(r.PlannerInterfaces, msgs.PlannerInterfaceDescription{Name: name, PipelineID: name, PlannerIds: ids})
	}
	return r, nil
}

// plannerParams returns the parameters of a planner: it has nothing to set, limits and speeds are
// part of each request.
func (p *planning) plannerParams(context.Context, *msgs.GetPlannerParamsRequest) (*msgs.GetPlannerParamsResponse, error) {
	return &msgs.GetPlannerParamsResponse{}, nil
}

// setPlannerParams takes no parameters, and refuses those that could only be ignored.
func (p *planning) setPlannerParams(_ context.Context, q *msgs.SetPlannerParamsRequest) (*msgs.SetPlannerParamsResponse, error) {
	if len(q.Params.Keys) > 0 {
		return nil, fmt.Errorf("params has %.100q: planners here have no parameters, limits and speeds are part of each request", q.Params.Keys[0])
	}
	return &msgs.SetPlannerParamsResponse{}, nil
}

// scene returns where the robot is. There is nothing else in it: collisions are not looked at.
func (p *planning) scene(context.Context, *msgs.GetPlanningSceneRequest) (*msgs.GetPlanningSceneResponse, error) {
	m := p.model
	at := posture{model: m, joints: m.RestPositions(), base: spatial.IdentityPose}
	var stamp msgs.Time
	p.exec.View(func(now *loop.Snapshot) {
		at.of(m, p.exact, now)
		at, stamp = at.clone(), msgs.TimeOf(now.Tick.Stamp)
	})
	s := msgs.PlanningScene{Name: "poise", RobotModelName: p.name}
	s.RobotState.JointState.Header = msgs.Header{Stamp: stamp, FrameID: m.Frames()[0].Name}
	for i, j := range m.Joints() {
		if j.Kind.NumQ() == 1 {
			s.RobotState.JointState.Name = append(s.RobotState.JointState.Name, j.Name)
			s.RobotState.JointState.Position = append(s.RobotState.JointState.Position, at.joints[i])
		}
	}
	return &msgs.GetPlanningSceneResponse{Scene: s}, nil
}

// applyScene takes a scene with nothing in it that could be collided with, and refuses others:
// they would be planned through.
func (p *planning) applyScene(_ context.Context, q *msgs.ApplyPlanningSceneRequest) (*msgs.ApplyPlanningSceneResponse, error) {
	w := &q.Scene.World
	if len(w.CollisionObjects)+len(q.Scene.RobotState.AttachedCollisionObjects) > 0 {
		return nil, errors.New("scene has collision objects: collisions are not checked")
	}
	return &msgs.ApplyPlanningSceneResponse{Success: true}, nil
}
