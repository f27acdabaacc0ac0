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
	c.Topics = s.ros2Topics()
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
