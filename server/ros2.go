package server

import (
	"fmt"
	"maps"
	"strings"

	"poise/wire"
	"poise/wire/ros2"
)

// newROS2 makes the node that shows the graph to ROS 2.
func (s *Server) newROS2(given *ros2.Config) (wire.Wire, error) {
	c, l := *given, &s.cfg.Limits
	c.Budget, c.Stop, c.Log = s.budget, s.stops, s.log
	c.Limits = ros2.Limits{Participants: l.Connections, MessageBytes: l.MessageSize, Queue: l.Queue}
	c.Topics, c.Params = s.ros2Topics(), s.ros2Params()
	n, err := ros2.New(s.graph, c)
	if err != nil {
		return nil, fmt.Errorf("ROS 2: %w", err)
	}
	return n, nil
}

// ros2Topics returns the topics that ROS 2 has by other names than the graph: those of ROS 1,
// but for MoveIt's action, which MoveIt 2 calls as the graph does.
func (s *Server) ros2Topics() map[string]string {
	names := s.ros1Topics()
	maps.DeleteFunc(names, func(ros, _ string) bool { return strings.Contains(ros, "/move_group/") })
	return names
}

// ros2Params returns the parameters of the node: what MoveIt 2 and robot_state_publisher look for,
// and what the node is. A dot stands between a name and what is below it.
func (s *Server) ros2Params() map[string]any {
	_, simulated := s.graph.TopicInfo("clock")
	params := map[string]any{"robot_description": string(s.robot.URDF), "use_sim_time": simulated, "period": s.cfg.Loop.Period}
	if s.robot.SRDFText != nil {
		params["robot_description_semantic"] = string(s.robot.SRDFText)
	}
	names := make([]string, len(s.robots))
	for i, bot := range s.robots {
		names[i] = bot.name
	}
	params["robots"] = names
	for joint, limits := range jointLimits(s.robot.Model) {
		for name, value := range limits.(map[string]any) {
			params["robot_description_planning.joint_limits."+joint+"."+name] = value
		}
	}
	return params
}
