package server_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"poise/msgs"
	"poise/wire/rosbridge/client"
)

// TestMoveItsPanelIsAnswered: what its panel of RViz asks a move_group for.
func TestMoveItsPanelIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		var planners msgs.QueryPlannerInterfacesResponse
		b.call("/query_planner_interface", &msgs.QueryPlannerInterfacesRequest{}, &planners)
		var names []string
		for _, p := range planners.PlannerInterfaces {
			names = append(names, p.PipelineID)
			if !slices.Contains(p.PlannerIds, "LIN") {
				t.Errorf("%s plans %v", p.PipelineID, p.PlannerIds)
			}
		}
		if !slices.Equal(names, []string{"poise", "pilz_industrial_motion_planner"}) {
			t.Errorf("pipelines %v", names)
		}
		var scene msgs.GetPlanningSceneResponse
		b.call("/get_planning_scene", &msgs.GetPlanningSceneRequest{}, &scene)
		state := scene.Scene.RobotState.JointState
		if scene.Scene.RobotModelName != "pony" || len(state.Name) == 0 || len(state.Name) != len(state.Position) {
			t.Errorf("scene %+v", scene.Scene)
		}
		for name, at := range b.joints("/joint_states") {
			if i := slices.Index(state.Name, name); i < 0 || state.Position[i] != at {
				t.Errorf("joint %s is at %v, and the scene has %v", name, at, state.Position)
				break
			}
		}
		var applied msgs.ApplyPlanningSceneResponse
		b.call("/apply_planning_scene", &msgs.ApplyPlanningSceneRequest{Scene: msgs.PlanningScene{IsDiff: true}}, &applied)
		if !applied.Success {
			t.Error("an empty scene is refused")
		}
		full := msgs.PlanningScene{World: msgs.PlanningSceneWorld{CollisionObjects: []msgs.CollisionObject{{ID: "box"}}}}
		if _, err := b.c.Call(b.ctx, "/apply_planning_scene", client.Text(&msgs.ApplyPlanningSceneRequest{Scene: full}, msgs.ROS2)); err == nil || !strings.Contains(err.Error(), "collision objects") {
			t.Errorf("a box is taken: %v", err)
		}
	})
}
