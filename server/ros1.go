package server

import (
	"maps"
	"strings"

	"poise/robot"
	"poise/wire/ros1"
)

// ros1Topics returns the topics that ROS 1 has by other names than the graph. There the
// joint_states of hardware are the measured ones, as RViz and MoveIt expect, and the command
// of every robot is joint_states_reference; MoveIt 1 calls its action move_group.
func (s *Server) ros1Topics() map[string]string {
	names := map[string]string{}
	for _, bot := range s.robots {
		prefixes := []string{"/" + bot.name + "/"}
		if bot.first {
			prefixes = append(prefixes, "/")
		}
		for _, p := range prefixes {
			names[p+"joint_states_reference"] = p + "joint_states"
			if !bot.can.Simulated {
				names[p+"joint_states"] = p + "joint_states_real"
			}
			for _, part := range []string{"goal", "cancel", "status", "feedback", "result"} {
				names[p+"move_group/"+part] = p + "move_action/" + part
			}
		}
	}
	return names
}

// ros1Params returns what ROS 1's parameter server is given: what RViz, MoveIt and
// robot_state_publisher look for, in the node's namespace, and what the node is, in its own.
func (s *Server) ros1Params(c *ros1.Config) map[string]any {
	space := "/" + strings.Trim(c.Names.Namespace, "/")
	space = strings.TrimSuffix(space, "/") + "/"
	params := map[string]any{space + "robot_description": string(s.robot.URDF)}
	if s.robot.SRDFText != nil {
		params[space+"robot_description_semantic"] = string(s.robot.SRDFText)
	}
	if limits := jointLimits(s.robot.Model); len(limits) > 0 {
		params[space+"robot_description_planning/joint_limits"] = limits
	}
	own := c.Names.Self() + "/"
	if c.Names.Node == "" {
		own = space + "poise/"
	}
	names := make([]any, len(s.robots))
	for i, bot := range s.robots {
		names[i] = bot.name
	}
	params[own+"robots"], params[own+"period"] = names, s.cfg.Loop.Period
	if _, simulated := s.graph.TopicInfo("clock"); simulated {
		params["/use_sim_time"] = true
	}
	maps.Copy(params, c.Params)
	return params
}

// jointLimits returns the limits of the joints as MoveIt writes them, those that there are.
func jointLimits(m *robot.Model) map[string]any {
	all := map[string]any{}
	for _, j := range m.Joints() {
		one := map[string]any{}
		for _, l := range []struct {
			limit     robot.Limit
			has, name string
		}{
			{j.Limits.Lower, "has_position_limits", "min_position"}, {j.Limits.Upper, "has_position_limits", "max_position"},
			{j.Limits.Velocity, "has_velocity_limits", "max_velocity"}, {j.Limits.Acceleration, "has_acceleration_limits", "max_acceleration"},
			{j.Limits.Deceleration, "has_deceleration_limits", "max_deceleration"}, {j.Limits.Effort, "has_effort_limits", "max_effort"},
			{j.Limits.Jerk, "has_jerk_limits", "max_jerk"},
		} {
			if l.limit.Has {
				one[l.has], one[l.name] = true, l.limit.Value
			}
		}
		if len(one) > 0 {
			all[j.Name] = one
		}
	}
	return all
}
